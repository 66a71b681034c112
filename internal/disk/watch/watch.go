// Package watch tells that files may have changed: files that are there, that
// are not there yet, that are replaced by a rename, and that are links. It
// never reads a file, never says what changed, and watches no tree: only the
// folders that the files stand in, or would stand in.
package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of a watcher.
const (
	// Quiet is how long nothing must happen before a change is told, so that
	// a file written in steps is told once.
	Quiet = 200 * time.Millisecond
	// patience bounds how long changes that never pause are held back.
	patience = 2 * time.Second
	// slow is how often the files are looked at besides, where one is on a
	// network file system: it tells nothing of what other machines do. fast is
	// for when the system cannot watch at all. Otherwise nothing wakes.
	slow, fast = 10 * time.Second, 2 * time.Second
)

// maxLinks bounds how many links of one path are followed.
const maxLinks = 40

// A Config says what to watch. Paths are absolute; nothing of them needs to
// exist.
type Config struct {
	Files []string
	Dirs  []string // folders in which every name counts
	// Changed is called on a goroutine of the watcher, never twice at once.
	// It may be called when nothing changed after all.
	Changed func()
}

// A Watcher watches until Close.
type Watcher struct {
	c    Config
	fs   *fsnotify.Watcher // nil: the system cannot
	lost <-chan struct{}   // more happened than was told
	read <-chan struct{}   // closed when nothing reads that any more
	quit chan struct{}
	done chan struct{}

	// The rest belongs to the goroutine of run.
	armed map[string]os.FileInfo // watched folders, as they were when that began
	names map[string]bool        // paths that matter
	blind bool                   // a folder could not be watched
	far   bool                   // of one, others' changes are not told
	seen  string                 // what the files looked like
}

// Start begins to watch: what changes after it returned is told. It never
// fails: what the system cannot watch is looked at every two seconds.
func Start(c Config) *Watcher {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		fs = nil // too many watches of this person, mostly
	}
	return start(c, fs)
}

func start(c Config, fs *fsnotify.Watcher) *Watcher {
	w := &Watcher{c: c, fs: fs, quit: make(chan struct{}), done: make(chan struct{}), armed: map[string]os.FileInfo{}}
	if fs != nil {
		w.lost, w.read = losses(fs)
	}
	w.arm()
	w.seen = w.look()
	go w.run() // ends when Close closes quit
	return w
}

// Release stops the watch of every folder; only Close may follow. Closing several
// watchers one after the other takes Linux some 13 ms for each but the first, and
// next to nothing once all of them have released their folders.
func (w *Watcher) Release() {
	if w.fs == nil {
		return
	}
	for _, d := range w.fs.WatchList() {
		_ = w.fs.Remove(d) // it may be gone already
	}
}

// Close ends the watch and waits for a Changed that runs.
func (w *Watcher) Close() {
	close(w.quit)
	if w.fs != nil {
		_ = w.fs.Close()
		<-w.read
	}
	<-w.done
}

func (w *Watcher) run() {
	defer close(w.done)
	var events chan fsnotify.Event
	if w.fs != nil {
		events = w.fs.Events
	}
	var due *time.Timer
	var wait <-chan time.Time
	var last time.Time // when it must be told at the latest
	bump := func() {
		now := time.Now()
		if wait == nil {
			last = now.Add(patience)
			due = time.NewTimer(Quiet)
			wait = due.C
			return
		}
		due.Reset(min(Quiet, last.Sub(now)))
	}
	look := time.NewTimer(time.Hour)
	defer look.Stop()
	again := func() {
		if look.Stop(); w.pause() > 0 {
			look.Reset(w.pause())
		}
	}
	again()
	for {
		select {
		case <-w.quit:
			return
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if w.matters(e.Name) {
				bump()
			}
		case <-w.lost:
			bump()
		case <-look.C:
			if w.look() != w.seen {
				bump()
			}
			again()
		case <-wait:
			wait = nil
			w.arm() // before the files are read, so that nothing is missed
			w.seen = w.look()
			again()
			w.c.Changed()
		}
	}
}

// pause is the time until the files are looked at again, 0 for not at all.
func (w *Watcher) pause() time.Duration {
	switch {
	case w.fs == nil || w.blind:
		return fast
	case w.far:
		return slow
	}
	return 0
}

// matters reports whether a name is one that was asked for, a folder on the
// way to it, or in a folder of which every name counts.
func (w *Watcher) matters(name string) bool {
	if w.names[name] {
		return true
	}
	if _, folder := w.armed[name]; folder {
		return true
	}
	return w.names[filepath.Join(filepath.Dir(name), every)]
}

// every stands in names for all names of a folder; no file is called so.
const every = "\x00"

// arm watches the folders as they are now.
func (w *Watcher) arm() {
	dirs := map[string]bool{}
	w.names = map[string]bool{}
	for _, f := range w.c.Files {
		w.trace(f, dirs, 0)
	}
	for _, d := range w.c.Dirs {
		w.trace(filepath.Join(d, every), dirs, 0)
	}
	if w.fs == nil {
		return
	}
	for d, was := range w.armed {
		if now, err := os.Stat(d); !dirs[d] || err != nil || !os.SameFile(was, now) {
			_ = w.fs.Remove(d) // it may be gone already
			delete(w.armed, d)
		}
	}
	w.blind, w.far = false, false
	for d := range dirs {
		w.far = w.far || distant(d)
		if w.armed[d] != nil {
			continue
		}
		info, err := os.Stat(d)
		if err == nil {
			err = w.fs.Add(d)
		}
		if err != nil {
			w.blind = true
			continue
		}
		w.armed[d] = info
	}
}

// trace notes which folder has to be watched for which name, so that a change
// of what path leads to is seen: the folder of the last part that exists, and
// the folder of each link on the way.
func (w *Watcher) trace(path string, dirs map[string]bool, links int) {
	volume := filepath.VolumeName(path)
	at := volume + string(filepath.Separator)
	rest := strings.Split(strings.Trim(path[len(volume):], string(filepath.Separator)), string(filepath.Separator))
	for i, part := range rest {
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case err == nil && info.Mode()&os.ModeSymlink != 0:
			dirs[at], w.names[next] = true, true
			if target, err := os.Readlink(next); err == nil && links < maxLinks {
				if !filepath.IsAbs(target) {
					target = filepath.Join(at, target)
				}
				w.trace(filepath.Join(append([]string{target}, rest[i+1:]...)...), dirs, links+1)
			}
			return
		case err == nil && info.IsDir() && i < len(rest)-1:
			at = next
		default: // it is the file, or nothing is there yet
			dirs[at], w.names[next] = true, true
			return
		}
	}
}

// look is what the files look like from outside.
func (w *Watcher) look() string {
	var b strings.Builder
	one := func(path string) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d %v\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		if target, err := os.Readlink(path); err == nil {
			fmt.Fprintf(&b, "→ %s\n", target)
		}
	}
	for _, f := range w.c.Files {
		one(f)
	}
	for _, d := range w.c.Dirs {
		entries, _ := os.ReadDir(d) // none is an answer, too
		for _, e := range entries {
			one(filepath.Join(d, e.Name()))
		}
	}
	return b.String()
}
