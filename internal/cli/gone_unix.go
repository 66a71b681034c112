//go:build unix

package cli

import "golang.org/x/sys/unix"

// gone reports whether nobody can read any more what is written.
func (o *Output) gone() bool {
	fds := []unix.PollFd{{Fd: int32(o.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
