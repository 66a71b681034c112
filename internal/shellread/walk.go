package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
)

// maxUnroll is how many literal values a for loop is walked with one by one.
const maxUnroll = 12

// stmts walks a list and returns what is known after it.
func (r *reader) stmts(list []*syntax.Stmt, st state) state {
	for _, s := range list {
		_, st = r.stmt(s, st)
	}
	return st
}

// list is stmts for a condition: ok holds when its last command succeeded.
func (r *reader) list(list []*syntax.Stmt, st state) (ok, any state) {
	ok, any = st, st
	for _, s := range list {
		ok, any = r.stmt(s, any)
	}
	return ok, any
}

// stmt walks one statement: ok is what is known if it succeeded, any what is
// known either way.
func (r *reader) stmt(s *syntax.Stmt, in state) (ok, any state) {
	r.steps++
	if s.Disown || s.Coprocess {
		r.opaque(r.source(s), "a form that is not bash")
	}
	piped := r.piped
	for _, rd := range s.Redirs {
		if rd.Op == syntax.RdrIn || rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc || rd.Op == syntax.WordHdoc {
			if rd.N == nil {
				r.piped = false
			}
		}
	}
	r.redirects(s, in)
	r.fedShell(s, in)
	ok, any = in, in
	if s.Cmd != nil {
		ok, any = r.cmd(s, in)
	}
	r.piped = piped
	if len(s.Redirs) > 0 {
		// A redirect that fails keeps the command from running.
		any = merge(in, any)
	}
	if s.Negated {
		any = failing(s, in, any)
		ok = any
	}
	if s.Background {
		return in, in
	}
	return ok, any
}

// fedShell searches what a shell is given to read: bash <<< 'rm x'.
func (r *reader) fedShell(s *syntax.Stmt, st state) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || !shellNames[base(c.Args[0].Lit())] {
		return
	}
	for _, rd := range s.Redirs {
		switch {
		case rd.Op == syntax.WordHdoc:
			if v := r.value(rd.Word, st); v.kind == exact {
				r.denyScript(v.text, st)
			}
		case rd.Hdoc != nil:
			r.denyScript(r.text(rd.Hdoc), st)
		}
	}
}

func (r *reader) cmd(s *syntax.Stmt, in state) (ok, any state) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, in)
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.Block:
		return r.list(c.Stmts, in)
	case *syntax.Subshell:
		r.stmts(c.Stmts, in)
		return in, in
	case *syntax.IfClause:
		return both(r.ifClause(c, in))
	case *syntax.WhileClause:
		return both(r.loop(in, func(st state) state {
			okc, anyc := r.list(c.Cond, st)
			if c.Until {
				okc = anyc
			}
			return merge(anyc, r.stmts(c.Do, okc))
		}, s.Cmd))
	case *syntax.ForClause:
		return both(r.forClause(c, in))
	case *syntax.CaseClause:
		return both(r.caseClause(c, in))
	case *syntax.FuncDecl:
		r.funcDecl(c, in)
		if c.Name != nil {
			in = in.define(c.Name.Value)
		}
		return in, in
	case *syntax.TimeClause:
		if c.Stmt == nil { // behind a pipe, bash looks for a program of that name
			r.opaque(r.source(c), "time without a command can run a program named time")
			return in, in
		}
		r.outer = append(r.outer, []string{"time"})
		ok, any = r.stmt(c.Stmt, in)
		r.outer = r.outer[:len(r.outer)-1]
		return ok, any
	case *syntax.ArithmCmd:
		if why := r.oddInside(c, true); why != "" {
			r.opaque(r.source(c), "a quote stands inside arithmetic")
		}
		r.checkArithm(c.X, in)
		return both(r.assignedIn(c, in))
	case *syntax.TestClause:
		r.testExpr(c.X, in)
		return in, in
	case *syntax.DeclClause:
		return both(r.decl(c, in))
	case *syntax.LetClause:
		r.opaque(r.source(c), "let evaluates text as arithmetic")
		r.visit(c, in)
		return in, in
	case *syntax.CoprocClause:
		r.opaque(r.source(c), "coproc starts a command beside the shell")
		r.stmt(c.Stmt, in)
		return in, in
	case *syntax.TestDecl:
		r.opaque(r.source(c), "a test declaration is not bash")
		return in, in
	}
	r.opaque(r.source(s), "a kind of command that is not known")
	return in, in
}

func both(st state) (ok, any state) { return st, st }

func (r *reader) binary(c *syntax.BinaryCmd, in state) (ok, any state) {
	switch c.Op {
	case syntax.AndStmt:
		okX, anyX := r.stmt(c.X, in)
		okY, anyY := r.stmt(c.Y, okX)
		return okY, merge(anyX, anyY)
	case syntax.OrStmt:
		okX, anyX := r.stmt(c.X, in)
		okY, anyY := r.stmt(c.Y, failing(c.X, in, anyX))
		if leaves(c.Y) {
			return okX, okX
		}
		return merge(okX, okY), merge(okX, anyY)
	case syntax.Pipe, syntax.PipeAll:
		piped := r.piped
		r.stmt(c.X, in)
		r.piped = true
		_, last := r.stmt(c.Y, in)
		r.piped = piped
		// The last part may run in this shell or in one of its own.
		return both(merge(in, last))
	}
	r.opaque(r.source(c), "an operator that is not bash")
	r.stmt(c.X, in)
	_, any = r.stmt(c.Y, in)
	return any, any
}

func (r *reader) ifClause(c *syntax.IfClause, in state) state {
	if !c.ThenPos.IsValid() { // else
		return r.stmts(c.Then, in)
	}
	ok, any := r.list(c.Cond, in)
	then := r.stmts(c.Then, ok)
	if c.Else == nil {
		return merge(then, any)
	}
	return merge(then, r.ifClause(c.Else, failing(c, in, any)))
}

// failing is what is known where something failed: a cd in it may have, too,
// even to a folder that is there now.
func failing(n syntax.Node, in, any state) state {
	moves := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for _, w := range c.Args {
				moves = moves || w.Lit() == "cd" || w.Lit() == "pushd"
			}
		}
		return !moves
	})
	if moves {
		return merge(in, any)
	}
	return any
}

// leaves reports exit and return, and a group that ends with one.
func leaves(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && !s.Background && (c.Args[0].Lit() == "exit" || c.Args[0].Lit() == "return")
	case *syntax.Block:
		return len(c.Stmts) > 0 && leaves(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

// loop walks a body that may run any number of times.
func (r *reader) loop(in state, body func(state) state, n syntax.Node) state {
	return r.repeat(r.forgetIn(n, in), n, body)
}

// repeat walks a body until what is known before it is no more than what is
// known after it: a variable that one round sets, however it does so, is not
// what it was in the next.
func (r *reader) repeat(st state, n syntax.Node, body func(state) state) state {
	for range 5 {
		cmds, funcs := r.cmds, len(r.funcs)
		out := merge(st, r.landing(func() state { return body(st) }))
		if out.equal(st) && len(r.funcs) == funcs {
			return out
		}
		if !slices.Equal(out.dirs, st.dirs) {
			out.dirs = nil
		}
		st = out
		if r.tired() {
			return st
		}
		r.cmds = cmds // the body's commands count once
	}
	r.opaque(r.source(n), "a loop whose rounds cannot be followed")
	return st
}

// tired reports that too much was walked already to follow a loop again. Its
// body has been seen once, which is enough for deny rules; the rest asks.
func (r *reader) tired() bool {
	if r.steps < maxSteps {
		return false
	}
	r.opaque(clip(r.src), "its loops and functions are too deep to follow")
	return true
}

// forgetIn forgets what something below n sets; what is only ever set by
// arithmetic stays a number.
func (r *reader) forgetIn(n syntax.Node, st state) state {
	names := assigned(n)
	out := st.forget(names)
	for _, name := range names {
		old := st.vars[name]
		if (old.kind == number || old.kind == exact && plainNumber(old.text)) && onlyArithmetic(n, name) {
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
		r.opaque(r.source(c), "select waits for a person")
	}
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			r.checkArithm(x, in)
		}
		st := r.forgetIn(c, in)
		st = r.assignedIn(l, st)
		return r.repeat(st, c, func(st state) state { return r.stmts(c.Do, r.forgetIn(l, st)) })
	case *syntax.WordIter:
		return r.forWords(c, l, in)
	}
	r.opaque(r.source(c), "a loop that is not known")
	return in
}

func (r *reader) forWords(c *syntax.ForClause, l *syntax.WordIter, in state) state {
	name := l.Name.Value
	if l.Name.Value == "" || !syntax.ValidName(name) {
		r.opaque(r.source(c), "a loop that is not bash")
		name = "_"
	}
	r.checkName(name, c)
	var vals []value
	for _, w := range l.Items {
		for _, got := range r.words(w, in) {
			r.touchGlob(got, in)
			vals = append(vals, loopValue(got))
		}
	}
	if !l.InPos.IsValid() {
		vals = append(vals, value{kind: unknown})
	}
	if len(vals) > maxUnroll {
		if slices.ContainsFunc(vals, func(v value) bool { return v.kind != exact }) {
			vals = []value{{kind: unknown}}
		} else if !slices.ContainsFunc(vals, func(v value) bool { return !plainNumber(v.text) || v.text[0] == '-' }) {
			vals = []value{{kind: number}}
		} else {
			r.opaque(r.source(c), "a loop over too many values")
		}
	}
	st := r.forgetIn(c, in)
	out := st
	cmds, funcs := r.cmds, len(r.funcs)
	for i, v := range vals {
		after := r.landing(func() state { return r.stmts(c.Do, st.with(name, v)) })
		if i == 0 {
			cmds = r.cmds // the body's commands count once
		}
		r.cmds = cmds
		out = merge(out, after.with(name, value{kind: unknown}))
		if r.tired() {
			out.dirs = nil
			break
		}
	}
	if before := st.with(name, value{kind: unknown}); len(vals) > 1 && !r.tired() && (!out.with(name, value{kind: unknown}).equal(before) || len(r.funcs) != funcs) {
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

func loopValue(w word) value {
	switch w.kind {
	case exact:
		return value{kind: exact, text: w.text}
	case number:
		return value{kind: number}
	case pattern:
		return value{kind: pattern, text: w.text, head: w.head}
	case unset, unknown:
	}
	if w.many {
		return value{kind: unknown}
	}
	return value{kind: unknown, head: w.head}
}

func (r *reader) caseClause(c *syntax.CaseClause, in state) state {
	r.value(c.Word, in)
	out := in
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			r.casePattern(p, in)
		}
		out = merge(out, r.stmts(item.Stmts, in))
		if item.Op != syntax.Break && len(item.Stmts) > 0 {
			// Falls through: the next item may start in what this one left.
			in = merge(in, out)
		}
	}
	return out
}

// casePattern walks the substitutions of a pattern; the pattern itself reads
// no files.
func (r *reader) casePattern(w *syntax.Word, st state) {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
		case *syntax.ExtGlob:
			if strings.ContainsAny(r.text(p), "$`<>=\"'\\") {
				r.opaque(r.source(w), "an extended glob that holds more than names")
			}
		case *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			r.quotedPart(&builder{kind: exact}, p, st)
		default:
			r.opaque(r.source(w), "a pattern that is not known")
		}
	}
}

// funcDecl remembers a function. One that shadows a command that is known
// makes everything after it uncertain.
func (r *reader) funcDecl(c *syntax.FuncDecl, in state) {
	if !compound(c.Body) {
		// The parser takes all of f() { …; } && rm x for the body; shells end it
		// at the brace and run the rest.
		r.opaque(r.source(c), "a function whose body is not a single compound command")
		r.stmt(c.Body, in)
	}
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	if !syntax.ValidName(name) || known(name) {
		r.opaque(r.source(c), "a function that stands in for a command")
	}
	st := state{vars: map[string]value{}}
	st = st.forget(assigned(c))
	// Where and with which variables it runs is not known here; a call of it
	// is read again in its place.
	saved, unclear, unsafe, n, seen := r.acts, r.unclear, r.unsafe, r.cmds, r.seen
	r.seen = nil // what is unclear in it must be said again where it is called
	r.stmt(c.Body, st)
	r.seen = seen
	found := r.acts[len(saved):]
	if r.funcs[name] == nil && name != "" && !known(name) {
		// Only what deny rules look at stays, in the place of found.
		keep := saved
		for _, a := range found {
			if e, ok := a.(policy.Exec); ok {
				keep = append(keep, defined(e))
			}
		}
		r.acts, r.unclear, r.unsafe, r.cmds = keep, unclear, unsafe, n
	} else {
		r.opaque(r.source(c), "a function that is defined twice")
	}
	if name != "" {
		r.funcs[name] = c.Body
	}
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

// defined turns a command of a function that may never be called into one
// that only deny and ask rules look at.
func defined(e policy.Exec) policy.Exec {
	e.ReadOnly, e.Why, e.Beyond, e.Loses, e.Edits = true, "", "", "", false
	return e
}

// decl walks declare, export, local, readonly, typeset. Only a plain local is
// harmless: the others may change the environment of every later command.
func (r *reader) decl(c *syntax.DeclClause, st state) state {
	if c.Variant.Value != "local" || len(r.calling) == 0 {
		r.opaque(r.source(c), c.Variant.Value+" may change the environment of later commands")
	}
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			r.opaque(r.source(c), c.Variant.Value+" with flags or expansions")
			r.visitWord(a.Value, st)
			continue
		}
		st = r.assign(a, st)
	}
	return st
}

// assign notes NAME=value in this shell.
func (r *reader) assign(a *syntax.Assign, st state) state {
	if a.Name == nil || !syntax.ValidName(a.Name.Value) {
		r.opaque(r.source(a), "an assignment without a name")
		r.visit(a, st)
		return st
	}
	name := a.Name.Value
	if name != "SECONDS" && name != "RANDOM" || a.Append || a.Value == nil || !plainNumber(a.Value.Lit()) {
		r.checkName(name, a)
	}
	switch {
	case a.Index != nil:
		r.opaque(r.source(a), "a subscript that is worked out when it runs")
		r.visit(a, st)
		return st.with(name, value{kind: unknown})
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				r.opaque(r.source(a), "a subscript that is worked out when it runs")
				r.visit(e.Index, st)
			}
			if e.Value != nil {
				for _, w := range r.words(e.Value, st) {
					r.touchGlob(w, st)
				}
			}
		}
		return st.with(name, value{kind: unknown})
	case a.Naked:
		return st
	}
	v := r.value(a.Value, st)
	if r.ints[name] && v.kind != number && !(v.kind == exact && plainNumber(v.text)) {
		r.opaque(r.source(a), "zsh evaluates what is assigned to a variable that arithmetic has set")
	}
	if a.Append {
		old := r.variable(name, st)
		if old.kind == exact && v.kind == exact {
			v.text = old.text + v.text
		} else {
			v = value{kind: unknown}
		}
	}
	return st.with(name, v)
}

// checkName asks about variables whose change alters what later commands do.
func (r *reader) checkName(name string, n syntax.Node) {
	if riskyVariable(name) {
		r.opaque(r.source(n), "setting "+name+" may change what commands do")
	}
}
