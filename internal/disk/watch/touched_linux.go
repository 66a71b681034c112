package watch

import (
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// Touched tells in which folders something happened since it was asked last:
// to a name, or to a file that was written. It is exact for what is done with
// system calls, and does not see what is written through a mapping of a file
// that stays open.
type Touched struct {
	most int

	mu   sync.Mutex // guards what follows
	fd   int
	dirs map[int32]string
}

// mask is everything that can change a folder or a file in it (inotify(7)).
const mask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_CLOSE_WRITE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// WatchTouched begins with no folder and watches at most most of them. It is nil
// where the system does not tell of all changes below root.
func WatchTouched(root string, most int) *Touched {
	if distant(root) {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &Touched{most: most, fd: fd, dirs: map[int32]string{}}
}

// Add watches a folder, and reports whether it does. A folder that was renamed
// is added again.
func (t *Touched) Add(dir string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.dirs) >= t.most {
		return false
	}
	wd, err := unix.InotifyAddWatch(t.fd, dir, mask)
	if err != nil {
		return false
	}
	t.dirs[int32(wd)] = dir
	return true
}

// Take returns the folders in which something happened since the last Take; all
// says that it is not known in which.
func (t *Touched) Take() (dirs map[string]bool, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dirs = map[string]bool{}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(t.fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return dirs, all
		case err != nil || n <= 0:
			return dirs, true
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b))
			what := binary.NativeEndian.Uint32(b[4:])
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			b = b[min(size, len(b)):]
			if what&unix.IN_Q_OVERFLOW != 0 {
				all = true
				continue
			}
			if dir, ok := t.dirs[wd]; ok {
				dirs[dir] = true
			}
			if what&unix.IN_IGNORED != 0 {
				delete(t.dirs, wd)
			}
		}
	}
}

// Close ends the watch.
func (t *Touched) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	unix.Close(t.fd)
	t.fd = -1
}
