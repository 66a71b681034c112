//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

func stopSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
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

// ownSession has a command begin a session of its own, all of which is asked
// to end when its context does.
func ownSession(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
}

// endSession kills what is left of it.
func endSession(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// exitCode follows the shells: 128+n after signal n.
func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
