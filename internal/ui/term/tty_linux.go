package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// Requests that read and set the modes of a terminal.
const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
)

// flush drops what was typed or answered and not read.
func flush(in *os.File) { _ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
