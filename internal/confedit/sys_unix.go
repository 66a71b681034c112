//go:build unix

package confedit

import (
	"fmt"
	"os"
	"syscall"
)

// nonblock keeps an open of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// owned wants a file of root's that nobody else may write.
func owned(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("its owner is not known")
	}
	if st.Uid != 0 {
		return fmt.Errorf("it belongs to user %d, not to root", st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others than root may write it")
	}
	return nil
}
