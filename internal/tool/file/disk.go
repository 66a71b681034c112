package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/adze-agent/adze/internal/disk/lock"
	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/safe"
)

// maxFile is the largest file that is edited, in bytes.
const maxFile = 64 << 20

// A disk is the part of the file system that can fail while a file is saved;
// tests put faults in.
type disk struct {
	safe.Disk
	swept   *sweeper
	private func(path string) bool // nil: never
}

func realDisk() disk { return disk{swept: &sweeper{}} }

// opened is a regular file found link-free below a verified folder.
type opened struct {
	f  *os.File
	fi fs.FileInfo
}

// open opens a resolved path for reading without following a link, and
// without waiting on anything that is not a regular file.
func open(path string) (opened, error) {
	root, err := pin.Dir(filepath.Dir(path))
	if err != nil {
		return opened{}, err
	}
	defer root.Close()
	return openIn(root, filepath.Base(path))
}

func openIn(root *os.Root, name string) (opened, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return opened{}, err
	}
	if err := regular(seen); err != nil {
		return opened{}, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return opened{}, err
	}
	fi, err := f.Stat()
	if err == nil && !os.SameFile(seen, fi) {
		err = pin.ErrMoved
	}
	if err == nil {
		err = regular(fi)
	}
	if err != nil {
		f.Close()
		return opened{}, err
	}
	return opened{f, fi}, nil
}

var errFolder = errors.New("is a folder")

// regular says what a file is when it is not a regular one.
func regular(fi fs.FileInfo) error {
	switch m := fi.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return errFolder
	case m&fs.ModeSymlink != 0:
		return pin.ErrMoved
	case m&fs.ModeNamedPipe != 0:
		return errors.New("is a named pipe (FIFO), not a regular file; reading it could wait for ever")
	case m&fs.ModeSocket != 0:
		return errors.New("is a socket, not a regular file")
	case m&fs.ModeDevice != 0:
		return errors.New("is a device, not a regular file")
	}
	return errors.New("is not a regular file")
}

// slurp reads a whole file of at most max bytes.
func (o opened) slurp(max int64) ([]byte, error) {
	if o.fi.Size() > max {
		return nil, errBig
	}
	b := make([]byte, 0, o.fi.Size()+512)
	r := io.LimitReader(o.f, max+1)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > max:
			return nil, errBig
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

var errBig = errors.New("the file is too large")

// errStale says that a file changed after it was read for an edit.
var errStale = errors.New("the file was changed by someone else at this moment; read it again")

// save writes content to path. was is the file as it was read, nil for a file
// that must not exist yet; when it is no longer so, nothing is written. The
// file is replaced by a renamed temporary file of the same folder, or written
// in place where a rename would break a hard link or a mount.
func (d disk) save(path string, content []byte, was fs.FileInfo) (fs.FileInfo, error) {
	private := d.private != nil && d.private(path)
	root, err := d.parent(path, was == nil, private)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	unlock := lockFolder(root)
	defer unlock()
	d.swept.sweep(root, filepath.Dir(path), time.Now())
	name := filepath.Base(path)
	if err := unchanged(root, name, was); err != nil {
		return nil, err
	}
	f := safe.File{Name: name, Text: content, Mode: 0o666}
	if was != nil {
		f.Mode, f.Exact = was.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky), true
		if f.Mode&0o222 == 0 {
			return nil, fmt.Errorf("the file is read-only (mode %04o); make it writable first", f.Mode.Perm())
		}
	}
	if private {
		f.Mode &= 0o600
	}
	if was != nil && links(was) > 1 {
		err = d.inPlace(root, name, content, was)
	} else if err = d.replace(root, f, was); errors.Is(err, errInPlace) {
		err = d.inPlace(root, name, content, was)
	}
	if err != nil {
		return nil, err
	}
	return root.Lstat(name)
}

// parent opens the folder of path; create makes it when it is missing, for this
// user alone where private says so.
func (d disk) parent(path string, create, private bool) (*os.Root, error) {
	dir := filepath.Dir(path)
	if !create {
		return pin.Dir(dir)
	}
	root, rest, err := pin.Deepest(dir)
	if err != nil || rest == "" {
		return root, err
	}
	mode := fs.FileMode(0o777)
	if private {
		mode = 0o700
	}
	err = root.MkdirAll(rest, mode)
	root.Close()
	if err != nil {
		return nil, err
	}
	return pin.Dir(dir)
}

// unchanged checks that name is still the file that was read.
func unchanged(root *os.Root, name string, was fs.FileInfo) error {
	now, err := root.Lstat(name)
	switch {
	case was == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case now.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is now a link: %w", name, pin.ErrMoved)
	case was == nil, !os.SameFile(was, now), was.Size() != now.Size(), !was.ModTime().Equal(now.ModTime()):
		return errStale
	}
	return nil
}

// errInPlace says that a file cannot be replaced by a rename.
var errInPlace = errors.New("cannot be replaced by a rename")

// replace replaces a file if it is still the one that was read.
func (d disk) replace(root *os.Root, f safe.File, was fs.FileInfo) error {
	f.Check = func(temp string) error {
		if was != nil && !sameOwner(root, temp, was) {
			return errInPlace
		}
		return unchanged(root, f.Name, was)
	}
	err := d.Replace(root, f)
	var beside *safe.CreateError
	switch {
	case was == nil || err == nil:
	case errors.As(err, &beside) && (errors.Is(err, fs.ErrPermission) || readOnly(err)):
		return errInPlace // the folder may not be writable though the file is
	case crossing(err):
		return errInPlace
	}
	return err
}

// inPlace overwrites a file and puts its old content back when that fails.
func (d disk) inPlace(root *os.Root, name string, content []byte, was fs.FileInfo) error {
	o, err := openIn(root, name)
	if err != nil {
		return err
	}
	old, err := o.slurp(maxFile)
	o.f.Close()
	if err != nil {
		return err
	}
	if !os.SameFile(o.fi, was) {
		return errStale
	}
	err = d.overwrite(root, name, content, was)
	if err != nil {
		if back := d.overwrite(root, name, old, was); back != nil {
			return fmt.Errorf("%w; and the old content could not be put back: %w", err, back)
		}
	}
	return err
}

func (d disk) overwrite(root *os.Root, name string, content []byte, was fs.FileInfo) error {
	f, err := d.Open(root, name, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return err
	}
	if now, e := root.Lstat(name); e != nil || !os.SameFile(now, was) {
		f.Close()
		return errStale
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Truncate(int64(len(content)))
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// lockFolder serialises the savers of one folder, also those of other processes,
// as long as the file system knows locks.
func lockFolder(root *os.Root) (unlock func()) {
	d, err := root.Open(".")
	if err != nil {
		return func() {}
	}
	for range 200 { // at most 2 s: who holds it longer does not save a file
		if !errors.Is(lock.Exclusive(d, false), lock.ErrHeld) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() { d.Close() }
}
