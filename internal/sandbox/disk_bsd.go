//go:build unix && !linux

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/disk/changed"
)

// pathOnly opens a folder for its path alone, as far as the system can.
const pathOnly = unix.O_RDONLY

// unlockAt lets the owner of a file or folder read and write it; a link is not
// followed.
func unlockAt(at int, name string) error {
	return unix.Fchmodat(at, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}

// look is what a survey asks of each folder.
func look(path string) (at, size, ino int64, dir, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0, 0, false, false
	}
	when, ino := changed.At(info)
	return when.UnixNano(), info.Size(), ino, info.IsDir(), true
}

// An identity is only asked for where something is mounted.
type identity struct{}

func identify(string) identity { return identity{} }
