package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const nonblock = 0

func links(fs.FileInfo) uint64 { return 1 }

func ours(fs.FileInfo) bool { return true } // the name is ours

func sameOwner(*os.Root, string, fs.FileInfo) bool { return true }

// crossing: ERROR_NOT_SAME_DEVICE (17), ERROR_SHARING_VIOLATION (32).
func crossing(err error) bool {
	return errors.Is(err, syscall.Errno(17)) || errors.Is(err, syscall.Errno(32))
}

func readOnly(err error) bool { return errors.Is(err, syscall.Errno(19)) } // ERROR_WRITE_PROTECT
