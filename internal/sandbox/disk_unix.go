//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW

// barred reports whether a file is somebody else's and this user cannot read
// it: then no command of this user can, in a sandbox or not.
func barred(path string, info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Geteuid() != 0 && int(st.Uid) != os.Geteuid() && unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) != nil
}

// alive reports whether a process may be running.
func alive(pid int) bool { return pid <= 0 || !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
