package conf

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Kind says what a steering path is, and so how its content is judged.
type Kind int

// Kinds of steering paths.
const (
	Config     Kind = iota // settings
	Hook                   // a program that git runs at a certain time
	CommonDir              // where the settings and hooks of a worktree are
	WorkTree               // where the worktree of a git folder is
	Attributes             // which files go through which programs
	Remote                 // an address in the old format
	Todo                   // what a rebase has yet to do, which may be to run programs
	Pointer                // a .git file, which says where the git folder is
	Modules                // .gitmodules
	State                  // what an unfinished rebase, cherry-pick, am or bisect goes on with
	Strange                // a link, or what is no file at all, where git makes none
)

// A Steer is a path by which git is made to run programs, or to take its
// settings from elsewhere.
type Steer struct {
	Path string
	Kind Kind
}

// Bounds of what is looked at in one git folder.
const (
	maxTrees = 10_000
	maxDepth = 8 // of submodules in submodules
	maxHooks = 10_000
	// maxFolders are those that submodules, and the parts of their names, take.
	maxFolders = 10_000
)

// IsGitDir reports whether git could take dir for a git folder.
func IsGitDir(dir string) bool { return looksLikeGitDir(dir) }

// Holds are the names in a git folder itself, in lower case; nil says nothing of them.
// What lies below a name that is not there need not be looked for.
type Holds map[string]bool

// Listed are the names of a listing. A name that is not plain ASCII may be another one to
// the file system, so with such nothing is known.
func Listed(names []string) Holds {
	known := make(Holds, len(names))
	for _, n := range names {
		if strings.ContainsFunc(n, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return nil
		}
		known[strings.ToLower(n)] = true
	}
	return known
}

// lack reports whether a path below a git folder is certainly not there.
func (h Holds) lack(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return h != nil && !h[strings.ToLower(first)]
}

// Guards are the paths of a git folder that exist and that nothing in git's
// daily work writes: settings, hooks, and what says where those are. They are
// whole folders where all of it steers git.
func Guards(git string, holds Holds) []string {
	var out []string
	add := func(dir string, names ...string) {
		for _, n := range names {
			if dir == git && holds.lack(n) {
				continue
			}
			if p := filepath.Join(dir, n); exists(p) {
				out = append(out, p)
			}
		}
	}
	each(git, holds, func(dir string, worktree bool) {
		if worktree {
			add(dir, "commondir", "gitdir", "config.worktree")
			return
		}
		add(dir, "hooks", "config", "config.worktree", "commondir", "info/attributes", "remotes", "branches")
	})
	return out
}

// Steers are the paths of a git folder that exist and steer git, one by one:
// what Guards covers, and the lists of a rebase. Sample hooks, which git never
// runs, are left out.
func Steers(git string, holds Holds) []Steer {
	var out []Steer
	add := func(dir, name string, k Kind) {
		if dir == git && holds.lack(name) {
			return
		}
		if p := filepath.Join(dir, name); exists(p) {
			out = append(out, Steer{p, k})
		}
	}
	files := func(in, name string, k Kind) {
		if in == git && holds.lack(name) {
			return
		}
		dir := filepath.Join(in, name)
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			out = append(out, Steer{dir, k}) // a link in the place of the folder
			return
		}
		list, _ := os.ReadDir(dir) // most have none
		for _, e := range list[:min(len(list), maxHooks)] {
			if k != Hook || !strings.HasSuffix(e.Name(), ".sample") {
				out = append(out, Steer{filepath.Join(dir, e.Name()), k})
			}
		}
	}
	each(git, holds, func(dir string, worktree bool) {
		add(dir, "commondir", CommonDir)
		add(dir, "config.worktree", Config)
		for _, todo := range []string{"rebase-merge/git-rebase-todo", "sequencer/todo"} {
			add(dir, todo, Todo)
		}
		for name := range states {
			add(dir, name, State)
		}
		if worktree {
			add(dir, "gitdir", WorkTree)
			return
		}
		add(dir, "config", Config)
		add(dir, "info/attributes", Attributes)
		files(dir, "hooks", Hook)
		files(dir, "remotes", Remote)
		files(dir, "branches", Remote)
	})
	return out
}

// each calls yield for a git folder, the parts of it that belong to its
// worktrees, and the git folders of its submodules.
func each(git string, holds Holds, yield func(dir string, worktree bool)) {
	yield(git, false)
	if !holds.lack("worktrees") {
		trees, _ := os.ReadDir(filepath.Join(git, "worktrees")) // most have none
		for _, t := range trees[:min(len(trees), maxTrees)] {
			yield(filepath.Join(git, "worktrees", t.Name()), true)
		}
	}
	if left := maxFolders; !holds.lack("modules") {
		modules(filepath.Join(git, "modules"), maxDepth, &left, yield)
	}
}

func modules(dir string, depth int, left *int, yield func(dir string, worktree bool)) {
	if depth == 0 {
		return
	}
	list, _ := os.ReadDir(dir) // most have none
	for _, e := range list {
		at := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir() || *left == 0:
		case exists(filepath.Join(at, "HEAD")) || exists(filepath.Join(at, "config")):
			*left--
			yield(at, false)
			modules(filepath.Join(at, "modules"), depth-1, left, yield)
		default: // a part of a submodule's name
			*left--
			modules(at, depth-1, left, yield)
		}
	}
}

// Links are the folders, absolute, at which the index of the repository whose
// worktree is top holds other repositories. Git enters those and follows their
// settings.
func Links(top, git string) []string {
	list, err := gitlinks(filepath.Join(git, "index"))
	if err != nil {
		return nil
	}
	var out []string
	for _, l := range list[:min(len(list), maxModules)] {
		if l = filepath.FromSlash(l); filepath.IsLocal(l) {
			out = append(out, filepath.Join(top, l))
		}
	}
	return out
}

// GitDir is the git folder that a path called .git stands for: itself, or the
// one it names as a file.
func GitDir(dot string) (string, error) {
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return dot, nil
	case info.Mode().IsRegular():
		return pointee(dot)
	}
	return "", &fs.PathError{Op: "read", Path: dot, Err: fs.ErrInvalid}
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}
