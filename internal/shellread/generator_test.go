package shellread_test

import (
	"math/rand/v2"
	"strings"
)

// A generator makes scripts: from a grammar, from a soup of tokens, and by
// damaging either.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) script() string {
	var s string
	switch g.IntN(10) {
	case 0, 1:
		s = g.soup()
	default:
		s = g.list(3)
	}
	// A damaged loop may never end.
	if g.IntN(3) == 0 && !strings.Contains(s, "done") {
		for range 1 + g.IntN(3) {
			s = g.damage(s)
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
}

func (g generator) name() string {
	return g.pick("a", "b", "c", "no", "a", "b", "ls", "cat", "rm", "touch", "git", "find", "echo", "sed", "grep", "make", "sort", "head", "tee")
}

func (g generator) list(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString(g.pick("; ", "\n", " && ", " || ", " | ", " & ", " |& ", ";\n", "\n\n", " # note\n", " &&\n", " \\\n; "))
		}
		b.WriteString(g.command(depth))
	}
	return b.String()
}

func (g generator) command(depth int) string {
	if depth <= 0 {
		return g.simple(0)
	}
	d := depth - 1
	switch g.IntN(30) {
	case 0:
		return "( " + g.list(d) + " )"
	case 1:
		return "{ " + g.list(d) + g.pick("; }", "\n}", "; } >o1", " }")
	case 2:
		return "if " + g.list(d) + "; then " + g.list(d) + g.pick("", "; else "+g.list(d), "; elif "+g.command(d)+"; then "+g.command(d)) + "; fi"
	case 3:
		return "while no; do " + g.list(d) + "; done"
	case 4:
		return "for x in " + g.word(d) + " " + g.word(d) + "; do " + g.list(d) + "; done"
	case 5:
		return "case " + g.word(d) + " in " + g.pick("a", "*", "(b", "a|b", "'a'", "$(b)") + ") " + g.list(d) + g.pick(";;", ";&", ";;&", "") + " esac"
	case 6:
		return g.pick("f() { ", "function f { ", "f () ( ") + g.list(0) + g.pick("; }", "\n}", " )") + "; f " + g.word(d)
	case 7:
		return "! " + g.command(d)
	case 8:
		return g.pick("time ", "time -p ", "coproc ", "exec ", "eval ", "command ", "builtin ", "noglob ", "nocorrect ", "- ", "trap ", "export ", "declare ", "env ", "timeout 5 ", "nice -n 3 ", "nohup ", "xargs ", "find . -exec ", "bash -c ", "sh -c ") + g.simple(d)
	case 9:
		return "[[ " + g.word(d) + g.pick(" == ", " -eq ", " =~ ", " < ", " -nt ") + g.word(d) + " ]]"
	case 10:
		return "[ " + g.pick("-e ", "-n ", "-v ", "! ", "") + g.word(d) + g.pick("", " = "+g.word(d), " -eq "+g.word(d)) + " ]"
	case 11:
		return "(( " + g.arith(d) + " ))"
	case 12:
		return g.pick("v", "w", "x", "a", "IFS", "_") + g.pick("=", "+=", "[0]=", "=(") + g.word(d) + g.pick("", ")", "; "+g.command(d))
	case 13:
		return "bash -c '" + strings.ReplaceAll(g.list(0), "'", "") + "'"
	case 14:
		return "for ((i=0;i<2;i++)); do " + g.list(d) + "; done"
	case 15:
		return "until a; do " + g.list(d) + "; done"
	case 16:
		return "v=" + g.word(d) + "; " + g.simple(d) + " $v"
	case 17:
		return "alias k=b; " + g.pick("k", "a") + " x"
	}
	return g.simple(depth)
}

func (g generator) simple(depth int) string {
	var b strings.Builder
	if g.IntN(12) == 0 {
		b.WriteString(g.pick("V=1 ", "LC_ALL=C ", "x=$(b) ", "A=\"$(c)\" ", "a=b c=d ", "PATH=. "))
	}
	if g.IntN(10) == 0 {
		b.WriteString(g.redirect(depth) + " ")
	}
	if g.IntN(25) == 0 {
		b.WriteString(g.word(depth))
	} else {
		b.WriteString(g.name())
	}
	for range g.IntN(4) {
		b.WriteString(g.pick(" ", " ", " ", "  ", "\t", " \\\n"))
		b.WriteString(g.word(depth))
	}
	if g.IntN(6) == 0 {
		b.WriteString(" " + g.redirect(depth))
	}
	return b.String()
}

func (g generator) redirect(depth int) string {
	switch g.IntN(12) {
	case 0:
		q := g.pick("E", "'E'", "\\E", "\"E\"")
		return g.pick("<<", "<<-") + q + "\n" + g.pick("text", "$(b in)", "`c in`", "\\$(b)", "${v:-$(b)}", "\tx", "a\\", "E x") + "\n" + g.pick("E", "\tE", "E ") + "\n"
	case 1:
		return "<<< " + g.word(depth)
	case 2:
		return g.pick("<", "<>", "0<") + g.pick("f1", "d1/x", "<(a)", "/dev/null")
	case 3:
		return g.pick("2>&1", ">&2", "2>/dev/null", "&>/dev/null", ">/dev/null", "2>&-", "<&-", ">&o2", "&>>o3", ">|o4", ">!o5", ">>|o6", ">&!o7", "&>!o8")
	case 4:
		return g.pick("3>", "{v}>", "2>>", "1>") + "o" + g.pick("1", "2", "$v", "'q'")
	case 5:
		return "> >(" + g.simple(0) + ")"
	case 6:
		return g.pick(">&", "&>", ">|", "<", "2>", ">>") + g.word(depth)
	}
	return g.pick(">", ">>", "> ", ">| ", "&> ") + g.pick("o1", "o2", "'o 3'", "d1/o4", "\"o5\"", "o\\6", "$(a)", "o{7,8}", "o*")
}

func (g generator) word(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(2) {
		b.WriteString(g.piece(depth - 1))
	}
	return b.String()
}

func (g generator) piece(depth int) string {
	if depth <= 0 {
		return g.pick("p", "q1", "-r", "'s t'", "\"u\"", "--", "-n", "x=y", "f1", "d1/x", "é", "#z", "p#", "\\$", "\\ ", "''", "'$(b)'", "$v", "\"$v\"", "*", "g*", "~", "~/k", "{r,s}", "{1..2}", "$'a\\tb'", "$'\\''", "=b", "?1", "[fg]1", "!x", "%", "^a", "a,b", "@(f1|x)", "$1", "\"$@\"", "$#", "$?", "$$")
	}
	d := depth - 1
	in := g.simple(0)
	switch g.IntN(26) {
	case 0:
		return "$(" + in + ")"
	case 1:
		return "\"$(" + in + ")\""
	case 2:
		return "`" + in + "`"
	case 3:
		return "\"`" + in + "`\""
	case 4:
		return "<(" + in + ")"
	case 5:
		return "$((" + g.arith(d) + "))"
	case 6:
		return "${v:-" + g.piece(d) + "}"
	case 7:
		return "\"${v:-" + g.pick("$(b)", "'$(b)'", "\\$(b)", "\"$(b)\"", "`b`", "x") + "}\""
	case 8:
		return "${" + g.pick("v", "x", "a[0]", "a[$(b)]", "!v", "#v", "v@P", "v:=1", "v:0:1", "v:$(b)", "v/x/$(b)", "v//$(b)/y", "v%$(b)", "v#*", "v^^", "(e)v", "v:a", "=v", "~v", "v[1,2]", "${v}", "#", "@", "*") + "}"
	case 9:
		return "\"" + g.pick("a b", "$v", "\\\"", "\\`", "$(b \"$v\")", "$(b ')')", "$(a # )\n)", "$(case x in x) b;; esac)", "'$(b)'", "!", "\\\n", "${v}") + "\""
	case 10:
		return "$(" + g.pick("<f1", "case x in (x) b;; esac", "a\n", "a # c\n", "( b )", "{ b; }", "(b);c", "b <<E\nx\nE\n") + ")"
	case 11:
		return "$'" + g.pick("\\x41", "\\'", "\\\\", "\\u00e9", "\\n", "\\cA", "\\101", "a\\0b") + "'"
	case 12:
		return g.pick("=(b)", ">(b)", "<(b <(c))", "$[1+1]", "$[$(b)]", "=b", "~+", "~b", "=", "{a..c}", "{$(b),c}", "{,x}", "x{a,b}{1..2}")
	}
	return g.piece(0)
}

func (g generator) arith(depth int) string {
	return g.pick("1", "v", "1+2", "a[0]", "a[$(b)]", "$(b)", "`b`", "v=1", "v++", "x ? 1 : 2", "$v", "${v}", "0x1f", "1,2", "(1)", "'1'", "\"1\"", "1 # $(b)", "v[$(c)]=1", "16#a", "1 << 2", "$((1))", "1) + (2", "~1", "!v")
}

func (g generator) soup() string {
	tokens := []string{
		"a", "b", "c", "no", "ls", "rm", " ", " ", " ", " ", "\n", "\t", ";", "&", "|", "&&", "||", "(", ")", "{", "}", "{ ", "; }", "[[", "]]", "((", "))", "$(", "`", "\"", "'", "\\", "\\\n", "$", "${", "$'", "$\"", "#", " # ", "!", "! ", "<", ">", ">>", "<<", "<<<", "<(", ">(", "=(", "&>", ">&", "2>", ">|", "=", "+=", "~", "*", "?", "[", "]", "@(", "+(", "^",
		"if ", "then ", "else ", "fi", "do ", "done", "for x in ", "while ", "case ", " in ", "esac", ";;", ";&", "function ", "f()", "time ", "coproc ", "eval ", "exec ", "select ", "v=", "$v", "$x", "1", "x", "E", "<<E\n", "\nE\n", "-c", "bash -c ", "%", ",", "..", ":", "-", "--", "é", "\u00a0", "\r", "\x01", "f1", "o1",
	}
	var b strings.Builder
	for range 2 + g.IntN(14) {
		b.WriteString(tokens[g.IntN(len(tokens))])
	}
	return b.String()
}

// damage changes a few characters of a script.
func (g generator) damage(s string) string {
	if s == "" {
		return s
	}
	i := g.IntN(len(s))
	j := min(len(s), i+1+g.IntN(3))
	special := g.pick("'", "\"", "`", "\\", "$", "(", ")", "{", "}", "\n", ";", "&", "|", "#", " ", "\\\n", "<", ">", "!", "*", "[", "]", "=", "~", "$(", "${", "))", "\t", "x", "a", "<<")
	switch g.IntN(4) {
	case 0:
		return s[:i] + s[j:]
	case 1:
		return s[:i] + special + s[j:]
	case 2:
		return s[:i] + s[i:j] + s[i:]
	}
	return s[:i] + special + s[i:]
}
