//go:build unix

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// identify tells a folder from all others on this machine.
func identify(root *os.Root) (identity, error) {
	info, err := root.Stat(".")
	if err != nil {
		return identity{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, errors.New("its inode is not known")
	}
	return identity{uint64(st.Dev), uint64(st.Ino)}, nil
}

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
