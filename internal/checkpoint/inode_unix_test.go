//go:build unix

package checkpoint_test

import (
	"fmt"
	"io/fs"
	"syscall"
)

func inode(fi fs.FileInfo) string {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink < 2 {
		return ""
	}
	return fmt.Sprint(st.Ino)
}
