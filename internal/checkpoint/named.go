package checkpoint

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of commands that are recorded by the paths they name. What is more is
// recorded by whole trees, which copy nothing that git has.
const (
	maxNamed     = 64      // paths
	maxNamedSize = 8 << 20 // bytes of the files there
	maxBeside    = 5000    // entries of one folder that holds such a path
	maxBelow     = 20_000  // entries that appeared
)

// A nearby is where commands work that only change the paths they name
// ([policy.Exec].Edits): besides those, names appear in the folders that hold
// them, such as a temporary file of sed that was interrupted, or below them
// (mkdir a && cp x a).
type nearby struct {
	paths []string        // that are looked at themselves
	in    map[string]bool // folders
	had   map[string]bool // paths in them
}

// named works out what such commands change. ok is false where the paths alone
// do not tell: one is a folder, a link or a file with several names, or stands in
// a folder of version control, or they are too many.
func (r *Recorder) named(actions []policy.Action, files []string) (n *nearby, ok bool) {
	n = &nearby{paths: files, in: map[string]bool{}, had: map[string]bool{}}
	if !slices.ContainsFunc(actions, func(a policy.Action) bool { e, is := a.(policy.Exec); return is && e.Edits }) {
		return n, true
	}
	size := int64(0)
	for a := range policy.All(actions) {
		w, is := a.(policy.Write)
		if !is || w.Path == "" {
			continue
		}
		for _, t := range r.Trees {
			if !paths.Within(t.root, w.Path) {
				continue
			}
			more, ok := n.near(t, w)
			if size += more; !ok || size > maxNamedSize || len(n.paths) > maxNamed {
				return nil, false
			}
			break
		}
	}
	return n, true
}

// near adds a path of a tree, the folders that have to be made for it, and what
// is beside it. size is that of a file at the path.
func (n *nearby) near(t *Tree, w policy.Write) (size int64, ok bool) {
	rel, err := filepath.Rel(t.root, w.Path)
	if rel = filepath.ToSlash(rel); err != nil || rel == "." || w.Named != "" && w.Named != w.Path {
		return 0, false
	}
	if slices.ContainsFunc(strings.Split(rel, "/"), search.VCS) {
		return 0, false
	}
	lister, err := search.NewLister(t.search)
	if err != nil {
		return 0, false
	}
	defer lister.Close()
	dir, err := lister.Open(parent(rel))
	for errors.Is(err, fs.ErrNotExist) && rel != "" {
		if rel = parent(rel); !slices.Contains(n.paths, t.path(rel)) {
			n.paths = append(n.paths, t.path(rel))
		}
		dir, err = lister.Open(parent(rel))
	}
	if err != nil {
		return 0, false
	}
	defer dir.Close()
	st, err := dir.Stat(base(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil, !st.Mode.IsRegular(), st.Links > 1:
		return 0, false
	}
	return st.Size, n.beside(t, lister, dir, parent(rel))
}

// beside notes the names in a folder.
func (n *nearby) beside(t *Tree, lister *search.Lister, dir search.Folder, rel string) bool {
	if n.in[t.path(rel)] {
		return true
	}
	n.in[t.path(rel)] = true
	entries, _, err := lister.All(dir, search.Rules{}, maxBeside, make([]byte, 32<<10))
	for _, e := range entries {
		n.had[t.path(below(rel, e.Name))] = true
	}
	return err == nil && len(entries) <= maxBeside
}

// appeared are the paths that were not there before, in the folders that hold
// the named ones and below what was made.
func (r *Recorder) appeared(n *nearby) (out []effect.Change) {
	var look func(t *Tree, lister *search.Lister, rel string, fresh bool)
	look = func(t *Tree, lister *search.Lister, rel string, fresh bool) {
		dir, err := lister.Open(rel)
		if err != nil {
			return // it is gone
		}
		defer dir.Close()
		entries, _, err := lister.All(dir, search.Rules{}, maxBelow-len(out), make([]byte, 32<<10))
		if err != nil {
			return
		}
		for _, e := range entries {
			at := t.path(below(rel, e.Name))
			made := e.Dir && slices.Contains(n.paths, at) // there was a file, or nothing
			if !fresh && n.had[at] && !made || len(out) >= maxBelow || slices.Contains(t.leave, at) || e.Ignored && policy.Output(e.Name, e.Dir) {
				continue
			}
			if v, err := Look(at, nil); err == nil && v != (effect.Version{}) {
				out = append(out, effect.Change{Path: at, After: v})
			}
			if e.Dir {
				look(t, lister, below(rel, e.Name), true)
			}
		}
	}
	for _, t := range r.Trees {
		lister, err := search.NewLister(t.search)
		if err != nil {
			continue
		}
		for dir := range n.in {
			if rel, err := filepath.Rel(t.root, dir); err == nil && paths.Within(t.root, dir) {
				if rel == "." {
					rel = ""
				}
				look(t, lister, filepath.ToSlash(rel), false)
			}
		}
		lister.Close()
	}
	return slices.DeleteFunc(out, func(c effect.Change) bool { return slices.Contains(n.paths, c.Path) })
}
