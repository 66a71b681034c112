// Package temp owns the folder for the temporary files of one session. A
// folder is locked while its process lives, whatever that dies of, so the
// folders of dead ones are known and removed. It removes nothing else, follows
// no link, and puts nothing into a folder.
package temp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// name is what Make calls folders.
var name = regexp.MustCompile(`^adze-s-[0-9]+$`)

// Bounds of Sweep.
const (
	young    = 10 * time.Minute // a folder this new may be about to be locked
	maxNames = 10_000           // that are looked at
	maxDepth = 64               // to which folders are made removable
)

// A Folder belongs to this process until Remove.
type Folder struct {
	Path string
	lock *os.File
}

// Make makes a folder of mode 0700 in dir.
func Make(dir string) (*Folder, error) {
	path, err := os.MkdirTemp(dir, "adze-s-*")
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if d, err := os.Open(path); err == nil { // else nobody can tell that it lives, and it is spared as long as it is young
		f.lock = d
		hold(d)
	}
	return f, nil
}

// Remove deletes the folder with all that is in it.
func (f *Folder) Remove() error {
	err := removeAll(f.Path)
	if f.lock != nil {
		_ = f.lock.Close()
	}
	return err
}

// Sweep removes the folders in dir that Make made for this user in processes
// that are dead, until ctx ends, and returns how many. Where folders cannot be
// locked (Windows, some network file systems) it removes none.
func Sweep(ctx context.Context, dir string, now time.Time) (removed int) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return 0
	}
	names, _ := d.Readdirnames(maxNames) // what was read so far is enough
	_ = d.Close()
	for _, n := range names {
		if ctx.Err() != nil {
			return removed
		}
		if name.MatchString(n) && dead(ctx, root, n, now) {
			removed++
		}
	}
	return removed
}

// dead removes the folder n if its process is dead, and reports whether it did.
func dead(ctx context.Context, root *os.Root, n string, now time.Time) bool {
	seen, err := root.Lstat(n)
	if err != nil || !seen.IsDir() || !ours(seen) || now.Sub(seen.ModTime()) < young {
		return false
	}
	d, err := root.Open(n)
	if err != nil {
		return false
	}
	defer d.Close()
	if fi, err := d.Stat(); err != nil || !os.SameFile(fi, seen) || !take(d) {
		return false
	}
	names, err := d.Readdirnames(-1)
	for _, x := range names {
		if ctx.Err() != nil {
			return false // the next one goes on
		}
		err = errors.Join(err, root.RemoveAll(filepath.Join(n, x)))
	}
	if err != nil {
		unlock(root, n, 0)
	}
	return root.RemoveAll(n) == nil
}

// removeAll also removes what a command made unwritable.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	unlock(root, ".", 0)
	_ = root.Close()
	return os.RemoveAll(path)
}

// unlock makes folders writable that a command locked.
func unlock(root *os.Root, at string, depth int) {
	info, err := root.Lstat(at)
	if err != nil || !info.IsDir() || depth > maxDepth {
		return
	}
	_ = root.Chmod(at, 0o700)
	entries, _ := fs.ReadDir(root.FS(), filepath.ToSlash(at)) // what was read so far is enough
	for _, e := range entries {
		unlock(root, filepath.Join(at, e.Name()), depth+1)
	}
}
