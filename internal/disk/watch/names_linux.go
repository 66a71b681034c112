package watch

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Names tells that a name that matters came into being in one of many folders,
// as soon as the system says so, and, to who asks, in which folders names came or
// went. It may miss some (a network file system, too many folders), so whoever
// needs all of them looks at those that Watches does not report.
type Names struct {
	matters func(path string) bool
	came    chan struct{}
	file    *os.File // the inotify instance; nil: the system cannot
	done    chan struct{}

	mu      sync.Mutex // guards the rest
	fd      int        // of file, -1 when it is closed
	paths   map[int32]string
	watches map[string]watched
	touched map[string]bool
	lost    bool // more happened than was told since Take
	most    int
	device  map[uint64]bool // file systems; whether they tell of all that happens
}

// A watched folder: exact means that its file system tells of all that happens there.
type watched struct {
	wd    int32
	exact bool
}

// namesMask is what changes the names in a folder, and the folder itself (inotify(7)).
const namesMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF |
	unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// WatchNames begins with no folder. matters is asked for each name that comes,
// on a goroutine of its own or of who calls, and must not call back. most bounds how
// many folders are watched; of what the system grants a user, at most a third is taken.
func WatchNames(most int, matters func(path string) bool) *Names {
	n := &Names{
		matters: matters, came: make(chan struct{}, 1), done: make(chan struct{}), fd: -1, most: min(most, granted()/3),
		paths: map[int32]string{}, watches: map[string]watched{}, touched: map[string]bool{}, device: map[uint64]bool{},
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil { // too many of this person, mostly
		close(n.done)
		return n
	}
	n.fd, n.file = fd, os.NewFile(uintptr(fd), "inotify")
	go n.run() // ends when Close closes the file
	return n
}

// granted is how many folders the system lets a user watch in all.
func granted() int {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 8192
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 8192
	}
	return n
}

// Came has a token when a name that matters came since the last one was taken.
func (n *Names) Came() <-chan struct{} { return n.came }

// Add watches further folders; one that is watched costs nothing. Folders that
// come into being in a watched one are watched from then on.
func (n *Names) Add(dirs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, dir := range dirs {
		if _, ok := n.watches[dir]; !ok {
			n.add(dir)
		}
	}
}

// Again watches a folder that is another one than before under its path.
func (n *Names) Again(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(dir, -1)
	n.add(dir)
}

// drop forgets what is watched under a path, unless that is wd; the lock is held.
func (n *Names) drop(dir string, wd int32) {
	w, ok := n.watches[dir]
	if !ok || w.wd == wd {
		return
	}
	delete(n.watches, dir)
	delete(n.paths, w.wd)
	_, _ = unix.InotifyRmWatch(n.fd, uint32(w.wd)) // it may be gone already
}

// add watches a folder; the lock is held.
func (n *Names) add(dir string) {
	if n.fd < 0 || len(n.watches) >= n.most {
		return
	}
	wd, err := unix.InotifyAddWatch(n.fd, dir, namesMask)
	if err != nil {
		return // it is gone, or is looked at without a watch
	}
	n.drop(dir, int32(wd))                 // of another one, under its name
	if was, ok := n.paths[int32(wd)]; ok { // under another name before
		delete(n.watches, was)
	}
	n.paths[int32(wd)], n.watches[dir] = dir, watched{int32(wd), n.tells(dir)}
}

// Watches reports whether all that happens in a folder since now is told by Take.
func (n *Names) Watches(dir string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.watches[dir].exact
}

// tells reports whether the file system of a folder tells of all that happens there; the
// lock is held.
func (n *Names) tells(dir string) bool {
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil {
		return false
	}
	is, known := n.device[uint64(st.Dev)]
	if !known {
		is = !distant(dir)
		n.device[uint64(st.Dev)] = is
	}
	return is
}

// Take says in which folders names came or went, or which changed themselves, since it
// was asked last: all that was done before it is called. all: that is not known.
func (n *Names) Take() (dirs []string, all bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fd < 0 {
		return nil, true
	}
	n.drain()
	for dir := range n.touched {
		dirs = append(dirs, dir)
	}
	all, n.lost = n.lost, false
	clear(n.touched)
	return dirs, all
}

func (n *Names) works() bool { return n.file != nil }

func (n *Names) watching() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.watches)
}

// Release stops the watch of every folder, before Close: see [Watcher.Release].
func (n *Names) Release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for wd := range n.paths {
		_, _ = unix.InotifyRmWatch(n.fd, uint32(wd)) // it may be gone already
	}
	clear(n.paths)
	clear(n.watches)
	n.most = 0
}

// Close ends the watch.
func (n *Names) Close() {
	if n.file != nil {
		n.mu.Lock()
		n.fd = -1
		n.mu.Unlock()
		_ = n.file.Close()
	}
	<-n.done
}

// run reads what the system tells, as soon as it does, so that it need not forget any.
func (n *Names) run() {
	defer close(n.done)
	raw, err := n.file.SyscallConn()
	if err != nil {
		return
	}
	for {
		if raw.Read(func(uintptr) bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.fd < 0 || n.drain()
		}) != nil {
			return
		}
		n.mu.Lock()
		closed := n.fd < 0
		n.mu.Unlock()
		if closed {
			return
		}
	}
}

// drain reads all that the system has to tell, and reports whether there was anything;
// the lock is held.
func (n *Names) drain() (any bool) {
	buf := make([]byte, 16<<10)
	for {
		size, err := unix.Read(n.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || size <= 0 {
			n.lost = n.lost || err != unix.EAGAIN
			return any
		}
		any = true
		for b := buf[:size]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b))
			what := binary.NativeEndian.Uint32(b[4:])
			end := min(unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])), len(b))
			name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:end], []byte{0})
			n.happened(wd, what, string(name))
			b = b[end:]
		}
	}
}

// happened takes one event; the lock is held.
func (n *Names) happened(wd int32, what uint32, name string) {
	if what&unix.IN_Q_OVERFLOW != 0 {
		n.lost = true
		n.tell()
		return
	}
	dir, ok := n.paths[wd]
	if !ok {
		return
	}
	if what&unix.IN_ATTRIB != 0 && name != "" { // of a file, which is nothing here
		return
	}
	n.touched[dir] = true
	if what&unix.IN_IGNORED != 0 {
		delete(n.paths, wd)
		if n.watches[dir].wd == wd {
			delete(n.watches, dir)
		}
	}
	if what&(unix.IN_CREATE|unix.IN_MOVED_TO) == 0 {
		return
	}
	path := dir + "/" + name
	if dir == "/" {
		path = dir + name
	}
	folder := what&unix.IN_ISDIR != 0
	if folder {
		n.add(path)
	}
	// What came into a new folder before it was watched was not told.
	if folder || n.matters(path) {
		n.tell()
	}
}

func (n *Names) tell() {
	select {
	case n.came <- struct{}{}:
	default: // there is a token already
	}
}
