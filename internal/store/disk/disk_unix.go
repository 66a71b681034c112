//go:build !windows

package disk

import (
	"io/fs"
	"syscall"
)

// Writable returns an error where no file can be made in a folder: its permissions
// or the file system forbid it. That the disk is full shows only later.
func Writable(dir string) error {
	const write = 2 // W_OK
	if err := syscall.Access(dir, write); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

const noDirSync = false

var causes = []cause{
	{syscall.ENOSPC, "the disk is full"},
	{syscall.EDQUOT, "the disk quota is used up"},
	{syscall.EROFS, "the file system is read-only"},
	{syscall.EIO, "the disk reported an error"},
	{syscall.EMFILE, "too many files are open"},
	{syscall.ENFILE, "too many files are open"},
	{syscall.ESTALE, "the network drive lost the file"},
}
