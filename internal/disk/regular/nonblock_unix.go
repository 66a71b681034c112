//go:build unix

package regular

import "syscall"

const nonblock = syscall.O_NONBLOCK
