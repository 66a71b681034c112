package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// pathOnly opens a folder for its path alone, which needs no right to read it.
const pathOnly = unix.O_PATH

// look is what a survey asks of each folder, without what os.Lstat costs.
func look(path string) (at, size, ino int64, dir, ok bool) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return 0, 0, 0, false, false
	}
	return st.Ctim.Nano(), st.Size, int64(st.Ino), st.Mode&unix.S_IFMT == unix.S_IFDIR, true
}

// unlockAt lets the owner of a file or folder read and write it; a link is
// refused.
func unlockAt(at int, name string) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o700)
}

// An identity tells whether what is at a path is still the same file, also when
// another one got its number.
type identity struct {
	ino  uint64
	dev  [2]uint32
	born unix.StatxTimestamp
}

func identify(path string) identity {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st) != nil {
		return identity{}
	}
	return identity{st.Ino, [2]uint32{st.Dev_major, st.Dev_minor}, st.Btime}
}
