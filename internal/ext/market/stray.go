package market

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// strayDir has what programs of plugins wrote into their installed folders.
const strayDir = "strays"

// bytecode is where Python keeps what it compiles of plugins.
func (s *Store) bytecode() string { return s.path("pycache") }

// compiled reports what Python makes of a script, beside it.
func compiled(name string) bool {
	return strings.HasSuffix(name, ".pyc") || slices.Contains(strings.Split(path.Dir(name), "/"), pycache)
}

const pycache = "__pycache__"

// Verify says whether the files of an installed plugin are those that were agreed to.
// What was written beside them is no change of these.
func (s *Store) Verify(in Installed) error {
	sum, err := s.stored(in)
	if err != nil {
		return err
	}
	_, _, err = s.compare(in, sum.Files)
	return err
}

// compare reads the files of an installed plugin. installed are their names, none when they
// are not known; more are files that are there besides.
func (s *Store) compare(in Installed, installed []string) (all, more []string, err error) {
	dir := s.path(versionDir, filepath.FromSlash(in.Folder))
	known := map[string]bool{}
	for _, name := range installed {
		known[name] = true
	}
	was := func(name string) bool { return known[name] }
	if len(installed) == 0 {
		was = func(name string) bool { return !compiled(name) }
	}
	whole, err := sumOf(dir)
	if err != nil {
		return nil, nil, gone(err)
	}
	for name := range whole.Files {
		if all = append(all, name); !was(name) {
			more = append(more, name)
		}
	}
	slices.Sort(all)
	slices.Sort(more)
	if whole.Sum == in.Sum {
		return all, nil, nil
	}
	if part, err := sumOfSome(dir, was); len(more) == 0 || err != nil || part.Sum != in.Sum {
		return nil, nil, errors.New("its files are not those that were installed")
	}
	return slices.DeleteFunc(all, func(name string) bool { return !was(name) }), more, nil
}

// clear moves files out of the folder of an installed plugin. Those of which people need
// not know, because Python makes them anew, are removed, and not named.
func (s *Store) clear(in Installed, files []string) (named []string, err error) {
	dir, to := s.path(versionDir, filepath.FromSlash(in.Folder)), s.path(strayDir, filepath.FromSlash(in.Folder))
	for _, name := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if compiled(name) {
			err = errors.Join(err, os.Remove(at))
		} else {
			kept := filepath.Join(to, filepath.FromSlash(name))
			if err = errors.Join(err, safe.RemoveAll(kept), os.MkdirAll(filepath.Dir(kept), 0o700)); err == nil {
				err = os.Rename(at, kept)
			}
			named = append(named, name)
		}
		for d := filepath.Dir(at); d != dir; d = filepath.Dir(d) { // those that are empty now
			if os.Remove(d) != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("what was written into its folder cannot be moved away: %w", err)
	}
	return named, nil
}
