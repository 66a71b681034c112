package search

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/ignore"
	"github.com/adze-agent/adze/internal/text/paths"
)

// maxIgnore bounds an ignore file, in bytes.
const maxIgnore = 1 << 20

// Kinds of ignore files, the strongest first.
const (
	ofAdze = iota
	ofIgnore
	ofGit
	kinds
)

func ignoreKind(name string) int {
	switch name {
	case ".adzeignore":
		return ofAdze
	case ".ignore":
		return ofIgnore
	case ".gitignore":
		return ofGit
	}
	return -1
}

// rules are the ignore files of one folder and of those above it. They are
// immutable once walked past.
type rules struct {
	up    *rules
	above string // for a folder above the root: the way from it to the root
	base  string // for the root ("") and folders below: where it is
	lists [kinds]ignore.List
	repo  bool // has .git: git files above do not count
	// more are git's own lists for a repository: info/exclude, then the
	// global file. They are asked last.
	more []ignore.List
}

// local is rel, a path below the root, as seen from r's folder.
func (r *rules) local(rel string) string {
	if r.above != "" {
		return r.above + "/" + rel
	}
	if r.base == "" {
		return rel
	}
	return rel[len(r.base)+1:]
}

// ignored judges a path whose parents are all kept.
func (r *rules) ignored(rel string, dir bool) bool { return r.ignoredBy(rel, dir, 0) }

// ignoredBy is ignored by the kinds of ignore files from strongest on.
func (r *rules) ignoredBy(rel string, dir bool, strongest int) bool {
	for k := strongest; k < kinds; k++ {
		for at := r; at != nil; at = at.up {
			if l := at.lists[k]; !l.Empty() {
				if v := l.Match(at.local(rel), dir); v != ignore.None {
					return v == ignore.Ignored
				}
			}
			if k == ofGit && at.repo {
				break
			}
		}
	}
	for at := r; at != nil; at = at.up {
		for _, l := range at.more {
			if v := l.Match(at.local(rel), dir); v != ignore.None {
				return v == ignore.Ignored
			}
		}
		if at.repo {
			break
		}
	}
	return false
}

// empty reports that nothing can be ignored, which is worth knowing per file.
func (r *rules) empty() bool {
	for at := r; at != nil; at = at.up {
		if len(at.more) > 0 {
			return false
		}
		for k := range kinds {
			if !at.lists[k].Empty() {
				return false
			}
		}
	}
	return true
}

// foldCase is git's default for core.ignorecase on systems whose file names
// do not tell case apart.
func (t Tree) foldCase() bool {
	return !t.AsRipgrep && (runtime.GOOS == "windows" || runtime.GOOS == "darwin")
}

// above reads the ignore files of the folders over the root: up to the
// repository's, or else up to t.Top. It returns the innermost, or nil.
func (t Tree) above() *rules {
	var dirs []string
	repo, top := -1, conf.Root(t.Root)
	for d := t.Root; ; d = filepath.Dir(d) {
		if d != t.Root {
			dirs = append(dirs, d)
		}
		if d == top {
			repo = len(dirs)
			break
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	if repo < 0 { // in no repository
		n := 0
		for i, d := range dirs {
			if t.Top != "" && paths.Within(t.Top, d) {
				n = i + 1
			}
		}
		dirs = dirs[:n]
	}
	var r *rules
	for i := len(dirs) - 1; i >= 0; i-- {
		rel, err := filepath.Rel(dirs[i], t.Root)
		if err != nil {
			continue
		}
		r = &rules{up: r, above: filepath.ToSlash(rel)}
		for _, name := range []string{".adzeignore", ".ignore", ".gitignore"} {
			r.lists[ignoreKind(name)] = t.readList(filepath.Join(dirs[i], name))
		}
		if i == repo-1 {
			r.repo = true
			r.more, _ = t.git(dirs[i])
		}
	}
	if r == nil || !r.repo && repo != 0 {
		// No repository above: the global list still counts, from the top.
		r = &rules{up: r, more: t.global()}
	}
	return r
}

// git reads the lists of the repository whose .git is in a folder; ok is false
// when there is none.
func (t Tree) git(top string) (lists []ignore.List, ok bool) {
	repo, err := conf.In(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err == nil {
		lists = append(lists, t.readList(filepath.Join(repo.Common, "info", "exclude")))
	}
	return append(lists, t.global()...), true
}

// global reads core.excludesFile, which is git/ignore in the user's
// configuration folder unless set.
func (t Tree) global() []ignore.List {
	if t.Home == "" {
		return nil
	}
	path := filepath.Join(t.Home, ".config", "git", "ignore")
	for _, file := range []string{filepath.Join(t.Home, ".config", "git", "config"), filepath.Join(t.Home, ".gitconfig")} {
		b, err := regular.Head(file, maxIgnore)
		if err != nil {
			continue
		}
		if p, ok := ignore.ExcludesFile(string(b)); ok {
			path = paths.Absolute(t.Home, t.Home, p)
		}
	}
	if l := t.readList(path); !l.Empty() {
		return []ignore.List{l}
	}
	return nil
}

func (t Tree) readList(path string) ignore.List {
	b, err := regular.Head(path, maxIgnore)
	if err != nil {
		return ignore.List{}
	}
	return ignore.Parse(b, t.foldCase())
}
