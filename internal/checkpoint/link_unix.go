//go:build unix

package checkpoint

import (
	"crypto/rand"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// link replaces name in dir by another name of a file of from.
func link(from *os.Root, file string, dir *os.Root, name string) error {
	a, err := from.Stat(file)
	if err != nil {
		return err
	}
	if b, err := dir.Lstat(name); err == nil && os.SameFile(a, b) {
		return nil
	}
	src, err := from.Open(".")
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer dst.Close()
	tmp := ".adze-" + rand.Text() + ".tmp"
	if err := unix.Linkat(int(src.Fd()), file, int(dst.Fd()), tmp, 0); err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	if err := dir.Rename(tmp, name); err != nil {
		_ = dir.Remove(tmp)
		return err
	}
	return nil
}

// fileID tells a file from others.
func fileID(fi fs.FileInfo) any {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(st.Dev), uint64(st.Ino)} //nolint:unconvert // another type on other systems
	}
	return nil
}

// links is how many names a file has.
func links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
