//go:build unix

package seal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private refuses a key that others could read or have made.
func private(info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("others can read it; chmod 600 it, or remove it to have another one made")
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return errors.New("it belongs to somebody else")
	}
	return nil
}
