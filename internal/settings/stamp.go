package settings

import (
	"os"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/changed"
)

// stamps are what the system says of the files and folders that settings were read from,
// by path; of one that changed while they were read, nothing.
type stamps map[string]stamp

// A stamp tells two states of a file apart without reading it. Of a file that is not
// there it is empty.
type stamp struct {
	at     time.Time
	number int64
	size   int64
}

// coarse is how far apart the times of two changes may be that have the same time.
const coarse = 20 * time.Millisecond

// stamp looks at all files of settings whose reading began at a time. now is nil where
// they could not be loaded.
func (l *Live) stamp(now *config.Config, began time.Time) stamps {
	if now == nil {
		return nil
	}
	out := stamps{}
	for _, path := range append(l.files(now), now.Dirs...) {
		out.add(path, began)
	}
	return out
}

// add looks at a file whose reading began at a time.
func (s stamps) add(path string, began time.Time) {
	if of := stampOf(path); of.at.Before(began.Add(-coarse)) {
		s[path] = of
	}
}

func stampOf(path string) (s stamp) {
	info, err := os.Stat(path)
	if err != nil {
		return s
	}
	s.at, s.number = changed.At(info)
	s.size = info.Size()
	return s
}

// Fresh has what files say now count, also what was written a moment ago, of which the
// watch has not told yet. It costs a look at the times of each file.
func (l *Live) Fresh() {
	stale := false
	l.Hold(func() {
		stale = l.stamps == nil
		cfg := l.now.Load()
		for _, path := range append(l.files(cfg), cfg.Dirs...) {
			was, known := l.stamps[path]
			stale = stale || !known || was != stampOf(path)
		}
	})
	if stale {
		l.reload()
	}
}
