package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/adze-agent/adze/internal/text/paths"
)

// A Found is a file whose name matched.
type Found struct {
	Rel  string // below the root, slash-separated
	Time time.Time
}

// Glob finds the files of a tree whose path below the root matches pattern,
// newest first (by path where times are equal). "*" and "?" stop at "/", "**"
// does not; {a,b} and [a-z] choose, [!a] excludes, and a leading "!" turns the
// pattern round. A pattern that ends in "/" finds folders. Links to files of
// the tree are listed, other links are not.
func Glob(ctx context.Context, t Tree, pattern string) ([]Found, Report, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	not := strings.HasPrefix(pattern, "!")
	pattern = strings.TrimPrefix(pattern, "!")
	if pattern == "" {
		return nil, Report{}, errors.New("the pattern is empty")
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, Report{}, fmt.Errorf("%q is not a valid pattern", pattern)
	}
	g := &globbing{tree: t, not: not}
	g.pattern, g.folders = strings.CutSuffix(pattern, "/")
	return g.run(ctx)
}

type globbing struct {
	tree    Tree
	pattern string
	not     bool
	folders bool

	mu    sync.Mutex // guards found
	found []Found
}

func (g *globbing) match(rel string) bool {
	return doublestar.MatchUnvalidated(g.pattern, rel) != g.not
}

func (g *globbing) add(rel string, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.found = append(g.found, Found{rel, at})
}

func (g *globbing) run(ctx context.Context) ([]Found, Report, error) {
	k := &walk{tree: g.tree, links: true}
	k.want = func(rel, _ string) bool { return !g.folders && g.match(rel) }
	fixed := fixedFolder(g.pattern)
	k.enter = func(rel string) bool {
		return g.not || related(rel, fixed)
	}
	if g.folders {
		k.dirs = g.match
	}
	report, err := k.run(ctx, func(_ *worker, d folder, rel, name string) error {
		at, isLink, ok := d.modified(name)
		if !ok || isLink && !g.leadsInside(rel) {
			return nil
		}
		g.add(rel, at)
		return nil
	})
	slices.SortFunc(g.found, func(a, b Found) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Rel, b.Rel)
	})
	return g.found, report, err
}

// leadsInside reports whether a link leads to a regular file of the tree.
func (g *globbing) leadsInside(rel string) bool {
	to, err := filepath.EvalSymlinks(Path(g.tree.Root, rel))
	return err == nil && paths.Within(g.tree.Root, to) && isRegular(to)
}

// fixedFolder is the folder all matches of a pattern are in.
func fixedFolder(pattern string) string {
	i := strings.IndexAny(pattern, `*?[{\`)
	if i < 0 {
		i = len(pattern)
	}
	dir, _ := path.Split(pattern[:i])
	return strings.TrimSuffix(dir, "/")
}

// related reports whether one of two folders is the other or above it.
func related(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == "" || a == b || strings.HasPrefix(b, a) && b[len(a)] == '/'
}

// A filter chooses files by name, as the glob and type of Grep do.
type filter struct {
	keep, drop []string // patterns; one without a slash is for the last component
	types      []string // of names
}

// newFilter reads a list of patterns, separated by blanks or by commas
// outside of braces; "!" in front drops what matches.
func newFilter(globs, typ string) (filter, error) {
	var f filter
	for _, g := range splitGlobs(globs) {
		g, not := strings.CutPrefix(g, "!")
		g = strings.TrimPrefix(g, "./")
		if g == "" {
			continue
		}
		if !doublestar.ValidatePattern(g) {
			return f, fmt.Errorf("glob %q is not a valid pattern", g)
		}
		if dir, ok := strings.CutSuffix(g, "/"); ok {
			g = dir + "/**"
		}
		switch anchored := strings.HasPrefix(g, "/"); {
		case anchored:
			g = g[1:]
		case !strings.Contains(g, "/"):
			// a name, or a folder whose files are all meant
			if not {
				f.drop = append(f.drop, "**/"+g+"/**")
			}
			g = "**/" + g
		case !strings.HasPrefix(g, "**/") && not:
		}
		if not {
			f.drop = append(f.drop, g)
		} else {
			f.keep = append(f.keep, g)
		}
	}
	if typ != "" {
		names, ok := types[typ]
		if !ok {
			return f, fmt.Errorf("type %q is not known%s", typ, nearType(typ))
		}
		f.types = strings.Fields(names)
	}
	return f, nil
}

func splitGlobs(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s), depth == 0 && (s[i] == ' ' || s[i] == ',' || s[i] == '\t' || s[i] == '\n'):
			if i > from {
				out = append(out, s[from:i])
			}
			from = i + 1
		case s[i] == '{':
			depth++
		case s[i] == '}' && depth > 0:
			depth--
		}
	}
	return out
}

func (f filter) match(rel, name string) bool {
	if len(f.types) > 0 && !anyName(f.types, name) {
		return false
	}
	if len(f.keep) > 0 && !anyPath(f.keep, rel, name) {
		return false
	}
	return !anyPath(f.drop, rel, name)
}

func anyName(pats []string, name string) bool {
	for _, p := range pats {
		if matchName(p, name) {
			return true
		}
	}
	return false
}

func anyPath(pats []string, rel, name string) bool {
	for _, p := range pats {
		if last, ok := strings.CutPrefix(p, "**/"); ok && !strings.Contains(last, "/") {
			if matchName(last, name) {
				return true
			}
		} else if doublestar.MatchUnvalidated(p, rel) {
			return true
		}
	}
	return false
}

// matchName is for one component; "*.go" is by far the commonest pattern.
func matchName(p, name string) bool {
	if strings.HasPrefix(p, "*") && !strings.ContainsAny(p[1:], `*?[{\`) {
		return strings.HasSuffix(name, p[1:])
	}
	return doublestar.MatchUnvalidated(p, name)
}

func isRegular(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}
