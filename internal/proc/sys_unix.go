//go:build unix

package proc

import (
	"os"
	"syscall"
)

// exitStatus follows the shells: 128+n after signal n.
func exitStatus(s *os.ProcessState) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), ws.Signal().String()
	}
	return s.ExitCode(), ""
}
