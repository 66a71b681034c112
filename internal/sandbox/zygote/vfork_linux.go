//go:build linux && (amd64 || arm64)

package zygote

import "golang.org/x/sys/unix"

// clone is clone(2) with a stack of nil.
//
//go:noescape
func clone(flags uintptr) (pid, e uintptr)

// vforks are the flags of a process that has the memory of the one that makes it, which
// waits until it has started another program or ended: nothing is copied, and nothing
// has to be let go of again.
const vforks = unix.CLONE_VM | unix.CLONE_VFORK | uintptr(unix.SIGCHLD)
