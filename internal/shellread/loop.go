package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// maxUnroll is how many literal values a for loop is walked with one by one.
const maxUnroll = 12

// loop walks a body that may run any number of times.
func (r *reader) loop(in state, body func(state) state, n syntax.Node) state {
	return r.repeat(r.forgetIn(n, in), n, body)
}

// repeat walks a body until what is known before it is no more than what is
// known after it: a variable that one round sets, however it does so, is not
// what it was in the next.
func (r *reader) repeat(st state, n syntax.Node, body func(state) state) state {
	for range 5 {
		cmds, funcs, links := r.cmds, len(r.funcs), r.Links()
		out := merge(st, r.withJumps(func() state { return body(st) }))
		if out.equal(st) && len(r.funcs) == funcs && r.Links() == links {
			return out
		}
		if !slices.Equal(out.dirs, st.dirs) {
			out.dirs = nil
		}
		st = out
		if r.exhausted() {
			return st
		}
		r.cmds = cmds // the body's commands count once
	}
	r.Opaque(r.source(n), "a loop whose rounds cannot be followed")
	return st
}

// exhausted reports that too much was walked already to follow a loop again. Its
// body has been seen once, which is enough for deny rules; the rest asks.
func (r *reader) exhausted() bool {
	if r.steps < maxSteps {
		return false
	}
	r.Opaque(programs.Clip(r.Source), "its loops and functions are too deep to follow")
	return true
}

// forgetIn forgets what something below n sets; what is only ever set by
// arithmetic stays a number.
func (r *reader) forgetIn(n syntax.Node, st state) state {
	names := assigned(n)
	out := st.forget(names)
	for _, name := range names {
		old := st.vars[name]
		if (old.kind == number || old.kind == exact && scan.Number(old.text)) && onlyArithmetic(n, name) {
			out = out.with(name, value{kind: number})
		}
	}
	return out
}

// onlyArithmetic reports whether every assignment to name below n is name=$((…)).
func onlyArithmetic(n syntax.Node, name string) bool {
	only := true
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name == nil || n.Name.Value != name {
				return true
			}
			arith := false
			if n.Value != nil && len(n.Value.Parts) == 1 && n.Index == nil && !n.Append {
				_, arith = n.Value.Parts[0].(*syntax.ArithmExp)
			}
			only = only && arith
		case *syntax.WordIter:
			only = only && n.Name.Value != name
		case *syntax.CallExpr:
			// read, printf -v, getopts: any word that is the name.
			for _, a := range n.Args {
				only = only && a.Lit() != name
			}
		}
		return only
	})
	return only
}

// assigned are the variables that something below n sets.
func assigned(n syntax.Node) []string {
	var names []string
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				names = append(names, n.Name.Value)
			}
		case *syntax.WordIter:
			names = append(names, n.Name.Value)
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				switch n.Args[0].Lit() {
				case "read", "mapfile", "readarray", "getopts", "printf":
					for _, a := range n.Args[1:] {
						if s := a.Lit(); syntax.ValidName(s) {
							names = append(names, s)
						}
					}
				}
			}
		case *syntax.BinaryArithm:
			if w, ok := n.X.(*syntax.Word); ok && sets(n.Op) {
				names = append(names, w.Lit())
			}
		case *syntax.UnaryArithm:
			if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				names = append(names, w.Lit())
			}
		}
		return true
	})
	return names
}

// sets reports an operator of arithmetic that assigns.
func sets(op syntax.BinAritOperator) bool {
	return strings.HasSuffix(op.String(), "=") && op != syntax.Eql && op != syntax.Neq && op != syntax.Leq && op != syntax.Geq
}

// assignedIn marks what arithmetic sets as numbers.
func (r *reader) assignedIn(n syntax.Node, st state) state {
	for _, name := range assigned(n) {
		if syntax.ValidName(name) {
			r.checkName(name, n)
			if r.ints == nil {
				r.ints = map[string]bool{}
			}
			r.ints[name] = true
			st = st.with(name, value{kind: number})
		}
	}
	return st
}

func (r *reader) forClause(c *syntax.ForClause, in state) state {
	if c.Select {
		r.Opaque(r.source(c), "select waits for a person")
	}
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			r.checkArithm(x, in)
		}
		st := r.forgetIn(c, in)
		st = r.assignedIn(l, st)
		return r.repeat(st, c, func(st state) state {
			r.checkArithm(l.Cond, st)
			out := r.stmts(c.Do, r.forgetIn(l, st))
			r.checkArithm(l.Post, out) // the body may have set what it counts with
			r.checkArithm(l.Cond, out)
			return out
		})
	case *syntax.WordIter:
		return r.forWords(c, l, in)
	}
	r.Opaque(r.source(c), "a loop that is not known")
	return in
}

func (r *reader) forWords(c *syntax.ForClause, l *syntax.WordIter, in state) state {
	name := l.Name.Value
	if l.Name.Value == "" || !syntax.ValidName(name) {
		r.Opaque(r.source(c), "a loop that is not bash")
		name = "_"
	}
	r.checkName(name, c)
	var vals []value
	for _, w := range l.Items {
		for _, got := range r.words(w, in) {
			r.TouchGlob(got, in.dirs)
			if names := r.globbed(got, in); len(names) > 0 && takesApart(c, name) {
				for _, n := range names {
					vals = append(vals, value{kind: exact, text: n})
				}
				continue
			}
			vals = append(vals, loopValues(got)...)
		}
	}
	if !l.InPos.IsValid() {
		all := r.variable("@", in)
		vals = append(vals, value{kind: unknown})
		for _, f := range strings.Fields(all.or) {
			vals = append(vals, value{kind: unknown, or: f, ors: true})
		}
	}
	if len(vals) > maxUnroll {
		if slices.ContainsFunc(vals, func(v value) bool { return v.kind != exact }) {
			vals = []value{{kind: unknown}}
		} else if !slices.ContainsFunc(vals, func(v value) bool { return !scan.Number(v.text) || v.text[0] == '-' }) {
			vals = []value{{kind: number}}
		} else {
			r.Opaque(r.source(c), "a loop over too many values")
		}
	}
	st := r.forgetIn(c, in)
	if len(vals) > 0 && !slices.ContainsFunc(vals, func(v value) bool { return v.kind != exact }) {
		return r.rounds(c, name, vals, st)
	}
	out := st
	cmds, funcs, links := r.cmds, len(r.funcs), r.Links()
	for i, v := range vals {
		after := r.withJumps(func() state { return r.stmts(c.Do, st.with(name, v)) })
		if i == 0 {
			cmds = r.cmds // the body's commands count once
		}
		r.cmds = cmds
		out = merge(out, after.with(name, value{kind: unknown}))
		if r.exhausted() {
			out.dirs = nil
			break
		}
	}
	if before := st.with(name, value{kind: unknown}); len(vals) > 1 && !r.exhausted() && (!out.with(name, value{kind: unknown}).equal(before) || len(r.funcs) != funcs || r.Links() != links) {
		// What one round leaves behind is there in the next.
		if !slices.Equal(out.dirs, st.dirs) {
			out.dirs = nil
		}
		out = r.repeat(out.with(name, value{kind: unknown}), c, func(st state) state {
			return r.stmts(c.Do, st).with(name, value{kind: unknown})
		})
		r.cmds = cmds
	}
	return out.with(name, value{kind: unknown})
}

// rounds walks a loop whose values are all known, one round after the other.
func (r *reader) rounds(c *syntax.ForClause, name string, vals []value, st state) state {
	out, cmds := st, r.cmds
	for i, v := range vals {
		st = r.withJumps(func() state { return r.stmts(c.Do, st.with(name, v)) })
		if i == 0 {
			cmds = r.cmds // the body's commands count once
		}
		r.cmds = cmds
		out = merge(out, st)
		if r.exhausted() {
			out.dirs = nil
			break
		}
	}
	return out.with(name, value{kind: unknown})
}

// takesApart reports a loop that goes to what its variable names, or makes another name of
// it: then it matters which name it is.
func takesApart(c *syntax.ForClause, name string) (found bool) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			found = found || n.Param != nil && n.Param.Value == name && n.Exp != nil
		case *syntax.CallExpr:
			found = found || len(n.Args) > 1 && slices.Contains([]string{"cd", "pushd", "basename"}, n.Args[0].Lit())
		}
		return !found
	})
	return found
}

// globSigns are those of a pattern that all shells read alike.
const globSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*"

// globbed are the names that a pattern of a loop becomes: what it matches now, where nothing
// of the script can have made more by then. nil where that is not known, or too much.
func (r *reader) globbed(w word, in state) []string {
	if w.Kind != pattern || w.Loose || r.looseGlobs || strings.HasPrefix(w.Text, "/") || strings.Contains(w.Text, "..") || strings.Contains(w.Text, "**") || strings.Trim(w.Text, globSigns) != "" || len(in.dirs) != 1 || in.linked || r.Unsafe || r.Unclear || len(r.Wrote) > 0 || r.Links() > 0 || !r.CleanMatches(w.Text, in.dirs) {
		return nil
	}
	names, ok := r.MatchNames(w.Text, in.dirs)
	if !ok || len(names) > maxUnroll {
		return nil
	}
	return names
}

// loopValues are the values that a loop's variable takes for a word.
func loopValues(w word) []value {
	out := []value{loopValue(w)}
	for _, or := range w.Or {
		switch {
		case or.Kind == pattern:
			out = append(out, loopValue(or))
		case len(w.Or) > 1:
			out = append(out, value{kind: unknown, or: or.Text, ors: or.Kind == exact})
		}
	}
	return out
}

func loopValue(w word) value {
	switch w.Kind {
	case exact:
		return value{kind: exact, text: w.Text}
	case number:
		return value{kind: number, gone: true}
	case pattern:
		return value{kind: pattern, text: w.Text, head: w.Head}
	case unset, unknown:
	}
	v := value{kind: unknown, head: w.Head, found: w.Found, commit: w.Commit && w.Tail == ""}
	if w.Many {
		v.head = ""
	}
	if len(w.Or) == 1 && w.Or[0].Kind == exact {
		v.or, v.ors = w.Or[0].Text, true
	}
	return v
}
