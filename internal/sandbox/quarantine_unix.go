//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of what quarantine keeps of one thing; what is beyond them is removed.
const (
	maxKept  = 64 << 20 // bytes
	maxFiles = 10_000
	maxDeep  = 64
)

// quarantine takes what is at path into the folder of id below dir and returns
// where it is. Folders are gone through by descriptor, and no link is followed:
// commands may change the tree while it moves. What is kept is a copy, so that
// nothing that is still open elsewhere can change it.
func quarantine(dir, id, path string) (string, error) {
	box := filepath.Join(dir, id)
	if err := os.MkdirAll(box, 0o700); err != nil {
		return "", err
	}
	to, err := unix.Open(box, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", box, err)
	}
	defer unix.Close(to)
	from, name, err := openParent(path)
	if err != nil {
		return "", err
	}
	defer unix.Close(from)
	c := &copying{bytes: maxKept, files: maxFiles}
	err = unix.Renameat(from, name, to, "moved")
	if errors.Is(err, unix.EACCES) && openUp(from) == nil { // the command may have locked the folder it is in
		err = unix.Renameat(from, name, to, "moved")
	}
	if errors.Is(err, unix.EACCES) && unlockAt(from, name) == nil { // a folder that its owner may not write cannot move
		err = unix.Renameat(from, name, to, "moved")
	}
	switch {
	case err == nil:
		err = c.copy(to, "moved", to, "item", 0)
		_ = removeAt(to, "moved", 0) // it is out of reach already
		if err != nil {
			return "", fmt.Errorf("copy it: %w", err)
		}
	case errors.Is(err, unix.EXDEV):
		_ = openUp(from) // what cannot be removed then says so
		err = c.copy(from, name, to, "item", 0)
		if err := errors.Join(removeAt(from, name, 0)); err != nil {
			return "", fmt.Errorf("remove it: %w", err)
		}
		if err != nil {
			return "", fmt.Errorf("copy it: %w", err)
		}
	default:
		return "", fmt.Errorf("move it: %w", err)
	}
	return filepath.Join(box, "item"), nil
}

// release copies what is in quarantine back to where it was found, where
// nothing may be.
func release(dir string, f Found) error {
	from, err := unix.Open(filepath.Join(dir, f.ID), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	to, name, err := openParent(f.Path)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	var st unix.Stat_t
	if err := unix.Fstatat(to, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		return fmt.Errorf("something else is at %s", f.Path)
	}
	c := &copying{bytes: maxKept, files: maxFiles}
	if err := c.copy(from, "item", to, name, 0); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, f.ID))
}

// openUp lets the owner of a folder read and write it. fd is the folder's.
func openUp(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	mode := uint32(st.Mode)&0o7777 | 0o700
	err := unix.Fchmod(fd, mode)
	if errors.Is(err, unix.EBADF) { // it is open as a path only
		err = unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode)
	}
	return err
}

// lookInto lets the owner of the folder at path look into it, without
// following a link.
func lookInto(path string) error {
	parent, name, err := openParent(path)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	fd, err := unix.Openat(parent, name, pathOnly|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return openUp(fd)
}

// openParent opens the folder that path is in, without following any link.
func openParent(path string) (fd int, name string, err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	fd, err = unix.Open("/", pathOnly|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", err
	}
	at := "/"
	for _, part := range strings.Split(strings.Trim(dir, "/"), "/") {
		if part == "" {
			continue
		}
		at = filepath.Join(at, part)
		next, err := unix.Openat(fd, part, pathOnly|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		_ = unix.Close(fd)
		if err != nil {
			return -1, "", fmt.Errorf("open %s: %w", at, err)
		}
		fd = next
	}
	return fd, name, nil
}

// copying bounds a copy.
type copying struct {
	bytes int64
	files int
}

// copy copies a file, folder or link by name. Sockets, pipes and devices are
// left out, and what is beyond the bounds.
func (c *copying) copy(from int, name string, to int, as string, depth int) error {
	if c.files--; c.files < 0 || depth > maxDeep {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return c.folder(from, name, to, as, depth)
	case unix.S_IFREG:
		return c.file(from, name, to, as)
	case unix.S_IFLNK:
		b := make([]byte, 4096)
		n, err := unix.Readlinkat(from, name, b)
		if err != nil {
			return err
		}
		return unix.Symlinkat(string(b[:n]), to, as)
	}
	return nil
}

func (c *copying) file(from int, name string, to int, as string) error {
	in, err := openat(from, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.EACCES) && unlockAt(from, name) == nil {
		in, err = openat(from, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	out, err := openat(to, as, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, c.bytes))
	c.bytes -= n
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close())
}

func (c *copying) folder(from int, name string, to int, as string, depth int) error {
	in, err := openDir(from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := unix.Mkdirat(to, as, 0o700); err != nil {
		return err
	}
	out, err := openDir(to, as)
	if err != nil {
		return err
	}
	defer out.Close()
	names, err := in.Readdirnames(maxFiles)
	if err != nil && err != io.EOF {
		return err
	}
	for _, n := range names {
		if err := c.copy(int(in.Fd()), n, int(out.Fd()), n, depth+1); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return out.Chmod(info.Mode().Perm())
}

// openDir opens a folder to read it, which its owner may have forbidden.
func openDir(at int, name string) (*os.File, error) {
	f, err := openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.EACCES) && unlockAt(at, name) == nil {
		return openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	}
	return f, err
}

func openat(at int, name string, flags int, mode uint32) (*os.File, error) {
	fd, err := unix.Openat(at, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// removeAt removes a tree by name, following nothing.
func removeAt(at int, name string, depth int) error {
	err := unix.Unlinkat(at, name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) || depth > 4*maxDeep {
		return err
	}
	dir, err := openDir(at, name)
	if err != nil {
		return err
	}
	_ = dir.Chmod(0o700) // to empty it
	for {
		names, _ := dir.Readdirnames(1000)
		if len(names) == 0 {
			break
		}
		for _, n := range names {
			if err := removeAt(int(dir.Fd()), n, depth+1); err != nil {
				_ = dir.Close()
				return err
			}
		}
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			break
		}
	}
	_ = dir.Close()
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}
