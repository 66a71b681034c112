package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// An input is what a command reads from its standard input.
type input struct {
	text    string // of a here-document or here-string
	given   bool   // text is that
	unknown bool   // a pipe or a file
}

// inputOf is the standard input of a statement, that around it when it has no
// redirect of its own.
func (r *reader) inputOf(s *syntax.Stmt, st state) input {
	in := r.input
	for _, rd := range s.Redirs {
		if rd.N != nil && rd.N.Value != "0" {
			continue
		}
		switch rd.Op {
		case syntax.WordHdoc:
			v := r.quietly(func() value { return r.value(rd.Word, st) })
			in = input{text: v.text, given: v.kind == exact, unknown: v.kind != exact}
		case syntax.Hdoc, syntax.DashHdoc:
			in = input{given: true}
			if rd.Hdoc != nil {
				in.text = r.text(rd.Hdoc)
			}
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			in = input{unknown: rd.Word == nil || rd.Word.Lit() != "/dev/null"}
		default:
		}
	}
	return in
}

// quietly works out a value and keeps none of the actions that this adds: they are
// added where it is read for what it does.
func (r *reader) quietly(f func() value) value {
	acts, unclear, unsafe, cmds, steps := r.Actions, r.Unclear, r.Unsafe, r.cmds, r.steps
	seen := r.Seen
	r.Actions, r.Seen = nil, nil
	v := f()
	r.Actions, r.Unclear, r.Unsafe, r.cmds, r.steps, r.Seen = acts, unclear, unsafe, cmds, steps, seen
	return v
}

// fed lists, for rules that forbid or ask, the commands that a program finds on its
// standard input; at is the action of the program itself.
func (r *reader) fed(at int, ws []word, st state) {
	prog := programs.Base(ws[0].Text)
	if !programs.ReadsCommands(prog) {
		return
	}
	if r.input.given {
		text := programs.CommandsIn(prog, r.input.text)
		r.denyScript(text+"\n", st)
		r.mayRunCode(text, st)
	}
	e, ok := r.Actions[at].(policy.Exec)
	if !ok || e.Unseen != "" {
		return
	}
	why := ""
	switch {
	case !programs.OnlyCommands(prog, ws):
	case r.input.unknown:
		why = prog + " reads commands from its standard input, and these are not known"
	default:
		if file := scheduled(prog, ws); file != nil {
			e.FromFile = r.scriptFile([]word{*file}, st)
			why = prog + " takes commands from a file"
		}
	}
	if why != "" {
		e.Unseen = why
		if e.Beyond == "" {
			e.Beyond = why
		}
		r.Actions[at] = e
	}
}

// scheduled is the file whose commands crontab, at or parallel takes, nil when there is none.
func scheduled(prog string, ws []word) *word {
	for i, w := range ws[1:] {
		switch {
		case prog == "parallel" && (ws[i].Is("::::") || ws[i].Is("-a")), prog == "at" && ws[i].Is("-f"), prog == "crontab" && !strings.HasPrefix(w.Text, "-") && !ws[i].Is("-u"):
			return &w
		}
	}
	return nil
}

// fedText lists the commands that the text of what stands before a pipe may hold,
// for a program behind it that takes commands.
func (r *reader) fedText(c *syntax.BinaryCmd, call *syntax.CallExpr, st state) {
	if slices.ContainsFunc(call.Args[:min(len(call.Args), 20)], func(w *syntax.Word) bool { return programs.ReadsCommands(programs.Base(w.Lit())) }) {
		text := r.text(c.X)
		r.mayRunCode(strings.ReplaceAll(text[:min(len(text), 5000)], `\n`, "\n"), st)
	}
}
