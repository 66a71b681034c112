//go:build unix && !linux

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// Requests that read and set the modes of a terminal.
const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
)

// flush drops what was typed or answered and not read.
func flush(in *os.File) { _ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH) }
