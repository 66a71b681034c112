//go:build unix && !linux

package proc

import (
	"syscall"
	"time"
)

// A tag marks processes on Linux only.
type tag struct{ soft, hard uint64 }

// orphaned ends the process groups of commands whose adze is gone. A child
// that left its group is not found.
func orphaned(wards map[int]ward) {
	each := func(s syscall.Signal) (alive bool) {
		for pid := range wards {
			alive = syscall.Kill(-pid, s) == nil || alive
		}
		return alive
	}
	each(syscall.SIGTERM)
	each(syscall.SIGCONT)
	for until := time.Now().Add(leftoverGrace); each(0) && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	each(syscall.SIGKILL)
}
