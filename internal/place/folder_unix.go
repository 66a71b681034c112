//go:build !windows

package place

import "golang.org/x/sys/unix"

// folderOnly refuses what is no folder, without waiting for the other end of a pipe.
const folderOnly = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK
