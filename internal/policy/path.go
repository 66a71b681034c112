package policy

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/text/paths"
)

// A glob is one gitignore-style pattern, compiled, relative to some folder.
type glob struct {
	segs     []string
	anchored bool // matches from the folder down, not at any depth
}

// compileGlob reads a gitignore pattern. It is anchored when it holds a slash
// before its end; a trailing slash only says that it names a folder, and what
// names a folder names everything in it.
func compileGlob(pat string) (glob, error) {
	pat = strings.TrimRight(pat, "/")
	if pat == "" {
		return glob{segs: []string{"**"}, anchored: true}, nil
	}
	g := glob{anchored: strings.Contains(pat, "/")}
	for _, s := range strings.Split(pat, "/") {
		if s == "" || s == "." {
			continue
		}
		if s != "**" {
			if _, err := path.Match(s, "x"); err != nil {
				return g, fmt.Errorf("%q is not a pattern: a bracket is not closed or a backslash ends it", s)
			}
		}
		g.segs = append(g.segs, s)
	}
	if !g.anchored {
		g.segs = append([]string{"**"}, g.segs...)
	}
	return g, nil
}

// match reports whether the pattern names rel or a folder above it. rel uses
// slashes and is relative to the pattern's folder.
func (g glob) match(rel string) bool {
	if rel == "" || rel == "." {
		return len(g.segs) == 1 && g.segs[0] == "**"
	}
	segs := strings.Split(rel, "/")
	for n := 1; n <= len(segs); n++ {
		if matchSegs(g.segs, segs[:n]) {
			return true
		}
	}
	return false
}

// reaches reports whether something below the folder rel could match.
func (g glob) reaches(rel string) bool {
	if rel == "" || rel == "." {
		return true
	}
	if !g.anchored {
		return true
	}
	segs := strings.Split(rel, "/")
	for i, s := range segs {
		if i >= len(g.segs) {
			return false
		}
		if g.segs[i] == "**" {
			return true
		}
		if ok, _ := path.Match(negate(g.segs[i]), s); !ok {
			return false
		}
	}
	return true
}

func matchSegs(pat, segs []string) bool {
	for len(pat) > 0 {
		if pat[0] == "**" {
			if len(pat) == 1 {
				return len(segs) > 0
			}
			for i := range segs { // what follows wants at least one
				if matchSegs(pat[1:], segs[i:]) {
					return true
				}
			}
			return false
		}
		if len(segs) == 0 {
			return false
		}
		if ok, _ := path.Match(negate(pat[0]), segs[0]); !ok {
			return false
		}
		pat, segs = pat[1:], segs[1:]
	}
	return len(segs) == 0
}

// negate turns gitignore's [!a] into path.Match's [^a].
func negate(seg string) string { return strings.ReplaceAll(seg, "[!", "[^") }

// pathPattern strips what only chooses the base folder from a path spec.
func pathPattern(spec string) string {
	switch {
	case strings.HasPrefix(spec, "//"):
		return spec[1:]
	case spec == "~":
		return "/"
	case strings.HasPrefix(spec, "~/"):
		return spec[1:]
	case strings.HasPrefix(spec, "./"):
		return spec[1:]
	}
	return spec
}

// base is the folder a rule's path spec is relative to, and the pattern left.
func (r Rule) base(rules Rules) (dir, pat string) {
	spec := pathSpec(r.Spec, rules.windows())
	switch {
	case strings.HasPrefix(spec, "//"):
		return "/", pathPattern(spec)
	case spec == "~" || strings.HasPrefix(spec, "~/"):
		return rules.Home, pathPattern(spec)
	case strings.HasPrefix(spec, "/"):
		if r.Root != "" {
			return r.Root, spec
		}
		return rules.Dir, spec
	}
	dir, pat = rules.slashed(rules.Dir), pathPattern(spec)
	for {
		rest, up := strings.CutPrefix(strings.TrimPrefix(pat, "/"), "../")
		if !up {
			return dir, pat
		}
		dir, pat = path.Dir(dir), "/"+rest
	}
}

// A place is the compiled path spec of a rule: the folder it counts from, and
// the pattern. ok is false when it can match nothing.
type place struct {
	dir string
	g   glob
	ok  bool
}

func (r Rule) compilePath(rules Rules) place {
	dir, pat := r.base(rules)
	dir = rules.slashed(dir)
	if rules.FoldCase {
		dir, pat = strings.ToLower(dir), strings.ToLower(pat)
	}
	g, err := compileGlob(pat)
	return place{dir: dir, g: g, ok: err == nil && dir != ""}
}

// matchPath reports whether the rule names file.
func (r *compiledRule) matchPath(rules Rules, file string) bool {
	rel, ok := r.relative(rules, file)
	return ok && r.path.g.match(rel)
}

// matchAll reports whether the rule names whatever stands in the folder.
func (r *compiledRule) matchAll(rules Rules, folder string) bool {
	return r.matchPath(rules, filepath.Join(folder, "\x00")) // no file has this name
}

// matchBelow reports whether the rule may name something below the folder.
func (r *compiledRule) matchBelow(rules Rules, folder string) bool {
	if r.Spec == "" {
		return true
	}
	if Within(rules.slashed(folder), r.path.dir, rules.FoldCase) {
		return true
	}
	rel, ok := r.relative(rules, folder)
	return ok && r.path.g.reaches(rel)
}

// relative is file from the rule's folder; ok is false when it is not in it.
func (r *compiledRule) relative(rules Rules, file string) (rel string, ok bool) {
	if file == "" || !r.path.ok {
		return "", false
	}
	file = rules.slashed(file)
	if rules.FoldCase {
		file = strings.ToLower(file)
	}
	return below(r.path.dir, file)
}

// below returns file relative to dir; ok is false when it is not in it.
func below(dir, file string) (rel string, ok bool) {
	if dir == file {
		return "", true
	}
	dir = strings.TrimSuffix(dir, "/") + "/"
	return strings.CutPrefix(file, dir)
}

// Within is paths.Within that, with fold, takes no regard to case.
func Within(dir, file string, fold bool) bool {
	if fold {
		dir, file = strings.ToLower(dir), strings.ToLower(file)
	}
	return paths.Within(dir, file)
}

// hidden reports whether the rule only names what stands behind a component
// that begins with a dot.
func (r Rule) hidden() bool {
	for _, seg := range strings.Split(r.Spec, "/") {
		if len(seg) > 1 && seg[0] == '.' && seg != ".." {
			return true
		}
	}
	return false
}
