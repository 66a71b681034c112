//go:build linux && !amd64 && !arm64

package zygote

import "golang.org/x/sys/unix"

// clone is fork.
//
//go:nosplit
//go:norace
func clone(flags uintptr) (pid, e uintptr) {
	pid, err := fork(flags)
	return pid, uintptr(err)
}

// vforks are the flags of a process with a copy of the memory of the one that makes it.
const vforks = uintptr(unix.SIGCHLD)
