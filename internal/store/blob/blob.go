// Package blob keeps large contents in files that are named after their
// SHA-256, so that equal ones are kept once and a changed one is not taken for
// the one that was kept. It owns the folder it is given and nothing else.
package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/store/disk"
)

// A Folder holds blobs. It is made with the first one.
type Folder struct {
	Path string
	// Pack: a content is kept compressed where that saves room, in a file that
	// nobody else reads. Get reads both, with Pack or without.
	Pack bool
	// Open opens the folder; create allows it to be made. nil is the real disk.
	Open func(path string, create bool) (disk.Dir, error)
}

// maxSize bounds what is read of one blob, in bytes.
const maxSize = 64 << 20

// Errors of Get.
var (
	ErrMissing = errors.New("it is not there any more")
	ErrChanged = errors.New("it was changed since it was kept")
)

// Name is the name that a content is kept under.
func Name(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// valid reports whether a name is one that Name makes; no such name leads to
// another folder.
func valid(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == sha256.Size
}

// At is the path of a blob that was kept without Pack.
func (f Folder) At(name string) string { return filepath.Join(f.Path, name) }

// Files are the names of the files that a blob may be in.
func Files(name string) []string { return []string{name, name + packedSuffix} }

func (f Folder) open(create bool) (disk.Dir, error) {
	if f.Open != nil {
		return f.Open(f.Path, create)
	}
	if create {
		return disk.Create(f.Path)
	}
	return disk.Open(f.Path)
}

// Put keeps a content and returns its name. It survives the end of the process,
// and a power cut only after Late.Flush.
func (f Folder) Put(content []byte) (name string, err error) {
	if _, err := f.keep(content); err != nil {
		return "", err
	}
	return Name(content), nil
}

// keep keeps a content and returns the file that it is in.
func (f Folder) keep(content []byte) (file string, err error) {
	name := Name(content)
	dir, err := f.open(true)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	files := Files(name)
	if !f.Pack {
		files = files[:1]
	}
	for _, file := range files {
		if was, err := unpacked(dir, file); err == nil && bytes.Equal(was, content) {
			return file, nil
		}
	}
	if f.Pack {
		if packed, ok := pack(content); ok {
			name += packedSuffix
			return name, write(dir, name, packed)
		}
	}
	return name, write(dir, name, content)
}

func write(dir disk.Dir, name string, content []byte) error {
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE, disk.FileMode)
	if err != nil {
		return err
	}
	err = f.Truncate(0) // of one that a crash cut
	if err == nil {
		_, err = f.WriteAt(content, 0)
	}
	return errors.Join(err, f.Close())
}

func read(dir disk.Dir, name string) ([]byte, error) {
	info, err := dir.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, fmt.Errorf("%w: it is no file of at most %d bytes", ErrChanged, maxSize)
	}
	f, err := dir.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	out := make([]byte, info.Size())
	_, err = io.ReadFull(io.NewSectionReader(f, 0, info.Size()), out)
	return out, errors.Join(err, f.Close())
}

// unpacked reads the content of a file.
func unpacked(dir disk.Dir, file string) ([]byte, error) {
	out, err := read(dir, file)
	if err == nil && strings.HasSuffix(file, packedSuffix) {
		return unpack(out)
	}
	return out, err
}

// Get returns the content that was kept under a name. The error is ErrMissing
// or ErrChanged when it is not there as it was.
func (f Folder) Get(name string) ([]byte, error) {
	if !valid(name) {
		return nil, fmt.Errorf("%q names no blob", name)
	}
	dir, err := f.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found := ErrMissing
	for _, file := range Files(name) { // where one was changed, the other may be whole
		out, err := unpacked(dir, file)
		switch {
		case err == nil && Name(out) == name:
			return out, nil
		case err == nil:
			found = ErrChanged
		case !errors.Is(err, fs.ErrNotExist):
			found = err
		}
	}
	return nil, found
}
