//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// private refuses a file that others may write.
func private(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d", st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write it (its mode is %04o)", info.Mode().Perm())
	}
	return nil
}
