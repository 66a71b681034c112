package sandbox

import (
	"errors"
	"os"
)

const noFollow = 0

func lockFile(*os.File, bool) error { return errors.ErrUnsupported }

func makeCover(step) error { return errors.ErrUnsupported }

func barred(string, os.FileInfo) bool { return false }
