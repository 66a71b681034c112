package policy

import (
	"path"
	"slices"
	"strings"
)

// homes are the names of the home folder, resolved first.
func (r Rules) homes() (out []string) {
	for _, h := range []string{r.Home, r.HomeNamed} {
		if h != "" && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// forbids reports how surely a rule that forbids or asks speaks of a command, the one
// that is being judged.
func (c *call) forbids(rule *compiledRule, a Exec) (best surety) {
	for _, forms := range rule.forms {
		n := len(forms) - 1
		sure := c.is(&forms[n], a)
		if n > 0 && sure > best {
			budget := 2_000
			sure = min(sure, c.behind(forms, n, c.at, a, &budget))
		}
		if best = max(best, sure); best == surely {
			break
		}
	}
	return best
}

// behind reports how surely commands before the one at an index are those of a rule
// before its n-th.
func (c *call) behind(forms []form, n, at int, next Exec, budget *int) (best surety) {
	if n == 0 {
		return surely
	}
	for i := min(at, len(c.req.Actions)) - 1; i >= 0 && best < surely; i-- {
		a, ok := c.req.Actions[i].(Exec)
		if !ok || forms[n].piped && (a.Pipe == 0 || a.Pipe != next.Pipe || a.Stage >= next.Stage) {
			continue
		}
		if *budget--; *budget < 0 {
			return max(best, maybeIs)
		}
		if sure := c.is(&forms[n-1], a); sure > best {
			best = max(best, min(sure, c.behind(forms, n-1, i, a, budget)))
		}
	}
	return best
}

// is reports how surely a command is the one of a form.
func (c *call) is(f *form, a Exec) surety {
	if f.none {
		return not
	}
	sets := f.sets(a)
	if sets == not || f.any {
		return sets
	}
	v := c.variants(a)
	best := not
	for i := range v.argv {
		if f.match(v.argv[i]) || f.near != nil && f.near.match(v.argv[i]) || v.open && (f.matchText(v.known[i]) || f.near != nil && f.near.matchText(v.known[i])) {
			return sets
		}
	}
	for i := range v.argv {
		best = max(best, f.spells(a, v.argv[i]))
		if v.open && best < maybeIs && (f.mayMatch(v.maybe[i]) || f.near != nil && f.near.mayMatch(v.maybe[i])) {
			best = maybeIs
		}
		if best == surely {
			break
		}
	}
	return min(best, sets)
}

// sets reports how surely what a rule names is set before a command.
func (f *form) sets(a Exec) surety {
	sure := surely
	for _, want := range f.env {
		name, _, _ := strings.Cut(want, "=")
		found := not
		for _, have := range a.Env {
			n, v, _ := strings.Cut(have, "=")
			switch {
			case wildMatch(want, have):
				found = surely
			case n == name && v == "": // it may not be known
				found = max(found, maybeIs)
			}
		}
		sure = min(sure, found)
	}
	return sure
}

// Variants are the ways to write one command that rules which forbid or ask look at.
type variants struct {
	argv  [][]string
	open  bool     // some words are not known
	known []string // joined, with a sign for what is not known
	maybe []string // joined, with a wildcard for it
}

// variants of a command: as it is, by the plain name of its program, and with paths as
// they count from the session's folder.
func (c *call) variants(a Exec) *variants {
	if len(a.Argv) > 0 && c.lastExec == &a.Argv[0] && c.lastDir == a.Dir {
		return c.lastVariants
	}
	v := &variants{open: len(a.Open) > 0}
	add := func(argv []string) {
		v.argv = append(v.argv, argv)
		if v.open {
			v.known, v.maybe = append(v.known, a.openText(argv, unknown)), append(v.maybe, a.openText(argv, star))
		}
	}
	for _, argv := range append([][]string{a.Argv}, a.Also...) {
		near := c.near(argv, a)
		for _, one := range [][]string{argv, near} {
			if one == nil {
				continue
			}
			add(one)
			if base := baseName(one); base != "" {
				add(append([]string{base}, one[1:]...))
			}
		}
	}
	if len(a.Argv) > 0 {
		c.lastExec, c.lastDir, c.lastVariants = &a.Argv[0], a.Dir, v
	}
	return v
}

// near is a command with its paths without detours: those in the session's folder from
// there, others absolute; nil where that is what stands there.
func (c *call) near(argv []string, a Exec) []string {
	var out []string
	for i, w := range argv {
		if w == "" || isFlag(w) || i == 0 && !strings.Contains(w, "/") || slices.ContainsFunc(a.Open, func(o Open) bool { return o.Source == w }) {
			continue
		}
		if n := nearPath(c.rules.Dir, a.Dir, w); n != w {
			if out == nil {
				out = slices.Clone(argv)
			}
			out[i] = n
		}
	}
	return out
}

// nearPath is a path, as it is meant in the folder at, as it is written in dir.
func nearPath(dir, at, w string) string {
	if strings.Contains(w, "://") {
		return w
	}
	full := w
	if !path.IsAbs(w) {
		if at == "" || dir == "" {
			return path.Clean(w)
		}
		full = path.Join(at, w)
	}
	full = path.Clean(full)
	switch rel, ok := below(dir, full); {
	case dir == "" || dir == "/" || !ok:
		return full
	case rel == "":
		return "."
	default:
		return rel
	}
}

// nearPattern is a rule's command with its paths as call.near writes them.
func (r Rules) nearPattern(p commandPattern) (commandPattern, bool) {
	words := slices.Clone(p.words())
	changed := false
	for i, w := range words {
		if w == "" || isFlag(w) || !pathWord(w) || i == 0 && !strings.Contains(w, "/") || w[0] == star {
			continue
		}
		n := nearPath(r.Dir, r.Dir, w)
		if n == "." && w != "." && strings.HasSuffix(w, "/") {
			continue
		}
		changed, words[i] = changed || n != w, n
	}
	return p.with(words), changed
}

// pathWord reports a word of a rule that looks like a path.
func pathWord(w string) bool {
	return strings.Contains(w, "/") && !strings.Contains(w, "://") || strings.HasPrefix(w, ".")
}
