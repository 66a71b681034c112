package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// given marks the reads of files whose variables a script only hands to programs:
// `source .env && npm start`, `export $(cat .env | xargs) && node server.js`. Nothing else
// of such a script can show them.
func (r *reader) given(stmts []*syntax.Stmt) {
	l := loading{table: r.Table}
	if !l.stmts(stmts) || !l.runs {
		return
	}
	give := func(as []policy.Action) {
		for i, a := range as {
			if m, ok := a.(policy.Read); ok && !m.Tree && slices.Contains(l.files, m.Asked) {
				m.Given = true
				as[i] = m
			}
		}
	}
	give(r.Actions)
	for _, a := range r.Actions {
		if e, ok := a.(policy.Exec); ok {
			give(e.Touches)
		}
	}
}

// A loading goes through a script whose variables come from files.
type loading struct {
	table *programs.Table
	files []string // as the script names them
	runs  bool     // a program runs that may need them
}

// stmts reports whether all of them load variables, go to a folder, or run programs
// without naming a variable.
func (l *loading) stmts(all []*syntax.Stmt) bool {
	for _, s := range all {
		if !l.stmt(s) {
			return false
		}
	}
	return len(all) > 0
}

func (l *loading) stmt(s *syntax.Stmt) bool {
	if s.Negated || s.Coprocess {
		return false
	}
	for _, redirect := range s.Redirs {
		if redirect.Hdoc != nil || redirect.Word != nil && redirect.Word.Lit() == "" || redirect.Op == syntax.WordHdoc || redirect.Op == syntax.RdrIn {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return l.stmt(c.X) && l.filter(c.Y)
		}
		return l.stmt(c.X) && l.stmt(c.Y)
	case *syntax.CallExpr:
		return l.call(c)
	case *syntax.DeclClause:
		return c.Variant.Value == "export" && len(c.Args) == 1 && c.Args[0].Naked && l.exported(c.Args[0].Value)
	}
	return false
}

// filter reports whether a command shows what it reads from a program, or a part of it, as
// it is: what is to be masked in it stays whole.
func (l *loading) filter(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || len(c.Assigns) > 0 {
		return false
	}
	words, ok := literals(c.Args)
	return ok && slices.Contains([]string{"head", "tail", "tee", "cat"}, words[0]) && !slices.ContainsFunc(words[1:], func(w string) bool { return strings.Contains(w, "c") && strings.HasPrefix(w, "-") })
}

func (l *loading) call(c *syntax.CallExpr) bool {
	for _, a := range c.Assigns {
		if a.Value == nil {
			continue
		} else if _, plain := plainText(a.Value); !plain {
			return false
		}
	}
	words, ok := literals(c.Args)
	if !ok {
		return false
	}
	if len(words) == 0 {
		return true // assignments
	}
	switch name := words[0]; {
	case name == "set":
		return len(words) == 2 && (words[1] == "-a" || words[1] == "+a") || len(words) == 3 && words[2] == "allexport"
	case name == "cd" || name == "true" || name == ":":
		return true
	case name == "source" || name == ".":
		l.files = append(l.files, words[1:]...)
		return len(words) == 2
	case name == "nohup" || name == "timeout" && len(words) > 2 && !strings.HasPrefix(words[1], "-"):
		n := 1
		if name == "timeout" {
			n = 2
		}
		return l.program(words[min(n, len(words)-1):])
	}
	return l.program(words)
}

// program reports whether words run a program of the project, which may do what it likes
// with its variables: no tool that shows them, and no code that stands there.
func (l *loading) program(words []string) bool {
	name := words[0]
	base := programs.Base(name)
	switch {
	case name == "printenv" || slices.ContainsFunc(words, isCode):
		return false
	case shellNames[base] && len(words) > 1 && !strings.HasPrefix(words[1], "-"), base == "npx", base == "bunx", base == "uvx", base == "pnpx", base == "pipx":
	case builtin(name) != nil || wrapper(base) != nil || l.table.Handles(base, []word{programs.Lit(name)}) != policy.NoHandling:
		return false
	}
	l.runs = true
	return true
}

// isCode reports a flag behind which interpreters take code, which may show what it likes.
func isCode(word string) bool {
	return slices.Contains([]string{"-e", "-c", "-p", "-E", "-r", "-pe", "--eval", "--print", "--command", "eval", "-"}, word)
}

// exported reports whether a word is $(cat FILE | xargs), or a like form.
func (l *loading) exported(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	sub, ok := w.Parts[0].(*syntax.CmdSubst)
	if !ok || len(sub.Stmts) != 1 {
		return false
	}
	for s := sub.Stmts[0]; ; {
		if len(s.Redirs) > 0 || s.Negated || s.Background {
			return false
		}
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if words := callWords(c.Y); c.Op != syntax.Pipe || len(words) == 0 || !slices.Contains([]string{"xargs", "sed", "grep", "tr"}, words[0]) {
				return false
			}
			s = c.X
		case *syntax.CallExpr:
			words := callWords(s)
			if len(words) < 2 || !slices.Contains([]string{"cat", "grep", "sed", "xargs"}, words[0]) {
				return false
			}
			l.files = append(l.files, words[len(words)-1])
			return true
		default:
			return false
		}
	}
}

// callWords are the words of a command without assignments and expansions, nil for any
// other.
func callWords(s *syntax.Stmt) []string {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(s.Redirs) > 0 {
		return nil
	}
	words, _ := literals(c.Args)
	return words
}

// literals are words without expansions and patterns; ok is false when there are any.
func literals(args []*syntax.Word) (words []string, ok bool) {
	for _, w := range args {
		text, plain := plainText(w)
		if !plain {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}
