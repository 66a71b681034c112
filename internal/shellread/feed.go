package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// An input is what a command reads from its standard input.
type input struct {
	text    string // of a here-document or here-string
	given   bool   // text is that
	unknown bool   // a pipe or a file
	// names are those of files, which a command before a pipe prints; nil when that is
	// not known.
	names *programs.Found
	// lines are the same where only the read at the head of a loop takes them, one a line.
	lines *programs.Found
	// commits: what comes in are the numbers of commits, one a line.
	commits bool
	// said is the source of what prints it, and file the one that it is redirected from.
	said string
	file word
	// from is the command before the pipe where it prints names of files, or an archive
	// of them, and dirs where that runs.
	from string
	dirs []string
}

// printer is what input.from says of a command before a pipe.
func printer(s *syntax.Stmt) string {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe {
			break
		}
		s = b.X
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ""
	}
	var ws []string
	operands := 0
	for _, w := range c.Args {
		ws = append(ws, w.Lit())
		if !strings.HasPrefix(w.Lit(), "-") {
			operands++
		}
	}
	switch name := programs.Base(ws[0]); {
	case name == "find" || isFd(name), name == "ls" && operands == 1:
		return name
	case name == "git" && len(ws) > 1 && (ws[1] == "ls-files" && operands == 2 || ws[1] == "archive" && !slices.ContainsFunc(ws, func(w string) bool { return strings.HasPrefix(w, "--prefix") || w == "" })):
		return name + " " + ws[1]
	}
	return ""
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
			v := r.quietly(rd.Word, func() value { return r.value(rd.Word, st) })
			in = input{text: v.text, given: v.kind == exact, unknown: v.kind != exact}
		case syntax.Hdoc, syntax.DashHdoc:
			in = input{given: true}
			if rd.Hdoc != nil {
				in.text = r.text(rd.Hdoc)
			}
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			in = input{unknown: rd.Word == nil || rd.Word.Lit() != "/dev/null"}
			if rd.Word != nil {
				in.said = r.text(rd.Word)
				if v := r.quietly(rd.Word, func() value { return r.value(rd.Word, st) }); v.kind == exact && rd.Op == syntax.RdrIn {
					in.file = lit(v.text)
				}
			}
			if p := processed(rd); p != nil && readsByLine(s) {
				in.lines = r.printsNames(p, st)
			}
		default:
			if rd.N != nil { // 0>&3 puts another file there
				in = input{unknown: true}
			}
		}
	}
	return in
}

// maxQuiet bounds, in bytes, what is worked out beside being read for what it does: a
// substitution in a substitution would double the work each time.
const maxQuiet = 4 * MaxChars

// quietly works out the value of n and keeps none of the actions that this adds: they
// are added where it is read for what it does. Beyond maxQuiet it is not known.
func (r *reader) quietly(n syntax.Node, f func() value) value {
	if r.quiet += int(n.End().Offset() - n.Pos().Offset()); r.quiet > maxQuiet {
		return value{kind: unknown}
	}
	notes, cmds, steps := r.Notes, r.cmds, r.steps
	r.Notes = notes.Apart()
	v := f()
	r.Notes, r.cmds, r.steps = notes, cmds, steps
	return v
}

// fed lists, for rules that forbid or ask, the commands that a program finds on its
// standard input; at is the action of the program itself.
func (r *reader) fed(at int, ws []word, st state) {
	prog := programs.Base(ws[0].Text)
	e, ok := r.Actions[at].(policy.Exec)
	if !ok || e.Unseen != "" || !programs.OnlyCommands(prog, ws) {
		return
	}
	why := ""
	switch {
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

// printsNames are the files whose names a statement prints, nil when that is not
// known: what lists them, and filters that only leave out lines.
func (r *reader) printsNames(s *syntax.Stmt, st state) *programs.Found {
	if s.Negated || s.Background || len(s.Redirs) > 1 || len(s.Redirs) == 1 && (s.Redirs[0].N == nil || s.Redirs[0].N.Value != "2" || s.Redirs[0].Word.Lit() != "/dev/null") {
		return nil
	}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe && leavesOut(b.Y) {
		if found := r.printsNames(b.X, st); found != nil && !found.Zero {
			return found
		}
		return nil
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return nil
	}
	name := c.Args[0].Lit()
	if name != "find" && name != "git" && name != "echo" && name != "rg" && name != "ls" && !strings.HasSuffix(name, "grep") || r.funcs[name] != nil || r.Unpinned || len(r.outer) > 0 {
		return nil
	}
	var found programs.Found
	ok = false
	r.quietly(c, func() value {
		var ws []word
		for _, w := range c.Args {
			ws = append(ws, r.words(w, st)...)
		}
		found, ok = r.Invoke(name, st.dirs).Lists(ws)
		ok = ok && !r.Unclear
		return value{}
	})
	if !ok {
		return nil
	}
	return &found
}

// processed is the only statement of <(…) behind a redirect, nil when there is none.
func processed(rd *syntax.Redirect) *syntax.Stmt {
	if rd.Op != syntax.RdrIn || rd.Word == nil || len(rd.Word.Parts) != 1 {
		return nil
	}
	if p, ok := rd.Word.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdIn && len(p.Stmts) == 1 {
		return p.Stmts[0]
	}
	return nil
}

// readsByLine reports a while loop in which nothing but the read at its head takes from
// the standard input: what is left of a name by another command would be another name.
func readsByLine(s *syntax.Stmt) bool {
	loop, ok := s.Cmd.(*syntax.WhileClause)
	if !ok || loop.Until || len(loop.Cond) != 1 {
		return false
	}
	head, ok := loop.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(head.Args) < 2 || head.Args[0].Lit() != "read" || len(loop.Cond[0].Redirs) > 0 {
		return false
	}
	name := head.Args[len(head.Args)-1].Lit()
	apart := map[syntax.Node]bool{head: true} // commands that have another standard input
	for _, st := range loop.Do {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryCmd:
				apart[n.Y.Cmd] = n.Op == syntax.Pipe
			case *syntax.Stmt:
				for _, rd := range n.Redirs {
					if n.Cmd != nil && rd.N == nil && (rd.Op == syntax.RdrIn || rd.Op == syntax.Hdoc || rd.Op == syntax.WordHdoc) {
						apart[n.Cmd] = true
					}
				}
			case *syntax.CallExpr:
				ok = ok && (len(n.Args) == 0 || apart[n] && keepsInput(n.Args[0].Lit()) || leavesInput(n, name))
			case *syntax.FuncDecl, *syntax.CoprocClause:
				ok = false
			}
			return ok
		})
	}
	return ok
}

// keepsInput reports a command whose own redirects are not the shell's: exec has those,
// also behind command and its kin.
func keepsInput(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == "" && !slices.Contains([]string{"exec", "command", "builtin", "eval", "source", "noglob", "nocorrect"}, name)
}

// leavesInput reports a command that takes nothing from its standard input: it never
// does, or it reads the file that the variable names.
func leavesInput(c *syntax.CallExpr, variable string) bool {
	switch name := c.Args[0].Lit(); {
	case slices.Contains([]string{"echo", "printf", "test", "[", "true", ":", "continue", "break", "basename", "dirname"}, name):
		return true
	case !programs.ReadsEach(name) && name != "git":
		return false
	}
	reads := false
	for _, w := range c.Args[1:] {
		text := w.Lit()
		if strings.HasPrefix(text, "-") && strings.HasSuffix(text, "-") || strings.HasPrefix(text, "/") {
			return false
		}
		reads = reads || namesOnly(w, variable)
	}
	return reads
}

// namesOnly reports a word that is $name or "$name".
func namesOnly(w *syntax.Word, name string) bool {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok && !q.Dollar {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && p.Param.Value == name && !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
}

// says is the text that echo or printf at the beginning of a pipe prints, as far as its
// words are known; "" for what any other command prints.
func (r *reader) says(s *syntax.Stmt, st state) string {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return r.says(c.X, st)
		}
	case *syntax.CallExpr:
		if in := r.inputOf(s, st); in.given && len(s.Redirs) > 0 {
			return in.text
		}
		if len(c.Args) == 0 || len(c.Args) > 100 || c.Args[0].Lit() != "echo" && c.Args[0].Lit() != "printf" {
			return ""
		}
		var text []string
		r.quietly(c, func() value {
			for _, w := range c.Args[1:] {
				for _, got := range r.words(w, st) {
					if got.Kind == exact {
						text = append(text, got.Text)
					}
				}
			}
			return value{}
		})
		return strings.Join(text, " ")
	}
	return ""
}

// readsLines reports a builtin that takes what it is given to read into variables, or
// xargs, which makes arguments of it.
func readsLines(name string) bool {
	switch programs.Base(name) {
	case "read", "mapfile", "readarray", "xargs", "parallel":
		return true
	}
	return false
}

// fedLines adds the paths that a text names which a statement reads line by line: what
// it does with them is not known, but where every program in it only reads.
func (r *reader) fedLines(s *syntax.Stmt, text string, st state) {
	if text == "" {
		return
	}
	reads, writes := false, false
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			name := programs.Base(n.Args[0].Lit())
			reads = reads || readsLines(name)
			if name == "xargs" || name == "parallel" {
				writes = writes || !r.feedsReader(n.Args[1:], st)
			} else if !readsLines(name) && builtin(name) == nil && name != "echo" && name != "true" {
				writes = writes || !r.Invoke(name, st.dirs).OnlyReads()
			}
			writes = writes || name == "read" && s.Cmd == n // a later command has it
		case *syntax.Redirect:
			writes = writes || n.Op != syntax.RdrIn && n.Op != syntax.WordHdoc && n.Op != syntax.Hdoc && n.Op != syntax.DashHdoc && n.Op != syntax.DplOut
		}
		return true
	})
	if reads {
		r.Named("read", text, st.dirs, writes)
	}
}

// leavesOut reports a filter that prints some of the lines it reads, as they are.
func leavesOut(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 || len(s.Redirs) > 0 || s.Negated || s.Background {
		return false
	}
	args := c.Args[1:]
	switch c.Args[0].Lit() {
	case "grep":
		return onlyPattern(args)
	case "sort":
		return !slices.ContainsFunc(args, func(w *syntax.Word) bool { return w.Lit() != "-u" && w.Lit() != "-r" })
	case "head", "tail":
		return !slices.ContainsFunc(args, func(w *syntax.Word) bool { return !lineCount(w.Lit()) })
	}
	return false
}

// onlyPattern reports arguments of grep that are flags which change no line, and
// at most one pattern, so that it reads what comes through the pipe.
func onlyPattern(args []*syntax.Word) bool {
	patterns := 0
	for _, w := range args {
		text := w.Lit()
		switch {
		case slices.Contains([]string{"-v", "-E", "-F", "-i", "-vE", "-w"}, text):
		case patterns == 0 && (text != "" && text[0] != '-' || quotedText(w)):
			patterns++
		default:
			return false
		}
	}
	return true
}

// lineCount reports an argument of head or tail that says how many lines: -n, 5 or -5.
func lineCount(text string) bool {
	return text == "-n" || text != "-" && scan.Number(strings.TrimPrefix(text, "-"))
}

// quotedText reports 'text' that is no flag.
func quotedText(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	q, ok := w.Parts[0].(*syntax.SglQuoted)
	return ok && !q.Dollar && q.Value != "" && q.Value[0] != '-'
}
