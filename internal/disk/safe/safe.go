// Package safe makes, replaces and removes files where other programs write as well:
// a file is replaced whole or not at all, a link that somebody planted is never
// followed, and what a command made unwritable is removed all the same. It knows
// no meaning of any file, and takes no lock.
package safe

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A Handle is a file that is being written.
type Handle interface {
	io.Writer
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// A Disk is the real one, unless a test puts faults in.
type Disk struct {
	Create func(root *os.Root, name string, flag int, mode fs.FileMode) (Handle, error)
	Rename func(root *os.Root, from, to string) error
}

// A File is what is to be in the place of a file, there or not.
type File struct {
	Name string // in root, and of no other folder
	Text []byte
	Mode fs.FileMode // when it is made; with Exact, also where the umask forbids it
	// Exact sets Mode as it is, with what is beyond permissions.
	Exact bool
	// Brief does not wait until it is on disk: a crash may lose it, or leave it
	// empty. It is for what can be made again.
	Brief bool
	// Check is asked when all is written, as temp beside the old file, which its
	// error leaves as it is. May be nil.
	Check func(temp string) error
}

// A CreateError says that nothing can be made beside the file.
type CreateError struct{ Err error }

func (e *CreateError) Error() string { return e.Err.Error() }
func (e *CreateError) Unwrap() error { return e.Err }

// Open makes or opens a file in root.
func (d Disk) Open(root *os.Root, name string, flag int, mode fs.FileMode) (Handle, error) {
	if d.Create != nil {
		return d.Create(root, name, flag, mode)
	}
	f, err := root.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// What Replace calls its temporary files.
const (
	tempPrefix = ".adze-"
	tempRandom = 12 // letters of base32
	tempSuffix = ".tmp"
)

// IsTemp reports whether a file is called as those that Replace writes beside
// another: when it is old, a process that was killed left it.
func IsTemp(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	letters, also := strings.CutSuffix(rest, tempSuffix)
	return ok && also && len(letters) == tempRandom && strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Replace writes a new file beside the old one, under a name that nobody knows,
// and renames it over that. Whatever fails, the old one is whole until then. A
// crash can leave a file .adze-*.tmp.
func (d Disk) Replace(root *os.Root, f File) (err error) {
	temp, err := d.beside(root, f)
	if err != nil {
		return err
	}
	if err = d.rename(root, temp, f.Name); err != nil {
		_ = root.Remove(temp)
		return err
	}
	if f.Brief {
		return nil
	}
	return syncDir(root, filepath.Dir(f.Name))
}

func (d Disk) rename(root *os.Root, from, to string) error {
	if d.Rename != nil {
		return d.Rename(root, from, to)
	}
	return root.Rename(from, to)
}

// Make makes a file that is not there: what somebody put under its name, be
// it a link, is fs.ErrExist, and neither opened nor changed. It appears with its
// text; only where there are no hard links, that comes a moment later.
func (d Disk) Make(root *os.Root, f File) (err error) {
	temp, err := d.beside(root, f)
	if err != nil {
		return err
	}
	err = root.Link(temp, f.Name)
	_ = root.Remove(temp)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = d.write(root, f.Name, f)
	}
	if err != nil || f.Brief {
		return err
	}
	return syncDir(root, filepath.Dir(f.Name))
}

// beside writes f under another name, which is gone again when that fails.
func (d Disk) beside(root *os.Root, f File) (temp string, err error) {
	temp = tempName(f.Name)
	if err = d.write(root, temp, f); err != nil || f.Check == nil {
		return temp, err
	}
	if err = f.Check(temp); err != nil {
		_ = root.Remove(temp)
	}
	return temp, err
}

// write writes a file that is not there.
func (d Disk) write(root *os.Root, name string, f File) error {
	h, err := d.fill(root, name, f)
	if err != nil {
		return err
	}
	if !f.Brief {
		err = h.Sync()
	}
	if e := h.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = root.Remove(name) // the failure is reported; what is left is harmless
	}
	return err
}

// fill is write that leaves the file open, and does not wait for the disk.
func (d Disk) fill(root *os.Root, name string, f File) (Handle, error) {
	h, err := d.Open(root, name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode.Perm())
	if err != nil {
		return nil, &CreateError{err}
	}
	_, err = h.Write(f.Text)
	if err == nil && f.Exact && runtime.GOOS != "windows" {
		err = h.Chmod(f.Mode)
	}
	if err != nil {
		_ = h.Close()
		_ = root.Remove(name)
		return nil, err
	}
	return h, nil
}

// Replace replaces a file on the real disk.
func Replace(root *os.Root, f File) error { return Disk{}.Replace(root, f) }

// Make makes a file on the real disk.
func Make(root *os.Root, f File) error { return Disk{}.Make(root, f) }

// New makes a file that is not there, for writing: what somebody put under its
// name, be it a link, is fs.ErrExist, and neither opened nor changed.
func New(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// syncDir makes a rename durable, where a folder can be synced at all.
func syncDir(root *os.Root, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(name)
	if err != nil {
		return nil // it was renamed already; the folder is not readable to us
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !unsupported(err) {
		return err
	}
	return nil
}

// maxDepth is to which folders are made removable.
const maxDepth = 64

// RemoveAll is os.RemoveAll that also removes what is in folders which nobody
// may read or write, as far as they are this user's. It follows no link.
func RemoveAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	if root, err := openLocked(path); err == nil {
		Unlock(root, ".")
		_ = root.Close()
	}
	return os.RemoveAll(path) // says what was wrong
}

// openLocked opens a folder that its owner may not even look into.
func openLocked(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return root, err
	}
	above, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	name := filepath.Base(path)
	if info, err := above.Lstat(name); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fs.ErrPermission)
	}
	if err := above.Chmod(name, 0o700); err != nil {
		return nil, err
	}
	return above.OpenRoot(name)
}

// Unlock makes the folder name in root, and those in it, writable for their
// owner.
func Unlock(root *os.Root, name string) { unlock(root, name, 0) }

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
