package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// namesCommit reports a substitution that prints the number of one commit, or
// nothing: git merge-base of names, and git rev-parse --verify of one.
func (r *reader) namesCommit(p *syntax.CmdSubst) bool {
	if len(p.Stmts) != 1 || p.Backquotes || r.funcs["git"] != nil {
		return false
	}
	s := p.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || s.Negated || s.Background || len(c.Args) < 3 {
		return false
	}
	for _, rd := range s.Redirs {
		if rd.Op != syntax.RdrOut || rd.N == nil || rd.N.Value != "2" || rd.Word.Lit() != "/dev/null" {
			return false
		}
	}
	args := c.Args[2:]
	for _, w := range args {
		if name := w.Lit(); name == "" || name[0] == '-' && name != "--verify" || strings.ContainsAny(name, "*?[{!") {
			return false
		}
	}
	switch c.Args[0].Lit() + " " + c.Args[1].Lit() {
	case "git merge-base":
		return len(args) == 2 && args[0].Lit() != "--verify" && args[1].Lit() != "--verify"
	case "git rev-parse":
		return len(args) == 2 && args[0].Lit() == "--verify" && args[1].Lit() != "--verify" && !strings.HasPrefix(args[1].Lit(), "^")
	}
	return false
}

// counts reports a substitution that prints one number, or nothing: its only
// statement ends in a command that does.
func (r *reader) counts(p *syntax.CmdSubst) bool {
	if len(p.Stmts) != 1 || p.Backquotes {
		return false
	}
	s := p.Stmts[0]
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe {
			break
		}
		s = b.Y
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return false
	}
	for _, rd := range s.Redirs {
		if rd.Op != syntax.RdrIn && !(rd.N != nil && rd.N.Value == "2" && rd.Word.Lit() == "/dev/null") {
			return false
		}
	}
	var words []string
	for _, w := range c.Args {
		words = append(words, w.Lit())
	}
	if len(words) == 0 || r.funcs[words[0]] != nil {
		return false
	}
	switch strings.Join(words, " ") {
	case "wc -l", "wc -c", "wc -w", "wc -m", "nproc", "date +%s", "git rev-list --count HEAD":
		return true
	}
	return false
}
