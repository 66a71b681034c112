//go:build unix

package confedit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// nonblock keeps an open of a FIFO from waiting for its writer.
const nonblock = syscall.O_NONBLOCK

// alive reports whether a process exists, whoever owns it.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

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
