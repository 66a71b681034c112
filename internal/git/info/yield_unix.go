//go:build unix

package info

import "syscall"

// yield has a process, and all that it starts from now on, run behind others; it is as
// fast as before where no other wants to.
func yield(pid int) { _ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, 10) }
