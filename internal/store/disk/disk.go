// Package disk is a session's folder as a log needs it: a handful of
// operations that never leave the folder, so that a test can put a failing
// disk in their place. It knows nothing of what is in the files.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// Modes of what adze creates: nobody else may look.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// A File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// A Dir is an open folder. Names are relative to it and cannot lead out of it.
type Dir interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Stat(name string) (fs.FileInfo, error)
	Remove(name string) error
	Rename(old, name string) error
	// Sync makes sure that names which were created or removed stay so.
	Sync() error
	Close() error
}

// root is a Dir on the real disk.
type root struct{ *os.Root }

// Open opens a folder that exists.
func Open(path string) (Dir, error) {
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return root{r}, nil
}

// In is a folder that is open already; it stays r's to close.
func In(r *os.Root) Dir { return root{r} }

// Create opens a folder and creates it first, with its parents, if need be.
func Create(path string) (Dir, error) {
	path = filepath.Clean(path)
	var fresh []string // folders that get a new entry
	for p := path; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil || p == filepath.Dir(p) {
			break
		}
		fresh = append(fresh, filepath.Dir(p))
	}
	if err := os.MkdirAll(path, DirMode); err != nil {
		return nil, err
	}
	for _, p := range fresh {
		if err := syncDir(p); err != nil {
			return nil, err
		}
	}
	return Open(path)
}

func (r root) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := regular.In(r.Root, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (r root) Sync() error { return syncDir(r.Name()) }

// syncDir flushes the entries of a folder. Some file systems cannot, and say so.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || noDirSync {
		return nil
	}
	return err
}

// Why says in plain words what a failed operation means.
func Why(err error) string {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.why
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission was denied"
	case errors.Is(err, fs.ErrNotExist):
		return "the folder is gone"
	case errors.Is(err, regular.ErrKind):
		return "something else is in its file's place: a pipe or a device"
	}
	return "the disk refused it"
}

type cause struct {
	err error
	why string
}
