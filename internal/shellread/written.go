package shellread

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// write notes a simple command as the script has it; from is where its assignments begin
// in r.env. What is read from now on belongs to it.
func (r *reader) write(w *policy.Written, c syntax.Node, ws []word, from int) {
	r.Stage++ // what stands in its words comes before it
	w.Argv, w.Env = programs.Literals(ws), slices.Clone(r.env[from:])
	if n := len(r.outer); n > 0 && slices.Equal(r.outer[n-1], []string{"time"}) && r.funcs[ws[0].Text] == nil {
		w.Argv, w.Starts = append([]string{"time"}, w.Argv...), true
	}
	w.Loose = slices.ContainsFunc(ws, func(w word) bool { return w.Kind != exact })
	w.Open = ws[0].Kind != exact || ws[0].Many || programs.OpenWord(ws) != ""
	if at, ok := r.places[c]; ok && len(r.line.Steps) > 0 {
		if r.line.Steps[at] != nil {
			r.line.Steps = nil // read twice: it is no plain line
		} else {
			r.line.Steps[at], w.Line, w.At = w, r.line, at
		}
	}
	r.Of = w
}

// starts notes that a command of the script is there to run another one.
func (r *reader) starts(n syntax.Node, ws []word) {
	if n == nil || r.Of == nil {
		return
	}
	switch ws[0].Text {
	case "exec", "command", "builtin", "eval", "trap", "source", ".":
		r.Of.Starts = true
	default:
		r.Of.Starts = r.Of.Starts || builtin(ws[0].Text) == nil
	}
}

// lineOf is a script that is nothing but simple commands, one behind the other; nil for
// any other.
func lineOf(stmts []*syntax.Stmt) (*policy.Line, map[syntax.Node]int) {
	l, places := &policy.Line{}, map[syntax.Node]int{}
	var walk func(s *syntax.Stmt, piped, fails bool) bool
	walk = func(s *syntax.Stmt, piped, fails bool) bool {
		if s.Negated || s.Background || s.Coprocess || s.Disown {
			return false
		}
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			places[c] = len(places)
			l.Piped, l.Fails = append(l.Piped, piped), append(l.Fails, fails)
			return len(c.Args) > 0
		case *syntax.DeclClause:
			places[c] = len(places)
			l.Piped, l.Fails = append(l.Piped, piped), append(l.Fails, fails)
			return true
		case *syntax.BinaryCmd:
			pipe := c.Op == syntax.Pipe || c.Op == syntax.PipeAll
			return walk(c.X, piped, fails) && walk(c.Y, pipe, c.Op == syntax.OrStmt)
		}
		return false
	}
	for _, s := range stmts {
		if !walk(s, false, false) {
			return nil, nil
		}
	}
	l.Steps = make([]*policy.Written, len(places))
	return l, places
}
