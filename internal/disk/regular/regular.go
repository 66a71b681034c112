// Package regular opens regular files where anything may lie: a named pipe or a
// device in their place neither blocks nor is read, also when it comes there
// between a look and the opening. It knows no meaning of any file.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Errors of Open and Read.
var (
	ErrKind  = errors.New("not a regular file")
	ErrLarge = errors.New("the file is too large")
)

// Open opens path for reading, following links.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path) // opening a device can have effects
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open %s: %w", path, ErrKind)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	return check(f)
}

// OpenIn opens path below root, which must lead to the very file that same is.
// A link at its end is not followed.
func OpenIn(root *os.Root, path string, same fs.FileInfo) (*os.File, error) {
	info, err := root.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, same) {
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	}
	f, err := root.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	f, info, err = check(f)
	if err == nil && !os.SameFile(info, same) {
		_ = f.Close()
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	}
	return f, err
}

// In opens path below root with the flags and the mode of os.OpenFile. A link at
// its end is followed as long as it stays below root.
func In(root *os.Root, path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(path, flag|nonblock, perm)
	if err != nil {
		return nil, err
	}
	f, _, err = check(f)
	return f, err
}

func check(f *os.File) (*os.File, fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: %w", f.Name(), ErrKind)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Read reads all of a file of at most max bytes.
func Read(path string, max int64) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return atMost(f, max)
}

// Given reads all of what a person names, of at most max bytes: a regular file, or a
// pipe, as <(command) of a shell is one.
func Given(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return Read(path, max)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return atMost(f, max)
}

func atMost(f *os.File, max int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(b)) > max {
		return nil, fmt.Errorf("read %s: %w", f.Name(), ErrLarge)
	}
	return b, err
}

// Head reads at most the first max bytes of a file.
func Head(path string, max int64) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max))
}
