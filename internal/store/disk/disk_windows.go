package disk

import "syscall"

// noDirSync: Windows has no way to flush a folder, and needs none (NTFS
// journals its entries).
const noDirSync = true

// Codes of winerror.h.
var causes = []cause{
	{syscall.Errno(112), "the disk is full"},                               // ERROR_DISK_FULL
	{syscall.Errno(39), "the disk is full"},                                // ERROR_HANDLE_DISK_FULL
	{syscall.Errno(19), "the disk is write-protected"},                     // ERROR_WRITE_PROTECT
	{syscall.Errno(1117), "the disk reported an error"},                    // ERROR_IO_DEVICE
	{syscall.Errno(4), "too many files are open"},                          // ERROR_TOO_MANY_OPEN_FILES
	{syscall.Errno(32), "another program holds the file open"},             // ERROR_SHARING_VIOLATION
	{syscall.Errno(33), "another program holds a part of the file locked"}, // ERROR_LOCK_VIOLATION
}

// Writable returns an error where no file can be made in a folder. Here only trying
// tells.
func Writable(string) error { return nil }
