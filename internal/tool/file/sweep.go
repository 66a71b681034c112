package file

import (
	"os"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// Bounds of a sweep.
const (
	sweepAge   = 10 * time.Minute // of a file; a save takes less, also where folders cannot be locked
	sweepNames = 10_000           // of a folder, 5 ms
)

// A sweeper removes temporary files that a killed adze left beside what it
// edited: once for each folder, when a file is saved there for the first time.
type sweeper struct {
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

// sweep removes them from root, whose path is dir. The folder is locked, so
// that nobody who can lock is saving there.
func (s *sweeper) sweep(root *os.Root, dir string, now time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	seen := s.seen[dir]
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[dir] = true
	s.mu.Unlock()
	if seen {
		return
	}
	d, err := root.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(sweepNames) // what was read so far is enough
	for _, name := range names {
		if !safe.IsTemp(name) {
			continue
		}
		fi, err := root.Lstat(name)
		if err == nil && fi.Mode().IsRegular() && ours(fi) && now.Sub(fi.ModTime()) > sweepAge {
			_ = root.Remove(name) // next time, then
		}
	}
}
