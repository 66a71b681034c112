package changed

import (
	"io/fs"
	"syscall"
	"time"
)

// At is when a file or folder changed last (its content, mode, owner or name), which
// nobody can set, and its number. Without both from the system it is when it was
// written, and 0.
func At(info fs.FileInfo) (at time.Time, number int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Sec, st.Ctim.Nsec), int64(st.Ino)
	}
	return info.ModTime(), 0
}
