package lock

import (
	"errors"
	"os"
)

// Exclusive is an error: nothing is locked here.
func Exclusive(*os.File, bool) error { return errors.ErrUnsupported }

// Shared is an error: nothing is locked here.
func Shared(*os.File) error { return errors.ErrUnsupported }
