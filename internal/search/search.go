// Package search walks a folder tree and looks for names and text in it, in
// parallel and without another program. It honours .gitignore (nested, global
// and .git/info/exclude), .ignore and .adzeignore; hidden files are searched,
// the folders of version control systems and binary files are not. It never
// follows a link and never opens anything but regular files, so that no link,
// pipe or device in a tree can lead it away or hold it up. It changes nothing.
package search

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
)

// A Tree is a folder (or one file) to search and what to leave out of it.
type Tree struct {
	Root string // absolute and resolved
	// Top bounds how far above Root ignore files are looked for when Root is
	// in no repository; "" means not above Root.
	Top string
	// Home is where git's global settings are found; "" reads none.
	Home string
	// Skip are absolute paths that are never entered.
	Skip []string
	// Leave, when set, leaves files out that a search would otherwise look at or
	// list; they are counted. It is called by several goroutines.
	Leave func(rel string) bool
	// All searches what ignore files leave out, too.
	All bool
	// AsRipgrep makes a Lister leave out what ripgrep leaves out for git's sake, and no
	// more: it lists the folders of version control systems, and two names that differ in
	// case are different on every system.
	AsRipgrep bool
	// Workers bounds the goroutines; 0 chooses.
	Workers int
}

func (t Tree) workers() int {
	if t.Workers > 0 {
		return t.Workers
	}
	return min(runtime.GOMAXPROCS(0), 12)
}

// A Report is what a search could not look at.
type Report struct {
	Denied  int    // folders and files that could not be read
	Example string // the first by path
}

// ErrGone says that the root of a search does not exist.
var ErrGone = errors.New("no such file or folder")

func rootError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, ErrGone)
	}
	return err
}

// VCS reports the name of a folder that a version control system keeps for itself.
func VCS(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "_darcs", "CVS":
		return true
	}
	return false
}

// join puts a slash between the parts of a relative path.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Path is the absolute path of a slash-separated path below root.
func Path(root, rel string) string {
	if rel == "" {
		return root
	}
	return filepath.Join(root, filepath.FromSlash(rel))
}
