package shellread_test

import (
	"math/rand/v2"
	"strings"
)

// A generator makes scripts: from a grammar, from a soup of tokens, and by
// damaging either. odd is how many of a hundred choices fall on what is not
// ordinary: a script with a single oddity is where a difference can hide, since
// one with many is rarely read exactly.
type generator struct {
	*rand.Rand
	odd int
}

func newGenerator(seed, n uint64) generator { return generator{rand.New(rand.NewPCG(seed, n)), 100} }

// strange decides for something that is not ordinary.
func (g generator) strange() bool { return g.IntN(100) < g.odd }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) script() string {
	var s string
	g.odd = []int{100, 4, 8, 15, 30}[g.IntN(5)]
	switch {
	case g.odd == 100 && g.IntN(5) < 2:
		s = g.soup()
	default:
		s = g.list(3)
	}
	// A damaged loop may never end.
	if g.IntN(3) == 0 && g.strange() && !strings.Contains(s, "done") {
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
		if i > 0 && !g.strange() {
			b.WriteString(g.pick("; ", "\n", " && ", " || ", " | ", "\n"))
		} else if i > 0 {
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
	if !g.strange() {
		switch g.IntN(20) {
		case 4:
			return g.flow(d)
		case 0:
			return "if " + g.command(d) + "; then " + g.list(d) + "; fi"
		case 1:
			return "for x in " + g.word(d) + " " + g.word(d) + "; do " + g.list(d) + "; done"
		case 2:
			return "( " + g.list(d) + " )"
		case 3:
			return "case " + g.word(d) + " in " + g.pick("a", "*", "p|q1") + ") " + g.list(d) + ";; esac"
		}
		return g.simple(depth)
	}
	switch g.IntN(45) {
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
	case 18, 19, 20, 21:
		return g.oddCompound(d)
	case 22, 23, 24, 25:
		return g.oddBuiltin(d)
	case 29, 30, 31, 32, 33:
		return g.flow(d)
	case 26, 27, 28:
		return g.oddHeredoc(d)
	}
	return g.simple(depth)
}

// oddCompound are compound commands as bash and zsh know them, or only one of them.
func (g generator) oddCompound(d int) string {
	in, w := g.list(d), g.word(d)
	switch g.IntN(28) {
	case 0:
		return "repeat 2 " + g.pick(g.simple(d), "do "+in+"; done", "{ "+in+"; }")
	case 1:
		return g.pick("() { ", "function { ", "f g () { ") + in + "; } " + w
	case 2:
		return "for x (" + w + " " + w + ") " + g.pick(g.simple(d), "{ "+in+"; }")
	case 3:
		return "foreach x (" + w + ") " + in + "; end"
	case 4:
		return "if [[ -n x ]] { " + in + " }" + g.pick("", " else { "+g.simple(d)+" }")
	case 5:
		return "{ " + in + " } always { " + g.simple(d) + " }"
	case 6:
		return "select x in " + w + "; do " + in + "; break; done"
	case 7:
		return "coproc " + g.pick("", "N ", "{ ") + g.simple(d) + g.pick("", "; }")
	case 8:
		return g.pick("time", "time -p", "time --", "! time", "time !", "! !", "!", "!a", "! ", "time -- -p") + " " + g.command(d)
	case 9:
		return "case " + w + " in esac; " + g.simple(d)
	case 10:
		return "case " + w + " in # c\n" + g.pick("(a)", "p|(q1)", "esac)", "(esac)", "a b)", "$(b))", "'a)'", "[a)]*)", "?(a|b))", "(a|b)c)") + " " + in + g.pick(" ;;", "\n;;", " ;|", "&", " ;; # x") + "\nesac"
	case 11:
		return "while read -r x; do " + in + "; done " + g.pick("<f1", "< <(a)", "<<<"+w, "<<E\np q\nE")
	case 12:
		return "f() { " + in + g.pick("; }", "; } >o1", "; } <f1", "; } | b", "; }; unset -f f") + "\nf " + w
	case 13:
		inner := "f() { g() { " + g.simple(d) + "; }; }; "
		return g.pick(inner+"g "+w+"; f; g "+w, "g() { "+in+"; }; "+inner+"g "+w)
	case 14:
		return g.pick("f-x", "f.x", "-f", "f:x", "f$v", "1f", "ls", "if", "é", "f/g", "[", "@f") + "() { " + in + "; }; f-x"
	case 15:
		return "f() " + g.pick("[[ -n x ]]", "(( 1 ))", "( "+in+" )", "if a; then b; fi", "for x in p; do a; done", "case x in x) a;; esac", g.simple(d)) + "; f"
	case 16:
		return "[[ " + g.pick("! ", "") + "-n " + w + g.pick(" && ", " || ", "\n&& ", " &&\n") + g.pick("( ", "") + w + " == " + w + g.pick(" )", "") + " ]]"
	case 17:
		return "[[ " + w + " =~ " + g.pick("^(a|b)$", "a b", "[[:alpha:]]", "\\$", "'$(b)'", "$(b)", "(a", "a)", "^a;b$", "<", "#") + " ]]"
	case 18:
		return "for " + g.pick("((i=0; i<1; i++)) { "+in+"; }", "x; do "+in+"; done", "x do "+in+"; done", "x\nin p\ndo "+in+"; done", "x in p; { "+in+"; }", "x y in p q; do "+in+"; done", "é in p; do a; done")
	case 19:
		return "if " + in + "\nthen " + in + "\nelif no\nthen # x\n" + in + "\nelse\n" + in + "\nfi" + g.pick("", " >o1", " 2>&1", " | b", " &")
	case 20:
		return "{ " + in + "; }" + g.pick("", " >o1", " <f1 >o2", " 2>&1 | a", " &", " <<< "+w)
	case 21:
		return "(" + in + ")" + g.pick("", " >o1", "&", "<f1", " | (a)")
	case 22:
		return "((" + in + "))"
	case 23:
		return "$((" + in + "))"
	case 24:
		return "( (" + in + ") )"
	case 25:
		return "if a; then; " + in + "; fi"
	case 26:
		return "until no || a; do " + in + "; break; done"
	}
	return "{" + g.pick("a", "b,c", "}", " }", "\n}") + g.pick(";}", " }", "")
}

// oddBuiltin are builtins that change how later commands are read or run.
func (g generator) oddBuiltin(d int) string {
	w := g.word(d)
	then := g.pick("; ", "\n", " && ") + g.simple(d)
	switch g.IntN(34) {
	case 0:
		return g.pick("set -- ", "set -", "set -f ", "set -e ", "set -euo pipefail", "set -k", "set -o posix", "set -x", "shift ", "set +") + w + then + " \"$1\""
	case 1:
		return g.pick("read x ", "read -r ", "read -a x ", "read -p ", "mapfile x ", "readarray -t ", "mapfile -C a -c 1 ", "getopts ab ") + w + " <f1" + then + " $x"
	case 2:
		return g.pick("printf -v v %s ", "printf %s ", "printf '%q' ", "printf -- ", "printf -v 'a[$(b)]' ", "printf ", "print -r ", "print -P ", "print -z ") + w + then + " $v"
	case 3:
		return g.pick("local ", "declare ", "declare -n ", "declare -A ", "declare -i ", "declare -f ", "typeset -g ", "readonly ", "export ", "integer ", "float ", "private ") + g.pick("v", "v=", "'v=", "a[0]=") + w + then + " $v"
	case 4:
		return g.pick("unset v", "unset -f a", "unset 'a[$(b)]'", "unset -n v", "unsetopt x", "setopt shwordsplit", "emulate sh", "shopt -s nullglob", "shopt -s extglob", "shopt -s expand_aliases") + then
	case 5:
		return g.pick("alias a=b", "alias -g p=q", "unalias a", "alias -s f1=a", "hash -p f1 a", "hash -r", "enable -n echo", "disable a", "rehash") + then
	case 6:
		return "trap " + g.pick("'"+g.name()+" t'", "a", "-", "''", "\"$(b)\"") + " " + g.pick("EXIT", "DEBUG", "ERR", "0", "RETURN") + then
	case 7:
		return g.pick("cd d1", "cd -", "cd ..", "cd", "cd 'd1'", "pushd d1", "popd", "cd -P d1", "cd d1 x", "cd -- d1", "cd $v", "cd d1/../d1", "cd ./d1", "cd +1", "cd =a") + then + " >o9"
	case 8:
		return g.pick("source f1", ". ./f1", ". f1", "source <(a)", "eval ", "eval '", "eval \"") + w + then
	case 9:
		return "exec " + g.pick("-a x ", "-c ", "-l ", "", "3>o1; ", "<f1; ", "3<&0 ", ">o2\n", "2>&1; ", "{v}>o3; ", "0<f1 ") + g.simple(d)
	case 10:
		return "command " + g.pick("-p ", "-v ", "-V ", "-- ", "-pv ", "") + g.simple(d)
	case 11:
		return "builtin " + g.pick("echo ", "eval a ", "command ", "cd d1; ", "exec ", ". ") + g.simple(d)
	case 12:
		return "env " + g.pick("-i ", "-u v ", "A=1 ", "-S 'a b' ", "--split-string='a b' ", "-C d1 ", "-- ", "PATH=. ", "- ", "-a x ", "-vS a", "--block-signal ", "-0 ") + g.simple(d)
	case 13:
		return g.pick("timeout 1 ", "timeout -s KILL 1 ", "timeout -k 1 2 ", "timeout --foreground 1 ", "timeout -- 1 ", "timeout 1s -- ", "nice ", "nice -5 ", "nice -n5 ", "nice --adjustment=3 ", "nohup -- ", "stdbuf -oL ", "stdbuf -o L ", "time ", "ionice -c3 ", "setsid ", "chrt 1 ") + g.simple(d)
	case 14:
		return "xargs " + g.pick("", "-0 ", "-n1 ", "-I{} ", "-I % ", "-i ", "-L 1 ", "-P2 ", "-r ", "--max-args=1 ", "-a f1 ", "-d '\\n' ", "-- ", "-x -n 1 ", "-E e ") + g.simple(d)
	case 15:
		return "find . " + g.pick("-exec ", "-execdir ", "-ok ", "-name x -exec ", "-o -exec ", "'-exec' ", "-e''xec ", "\\-exec ") + g.simple(d) + g.pick(" \\;", " ';'", " +", " {} +", " {} \\; -exec a \\;")
	case 16:
		return g.pick("break", "continue", "return", "exit", "break 2", "return $v", "exit 1", "wait", "wait $!", "wait -n", ":", ": $(b)", ": ${v:=p}", "true $(a)", "false || ") + then
	case 17:
		return g.pick("test ", "[ ", "test ! ", "[ ! ") + g.pick("-f f1", "-n "+w, w, w+" = "+w, w+" -a "+w, "-v a[0]", "-z", "( a )", "-t 1", "1 -eq "+w, "\\( -f f1 \\)") + g.pick(" ]", "") + then
	case 18:
		return "let " + g.pick("v=1", "'v=a[$(b)]'", "v++", "v+=1") + then
	case 19:
		return g.pick("v=(", "v+=(", "typeset -a v=(") + w + " " + w + ")" + then + g.pick(" \"${v[@]}\"", " ${v[0]}", " $v", " ${v[*]}", " ${#v[@]}", " ${!v[@]}", " $v[1]")
	case 20:
		return "v=" + g.pick("'p q'", "a", "-n", "*", "'*'", "f1", "'$(b)'", "\"$(b)\"", "~", "~/x", "a:~", "{p,q}", "p\\ q", "$'a\\nb'", "\"p  q\"", "''", "é", "1+1") + then + " " + g.pick("$v", "\"$v\"", "${v}", "x$v", "$v$v", "\"$v\"x", "-$v", "${v}x", "${v#p}", "${v% *}", "${v:0:1}", "${v/p/x}", "${v:+x y}", "\"${v:-'z'}\"", "${v,,}", "${#v}", "$v[1]", "\"$v[1]\"", "$v:h", "\"$v:h\"", "${v}[1]", "$v{1,2}", "~$v", "=$v")
	case 21:
		return "IFS=" + g.pick("x", "", "$'\\n'", ":", "' '") + then + " $v"
	case 22:
		return g.pick("bash", "sh", "zsh", "/bin/sh", "dash", "'bash'", "ba''sh") + g.pick(" -c ", " -ec ", " -c -- ", " -xc ", " -o pipefail -c ", " +c ", " -cx ", " -s ", " --norc -c ") + "'" + strings.ReplaceAll(g.list(0), "'", "") + "'" + g.pick("", " x", " $(b)", " -")
	case 23:
		return g.pick("pwd", "dirs", "jobs", "times", "umask", "umask 0", "ulimit -n", "history", "fc -l", "type a", "type -p a", "hash", "kill -0 $$", "kill -l", "bg", "disown", "suspend -f", "logout", "caller", "help", "compgen -C a", "compgen -W '$(b)' x", "complete -p", "bind -p", "zle", "zmodload x", "where a", "whence a", "functions a", "autoload a", "sched +1 a", "vared v", "limit", "rehash", "ttyctl", "dirs -c", "chdir d1", "bye", "log", "r", "echotc cl", "zcompile f1", "noglob a *", "nocorrect a", "- a", "-- a", "getln x", "pushln a", "zparseopts a", "zformat -f v a", "zstyle a", "strftime %s", "coproc", "select") + then
	}
	return g.simple(d) + then
}

// flow are scripts whose commands depend on what came before: variables,
// functions, folders, and jumps between them.
func (g generator) flow(d int) string {
	v := func() string { return g.pick("v", "w", "i") }
	set := func() string {
		n := v()
		return g.pick(
			n+"=p", n+"=q1", n+"=1", n+"=f1", n+"='a[$(b)]'", n+"=\"p q\"", n+"=$"+v(), n+"=\"$"+v()+"x\"", n+"=$(( "+v()+" + 1 ))", n+"=$(( $"+v()+" ))", n+"+=z", n+"=$(cat <<< p)", n+"=d1",
			"read "+n+" <f1", "read -r \""+n+"\" <f1", "printf -v "+n+" %s k", "printf -v '"+n+"' 'a[$(b)]'", "unset "+n, "(( "+n+" = 2 ))", "(( "+n+"++ ))", ": $(( "+n+" = 3 ))", "local "+n+"=l", "cd d1", "cd ..", "pushd d1", "[[ xyz =~ y ]]", "for "+n+" in r s; do :; done", n+"=`a`", n+"=\"$@\"", "set -- m", "shift", "f", "f t", "g", "command read "+n+" <f1", "eval "+n+"=e", "unset f", "f() { b; }", "{ "+n+"=in; }", "( "+n+"=in )", n+"=in | a", "a | "+n+"=in", n+"=in &", n+"=t a", "! "+n+"=n", "no && "+n+"=n", "no || "+n+"=n", "a || "+n+"=n")
	}
	use := func() string {
		n := v()
		return g.pick("a $"+n, "b \"$"+n+"\"", "c x\"$"+n+"\"y", "a $(( "+n+" ))", "b $(( $"+n+" + 1 ))", "(( "+n+" ))", "[[ $"+n+" -eq 1 ]]", "[[ "+n+" -eq 1 ]]", "a ${"+n+":-k}", "a ${"+n+"}", "cat <<E\n$"+n+"\nE\n", "a >o1", "f $"+n, "f", "g", "time f", "a $(f)", "f | b", "case $"+n+" in p) a;; *) b;; esac", "a \"${"+n+"%x}\"", "a ${#"+n+"}", "ls $"+n, "a \"$1\"", "a $((BASH_REMATCH))", "x"+n+"=k f", n+"=k f", "a $_")
	}
	jump := func() string {
		return g.pick("break", "continue", "return", "a && break", "no || continue", "no && return", "exit", "break 2", "if a; then break; fi")
	}
	body := func() string {
		var b strings.Builder
		for range 1 + g.IntN(3) {
			switch g.IntN(5) {
			case 0, 1:
				b.WriteString(set() + "; ")
			case 2, 3:
				b.WriteString(use() + "; ")
			default:
				if g.IntN(3) == 0 {
					b.WriteString(jump() + "; ")
				} else {
					b.WriteString(set() + "; ")
				}
			}
		}
		return strings.ReplaceAll(b.String(), "\n; ", "\n")
	}
	var b strings.Builder
	for range 1 + g.IntN(3) {
		switch g.IntN(9) {
		case 0:
			b.WriteString("f() { " + body() + "}; ")
		case 1:
			b.WriteString("g() { " + body() + "}; ")
		case 2:
			b.WriteString("for k in 1 2; do " + body() + "done; ")
		case 3:
			b.WriteString("n=0; while [ $n -lt 2 ]; do n=$((n+1)); " + body() + "done; ")
		case 4:
			b.WriteString("if " + g.pick("a", "no") + "; then " + body() + "else " + body() + "fi; ")
		case 5:
			b.WriteString("for x in $" + v() + " q; do " + body() + "done; ")
		default:
			b.WriteString(body())
		}
	}
	if d > 0 && g.IntN(4) == 0 {
		return b.String() + g.simple(d)
	}
	return b.String() + use()
}

// oddHeredoc are here-documents in odd places.
func (g generator) oddHeredoc(d int) string {
	q := g.pick("E", "'E'", "\\E", "\"E\"", "E", "E'F'", "$E", "\"E F\"", "E\\", "-E", "é", "!", "E;")
	body := g.pick("text", "$(b in)", "`c in`", "\\$(b)", "${v:-$(b)}", "${v:-'$(b)'}", "\ttab", "a\\", "E x", " E", "$v", "\\\\$(b)", "\"$(b)\"", "'$(b)'", "$((1+1))", "$", "\\", "# c", "", "EOF\nE", "$(cat <<F\nx\nF\n)", "<<E", "$'a'", "a`", "${")
	end := g.pick("E", "E", "E", "E", "\tE", "E ", "E F", "$E", "-E", "é", "!", "EF")
	dash := g.pick("<<", "<<-", "<<", "<< ", "<<- ", "0<<", "3<<")
	c := g.simple(d)
	switch g.IntN(12) {
	case 0:
		return "cat " + dash + q + g.pick(" | a", " && b", "; a", " > o1", " 2>&1", " # c", " || no", " &", " x") + "\n" + body + "\n" + end + "\n" + c
	case 1:
		return "a <<E <<F\n" + body + "\nE\n" + body + "\nF\n" + c
	case 2:
		return "a $(cat " + dash + q + "\n" + body + "\n" + end + "\n) p\n" + c
	case 3:
		return "a \"$(cat " + dash + q + "\n" + body + "\n" + end + "\n)\"\n" + c
	case 4:
		return "{ " + c + "; } " + dash + q + "\n" + body + "\n" + end + "\n" + c
	case 5:
		return "if a " + dash + q + "; then\n" + body + "\n" + end + "\nb; fi\n" + c
	case 6:
		return "( a " + dash + q + " )\n" + body + "\n" + end + "\n" + c
	case 7:
		return "a `cat <<E\n" + body + "\nE\n`; " + c
	case 8:
		return "f() { cat " + dash + q + "\n" + body + "\n" + end + "\n}\nf; " + c
	case 9:
		return dash + q + " a p\n" + body + "\n" + end + "\n" + c
	case 10:
		return "a " + dash + q + "\n" + body + "\n" + end // no newline behind it
	}
	return "a <<<" + g.pick("", " ") + g.word(d) + " p; " + c
}

func (g generator) simple(depth int) string {
	var b strings.Builder
	if g.IntN(12) == 0 {
		b.WriteString(g.pick("V=1 ", "LC_ALL=C ", "x=$(b) ", "A=\"$(c)\" ", "a=b c=d ", "PATH=. "))
	}
	if g.IntN(10) == 0 {
		b.WriteString(g.redirect(depth) + " ")
	}
	if g.IntN(25) == 0 && g.strange() {
		b.WriteString(g.word(depth))
	} else {
		b.WriteString(g.name())
	}
	for range g.IntN(4) {
		b.WriteString(g.pick(" ", " ", " ", "  ", "\t", " \\\n"))
		if g.IntN(20) == 0 {
			b.WriteString(g.redirect(depth) + " ") // between words
		}
		b.WriteString(g.word(depth))
	}
	if g.IntN(6) == 0 {
		b.WriteString(" " + g.redirect(depth))
	}
	return b.String()
}

func (g generator) redirect(depth int) string {
	if !g.strange() {
		return g.pick(">o1", "> o2", ">>o3", "2>&1", "2>/dev/null", ">/dev/null", "<f1", "< d1/x", "&>/dev/null", "2>o4")
	}
	switch g.IntN(14) {
	case 12:
		return g.pick("3>&1", "1>&3", "<&0", "<&3-", "3<&-", ">&-", "&>-", "2>&1>o1", ">o1>o2", ">&1-", "0>o1", "9>o1", "10>o1", "1 >o1", "a>o1", "{v}<f1", "{v}>&-", "{1}>o1", "x{v}>o1", "$v>o1", "'2'>o1", "\\2>o1", "2\\>o1", "<>o1", "><o1", ">|o1", "> |a", ">&|o1", ">>&o1", ">>&|o1", "&>|o1", "<<<a>o1", ">#o1", "># o1", "> # o1\no2", "1>&2 2>&1")
	case 13:
		return g.pick(">", ">>", "<", "&>") + g.pick(" ", "", "\t", " \\\n") + g.pick("~/o1", "$HOME/o1", "./o1", "d1/../o1", "o*1", "{o1,o2}", "$v", "\"$v\"o1", "'o\n1'", "o\\ 1", "=a", "~a", "$'o\\x31'", "o1;b", "o1&b", "o1|b", "(a)", ">(a)", "<(a)", "%a", "!a", "&1", "-", "/dev/fd/1", "/dev/stdout", "/dev/tcp/x/1", "é", "*(N)", "o1(a)", "[o]1", "?1", "^a", "a~b", "o1=b", "f1~", "1", "$(b)", "`b`", "$((1))")
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
	if !g.strange() {
		if depth > 0 && g.IntN(8) == 0 {
			return g.pick("$("+g.simple(0)+")", "\"$("+g.simple(0)+")\"", "<("+g.simple(0)+")", "\"$v\"")
		}
		return g.pick("p", "q1", "'s t'", "\"u\"", "x=y", "f1", "d1/x", "-r", "-n", "\"a b\"", "main.go", "1", "./d1", "\"p $v\"", "--q=r", "a.b", "é", "*", "d1/*")
	}
	if g.IntN(4) == 0 {
		return g.oddPiece()
	}
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

// oddPiece are pieces of words that one shell or another reads in its own way.
func (g generator) oddPiece() string {
	return g.pick(
		"<1-5>", "f<->", "*(N)", "*(.)", "*(e:a:)", "*(+a)", "f1(#q)", "(#i)f1", "**/x", "***/x", "^f1", "*~f1", "f#", "f##", "(f1|x)", "(f1)", "f1()", "f(1)", "a(b", "*.(c|h)",
		"${(e)v}", "${(P)v}", "${(s: :)v}", "${=v}", "${~v}", "${^v}", "${+v}", "${v:h}", "${v:t:r}", "${v:s/a/b/}", "$v:h", "$v:t", "$v[1]", "$v[1,2]", "${v[1]}", "${v[(r)a]}", "${v[$(b)]}", "$#v", "$+v", "$=v", "$~v", "$^v", "$~~v", "${${v}}", "${:-a}", "${:-$(b)}", "${v::=a}", "${v:#a}", "${v:|x}", "${v:^x}", "${#}", "${##}", "${#v}", "${#*}", "${?}", "${$}", "${!}", "${-}", "${@:1}", "${*:-a}", "${1:-a}", "${10}", "$10", "${v@Q}", "${v@E}", "${v@A}", "${!v*}", "${!v@}", "${v^}", "${v,,}", "${v~}", "${v//a/$(b)}", "${v/#a/b}", "${v/%a/b}", "${v:$((1))}", "${v: -1}", "${v:(-1)}", "${v:1:$(b)}", "${v?a}", "${v:?$(b)}", "${v+$(b)}", "${v:+\"$(b)\"}", "${v-`b`}", "${v:-}}", "${v:-\\}}", "${v:-'}'}", "${v:-\"}\"}", "${v%%[a-z]*}", "${v#$(b)}", "${ b; }", "${| b; }", "${\n b; }",
		"$(b)", "$( b)", "$(b )", "$( (b))", "$((b))", "$((b) )", "$( ( b) )", "$(b;)", "$(b&)", "$(b|c)", "$(<f1)", "$(< f1)", "$(<f1 b)", "$()", "$( )", "$(#b\n)", "$(#b)\n)", "$(b #)\n)", "$(case a in a) b;; esac)", "$(case a in (a) b;; esac)", "$(if a; then b; fi)", "$(for x in p; do b; done)", "$(b\n)", "$(\nb)", "$(b\\\n)", "$(b '(')", "$(b ')')", "$(b \")\")", "$(b \\))", "$(b $(c))", "$(b `c`)", "$(b <<<p)", "$(b <<E\nx)\nE\n)", "$(f() { b; }; f)", "$(a=)", "$(a=(b))", "$(a[)",
		"`b`", "` b`", "`b \\`c\\``", "`b \\$v`", "`b \"\\\"\"`", "`b '`", "`b \\\\`", "`b #`", "`b\n`", "``", "` `", "\"`b \\\"c\\\"`\"", "\"`b 'c'`\"", "`b \\'c`",
		"$'\\c''", "$'a\\'b'", "$'\\'", "$\"a\"", "$\"$(b)\"", "$''", "\"$'a'\"", "'a'\\''b'", "\"a\"'b'", "\"\\$(b)\"", "\"\\\\$(b)\"", "\"\\`b\\`\"", "\"$\"", "\"a$\"", "\"!a\"", "\"\\!\"", "\"a\nb\"", "'a\nb'", "\\\\", "a\\\nb", "\"a\\\nb\"", "'a\\\nb'", "\"${v}\"", "\"${v:-\"a\"}\"", "\"$(b \"c\")\"", "\"$(b 'c')\"", "\"$((1))\"", "\"$@\"x", "\"$*\"", "$*", "$@", "$-", "$_", "$!", "$0", "$1$2",
		"'x'#", "\"x\"#$(b)", "`a`#$(b)", "$v#`b`", "${v}#", "(#)", "a\\ #b", "'\n#'", "#\\\nb", "x#\\\nb", "<#", ">#", "@{u}", "@{u}..", "@{u}..x", "a@{1}..b@{2}", "{u}..{v}", "--q={r,s}", "--q=*.{r,s}",
		"{", "}", "{}", "{a}", "{a,}", "{,}", "{a,b", "a,b}", "{a,b}c", "{a..c}", "{1..3..2}", "{c..a}", "{01..03}", "{a..1}", "{1..}", "{..}", "{a,{b,c}}", "{a,'b,c'}", "{a\\,b}", "\\{a,b}", "{a,b\\}", "'{a,b}'", "{'a,b'}", "{$v,a}", "{a,$(b)}", "${v}{a,b}", "{a,b}{c,d}", "a{b,}", "{-,a}r", "{-n,p}", "{a b}", "{a,b }", "{\"a\",b}", "{{a,b}", "{a,b}}", "{$(b),`c`}", "{~,a}", "{*,a}", "{=b,a}", "{a,=b}", "{a..$v}", "{abc}", "{a-c}",
		"~a", "~+", "~-", "~1", "~+1", "~/", "~\\/a", "\"~\"", "~'a'", "~$v", "a~", "a=~", "a:~", "--a=~", "~:~", "=a", "=b", "==", "=", "=~", "=/a", "a=b", "a=$(b)", "a[0]=b", "a[$(b)]=c", "a+=b", "a=(b)", "a=(", "1=2", "é=b", "-a=b", "a-b=c", "'a'=b", "a\\=b", "$v=b", "%1", "%a", "!1", "!!", "!$", "!a", "^a^b", "a!b", "#", "a#b", "#a", "\"#\"", "a\\#", "''#a", "$v#a", "$(b)#a", "*#", "]#", "[", "]", "[a", "a]", "[[", "]]", "[a]", "[!a]", "[^a]", "[]a]", "[[:a:]]", "[a'b']", "[$v]", "[$(b)]", "[\\]]", "?", "??", "*?", ".*", ".?", "*/", "./*", "d1/?", "d*/x", "D1/X", "@", "+(f1)", "!(f1)", "?(f1)", "*(f1)", "@(f1|$(b))", "@(", "f1@(x|)",
		"\u00a0", "\u2028", "e\u0301", "\U0001f600", "\u3000", "\uff08", "\ufeff", "<(a)b", "<(a)<(b)", ">(a)", "=(a)", "a=(a)", "a<(b)", "<(", "<( a)", "<(a;b)", "<(a\n)", "<(a #)\n)",
		"function", "if", "then", "fi", "do", "done", "time", "!", "case", "esac", "in", "select", "coproc", "repeat", "foreach", "end", "nocorrect", "noglob", "-", "--", "exec", "eval", "always")
}

func (g generator) arith(depth int) string {
	return g.pick("v[1]", "v[v]", "v=v", "++v", "v--", "-v", "v*2", "v%2", "v<<=1", "v==1&&x", "v?w:x", "#v", "##a", "'a'", "1.5", "2#1", "08", "[#16]1", "v,w", "v[0]++", "a b", "$1", "$#", "${#v}", "$?", "$$", "\\1", "v\n+1", "(v)", "((v))", "v;w", "$(b)+1", "${v:-1}", "${v:-$(b)}", "IFS", "PATH", "RANDOM", "é", "1", "v", "1+2", "a[0]", "a[$(b)]", "$(b)", "`b`", "v=1", "v++", "x ? 1 : 2", "$v", "${v}", "0x1f", "1,2", "(1)", "'1'", "\"1\"", "1 # $(b)", "v[$(c)]=1", "16#a", "1 << 2", "$((1))", "1) + (2", "~1", "!v")
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
