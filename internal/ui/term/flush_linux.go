package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed or answered and not read.
func flush(in *os.File) { _ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
