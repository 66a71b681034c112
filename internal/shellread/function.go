package shellread

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// jump notes what is known where break, continue or return leaves a loop or a
// function: it goes on behind that, not behind the word.
func (r *reader) jump(st state) {
	if r.jumped != nil {
		st = merge(*r.jumped, st)
	}
	r.jumped = &st
}

// withJumps walks a body and adds what is known where something left it early.
// The jump may leave what stands around it too, so it stays noted.
func (r *reader) withJumps(body func() state) state {
	before := r.jumped
	r.jumped = nil
	out := body()
	if r.jumped != nil {
		out = merge(out, *r.jumped)
	}
	if before != nil {
		r.jump(*before)
	}
	return out
}

// funcDecl remembers a function. One that shadows a command that is known
// makes everything after it uncertain.
func (r *reader) funcDecl(c *syntax.FuncDecl, in state) {
	if !compound(c.Body) {
		// The parser takes all of f() { …; } && rm x for the body; shells end it
		// at the brace and run the rest.
		r.Opaque(r.source(c), "a function whose body is not a single compound command")
		r.stmt(c.Body, in)
	}
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	if !syntax.ValidName(name) || r.known(name) || strings.HasPrefix(name, programs.OwnVariables) {
		r.Opaque(r.source(c), "a function that stands in for a command")
	}
	if r.trapped {
		r.Opaque(r.source(c), "a function that is defined behind a trap, which may call it")
	}
	st := state{vars: map[string]value{}}
	st = st.forget(assigned(c))
	// Where and with which variables it runs is not known here; a call of it
	// is read again in its place.
	saved, n := r.Notes, r.cmds
	r.Seen = nil // what is unclear in it must be said again where it is called
	r.keepFuncs(func() { r.stmt(c.Body, st) })
	r.Seen = saved.Seen
	found := r.Actions[len(saved.Actions):]
	if r.funcs[name] == nil && name != "" && !r.known(name) {
		// Only what deny rules look at stays, in the place of found.
		r.Notes, r.cmds = saved, n
		for _, a := range found {
			if e, ok := a.(policy.Exec); ok {
				e.Touches = nil
				r.Actions = append(r.Actions, forRulesOnly(e))
			}
		}
	} else {
		r.Opaque(r.source(c), "a function that is defined twice")
	}
	if name != "" {
		r.funcs[name] = c.Body
	}
}

// keepFuncs reads something that may never run: the functions that it defines are
// not there behind it, nor in the place of others.
func (r *reader) keepFuncs(read func()) {
	funcs := r.funcs
	r.funcs = maps.Clone(funcs)
	read()
	r.funcs = funcs
}

// compound reports whether a statement is one that bash takes as the body of a
// function.
func compound(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return false
	}
	switch s.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.ArithmCmd, *syntax.TestClause:
		return true
	}
	return false
}

// forRulesOnly turns a command of a function that may never be called into one
// that only deny and ask rules look at.
func forRulesOnly(e policy.Exec) policy.Exec {
	e.ReadOnly, e.Sure, e.Why, e.Beyond, e.Loses, e.Edits = true, max(e.Sure, policy.Inside), "", "", "", false
	return e
}

// callFunc reads a function's body where it is called.
func (r *reader) callFunc(name string, body *syntax.Stmt, args []word, st state) (ok, any state) {
	if r.exhausted() {
		return st, st
	}
	if slices.Contains(r.calling, name) || r.depth > maxDepth {
		r.Opaque(name, "a function that calls itself")
		return st, st
	}
	r.calling = append(r.calling, name)
	r.depth++
	var okay state
	after := r.withJumps(func() (any state) {
		okay, any = r.stmt(body, st.parameters(args))
		return any
	})
	okay, after = okay.parametersOf(st), after.parametersOf(st)
	r.depth--
	r.calling = r.calling[:len(r.calling)-1]
	// What was local in it is now what it was before, or was never set.
	own := locals(body)
	return merge(okay, after).forget(own), after.forget(own)
}

// locals are the variables that local makes below n, whatever it says of them.
func locals(n syntax.Node) []string {
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.DeclClause); ok {
			names = append(names, assigned(d)...)
			for _, a := range d.Args {
				if a.Name != nil {
					names = append(names, a.Name.Value)
				}
			}
		}
		return true
	})
	return names
}

// direct reports whether the shell itself runs the command, with nothing but
// time before it: only then can it be a function.
func (r *reader) direct() bool {
	return !slices.ContainsFunc(r.outer[min(r.shell, len(r.outer)):], func(w []string) bool { return len(w) != 1 || w[0] != "time" })
}
