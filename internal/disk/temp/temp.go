// Package temp owns the folder for the temporary files of one session. A
// folder is locked while its process lives, whatever that dies of, so the
// folders of dead ones are known and removed. It removes nothing else, follows
// no link, and puts nothing into a folder.
package temp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/adze-agent/adze/internal/disk/lock"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/hint"
)

// named reports whether a name is what Make calls folders: adze-s- and digits.
func named(name string) bool {
	digits, ok := strings.CutPrefix(name, "adze-s-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// maxNames bounds the names that Sweep looks at.
const maxNames = 10_000

// A Folder belongs to this process until Remove.
type Folder struct {
	Path string
	home string // "" when it is in none
	held *os.File
}

// Home is the folder in dir for the temporary files of all sessions of this user, so
// that all of them can be hidden by one name: also those of sessions that begin later.
// ok is false where somebody else has the name, or can write there.
func Home(dir string) (path string, ok bool) {
	path = filepath.Join(dir, fmt.Sprintf("adze-%d", max(os.Geteuid(), 0)))
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", false
	}
	fi, err := os.Lstat(path)
	if err != nil || !fi.IsDir() || !ours(fi) || fi.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", false
	}
	return path, true
}

// MakeIn makes a folder in the home of all sessions in dir; home is "" where there can
// be none, and the folder in dir itself.
func MakeIn(dir string) (f *Folder, home string, err error) {
	for range maxTries {
		at, ok := Home(dir)
		if !ok {
			break
		}
		f, err := Make(at)
		switch {
		case err == nil:
			f.home = at
			return f, at, nil
		case !errors.Is(err, fs.ErrNotExist): // else the last session has just removed it
			return nil, "", err
		}
	}
	f, err = Make(dir)
	return f, "", err
}

// Others are where temporary files can go on a system when the folder that the environment names
// cannot be used.
func Others(goos string) []string {
	if goos == "windows" {
		return nil
	}
	return []string{"/tmp", "/var/tmp"}
}

// MakeSomewhere is MakeIn for the first of these folders where that is possible, which is in.
func MakeSomewhere(dirs []string) (f *Folder, home, in string, err error) {
	var first error
	for _, dir := range dirs {
		if f, home, err = MakeIn(dir); err == nil {
			return f, home, dir, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, "", "", hint.With(fmt.Errorf("make a folder for temporary files in %s: %w", dirs[0], first), "set TMPDIR to a folder that is there and that you may write to: TMPDIR=FOLDER adze …")
}

// Make makes a folder of mode 0700 in dir.
func Make(dir string) (*Folder, error) {
	for range maxTries {
		path, err := os.MkdirTemp(dir, "adze-s-*")
		if err != nil {
			return nil, err
		}
		if f, ok := hold(path); ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("make a temporary folder in %s: each is taken away at once", dir)
}

// maxTries bounds how often Sweep, in other processes, may be quicker than Make.
const maxTries = 100

// hold locks a folder that was just made; ok is false when Sweep took it for a
// dead one's before.
func hold(path string) (f *Folder, ok bool) {
	d, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	if !errors.Is(lock.Shared(d), lock.ErrHeld) { // where nothing can be locked nobody takes it
		is, err := d.Stat()
		now, gone := os.Lstat(path)
		if err == nil && gone == nil && os.SameFile(is, now) {
			return &Folder{Path: path, held: d}, true
		}
	}
	_ = d.Close()
	return nil, false
}

// Remove deletes the folder with all that is in it, and the home when no other
// session has a folder there.
func (f *Folder) Remove() error {
	err := safe.RemoveAll(f.Path)
	_ = f.held.Close()
	if f.home != "" {
		_ = os.Remove(f.home) // it fails while it holds anything
	}
	return err
}

// Sweep removes the folders in dir that Make made for this user in processes
// that are dead, until ctx ends, and returns how many. Where folders cannot be
// locked (Windows, some network file systems) it removes none.
func Sweep(ctx context.Context, dir string) (removed int) {
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
		if named(n) && dead(ctx, root, n) {
			removed++
		}
	}
	return removed
}

// dead removes the folder n if its process is dead, and reports whether it did.
func dead(ctx context.Context, root *os.Root, n string) bool {
	seen, err := root.Lstat(n)
	if err != nil || !seen.IsDir() || !ours(seen) {
		return false
	}
	d, err := root.Open(n)
	if err != nil {
		return false
	}
	defer d.Close()
	if fi, err := d.Stat(); err != nil || !os.SameFile(fi, seen) || lock.Exclusive(d, false) != nil {
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
		safe.Unlock(root, n)
	}
	return root.RemoveAll(n) == nil
}
