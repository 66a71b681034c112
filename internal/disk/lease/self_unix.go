//go:build !windows

package lease

import (
	"errors"
	"syscall"
)

// nonblock keeps an open of a pipe that somebody put there from waiting.
const nonblock = syscall.O_NONBLOCK

func exists(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
