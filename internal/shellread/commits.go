package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
	patterns "github.com/adze-agent/adze/internal/text/pattern"
)

// namesCommit reports a substitution that prints the numbers of commits, or nothing.
func (r *reader) namesCommit(p *syntax.CmdSubst, st state) bool {
	return len(p.Stmts) == 1 && !r.escaped(p) && r.printsCommits(p.Stmts[0], st)
}

// printsCommits reports a statement that prints the numbers of commits, one a line, and
// nothing else: git merge-base and rev-list of names, git rev-parse of one, and a log
// whose format is that. Filters may leave out some.
func (r *reader) printsCommits(s *syntax.Stmt, st state) bool {
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe && len(s.Redirs) == 0 && !s.Negated && !s.Background {
		return leavesOut(b.Y) && r.printsCommits(b.X, st)
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || r.funcs["git"] != nil || len(c.Assigns) > 0 || s.Negated || s.Background || len(c.Args) < 2 || c.Args[0].Lit() != "git" {
		return false
	}
	for _, rd := range s.Redirs {
		if rd.Op != syntax.RdrOut || rd.N == nil || rd.N.Value != "2" || rd.Word.Lit() != "/dev/null" {
			return false
		}
	}
	var args []string
	for _, w := range c.Args[2:] {
		text, known := plainText(w)
		if !known || text == "" {
			return false
		}
		args = append(args, text)
	}
	names := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a[0] == '-' })
	switch c.Args[1].Lit() {
	case "merge-base":
		return len(args) == 2 && len(names) == 2
	case "rev-parse":
		return len(names) == 1 && r.parsesCommit(args, names[0], st)
	case "rev-list":
		return onlyCommits(args)
	case "log": // the last format counts, so that there must be one
		at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--format=") || strings.HasPrefix(a, "--pretty=") })
		return at >= 0 && numberFormats[args[at][len("--format="):]] && onlyCommits(slices.Delete(args, at, at+1))
	}
	return false
}

// numberFormats are formats of git log that are a commit's number.
var numberFormats = map[string]bool{"%h": true, "%H": true, "format:%h": true, "format:%H": true, "tformat:%h": true, "tformat:%H": true}

// plainText is a word without an expansion or a pattern.
func plainText(w *syntax.Word) (string, bool) {
	out := ""
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{!\\") || strings.HasPrefix(p.Value, "~") || strings.HasPrefix(p.Value, "=") {
				return "", false
			}
			out += p.Value
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			out += p.Value
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok || p.Dollar || strings.ContainsAny(l.Value, "\\!") {
					return "", false
				}
				out += l.Value
			}
		default:
			return "", false
		}
	}
	return out, true
}

// parsesCommit reports git rev-parse of one name that prints its number: without
// --verify it prints what is none as it is, so that no file may have that name.
func (r *reader) parsesCommit(args []string, name string, st state) bool {
	verify := false
	for _, a := range args {
		switch {
		case a == "--verify":
			verify = true
		case a == name, a == "--short", a == "-q", a == "--quiet", strings.HasPrefix(a, "--short=") && scan.Number(a[8:]):
		default:
			return false
		}
	}
	if verify {
		return !strings.HasPrefix(name, "^")
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/~^@-") == "" && name[0] != '^' && !strings.Contains(name, "..") && !strings.Contains(name, "^@") && len(st.dirs) > 0 &&
		!r.Invoke("git", st.dirs).There(name)
}

// onlyCommits reports arguments of git rev-list and git log that choose commits, and
// add nothing to what is printed of one.
func onlyCommits(args []string) bool {
	for i, a := range args {
		flag, val, _ := strings.Cut(a, "=")
		switch {
		case a == "--":
			return true // paths
		case a[0] != '-':
			if strings.Contains(a, ":") {
				return false
			}
		case a == "-n":
			if i+1 >= len(args) || !scan.Number(args[i+1]) {
				return false
			}
		case scan.Number(a), strings.HasPrefix(a, "-n") && scan.Number(a[2:]):
		case slices.Contains([]string{"--merges", "--no-merges", "--first-parent", "--all", "--reverse", "--branches", "--tags", "--remotes", "--topo-order", "--date-order", "--no-walk", "--abbrev-commit"}, a):
		case slices.Contains([]string{"--max-count", "--skip", "--since", "--until", "--after", "--before", "--author", "--committer", "--grep", "--max-parents", "--min-parents"}, flag) && val != "":
		default:
			return false
		}
	}
	return true
}

// commitTail is what may stand behind the number of a commit: it stands alone where the
// command printed nothing, and must be no name of a file then.
var commitTail = patterns.Lazy(`^([~^][0-9]*)*(\.\.\.?[A-Za-z0-9_][A-Za-z0-9_/.~^-]*)?$`)

// commitWord is a word that stands for the commits whose numbers come in.
func commitWord() word { return word{Kind: programs.Unknown, Commit: true, Many: true, Source: "…"} }
