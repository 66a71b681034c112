//go:build unix

package safe

import (
	"errors"
	"syscall"
)

// unsupported reports whether a file system cannot sync folders.
func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
