//go:build unix

package cli

import (
	"os"
	"syscall"
)

func stopSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

func brokenPipe() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// exitOf is the exit code after a signal: 130 for an interrupt, 128 and the
// signal's number for the others.
func exitOf(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok && n != syscall.SIGINT {
		return 128 + int(n)
	}
	return exitInterrupted
}
