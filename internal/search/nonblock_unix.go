//go:build unix && !linux

package search

import "syscall"

// nonblock keeps an open from waiting for the other end of a pipe.
const nonblock = syscall.O_NONBLOCK
