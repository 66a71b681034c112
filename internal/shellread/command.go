package shellread

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
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
	saved, outer, pipe := len(r.env), r.Of, r.Pipe
	if pipe == 0 {
		r.pipes++
		r.Pipe, r.Stage = r.pipes, 0
	}
	own := &policy.Written{In: outer}
	defer func() { r.Of, r.Pipe = outer, pipe }()
	for _, a := range c.Assigns {
		if a.Name != nil && a.Name.Value == "IFS" && c.Args[0].Lit() == "read" && r.plainIFS(a, in) {
			r.readIFS = r.quietly(a, func() value { return r.value(a.Value, in) }).text
			defer func() { r.readIFS = "" }()
			continue // it lives for this read only, and only splits what comes in
		}
		r.prefix(a, c, own, in)
	}
	var words []word
	for _, w := range c.Args {
		words = append(words, r.words(w, in)...)
	}
	for _, w := range words {
		r.TouchGlob(w, in.dirs)
	}
	if len(words) == 0 {
		r.OpaqueRuns(r.source(c), "the command is not known before it runs")
		return in, in
	}
	r.write(own, c, words, saved)
	ok, any = r.simple(words, c, in)
	if split, more := fields(words); more && r.depth <= maxDepth/2 {
		r.keepForRules(func() { r.simple(split, nil, in) })
	}
	if or, more := alternatively(words); more {
		r.suppose(or, in)
	}
	r.env, r.envValues = r.env[:saved], r.envValues[:saved]
	return ok, any
}

// fields are the words of a command as a shell reads them that splits values at
// blanks; more is false when there are none that it does.
func fields(ws []word) (split []word, more bool) {
	for _, w := range ws {
		if w.Fields == nil {
			split = append(split, w)
			continue
		}
		more = true
		for _, f := range w.Fields {
			split = append(split, lit(f))
		}
	}
	return split, more
}

// prefix notes NAME=value before a command.
func (r *reader) prefix(a *syntax.Assign, call *syntax.CallExpr, own *policy.Written, st state) {
	if a.Index != nil || a.Array != nil || a.Append || a.Name == nil {
		r.Opaque(r.source(a), "an assignment that is not plain")
		r.visit(a, st)
		return
	}
	v := r.value(a.Value, st)
	if v.kind == exact && v.text != "" && len(v.text) < 300 && !strings.ContainsAny(v.text, " \n") {
		r.Recorder.Read(lit(v.text), st.dirs, policy.Read{Sure: policy.Possible})
	}
	if programs.NamesFile(a.Name.Value) && v.kind == exact {
		r.Named(a.Name.Value, v.text, st.dirs, true)
	}
	outer := r.Of
	r.Of = own
	if v.kind == exact && r.modulesHere(a.Name.Value, v.text, call, st) {
		r.env, r.envValues = append(r.env, a.Name.Value+"="+v.text), append(r.envValues, v)
	} else {
		r.setEnv(a.Name.Value, v, r.source(a))
	}
	r.Of = outer
}

// modulesHere reports PYTHONPATH with folders of the session, before a command that runs the
// project's code in any case: that may load modules from there as well.
func (r *reader) modulesHere(name, text string, call *syntax.CallExpr, st state) bool {
	if name != "PYTHONPATH" || text == "" || len(st.dirs) == 0 {
		return false
	}
	words, ok := literals(call.Args)
	if !ok || len(words) < 2 || !slices.Contains([]string{"python", "python3", "pytest"}, words[0]) || r.funcs[words[0]] != nil || slices.Contains(words, "json.tool") { // that only reads
		return false
	}
	for part := range strings.SplitSeq(text, ":") {
		if part == "" || strings.ContainsAny(part, "~$*?[\\") || !r.InSession(lit(part), st.dirs) {
			return false
		}
	}
	return true
}

// plainIFS reports IFS=text.
func (r *reader) plainIFS(a *syntax.Assign, st state) bool {
	return a.Index == nil && a.Array == nil && !a.Append && (a.Value == nil || r.quietly(a.Value, func() value { return r.value(a.Value, st) }).kind == exact)
}

// setEnv adds a variable to the environment of the commands inside; only
// harmless ones pass.
func (r *reader) setEnv(name string, v value, src string) {
	text, known := v.text, v.kind == exact || v.kind == number
	r.env = append(r.env, name+"="+text)
	r.envValues = append(r.envValues, v)
	if programs.HarmlessValue(name, text) && known {
		return
	}
	if !programs.HarmlessVariable(name) {
		risky := programs.RiskyVariable(name)
		o := policy.Opaque{Source: src, Why: "the variable " + name + " may change what the command does", Listed: !risky, Whole: true, Steers: risky}
		if known {
			o.Sets = name + "=" + text
		}
		r.Unclearly(o)
		return
	}
	if !known || strings.ContainsAny(text, "/$`") {
		r.Opaque(src, "the value of "+name+" may change what the command does")
	}
}

// simple reads one command whose words are known as far as they are.
func (r *reader) simple(ws []word, n syntax.Node, st state) (ok, any state) {
	r.cmds++
	name := ws[0]
	if n := len(r.outer); name.Is("--") && len(ws) > 1 && n > 0 && len(r.outer[n-1]) == 1 && r.outer[n-1][0] == "time" {
		// bash's time takes -- as the end of its own flags.
		r.Opaque(name.Source, "a form of time that shells read differently")
		return r.simple(ws[1:], nil, st)
	}
	if name.Made {
		r.Opaque(name.Source, "a brace expansion makes the command")
	}
	if name.Kind != exact || name.Many {
		r.OpaqueRuns(name.Source, "the command is not known before it runs")
		r.markExec(ws, st, "the command is not known before it runs")
		return st, st
	}
	if len(name.Source) > 1 && strings.IndexByte("!{}", name.Source[0]) >= 0 {
		r.Opaque(name.Source, "shells read this beginning of a command differently")
	}
	if eq := strings.IndexByte(name.Source, '='); eq > 0 && strings.IndexFunc(name.Source[:eq], func(c rune) bool { return c >= utf8.RuneSelf }) >= 0 {
		r.Opaque(name.Source, "zsh takes this for an assignment and runs what follows")
	}
	if digits := strings.TrimLeft(name.Source, "0123456789"); digits != name.Source && strings.HasPrefix(strings.TrimPrefix(digits, "+"), "=") {
		r.Opaque(name.Source, "zsh assigns an argument here and runs what follows")
	}
	if r.depth > maxDepth {
		r.Opaque(name.Source, "it is nested too deeply")
		r.mark(ws, st, policy.Exec{Why: "it is nested too deeply", Inner: policy.Inner{Holds: policy.HoldsSurely}})
		return st, st
	}
	if n != nil && firstVariable(n) && !belowHome(n, name.Text) {
		// x=ls; $x: a shell that splits differently runs something else.
		runs := r.Table.Handles(programs.Base(name.Text), ws) == policy.NoHandling
		r.Unclearly(policy.Opaque{Source: name.Source, Why: "the command's name comes from a variable", Runs: runs})
		return st, st
	}
	if body := r.funcs[name.Text]; body != nil && r.direct() {
		if len(r.env) > 0 {
			r.Opaque(name.Source, "a function that is called with variables of its own")
		}
		st = r.withEnv(st)
		if st.defs[name.Text] {
			return r.callFunc(name.Text, body, ws[1:], st)
		}
		// It may be defined here or not, so the program may run as well.
		r.exec(ws, st)
		_, called := r.callFunc(name.Text, body, ws[1:], st)
		return both(merge(st, called))
	}
	if b := builtin(name.Text); b != nil {
		r.starts(n, ws)
		before := len(r.Actions)
		ok, any = b(r, ws, st)
		r.nameBuiltin(before, ws, st)
		return ok, any
	}
	if why := r.otherShell(name, st); why != "" {
		r.unreadLauncher(ws, st, why)
		return st, st
	}
	if w := wrapper(programs.Base(name.Text)); w != nil && programs.StandardPath(name.Text) {
		r.starts(n, ws)
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

// belowHome reports a program that is named by $HOME and nothing else that is expanded,
// whose name no shell splits.
func belowHome(n syntax.Node, text string) bool {
	c := n.(*syntax.CallExpr)
	if strings.ContainsAny(text, " \t\n*?[]\\") || !strings.HasPrefix(text, "/") {
		return false
	}
	only := true
	syntax.Walk(c.Args[0], func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			only = only && n.Param != nil && n.Param.Value == "HOME" && n.Exp == nil && n.Repl == nil && n.Slice == nil && n.Index == nil && !n.Excl && !n.Length && !n.Width
		case *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
			only = false
		}
		return only
	})
	return only
}

// inside reads the command that a wrapper runs.
func (r *reader) inside(wrapper, rest []word, st state) (ok, any state) {
	if len(rest) == 0 {
		r.exec(wrapper, st)
		return st, st
	}
	r.outer = append(r.outer, programs.Literals(wrapper))
	r.depth++
	before := len(r.Actions)
	ok, any = r.simple(rest, nil, st)
	if !slices.ContainsFunc(r.Actions[before:], func(a policy.Action) bool {
		e, exec := a.(policy.Exec)
		return !exec || e.Sure < policy.Possible || len(e.Touches) > 0
	}) && builtin(wrapper[0].Text) == nil {
		// A builtin that does nothing here is a program behind a wrapper.
		r.markExec(rest, st, rest[0].Text+" behind a wrapper is a program of that name")
	}
	r.depth--
	r.outer = r.outer[:len(r.outer)-1]
	return ok, any
}

// begin starts an Exec with everything that does not depend on the table.
func (r *reader) begin(ws []word, st state) policy.Exec {
	e := policy.Exec{Argv: programs.Literals(ws), Env: slices.Clone(r.env), Site: policy.Site{Of: r.Of, Pipe: r.Pipe, Stage: r.Stage}}
	if len(st.dirs) == 1 {
		e.Dir = st.dirs[0]
	}
	for _, w := range ws {
		if w.Kind != exact || w.Text == "{}" { // find, fd and parallel put a name there
			e.Loose = e.Loose || w.Kind != exact
			e.Open = append(e.Open, policy.Open{Source: w.Source, Head: w.Head, Tail: w.Tail, Many: w.Many})
		}
	}
	for i := range min(len(r.outer), 20) {
		argv := slices.Concat(r.outer[i:]...)
		e.Also = append(e.Also, append(argv, e.Argv...))
	}
	if verb, ok := strings.CutPrefix(programs.Base(e.Argv[0]), "git-"); ok { // a program of git's own folder
		e.Also = append(e.Also, append([]string{"git", verb}, e.Argv[1:]...))
	}
	if e.Argv[0] == "git" || programs.Base(e.Argv[0]) == "git" {
		e.Also = append(e.Also, programs.GitPlain(ws)...)
		if sub, why := programs.GitRenamed(ws, r.gitEnv()); why != "" {
			e.Open = append(e.Open, policy.Open{Source: sub})
		}
	}
	return e
}

// gitEnv are the variables that are set for a command of git.
func (r *reader) gitEnv() []string { return slices.Concat(r.env, r.exported) }

// loses says what a command would destroy for good, and the words that say so; of one of
// git that settings given with it may make another that may be anything.
func (r *reader) loses(prog string, ws []word, dirs []string) (what string, words []string) {
	_, renamed := programs.GitRenamed(ws, r.gitEnv())
	if what = r.Loses(prog, ws, dirs); what != "" {
		if renamed == "" {
			words = r.Table.LostWords(prog, ws)
		}
		return what, words
	}
	if what = r.Table.InputLoses(prog, r.input.text+r.input.said); what != "" {
		return what, nil
	}
	if r.input.from == "git archive" && slices.Equal(r.input.dirs, dirs) && programs.UnpacksHere(prog, ws) {
		return "unpacking what git archive prints drops changes that are not committed", nil
	}
	return renamed, nil
}

// markExec adds a command that is not proven anything, for deny rules.
func (r *reader) markExec(ws []word, st state, why string) {
	r.mark(ws, st, policy.Exec{Why: why, Inner: policy.Inner{Holds: policy.HoldsTexts}})
}

// mark adds a command of which that much is known.
func (r *reader) mark(ws []word, st state, known policy.Exec) {
	if ws[0].Kind != exact {
		return
	}
	e := r.begin(ws, st)
	e.Why, e.Unseen = known.Why, known.Unseen
	e.Beyond = cmp.Or(r.Table.Beyond(programs.Base(ws[0].Text), ws), programs.OpenWord(ws), programs.ValueBeyond(programs.Base(ws[0].Text), ws[1:]), known.Beyond)
	if programs.OpenWord(ws) == "" && known.Beyond == "" && programs.ValueBeyond(programs.Base(ws[0].Text), ws[1:]) == "" {
		e.Launches, e.Starts = r.Table.Starts(programs.Base(ws[0].Text), ws)
	}
	if known.Beyond == "" {
		r.without(&e, programs.Base(ws[0].Text), ws, st)
	}
	e.Strays = r.Invoke(programs.Base(ws[0].Text), st.dirs).Strays(ws)
	e.Loses, e.Lost = r.loses(programs.Base(ws[0].Text), ws, st.dirs)
	r.holds(&e, known.Holds, ws, st)
	e.Handles = r.Table.Handles(programs.Base(ws[0].Text), ws)
	at := r.Add(e)
	r.fed(at, ws, st)
	u := r.Invoke(programs.Base(ws[0].Text), st.dirs)
	u.Actions = u.MayRead(ws)
	u.Wholes(ws)
	r.Touch(at, u.Actions)
	r.heldActions(e, ws, st)
	r.fedNames(at, ws, st)
}

// exec adds an external command (or a builtin that acts like one) and what
// its arguments touch.
func (r *reader) exec(ws []word, st state) {
	e := r.begin(ws, st)
	prog := programs.Base(ws[0].Text)
	u := r.Invoke(prog, st.dirs)
	switch {
	case !programs.StandardPath(ws[0].Text):
		e.Why = "what a program of its own does is not known"
		e.Beyond = ""
	default:
		e.Handles = r.Table.Handles(prog, ws)
		e.Why = u.ReadOnly(ws)
		if prog == "go" && e.Why == "" && r.Unpinned {
			e.Why = "go without the variables that keep it from fetching"
		}
		e.ReadOnly = e.Why == ""
	}
	if programs.SetsAlias(ws) {
		r.exported = append(r.exported, "GIT_CONFIG") // as a variable with the setting would
	}
	closed := programs.Closed(ws)
	e.Beyond = r.Table.Beyond(prog, closed)
	e.RunnerWords = r.Table.Through(prog, ws)
	e.Launches, e.Starts = r.Table.Starts(prog, ws)
	if e.Beyond != "" && !r.Fed {
		e.Outputs = r.Table.NamedOutputs(prog, ws)
		var behind []word
		if e.Spelled, behind = r.Table.SpelledFlags(prog, ws); behind != nil {
			e.Launches, e.Starts = r.Table.Starts(prog, behind)
			e.Launches += e.Spelled - 1
			if n := r.Table.Through(prog, behind); n > 0 {
				e.RunnerWords = n + e.Spelled - 1
			}
		}
	}
	e.Elsewhere = !programs.RunsHere(prog)
	if r.Fed && e.Beyond == "" && !e.ReadOnly {
		e.Beyond = "xargs adds arguments that are not known before it runs"
	}
	if e.Beyond == "" && !e.ReadOnly {
		e.Beyond = programs.OpenWord(closed)
	}
	if e.Beyond != "" && !e.ReadOnly {
		e.Why = e.Beyond
	}
	e.Loses, e.Lost = r.loses(prog, ws, st.dirs)
	e.Unseen = r.runsUnseen(prog, ws, st, &e)
	unpacks := ""
	if !e.ReadOnly {
		unpacks = u.Unpacks(ws, r.input.text, r.input.given, r.input.file)
		e.Edits = u.Changes(ws)
		if !e.Edits && e.Beyond == "" && u.Why != "" {
			e.Why = u.Why
		}
	}
	if openWord := programs.OpenWord(ws); openWord != "" {
		e.RunnerWords, e.Launches = 0, 0
	}
	if why := programs.ValueBeyond(prog, closed[1:]); why != "" && e.Beyond == "" && !e.ReadOnly && !e.Edits {
		e.Beyond, e.Why = why, why
	}
	if e.ReadOnly && prog == "find" {
		e.Beyond = "" // what it starts only reads, too
	}
	if e.ReadOnly && e.Beyond != "" {
		e.ReadOnly = false
		e.Why = e.Beyond
	}
	if e.ReadOnly || e.Edits {
		e.Unpinned = u.WithoutPins(ws[0].Text)
	}
	if unpacks != "" && e.Spelled > 0 {
		e.RunnerWords, e.Launches = 0, 0
	}
	if unpacks != "" {
		e.Outputs, e.Spelled = nil, 0
	} else {
		r.without(&e, prog, ws, st)
	}
	if unpacks != "" && e.Beyond == "" {
		e.Beyond, e.Why, e.Launches = unpacks, unpacks, 0
	}
	if !e.ReadOnly && !e.Edits && prog != "find" && !isFd(prog) { // what those start is read below
		r.holds(&e, policy.HoldsTexts, ws, st)
	}
	if why := u.Told(ws, r.input.text, r.input.said, r.input.file); why != "" && !e.ReadOnly {
		e.Reach = policy.Reach{Beyond: why}
		e.Why = why
	}
	if !e.ReadOnly && !e.Edits {
		e.Strays = u.Strays(ws)
	}
	at := r.Add(e)
	r.fed(at, ws, st)
	if whole := r.Invoke(prog, st.dirs); !e.ReadOnly {
		whole.Wholes(ws)
		u.Actions = append(u.Actions, whole.Actions...)
	}
	r.Touch(at, u.Actions)
	if !e.ReadOnly {
		r.startsFound(prog, ws, st)
	} else if i := slices.IndexFunc(ws, func(w word) bool { return w.Is("-exec") }); prog == "find" && i > 0 {
		r.forRules(ws[i+1:len(ws)-1], st)
	}
	r.heldActions(e, ws, st)
	r.fedNames(at, ws, st)
}

// without notes what a command is without the flags that say where it works.
func (r *reader) without(e *policy.Exec, prog string, ws []word, st state) {
	rest, places := r.Invoke(prog, st.dirs).Without(ws)
	if rest == nil || r.Fed {
		return
	}
	w := policy.Exec{Argv: programs.Literals(rest), Env: e.Env, Reach: policy.Reach{Elsewhere: e.Elsewhere}}
	closed := programs.Closed(rest)
	if w.Beyond = r.Table.Beyond(prog, closed); w.Beyond != "" && programs.OpenWord(closed) == "" {
		w.RunnerWords = r.Table.Through(prog, rest)
		w.Launches, w.Starts = r.Table.Starts(prog, rest)
	}
	w.Beyond = cmp.Or(w.Beyond, programs.OpenWord(closed), programs.ValueBeyond(prog, closed[1:]))
	if len(places) == 0 && w.Beyond == "" && e.Beyond != "" {
		e.Beyond, e.Why = "", prog+" is not known to be read-only"
	}
	e.Without, e.Places = &w, places
}

// startsFound reads, for rules that forbid or ask, the commands that find and fd start
// with what they find.
func (r *reader) startsFound(prog string, ws []word, st state) {
	if prog != "find" && !isFd(prog) {
		return
	}
	for i, w := range ws[:min(len(ws), 200)] {
		inner := ws[i+1:]
		glued := isFd(prog) && len(w.Text) > 2 && (w.Text[:2] == "-x" || w.Text[:2] == "-X")
		name, val, _ := strings.Cut(w.Text, "=")
		switch {
		case w.Kind != exact || i == 0:
			continue
		case glued:
			inner = append([]word{lit(w.Text[2:])}, inner...)
		case isFd(prog) && val != "" && (name == "--exec" || name == "--exec-batch"):
			inner = append([]word{lit(val)}, inner...)
		case prog == "find" && (strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok")), isFd(prog) && (strings.HasPrefix(w.Text, "--exec") || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "xX") && !strings.HasPrefix(w.Text, "--")):
		default:
			continue
		}
		if end := slices.IndexFunc(inner, func(w word) bool { return w.Is(";") }); end >= 0 {
			inner = inner[:end]
		}
		inner = slices.Clone(inner)
		for at, w := range inner {
			if strings.Contains(w.Text, "{}") {
				inner[at] = word{Kind: unknown, Source: w.Source, Many: w.Text == "{}"}
			}
		}
		if len(inner) > 0 && r.depth <= maxDepth/2 {
			r.keepForRules(func() { r.simple(inner, nil, st) })
		}
	}
}

func isFd(prog string) bool { return prog == "fd" || prog == "fdfind" }
