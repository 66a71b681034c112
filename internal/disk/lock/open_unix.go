//go:build unix

package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exclusive takes the lock of an open file or folder for it alone, and for those
// it was handed on to. The error is ErrHeld when another one has it, unless wait
// says to wait for as long as that takes, and another one where there are no
// locks.
func Exclusive(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	return flock(f, how)
}

// Shared takes the lock beside others that share it. The error is ErrHeld when
// somebody has it alone.
func Shared(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrHeld
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}
