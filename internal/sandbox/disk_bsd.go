//go:build unix && !linux

package sandbox

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pathOnly opens a folder for its path alone, as far as the system can.
const pathOnly = unix.O_RDONLY

// changed is when a file or folder changed last, which nobody can set, and its
// number.
func changed(info os.FileInfo) (at time.Time, ino int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Sec, st.Ctimespec.Nsec), int64(st.Ino)
	}
	return info.ModTime(), 0
}

// unlockAt lets the owner of a file or folder read and write it; a link is not
// followed.
func unlockAt(at int, name string) error {
	return unix.Fchmodat(at, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
