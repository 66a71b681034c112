package policy

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

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

// base is the folder a path spec is relative to, and the pattern left.
func (r Rule) base(spec string, rules Rules) (dir, pat string) {
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

// A place is one compiled reading of a rule's path spec: the folder it counts from, and
// the pattern.
type place struct {
	dir string
	g   glob
	// outside: it speaks of files alone, and of those in none of the session's folders.
	outside bool
}

// compilePaths are the places that a rule speaks of. One that allows is read in one way;
// what forbids or asks in every way in which it may be meant.
func (r Rule) compilePaths(e Effect, rules Rules) (out []place) {
	seen := map[string]bool{}
	add := func(dir, pat string, outside bool) {
		dir = rules.slashed(dir)
		if rules.FoldCase {
			dir, pat = strings.ToLower(dir), strings.ToLower(pat)
		}
		key := dir + "\x00" + pat
		if g, err := compileGlob(pat); err == nil && dir != "" && !seen[key] {
			seen[key] = true
			out = append(out, place{dir, g, outside})
		}
	}
	for _, spec := range pathSpecs(r.Spec, e != Allow) {
		spec = pathSpec(spec, rules.windows())
		dir, pat := r.base(spec, rules)
		add(dir, pat, false)
		if rules.HomeNamed != "" && dir == rules.Home && strings.HasPrefix(spec, "~") {
			add(rules.HomeNamed, pat, false)
		}
		if e == Allow {
			continue
		}
		if rules.absoluteToo(spec) {
			add("/", spec, false)
		}
		if anywhere(spec) {
			for _, d := range rules.Dirs {
				add(d, strings.TrimPrefix(spec, "/"), false)
			}
			add("/", strings.TrimPrefix(spec, "/"), true)
		}
	}
	return out
}

// pathSpecs are the texts that a path spec may stand for: $HOME is ~, and in a rule that
// forbids or asks blanks beside a star or a slash, and quotes around all, mean nothing.
func pathSpecs(spec string, wide bool) (out []string) {
	add := func(s string) {
		for _, home := range []string{"$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(s, home); ok && (rest == "" || rest[0] == '/') {
				s = "~" + rest
			}
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(spec)
	if !wide {
		return out
	}
	tidy := strings.Map(func(c rune) rune {
		switch {
		case unicode.Is(unicode.Cf, c):
			return -1
		case unicode.IsSpace(c):
			return ' '
		}
		return c
	}, spec)
	tidy = strings.TrimSpace(tidy)
	for _, q := range []string{`"`, "'"} {
		if len(tidy) > 1 && strings.HasPrefix(tidy, q) && strings.HasSuffix(tidy, q) {
			tidy = strings.TrimSpace(tidy[1 : len(tidy)-1])
		}
	}
	if tidy != "" {
		add(tidy)
		add(withoutBlanks(tidy))
	}
	for _, s := range out {
		for _, one := range braced(s, maxBraced) {
			add(one)
		}
	}
	return out
}

// maxBraced bounds the paths that one with braces stands for.
const maxBraced = 64

// braced are the texts that {a,b} in a path stands for, at most some; none where it has no
// braces with a comma.
func braced(s string, most int) (out []string) {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return nil
	}
	depth, from, parts := 0, open+1, []string(nil)
	for i := open; i < len(s); i++ {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == ',' && depth == 1:
			parts, from = append(parts, s[from:i]), i+1
		case s[i] == '}':
			if depth--; depth > 0 {
				continue
			}
			for _, p := range append(parts, s[from:i]) {
				one := s[:open] + p + s[i+1:]
				more := braced(one, most-len(out))
				if len(more) == 0 {
					more = []string{one}
				}
				if out = append(out, more...); len(parts) == 0 || len(out) >= most {
					break
				}
			}
			if len(parts) == 0 {
				return nil
			}
			return out
		}
	}
	return nil
}

// withoutBlanks leaves out blanks that stand beside a star or a slash, or before what
// goes on with .*.
func withoutBlanks(s string) string {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return s
	}
	out := fields[0]
	for _, f := range fields[1:] {
		if strings.IndexByte("*/", out[len(out)-1]) < 0 && strings.IndexByte("*/", f[0]) < 0 && !strings.HasPrefix(f, ".*") {
			out += " "
		}
		out += f
	}
	return out
}

// absoluteToo reports a spec with one slash that an author may mean as a whole path: it
// begins with a folder that stands in the root of systems, or of a folder here.
func (r Rules) absoluteToo(spec string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(spec, "/"), "/")
	if !strings.HasPrefix(spec, "/") || first == "" {
		return false
	}
	return slices.ContainsFunc(append([]string{r.Home, r.HomeNamed, r.Dir}, r.Dirs...), func(d string) bool {
		return strings.HasPrefix(d, "/"+first+"/") || d == "/"+first
	}) || rootFolders[strings.ToLower(first)]
}

// MeantWhole reports a rule about a path that begins with one slash, and so counts from the
// folder of its settings, where its author may mean a whole path: first is the folder
// that it begins with.
func (r Rules) MeantWhole(rule Rule) (first string, ok bool) {
	if f := family(rule.Tool); f != "Read" && f != "Edit" || !r.absoluteToo(rule.Spec) {
		return "", false
	}
	first, _, _ = strings.Cut(rule.Spec[1:], "/")
	return first, true
}

// rootFolders are what stands in the root of Linux (FHS 3.0) and macOS, in lower case.
var rootFolders = map[string]bool{
	"home": true, "root": true, "users": true, "etc": true, "var": true, "tmp": true, "usr": true, "opt": true, "mnt": true, "media": true, "srv": true, "run": true, "proc": true, "sys": true, "dev": true, "boot": true,
	"private": true, "volumes": true, "library": true, "system": true, "applications": true, "nix": true, "snap": true,
}

// anywhere reports a spec that means every folder: a name alone, and what begins with
// **/.
func anywhere(spec string) bool {
	rest, any := strings.CutPrefix(strings.TrimPrefix(spec, "/"), "**/")
	if !any {
		rest = spec
	}
	if strings.Trim(rest, "*/.") == "" || strings.HasPrefix(spec, "~") {
		return false
	}
	return any || !strings.Contains(strings.TrimRight(rest, "/"), "/")
}

// matchPath reports whether the rule names file.
func (r *compiledRule) matchPath(rules Rules, file string) bool {
	if file == "" {
		return false
	}
	file = rules.slashed(file)
	return slices.ContainsFunc(r.places, func(p place) bool {
		rel, ok := p.relative(rules, file)
		return ok && !(p.outside && rules.inSession(file)) && p.g.match(rel)
	})
}

// inSession reports whether a file lies in one of the session's folders.
func (r Rules) inSession(file string) bool {
	in := func(d string) bool { return Within(r.slashed(d), file, r.FoldCase) }
	return r.Dir != "" && in(r.Dir) || slices.ContainsFunc(r.Dirs, in)
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
	folder = rules.slashed(folder)
	return slices.ContainsFunc(r.places, func(p place) bool {
		if p.outside {
			return false
		}
		if Within(folder, p.dir, rules.FoldCase) {
			return true
		}
		rel, ok := p.relative(rules, folder)
		return ok && p.g.reaches(rel)
	})
}

// relative is file from the place's folder; ok is false when it is not in it.
func (p place) relative(rules Rules, file string) (rel string, ok bool) {
	if rules.FoldCase {
		file = strings.ToLower(file)
	}
	return below(p.dir, file)
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
