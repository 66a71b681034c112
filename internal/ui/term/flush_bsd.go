//go:build unix && !linux

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed or answered and not read.
func flush(in *os.File) { _ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH) }
