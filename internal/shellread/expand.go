package shellread

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// param reads a parameter expansion.
func (r *reader) param(p *syntax.ParamExp, st state, quoted bool) value {
	if why := r.oddInside(p, quoted); why != "" {
		r.Opaque(r.source(p), why)
		r.visitParam(p, st)
		return value{kind: unknown}
	}
	if why := oddParam(p); why != "" {
		r.Opaque(r.source(p), why)
		r.visitParam(p, st)
		return value{kind: unknown}
	}
	name := p.Param.Value
	if p.Index != nil && !allIndex(p.Index) {
		r.Opaque(r.source(p), "a subscript that is worked out when it runs")
		r.visitParam(p, st)
	}
	if p.Length {
		return value{kind: number}
	}
	v := r.variable(name, st)
	if says := p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull); v.kind == unset && secretName(name) && !says {
		r.OpaqueListed(r.source(p), "the variable may hold a secret")
	}
	switch {
	case p.Index != nil && name == "PIPESTATUS" && v.kind == unset && p.Exp == nil && p.Slice == nil && p.Repl == nil && !isEvery(p.Index):
		return value{kind: number, gone: true}
	case p.Index != nil:
		return value{kind: unknown}
	case p.Slice != nil:
		if len(assigned(p)) > 0 {
			r.Opaque(r.source(p), "arithmetic that sets a variable inside a word")
		}
		r.checkArithm(p.Slice.Offset, st)
		r.checkArithm(p.Slice.Length, st)
		out := value{kind: unknown}
		out.or, out.ors = supposedSlice(p, v)
		return out
	case p.Repl != nil:
		from, to := r.value(p.Repl.Orig, st), r.value(p.Repl.With, st)
		out := value{kind: unknown}
		out.or, out.ors = supposedReplacement(p, v, from, to)
		return out
	case p.Exp != nil:
		return r.expansion(p, v, st, quoted)
	}
	if v.kind == unset {
		return value{kind: unknown}
	}
	return v
}

// oddInside names what the parser and shells read differently in an expansion:
// within double quotes and here-documents a quote in it is a character like
// any other for shells, and everywhere zsh knows =( ).
func (r *reader) oddInside(n syntax.Node, quoted bool) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(r.Source) || from >= to {
		return "an expansion whose text is not known"
	}
	text := r.Source[from:to]
	switch {
	case quoted && strings.ContainsAny(text, `'"`):
		return "a quote stands inside ${…} within double quotes"
	case !strings.HasPrefix(text, "${"):
		return ""
	}
	for i := range len(text) {
		if text[i] == '{' && text[i-1] != '$' {
			return "a brace inside ${…}, which shells end in different places"
		}
		if text[i] == '(' && (strings.IndexByte("<>=", text[i-1]) >= 0 || !quoted && strings.IndexByte("$(:", text[i-1]) < 0) {
			return "a parenthesis inside ${…}, which zsh may run"
		}
	}
	return ""
}

// oddParam names the forms that run code, change variables or mean something
// else in another shell.
func oddParam(p *syntax.ParamExp) string {
	switch {
	case p.Param == nil || p.Flags != nil || p.Width || p.IsSet || p.NestedParam != nil || len(p.Modifiers) > 0 ||
		p.Split != syntax.OptUnset || p.GlobSubst != syntax.OptUnset || p.RcExpand != syntax.OptUnset:
		return "an expansion that is not bash"
	case p.Excl || p.Names != 0:
		return "${!…} expands another variable"
	case p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull):
		return "${…:=…} assigns"
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps:
		return "${…@…} can run what the variable holds"
	}
	return ""
}

func allIndex(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	s := w.Lit()
	if s == "@" || s == "*" {
		return true
	}
	_, err := strconv.Atoi(s)
	return err == nil
}

// isEvery reports the subscript of all elements.
func isEvery(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return !ok || w.Lit() == "@" || w.Lit() == "*"
}

// expansion reads ${v:-word} and its kin.
func (r *reader) expansion(p *syntax.ParamExp, v value, st state, quoted bool) value {
	var arg value
	if p.Exp.Word != nil {
		if quoted {
			b := &builder{kind: exact}
			for _, q := range p.Exp.Word.Parts {
				r.quotedPart(b, q, st)
			}
			arg = value{kind: unknown}
			if arg.or, arg.ors = b.alternative(); b.kind == exact {
				arg = value{kind: exact, text: b.plain.String()}
			}
		} else {
			arg = r.value(p.Exp.Word, st)
		}
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if v.kind == exact && v.text != "" {
			return v
		}
		if v.kind == exact && p.Exp.Op == syntax.DefaultUnsetOrNull {
			return arg
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if v.kind == exact && v.text != "" {
			return v
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
	default:
		r.Opaque(r.source(p), "an expansion that is not bash")
	}
	if text, ok := trimmed(p, v); ok {
		return value{kind: exact, text: text}
	}
	out := value{kind: unknown}
	out.or, out.ors = supposedExpansion(p, v, arg)
	return out
}

// trimmed is a value without its beginning or its end, where all shells cut that in the same
// place: a text of plain signs, a folder or an ending.
func trimmed(p *syntax.ParamExp, v value) (text string, ok bool) {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	if v.kind != exact || p.Exp.Word == nil {
		return "", false
	}
	cut := func(at int) (string, bool) {
		if at < 0 {
			return v.text, true
		}
		return v.text[:at], true
	}
	raw, op := p.Exp.Word.Lit(), p.Exp.Op
	suffix, prefix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix, op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	switch literal := raw != "" && strings.Trim(raw, plain) == ""; {
	case literal && suffix:
		return strings.TrimSuffix(v.text, raw), true
	case literal && prefix:
		return strings.TrimPrefix(v.text, raw), true
	case raw == "*/" && op == syntax.RemLargePrefix:
		return v.text[strings.LastIndexByte(v.text, '/')+1:], true
	case raw == "/*" && op == syntax.RemSmallSuffix:
		return cut(strings.LastIndexByte(v.text, '/'))
	case raw == ".*" && op == syntax.RemSmallSuffix:
		return cut(strings.LastIndexByte(v.text, '.'))
	case raw == ".*" && op == syntax.RemLargeSuffix:
		return cut(strings.IndexByte(v.text, '.'))
	}
	return "", false
}

// variable is what is known of a name; unset means that the script has not
// set it, so that it comes from the environment or is empty.
func (r *reader) variable(name string, st state) value {
	switch name {
	case "":
		return value{kind: unknown}
	case "#", "?", "$":
		return value{kind: number}
	case "!":
		return value{kind: number, gone: true, job: r.started}
	case "PPID", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "BASHPID", "SHLVL":
		return value{kind: number, gone: true}
	case "-", "_":
		return value{kind: unknown}
	}
	if v, ok := st.vars[name]; ok {
		return v
	}
	if name[0] >= '0' && name[0] <= '9' || name == "@" || name == "*" {
		return value{kind: unknown}
	}
	if st.crowded {
		return value{kind: unknown}
	}
	switch name {
	case "HOME":
		if r.World.Home != "" {
			return value{kind: exact, text: r.World.Home}
		}
	case "PWD":
		if len(st.dirs) == 1 {
			return value{kind: exact, text: st.dirs[0]}
		}
		return value{kind: unknown}
	case "OLDPWD":
		if len(st.old) == 1 {
			return value{kind: exact, text: st.old[0]}
		}
		return value{kind: unknown}
	case "IFS":
		return value{kind: unknown}
	}
	return value{kind: unset}
}

// secretName reports whether a variable's name says that it holds a secret.
func secretName(name string) bool {
	up := strings.ToUpper(name)
	for _, s := range []string{"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH"} {
		if strings.Contains(up, s) {
			return true
		}
	}
	return false
}

// arithm adds $((…)).
func (r *reader) arithm(b *builder, p *syntax.ArithmExp, st state) {
	if p.Bracket || p.Unsigned {
		r.Opaque(r.source(p), "an arithmetic form that shells read differently")
	}
	if why := r.oddInside(p, true); why != "" {
		r.Opaque(r.source(p), "a quote stands inside arithmetic")
	}
	if len(assigned(p)) > 0 {
		r.Opaque(r.source(p), "arithmetic that sets a variable inside a word")
	}
	r.checkArithm(p.X, st)
	// It may be negative, but no command here has a harmful flag of digits.
	b.mark(number)
}

// checkArithm asks about arithmetic that could evaluate a variable's text:
// a value such as a[$(cmd)] runs cmd.
func (r *reader) checkArithm(x syntax.ArithmExpr, st state) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		r.checkArithm(x.X, st)
		r.checkArithm(x.Y, st)
	case *syntax.UnaryArithm:
		r.checkArithm(x.X, st)
	case *syntax.ParenArithm:
		r.checkArithm(x.X, st)
	case *syntax.Word:
		r.arithmWord(x, st)
	default:
		r.Opaque(programs.Clip(r.Source), "arithmetic that is not known")
	}
}

func (r *reader) arithmWord(w *syntax.Word, st state) {
	text := w.Lit()
	if len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok && oddParam(p) == "" && p.Index == nil && p.Exp == nil && p.Slice == nil && p.Repl == nil {
			if p.Length {
				return
			}
			text = p.Param.Value
			if v := r.variable(text, st); v.kind == number || v.kind == exact && scan.Number(v.text) {
				return
			}
			r.Opaque(r.source(w), "arithmetic over a variable whose value is not a known number")
			return
		}
	}
	if text == "" {
		r.visitWord(w, st)
		r.Opaque(r.source(w), "an expansion inside arithmetic")
		return
	}
	if scan.Number(text) || strings.HasPrefix(text, "0x") && isHex(text[2:]) {
		return
	}
	if !syntax.ValidName(text) {
		r.Opaque(r.source(w), "arithmetic that is not plain")
		return
	}
	switch v := r.variable(text, st); {
	case v.kind == number, v.kind == unset && ownName(text), v.kind == exact && (v.text == "" || scan.Number(v.text)):
	default:
		r.Opaque(r.source(w), "arithmetic over a variable whose value is not a known number")
	}
}

// ownName reports a name that no shell sets by itself: BASH_REMATCH, MATCH and
// their kin hold text that a script chooses.
func ownName(name string) bool {
	return strings.ToUpper(name) != name && !programs.RiskyVariable(name) && name != "match" && name != "mbegin" && name != "mend"
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i], 16) {
			return false
		}
	}
	return s != ""
}

// visitWord walks the commands inside a word that is not read otherwise, so
// that deny rules see them.
func (r *reader) visitWord(w *syntax.Word, st state) {
	if w != nil {
		r.visit(w, st)
	}
}

func (r *reader) visitParam(p *syntax.ParamExp, st state) { r.visit(p, st) }

func (r *reader) visit(n syntax.Node, st state) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, st)
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, st)
			return false
		}
		return true
	})
}

// isAll reports "$@" and "${a[@]}", which become several words even in quotes.
func isAll(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Param.Value == "@" || p.Index != nil
}
