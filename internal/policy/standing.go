package policy

import (
	"path"
	"strings"
	"sync"
)

// A Standing is what stands below a folder now. A folder may hold very much, so it is
// looked at only when a rule speaks of something there, and once. It is kept behind a
// pointer, so that actions stay comparable.
//
// Look lists resolved paths, folders too; all is false when there may be others.
type Standing struct {
	Look func() (paths []string, all bool)
}

// NewStanding is a Standing that asks look once.
func NewStanding(look func() (paths []string, all bool)) *Standing {
	return &Standing{sync.OnceValues(look)}
}

// stands reports how surely a rule names something below the folder that an action
// changes, and one such path where it was seen.
func (c *call) stands(rule *compiledRule, a Write) (found string, sure surety) {
	r := c.rules.Rules
	if !rule.matchBelow(r, a.Path) && (a.Named == "" || !rule.matchBelow(r, a.Named)) {
		return "", not
	}
	if rule.Spec == "" {
		return "", surely
	}
	all := false
	if a.Standing != nil {
		var paths []string
		paths, all = a.Standing.Look()
		for _, p := range paths {
			if rule.matchEntry(r, p) {
				return p, surely
			}
			if rest, in := below(a.Path, p); in && a.Named != "" && a.Named != a.Path && rule.matchEntry(r, path.Join(a.Named, rest)) {
				return p, surely
			}
		}
	}
	switch {
	case all:
		return "", not
	case rule.matchAll(r, a.Path):
		return "", surely
	}
	return "", maybeIs
}

// repository is the folder of a git repository that a removal would take along, "" when none
// is seen. A rule that names what is removed allows that as well. A .git that is a file has
// its repository elsewhere.
func (c *call) repository(a Write) string {
	if !a.Remove || !a.Tree || a.Moved || c.inAny(c.rules.Writable, a.Path) || c.covered != nil && c.covered.says(a.Asked) {
		return ""
	}
	return a.repository()
}

// repository is the folder of a git repository in a folder, "" when none is seen.
func (a Write) repository() string {
	if a.Standing == nil {
		return ""
	}
	paths, _ := a.Standing.Look()
	for _, p := range paths {
		if rest, in := below(a.Path, p); in {
			if at, _, in := strings.Cut("/"+rest, "/.git/"); in {
				return a.Path + at
			}
		}
	}
	return ""
}

// matchEntry reports whether the rule names file itself: of one in a folder that the rule
// names, the folder was asked about as well.
func (r *compiledRule) matchEntry(rules Rules, file string) bool {
	file = rules.slashed(file)
	for _, p := range r.places {
		if rel, ok := p.relative(rules, file); ok && p.g.exact(rel) && !(p.outside && rules.inSession(file)) {
			return true
		}
	}
	return false
}

// exact reports whether the pattern names rel, and not only a folder above it.
func (g glob) exact(rel string) bool {
	if last := g.segs[len(g.segs)-1]; last != "**" {
		if ok, _ := path.Match(negate(last), rel[strings.LastIndexByte(rel, '/')+1:]); !ok {
			return false
		}
	}
	return rel != "" && matchSegs(g.segs, strings.Split(rel, "/"))
}
