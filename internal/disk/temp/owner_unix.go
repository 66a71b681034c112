//go:build unix

package temp

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a folder belongs to this user.
func ours(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
