//go:build unix

package auth

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// others says what about a file lets others than its owner in.
func others(info fs.FileInfo, mask fs.FileMode) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Sprintf("belongs to user %d, not to you", st.Uid)
	}
	if m := info.Mode().Perm(); m&mask != 0 {
		return fmt.Sprintf("may be used by others (its mode is %04o)", m)
	}
	return ""
}
