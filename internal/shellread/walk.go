package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

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
		r.Opaque(r.source(s), "a form that is not bash")
	}
	piped, around := r.Piped, r.input
	r.input = r.inputOf(s, in)
	for _, rd := range s.Redirs {
		if rd.Op == syntax.RdrIn || rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc || rd.Op == syntax.WordHdoc {
			if rd.N == nil {
				r.Piped = false
			}
		}
	}
	before := in.fds
	in = r.redirects(s, in)
	if given := r.input; given.given && given.text != "" && len(s.Redirs) > 0 {
		r.fedLines(s, given.text, in)
	}
	ok, any = in, in
	if s.Cmd != nil {
		ok, any = r.cmd(s, in)
	}
	if !keepsRedirects(s) {
		ok.fds, any.fds, in.fds = before, before, before
	}
	r.Piped, r.input = piped, around
	if len(s.Redirs) > 0 {
		// A redirect that fails keeps the command from running.
		any = merge(in, any)
	}
	if s.Negated {
		any = failing(s, in, any)
		ok = any
	}
	if s.Background {
		r.started = true
		// For zsh only the last part of a && b & runs beside the shell.
		return both(merge(in, any))
	}
	return ok, any
}

// keepsRedirects reports whether descriptors stay open that a statement opens: those
// of exec without a command, and what such ones in a group or a condition open.
func keepsRedirects(s *syntax.Stmt) bool {
	c, simple := s.Cmd.(*syntax.CallExpr)
	return simple && len(c.Args) == 1 && c.Args[0].Lit() == "exec" || !simple && len(s.Redirs) == 0
}

// fedByPipe adds what a loop, or what reads into variables, is given before a pipe.
func (r *reader) fedByPipe(c *syntax.BinaryCmd, st state) {
	call, ok := c.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) > 0 && readsLines(call.Args[0].Lit()) {
		r.fedLines(c.Y, r.says(c.X, st), st)
	}
}

// feedsReader reports whether what xargs runs, as its words say, only reads what it
// is given.
func (r *reader) feedsReader(ws []*syntax.Word, st state) bool {
	for i, w := range ws {
		if name := w.Lit(); name != "" && !strings.HasPrefix(name, "-") && !scan.Number(name) && (i == 0 || ws[i-1].Lit() != "-I" && ws[i-1].Lit() != "-d") {
			return r.Invoke(programs.Base(name), st.dirs).OnlyReads()
		}
	}
	return true // echo
}

// fedNames adds the paths that stand in what a command is given to read, where it is code
// or names files, and of a shell the commands.
func (r *reader) fedNames(at int, ws []word, st state) {
	prog, text := programs.Base(ws[0].Text), r.input.text+r.input.said
	for _, w := range ws[1:] {
		if strings.HasPrefix(w.Source, "<(") {
			text += "\n" + w.Source
		}
	}
	u := r.Invoke(prog, st.dirs)
	switch {
	case text == "":
	case shellNames[prog] || prog == "source" || prog == ".":
		u.Named(text, true)
		if r.input.given {
			r.denyScript(r.input.text, st)
		}
	default:
		u.Fed(text, ws)
	}
	r.Touch(at, u.Actions)
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
			r.Opaque(r.source(c), "time without a command can run a program named time")
			return in, in
		}
		r.outer = append(r.outer, []string{"time"})
		ok, any = r.stmt(c.Stmt, in)
		r.outer = r.outer[:len(r.outer)-1]
		return ok, any
	case *syntax.ArithmCmd:
		if why := r.oddInside(c, true); why != "" {
			r.Opaque(r.source(c), "a quote stands inside arithmetic")
		}
		r.checkArithm(c.X, in)
		return both(r.assignedIn(c, in))
	case *syntax.TestClause:
		r.testExpr(c.X, in)
		return in, in
	case *syntax.DeclClause:
		return both(r.decl(c, in))
	case *syntax.LetClause:
		return both(r.let(c, in))
	case *syntax.CoprocClause:
		r.coproc(c, in)
		return in, in
	case *syntax.TestDecl:
		r.Opaque(r.source(c), "a test declaration is not bash")
		return in, in
	}
	r.Opaque(r.source(s), "a kind of command that is not known")
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
		piped, around, pipe := r.Piped, r.input, r.Pipe
		if pipe == 0 {
			r.pipes++
			r.Pipe, r.Stage = r.pipes, 0
		}
		r.stmt(c.X, in)
		r.Stage++
		r.Piped, r.input = true, input{unknown: true, from: printer(c.X), said: r.text(c.X), dirs: in.dirs}
		switch y, call := c.Y.Cmd.(*syntax.CallExpr); {
		case c.Op != syntax.Pipe: // errors are no names
		case call && len(y.Args) > 0 && y.Args[0].Lit() == "xargs" && r.funcs["xargs"] == nil: // it takes all of them
			r.input.names, r.input.commits = r.printsNames(c.X, in), r.printsCommits(c.X, in)
		case readsByLine(c.Y):
			r.input.lines, r.input.commits = r.printsNames(c.X, in), r.printsCommits(c.X, in)
		}
		_, last := r.stmt(c.Y, in)
		r.Piped, r.input, r.Pipe = piped, around, pipe
		r.fedByPipe(c, in)
		// The last part may run in this shell or in one of its own.
		return both(merge(in, last))
	}
	r.Opaque(r.source(c), "an operator that is not bash")
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
				r.Opaque(r.source(w), "an extended glob that holds more than names")
			}
		case *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			r.quotedPart(&builder{kind: exact}, p, st)
		default:
			r.Opaque(r.source(w), "a pattern that is not known")
		}
	}
}

// decl walks declare, export, local, readonly, typeset. Only a plain local is
// harmless: the others may change the environment of every later command.
func (r *reader) decl(c *syntax.DeclClause, st state) state {
	ws, outer := r.declWords(c, st), r.Of
	r.write(&policy.Written{In: outer}, c, ws, len(r.env))
	defer func() { r.Of = outer }()
	r.forRules(ws, st)
	if c.Variant.Value != "local" || len(r.calling) == 0 {
		why := c.Variant.Value + " may change the environment of later commands"
		risky := slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool {
			return a.Name == nil && !plainDecl(a) || a.Name != nil && programs.RiskyVariable(a.Name.Value)
		})
		r.Unclearly(policy.Opaque{Source: r.source(c), Why: why, Listed: !risky, Whole: true, Own: !risky})
	}
	for _, a := range c.Args {
		if plainDecl(a) {
			continue
		}
		if a.Naked && a.Name == nil {
			r.Opaque(r.source(c), c.Variant.Value+" with flags or expansions")
			r.visitWord(a.Value, st)
			continue
		}
		st = r.assign(a, st)
		if a.Name != nil && slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return a.Naked && a.Name == nil }) {
			v, _ := supposedly(st.vars[a.Name.Value]) // with a flag it may stand for another
			st = st.with(a.Name.Value, value{kind: unknown, or: v.or, ors: v.ors})
		}
	}
	return st
}

// declWords are the words of a declaration, as a command has them.
func (r *reader) declWords(c *syntax.DeclClause, st state) []word {
	ws := []word{lit(c.Variant.Value)}
	for _, a := range c.Args {
		v := value{kind: unknown}
		if a.Value != nil && a.Index == nil && a.Array == nil && !a.Append {
			v = r.quietly(a, func() value { return r.value(a.Value, st) })
		}
		name := ""
		if a.Name != nil {
			if name = a.Name.Value; !a.Naked {
				name += "="
			}
		}
		switch {
		case a.Naked && a.Name != nil:
			ws = append(ws, lit(name))
		case v.kind == exact:
			ws = append(ws, lit(name+v.text))
		default:
			ws = append(ws, word{Kind: unknown, Source: r.text(a), Head: name})
		}
	}
	return ws
}

// plainDecl reports a flag of a declaration that gives no name another meaning.
func plainDecl(a *syntax.Assign) bool {
	if !a.Naked || a.Name != nil || a.Value == nil {
		return false
	}
	flag, plain := plainText(a.Value)
	return plain && len(flag) > 1 && flag[0] == '-' && strings.Trim(flag[1:], "xrgp") == ""
}

// assign notes NAME=value in this shell.
func (r *reader) assign(a *syntax.Assign, st state) state {
	if a.Name != nil && programs.RenamesGit(a.Name.Value) {
		r.exported = append(r.exported, a.Name.Value)
	}
	if a.Name == nil || !syntax.ValidName(a.Name.Value) {
		r.Opaque(r.source(a), "an assignment without a name")
		r.visit(a, st)
		return st
	}
	name := a.Name.Value
	if programs.NamesFile(name) && a.Value != nil {
		if v := r.quietly(a, func() value { return r.value(a.Value, st) }); v.kind == exact {
			r.Named(name, v.text, st.dirs, true)
		}
	}
	if name != "SECONDS" && name != "RANDOM" || a.Append || a.Value == nil || !scan.Number(a.Value.Lit()) {
		r.checkName(name, a)
	}
	switch {
	case a.Index != nil:
		r.Opaque(r.source(a), "a subscript that is worked out when it runs")
		r.visit(a, st)
		return st.with(name, value{kind: unknown})
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				r.Opaque(r.source(a), "a subscript that is worked out when it runs")
				r.visit(e.Index, st)
			}
			if e.Value != nil {
				for _, w := range r.words(e.Value, st) {
					r.TouchGlob(w, st.dirs)
				}
			}
		}
		return st.with(name, value{kind: unknown})
	case a.Naked:
		return st
	}
	v := r.value(a.Value, st)
	if r.ints[name] && v.kind != number && !(v.kind == exact && scan.Number(v.text)) {
		r.Opaque(r.source(a), "zsh evaluates what is assigned to a variable that arithmetic has set")
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
	r.looseGlobs = r.looseGlobs || name == "GLOBIGNORE"
	r.leaves(name)
	if programs.RiskyVariable(name) {
		r.Opaque(r.source(n), "setting "+name+" may change what commands do")
	}
}
