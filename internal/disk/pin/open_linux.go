package pin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// quick opens a folder with one openat2 that refuses links in every
// component. Unlike a walk it needs no right to list the folders above. ok is
// false where the kernel or /proc does not allow it.
func quick(path string) (root *os.Root, ok bool, err error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, true, fmt.Errorf("open %s: it leads through a link now: %w", path, ErrMoved)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return nil, true, &fs.PathError{Op: "open", Path: path, Err: err}
	case err != nil:
		return nil, false, nil
	}
	defer unix.Close(fd)
	root, err = os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", fd))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return root, true, err
}
