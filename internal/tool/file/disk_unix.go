//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open from waiting for the other end of a pipe.
const nonblock = syscall.O_NONBLOCK

// links counts the names of a file.
func links(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// ours reports whether a file belongs to this user.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// sameOwner gives the temporary file the owner of the original and reports
// whether it has it.
func sameOwner(root *os.Root, temp string, was fs.FileInfo) bool {
	want, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	fi, err := root.Lstat(temp)
	if err != nil {
		return false
	}
	if got, ok := fi.Sys().(*syscall.Stat_t); ok && got.Uid == want.Uid && got.Gid == want.Gid {
		return true
	}
	if root.Lchown(temp, int(want.Uid), int(want.Gid)) != nil {
		return false
	}
	return root.Chmod(temp, was.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)) == nil
}

// crossing reports errors of a rename onto a mount point or another device.
func crossing(err error) bool {
	return errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EBUSY)
}

func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
