//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW

// lockFile takes a lock that belongs to the open file, for as long as any
// process has it open. wait waits for it.
func lockFile(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// makeCover puts a cover at s.path; one that is there already is fine.
func makeCover(s step) error {
	var err error
	switch s.do {
	case coverDir:
		// Writable, so that whoever is allowed to can put something in it from
		// outside while a command runs.
		err = os.Mkdir(s.path, 0o755)
	case coverFile:
		err = unix.Mknod(s.path, unix.S_IFSOCK, 0)
	case coverText:
		var f *os.File
		if f, err = os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600); err == nil {
			_, err = f.WriteString(commonSelf)
			err = errors.Join(err, f.Chmod(0o444), f.Close())
		}
	case write, pin, keep, hideDir, hideFile, reveal:
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// barred reports whether a file is somebody else's and this user cannot read
// it: then no command of this user can, in a sandbox or not.
func barred(path string, info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Geteuid() != 0 && int(st.Uid) != os.Geteuid() && unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) != nil
}
