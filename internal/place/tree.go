package place

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// Tree lists what stands below dir (absolute, resolved), without following
// links. A folder that may not be listed counts as empty: a command of the same
// user finds no more. ok is false when there are more than most entries.
func Tree(dir string, most int) (l world.Listing, ok bool) {
	l.Unhides = unhidesAbove(dir, ignoreFiles)
	todo := []string{""}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f, err := openFolder(filepath.Join(dir, filepath.FromSlash(at)))
		if err != nil {
			l.Closed = l.Closed || errors.Is(err, fs.ErrPermission)
			continue
		}
		for {
			list, err := f.ReadDir(500)
			for _, e := range list {
				name := e.Name()
				if at != "" {
					name = at + "/" + name
				}
				if len(l.Entries) == most {
					f.Close()
					return l, false
				}
				l.Entries = append(l.Entries, world.Entry{Name: name, Dir: e.IsDir(), Link: e.Type()&fs.ModeSymlink != 0})
				if e.IsDir() {
					todo = append(todo, name)
				} else if ignoreFiles[e.Name()] && e.Type().IsRegular() {
					l.Unhides = l.Unhides || unhides(filepath.Join(dir, filepath.FromSlash(name)))
				}
			}
			if err != nil || len(list) == 0 {
				break
			}
		}
		f.Close()
	}
	return l, true
}

// Searched is Tree without what git ignores, for searches that leave that out. ok is
// also false where dir is in no repository, and where an ignore file that is not git's
// takes names out again.
func Searched(dir string, most int) (l world.Listing, ok bool) {
	if conf.Root(dir) == "" || unhidesAbove(dir, searchIgnores) {
		return l, false
	}
	tree, err := search.NewLister(search.Tree{Root: dir, AsRipgrep: true})
	if err != nil {
		return l, false
	}
	defer tree.Close()
	l.Unhides = unhidesAbove(dir, ignoreFiles)
	type job struct {
		at    string
		rules search.Rules
	}
	buf := make([]byte, 32<<10)
	for todo := []job{{"", tree.Above()}}; len(todo) > 0; {
		j := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f, err := tree.Open(j.at)
		if err != nil {
			continue // it counts as empty, as for Tree
		}
		list, rules, err := tree.List(f, j.rules, buf)
		f.Close()
		if err != nil {
			continue
		}
		for _, e := range list {
			name := path.Join(j.at, e.Name)
			if len(l.Entries) == most {
				return l, false
			}
			l.Entries = append(l.Entries, world.Entry{Name: name, Dir: e.Dir})
			switch {
			case e.Dir:
				todo = append(todo, job{name, rules})
			case !ignoreFiles[e.Name] || !unhides(filepath.Join(dir, filepath.FromSlash(name))):
			case searchIgnores[e.Name]:
				return l, false
			default:
				l.Unhides = true
			}
		}
	}
	return l, true
}

// openFolder opens a folder to list it; what has become something else since
// it was seen is not waited for.
func openFolder(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fs.ErrInvalid
	}
	return os.OpenFile(path, os.O_RDONLY|folderOnly, 0)
}

// ignoreFiles are those whose lines searches honour.
var ignoreFiles = map[string]bool{".gitignore": true, ".ignore": true, ".rgignore": true}

// searchIgnores are those that only searches honour; they go before git's.
var searchIgnores = map[string]bool{".ignore": true, ".rgignore": true}

// unhidesAbove reports whether one of the ignore files in a folder above dir may make
// a search look at names with a dot, or that another one leaves out.
func unhidesAbove(dir string, names map[string]bool) bool {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		for name := range names {
			if unhides(filepath.Join(at, name)) {
				return true
			}
		}
		if at == filepath.Dir(at) {
			return unhides(filepath.Join(dir, ".git", "info", "exclude"))
		}
	}
}

// maxIgnore bounds an ignore file that is looked into; a larger one may hold
// anything.
const maxIgnore = 1 << 20

// unhides reports whether a line of an ignore file takes names out again.
func unhides(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err == nil // a link is not followed
	}
	b, err := regular.Read(path, maxIgnore)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "!") {
			return true
		}
	}
	return false
}
