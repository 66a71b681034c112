// Package pin holds a path still between the decision about it and its use. It
// opens a folder so that no link can lead elsewhere, and remembers which path
// each planned call was judged by. It decides nothing and changes no file.
package pin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrMoved says that a path no longer leads where it led when it was judged.
var ErrMoved = errors.New("the path was changed while the call waited")

// ErrNoFolder says of a name on the way that it is a file.
var ErrNoFolder = errors.New("is not a folder")

// Dir opens a resolved, absolute folder step by step and refuses a symbolic
// link in any component: one that appears there now was planted after the
// path was resolved. Everything done through the root stays below it.
func Dir(path string) (*os.Root, error) {
	root, rest, err := Deepest(path)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		root.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return root, nil
}

// Deepest opens the deepest folder on the way to path that exists, as Dir
// does, and returns what is missing below it ("" when nothing is).
func Deepest(path string) (root *os.Root, missing string, err error) {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) {
		return nil, "", fmt.Errorf("open %s: the path is not absolute", path)
	}
	for up := path; ; up = filepath.Dir(up) {
		r, ok, err := quick(up)
		switch {
		case !ok:
		case err == nil:
			return r, strings.TrimPrefix(path[len(up):], string(filepath.Separator)), nil
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(up) != up:
			continue
		default:
			return nil, "", err
		}
		break
	}
	return walk(path)
}

// walk is Deepest by one folder at a time.
func walk(path string) (root *os.Root, missing string, err error) {
	top := filepath.VolumeName(path) + string(filepath.Separator)
	root, err = os.OpenRoot(top)
	if err != nil {
		return nil, "", err
	}
	rest := strings.TrimPrefix(path[len(top)-1:], string(filepath.Separator))
	for rest != "" {
		name, after, _ := strings.Cut(rest, string(filepath.Separator))
		next, err := step(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			return root, rest, nil
		}
		root.Close()
		if err != nil {
			return nil, "", fmt.Errorf("open %s: %w", strings.TrimSuffix(path, string(filepath.Separator)+rest), err)
		}
		root, rest = next, after
	}
	return root, "", nil
}

// step opens one folder inside root and checks that what was opened is what
// was looked at.
func step(root *os.Root, name string) (*os.Root, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is now a link: %w", name, ErrMoved)
	case !seen.IsDir():
		return nil, fmt.Errorf("%s %w", name, ErrNoFolder)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := next.Stat(".")
	if err != nil || !os.SameFile(seen, got) {
		next.Close()
		return nil, errors.Join(ErrMoved, err)
	}
	return next, nil
}

// Calls remembers the resolved path of each planned call until it runs. The
// zero value is ready; it is safe for concurrent use.
type Calls struct {
	mu   sync.Mutex // guards list
	list map[string]judged
}

type judged struct{ asked, path string }

// keep bounds how many planned calls that never ran are remembered.
const keep = 1024

// Plan remembers that the call was judged by path. A call without an ID is
// not remembered.
func (c *Calls) Plan(call, asked, path string) {
	if call == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil || len(c.list) >= keep {
		c.list = map[string]judged{}
	}
	c.list[call] = judged{asked, path}
}

// Run takes the path a call was judged by, resolved being where it leads now.
// It is ErrMoved when the two differ; without a plan it is resolved itself.
func (c *Calls) Run(call, asked, resolved string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j, ok := c.list[call]
	if !ok {
		return resolved, nil
	}
	delete(c.list, call)
	if j.asked != asked || j.path != resolved {
		return "", fmt.Errorf("%s led to %s when it was allowed and leads to %s now: %w", asked, j.path, resolved, ErrMoved)
	}
	return j.path, nil
}
