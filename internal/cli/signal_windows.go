package cli

import (
	"os"
	"os/exec"
	"syscall"
)

func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// brokenPipe names a signal that Windows never sends: catching none at all would mean
// all of them.
func brokenPipe() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

func exitOf(s os.Signal) int {
	if s == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

func ownSession(*exec.Cmd) {}

func endSession(*exec.Cmd) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
