//go:build unix

package temp

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// hold says that a folder's process lives, until d is closed. It is false when
// somebody took the folder; where nothing can be locked nobody can.
func hold(d *os.File) bool {
	return !errors.Is(syscall.Flock(int(d.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// take reports whether nobody holds a folder.
func take(d *os.File) bool { return syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }

// ours reports whether a folder belongs to this user.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
