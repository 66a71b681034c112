//go:build unix

package search

import (
	"errors"
	"syscall"
)

// isLoop reports the error of opening a link where none is followed.
func isLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }
