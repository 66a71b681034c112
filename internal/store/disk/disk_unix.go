//go:build !windows

package disk

import "syscall"

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
