package shellread

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
)

// call walks a simple command: assignments, words, and what they run.
func (r *reader) call(c *syntax.CallExpr, in state) (ok, any state) {
	if len(c.Args) == 0 {
		st := in
		for _, a := range c.Assigns {
			st = r.assign(a, st)
		}
		return st, st
	}
	saved := len(r.env)
	for _, a := range c.Assigns {
		if a.Name != nil && a.Name.Value == "IFS" && c.Args[0].Lit() == "read" && r.plainIFS(a, in) {
			continue // it lives for this read only, and only splits what comes in
		}
		r.prefix(a, in)
	}
	var words []word
	for _, w := range c.Args {
		words = append(words, r.words(w, in)...)
	}
	for _, w := range words {
		r.touchGlob(w, in.dirs)
	}
	if len(words) == 0 {
		r.opaque(r.source(c), "the command is not known before it runs")
		return in, in
	}
	ok, any = r.simple(words, c, in)
	r.env = r.env[:saved]
	return ok, any
}

// prefix notes NAME=value before a command.
func (r *reader) prefix(a *syntax.Assign, st state) {
	if a.Index != nil || a.Array != nil || a.Append || a.Name == nil {
		r.opaque(r.source(a), "an assignment that is not plain")
		r.visit(a, st)
		return
	}
	v := r.value(a.Value, st)
	r.setEnv(a.Name.Value, v.text, v.kind == exact || v.kind == number, r.source(a))
}

// plainIFS reports IFS=text.
func (r *reader) plainIFS(a *syntax.Assign, st state) bool {
	return a.Index == nil && a.Array == nil && !a.Append && r.value(a.Value, st).kind == exact
}

// setEnv adds a variable to the environment of the commands inside; only
// harmless ones pass.
func (r *reader) setEnv(name, text string, known bool, src string) {
	r.env = append(r.env, name+"="+text)
	if harmlessValue(name, text) && known {
		return
	}
	if !harmlessVariable(name) {
		r.opaque(src, "the variable "+name+" may change what the command does")
	} else if !known || strings.ContainsAny(text, "/$`") {
		r.opaque(src, "the value of "+name+" may change what the command does")
	}
}

// simple reads one command whose words are known as far as they are.
func (r *reader) simple(ws []word, n syntax.Node, st state) (ok, any state) {
	r.cmds++
	name := ws[0]
	if n := len(r.outer); name.is("--") && len(ws) > 1 && n > 0 && len(r.outer[n-1]) == 1 && r.outer[n-1][0] == "time" {
		// bash's time takes -- as the end of its own flags.
		r.opaque(name.src, "a form of time that shells read differently")
		return r.simple(ws[1:], nil, st)
	}
	if name.made {
		r.opaque(name.src, "a brace expansion makes the command")
	}
	if name.kind != exact || name.many {
		r.opaque(name.src, "the command is not known before it runs")
		r.markExec(ws, st, "the command is not known before it runs")
		return st, st
	}
	if len(name.src) > 1 && strings.IndexByte("!{}", name.src[0]) >= 0 {
		r.opaque(name.src, "shells read this beginning of a command differently")
	}
	if eq := strings.IndexByte(name.src, '='); eq > 0 && strings.IndexFunc(name.src[:eq], func(c rune) bool { return c >= utf8.RuneSelf }) >= 0 {
		r.opaque(name.src, "zsh takes this for an assignment and runs what follows")
	}
	if digits := strings.TrimLeft(name.src, "0123456789"); digits != name.src && strings.HasPrefix(strings.TrimPrefix(digits, "+"), "=") {
		r.opaque(name.src, "zsh assigns an argument here and runs what follows")
	}
	if r.depth > maxDepth {
		r.opaque(name.src, "it is nested too deeply")
		r.suspect(ws, st)
		return st, st
	}
	if n != nil && firstVariable(n) {
		// x=ls; $x: a shell that splits differently runs something else.
		r.opaque(name.src, "the command's name comes from a variable")
		return st, st
	}
	if body := r.funcs[name.text]; body != nil && r.direct() {
		if len(r.env) > 0 {
			r.opaque(name.src, "a function that is called with variables of its own")
		}
		if st.defs[name.text] {
			return r.callFunc(name.text, body, ws[1:], st)
		}
		// It may be defined here or not, so the program may run as well.
		r.exec(ws, st)
		_, called := r.callFunc(name.text, body, ws[1:], st)
		return both(merge(st, called))
	}
	if b := builtin(name.text); b != nil {
		return b(r, ws, st)
	}
	if w := wrapper(base(name.text)); w != nil && standardPath(name.text) {
		return w(r, ws, st)
	}
	r.exec(ws, st)
	return st, st
}

// firstVariable reports whether the command's word is written with an
// expansion.
func firstVariable(n syntax.Node) bool {
	c, ok := n.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	found := false
	syntax.Walk(c.Args[0], func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
			found = true
		}
		return !found
	})
	return found
}

// inside reads the command that a wrapper runs.
func (r *reader) inside(wrapper, rest []word, st state) (ok, any state) {
	if len(rest) == 0 {
		r.exec(wrapper, st)
		return st, st
	}
	r.outer = append(r.outer, literals(wrapper))
	r.depth++
	before := len(r.acts)
	ok, any = r.simple(rest, nil, st)
	if len(r.acts) == before && builtin(wrapper[0].text) == nil {
		// A builtin that does nothing here is a program behind a wrapper.
		r.markExec(rest, st, rest[0].text+" behind a wrapper is a program of that name")
	}
	r.depth--
	r.outer = r.outer[:len(r.outer)-1]
	return ok, any
}

// begin starts an Exec with everything that does not depend on the table.
func (r *reader) begin(ws []word, st state) policy.Exec {
	e := policy.Exec{Argv: literals(ws), Env: slices.Clone(r.env)}
	if len(st.dirs) == 1 {
		e.Dir = st.dirs[0]
	}
	for _, w := range ws {
		e.Loose = e.Loose || w.kind != exact
	}
	for i := range min(len(r.outer), 20) {
		argv := slices.Concat(r.outer[i:]...)
		e.Also = append(e.Also, append(argv, e.Argv...))
	}
	if verbs[base(e.Argv[0])] && len(ws) > 2 && strings.HasPrefix(e.Argv[1], "-") {
		// docker --context x run y is docker run y for a deny rule.
		for i := 2; i < min(len(ws), 10); i++ {
			if !strings.HasPrefix(e.Argv[i], "-") {
				e.Also = append(e.Also, append([]string{base(e.Argv[0])}, e.Argv[i:]...))
			}
		}
	}
	if e.Argv[0] == "git" || base(e.Argv[0]) == "git" {
		if plain := gitPlain(ws); plain != nil {
			e.Also = append(e.Also, plain)
		}
	}
	return e
}

// markExec adds a command that is not proven anything, for deny rules.
func (r *reader) markExec(ws []word, st state, why string) {
	if ws[0].kind != exact {
		return
	}
	e := r.begin(ws, st)
	e.Why = why
	if e.Beyond = r.table.beyond(base(ws[0].text), ws); e.Beyond == "" {
		e.Beyond = openWord(ws)
	}
	e.Loses = loses(base(ws[0].text), ws)
	r.add(e)
	u := &use{r: &r.recorder, dirs: st.dirs, name: base(ws[0].text)}
	for _, a := range u.guess(ws) {
		r.add(a)
	}
}

// exec adds an external command (or a builtin that acts like one) and what
// its arguments touch.
func (r *reader) exec(ws []word, st state) {
	e := r.begin(ws, st)
	prog := base(ws[0].text)
	u := &use{r: &r.recorder, dirs: st.dirs, name: prog}
	switch {
	case !standardPath(ws[0].text):
		e.Why = ws[0].text + " is a program of its own, not the one of that name"
		e.Beyond = ""
	default:
		e.Why = u.look(ws)
		if prog == "go" && e.Why == "" && r.unpinned {
			e.Why = "go without the variables that keep it from fetching"
		}
		e.ReadOnly = e.Why == ""
	}
	e.Beyond = r.table.beyond(prog, ws)
	if r.fed && e.Beyond == "" && !e.ReadOnly {
		e.Beyond = "xargs adds arguments that are not known before it runs"
	}
	if e.Beyond == "" && !e.ReadOnly {
		e.Beyond = openWord(ws)
	}
	if e.Beyond != "" && !e.ReadOnly {
		e.Why = e.Beyond
	}
	e.Loses = loses(prog, ws)
	e.Unseen = r.runsUnseen(prog, ws, st, &e)
	u.name = prog
	if !e.ReadOnly {
		if edits, ok := u.changes(ws); ok {
			e.Edits = true
			u.acts = edits
		} else {
			u.acts = append(u.acts, edits...)
			if e.Beyond == "" && u.why != "" {
				e.Why = u.why
			}
		}
	}
	if e.ReadOnly && e.Beyond != "" {
		e.ReadOnly = false
		e.Why = e.Beyond
	}
	if e.ReadOnly || e.Edits {
		e.Unpinned = u.withoutPins(ws[0].text)
	}
	r.add(e)
	for _, a := range u.acts {
		r.add(a)
	}
	if !e.ReadOnly {
		r.launched(prog, ws, st)
		r.behind(prog, ws, st)
	}
}

// launched lists, for deny and ask rules, the commands that a command starts
// through its flags: find -exec, fd -x, git rebase --exec …
func (r *reader) launched(prog string, ws []word, st state) {
	for i, w := range ws {
		if w.kind != exact || i == 0 {
			continue
		}
		from := -1
		switch {
		case prog == "find" && (strings.HasPrefix(w.text, "-exec") || strings.HasPrefix(w.text, "-ok")),
			(prog == "fd" || prog == "fdfind") && (strings.HasPrefix(w.text, "--exec") || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "xX") && !strings.HasPrefix(w.text, "--")),
			prog == "git" && (w.text == "run" && ws[i-1].is("bisect") || w.text == "foreach"):
			from = i + 1
		case prog == "git" && (w.text == "--exec" || w.text == "-x") && i+1 < len(ws) && ws[i+1].kind == exact:
			r.denyScript(ws[i+1].text, st)
		}
		if from > 0 && from < len(ws) && ws[from].kind == exact {
			inner := ws[from:]
			if end := slices.IndexFunc(inner, func(w word) bool { return w.is(";") }); end > 0 {
				inner = inner[:end]
			}
			r.suspectOne(inner, st)
			if wrapper(base(inner[0].text)) != nil {
				r.suspect(inner[1:], st)
			}
			r.denyScript(inner[0].text, st)
		}
		// fd --exec=rm, fd -xrm, git rebase --exec='rm x'
		if name, val, _ := strings.Cut(w.text, "="); val != "" && (name == "--exec" || name == "--exec-batch") {
			r.suspectOne([]word{lit(val)}, st)
			r.denyScript(val, st)
		} else if (prog == "fd" || prog == "fdfind") && len(w.text) > 2 && (w.text[:2] == "-x" || w.text[:2] == "-X") {
			r.suspectOne([]word{lit(w.text[2:])}, st)
		}
	}
}
