//go:build !linux

package watch

import (
	"os"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Names tells that a name that matters came into being in one of many folders,
// as soon as the system says so. It may miss some (a network file system, too
// many folders), so whoever needs all of them looks from time to time as well.
type Names struct {
	matters func(path string) bool
	came    chan struct{}
	fs      *fsnotify.Watcher // nil: the system cannot
	done    chan struct{}

	mu    sync.Mutex // guards armed
	armed map[string]bool
	most  int
}

// WatchNames begins with no folder. matters is asked for each name that comes,
// on a goroutine of its own. most bounds how many folders are watched.
func WatchNames(most int, matters func(path string) bool) *Names {
	n := &Names{matters: matters, came: make(chan struct{}, 1), done: make(chan struct{}), armed: map[string]bool{}, most: most}
	fs, err := fsnotify.NewWatcher()
	if err != nil { // too many watches of this person, mostly
		close(n.done)
		return n
	}
	n.fs = fs
	go n.run() // ends when Close closes the watcher
	return n
}

// Came has a token when a name that matters came since the last one was taken.
func (n *Names) Came() <-chan struct{} { return n.came }

// Add watches further folders; one that is watched costs nothing. Folders that
// come into being in a watched one are watched from then on.
func (n *Names) Add(dirs ...string) {
	if n.fs == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, dir := range dirs {
		if n.armed[dir] || len(n.armed) >= n.most {
			continue
		}
		if n.fs.Add(dir) == nil { // else it is gone, or is looked at without a watch
			n.armed[dir] = true
		}
	}
}

// Watches reports whether all that happens in a folder is told by Take: it never is.
func (n *Names) Watches(string) bool { return false }

// Again watches a folder that is another one than before under its path.
func (n *Names) Again(dir string) { n.Add(dir) }

// Take says in which folders names came or went since it was asked last; all: that is
// not known.
func (n *Names) Take() (dirs []string, all bool) { return nil, true }

func (n *Names) works() bool { return n.fs != nil }

func (n *Names) watching() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.armed)
}

// Release stops the watch of every folder, before Close: see [Watcher.Release].
func (n *Names) Release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for dir := range n.armed {
		_ = n.fs.Remove(dir) // it may be gone already
		delete(n.armed, dir)
	}
}

// Close ends the watch.
func (n *Names) Close() {
	if n.fs != nil {
		_ = n.fs.Close()
	}
	<-n.done
}

func (n *Names) run() {
	defer close(n.done)
	lost, done := losses(n.fs)
	defer func() { <-done }()
	for {
		select {
		case e, ok := <-n.fs.Events:
			switch {
			case !ok:
				return
			case e.Has(fsnotify.Create):
				n.created(e.Name)
			case e.Has(fsnotify.Remove), e.Has(fsnotify.Rename):
				n.mu.Lock()
				delete(n.armed, e.Name) // the system lets its watch go
				n.mu.Unlock()
			}
		case <-lost:
			n.tell()
		}
	}
}

func (n *Names) created(path string) {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		n.Add(path)
	}
	// What came into a new folder before it was watched was not told.
	if n.matters(path) || err == nil && info.IsDir() {
		n.tell()
	}
}

func (n *Names) tell() {
	select {
	case n.came <- struct{}{}:
	default: // there is a token already
	}
}
