package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// Bounds of one command's output, in bytes.
const (
	// headSize and tailSize are what is kept in memory of the first and the
	// last output. Output longer than the head goes to a file too, so the head
	// is smaller than what a reader is shown: whatever is cut is in a file.
	headSize = 20 << 10
	tailSize = 48 << 10
	// FileSize is what is kept on disk (tools.md: 30 MB per task).
	FileSize = 30_000_000
	// OutputMax ends a command that writes more than this in all.
	OutputMax = 300_000_000
	// DiskMax is what all commands of a session keep on disk.
	DiskMax = 300_000_000
)

// A Disk counts what the outputs of a session hold on disk.
type Disk struct {
	mu   sync.Mutex // guards used
	used int64
	max  int64
}

// NewDisk returns an account of max bytes.
func NewDisk(max int64) *Disk { return &Disk{max: max} }

func (d *Disk) take(n int64) bool {
	if d == nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used+n > d.max {
		return false
	}
	d.used += n
	return true
}

func (d *Disk) give(n int64) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used -= n
}

// An Output keeps what a command writes: the head and the tail in memory,
// and, once it is longer than the head or Save was called, a file. What is
// kept never grows with what is written. It is written by one goroutine and
// read by any.
type Output struct {
	path string
	max  int64
	disk *Disk
	over func() // called once when more than max was written, with no lock held

	mu      sync.Mutex // guards the fields below
	head    []byte
	ring    []byte // the last bytes after the head; once full, next is the oldest
	next    int
	total   int64
	file    *os.File
	wanted  bool        // Save was called
	written int64       // bytes of output in the file, a prefix of it all
	info    fs.FileInfo // which file it is, once it is closed
	fileErr error
	full    bool // the file takes no more before Close
	closed  bool
}

// OutputConfig says where an output goes.
type OutputConfig struct {
	Path string // of the file; "" keeps none. It must not exist yet.
	Max  int64  // of all output, 0 means OutputMax; Over is called above it
	Over func()
	Disk *Disk // nil counts nothing
}

// NewOutput returns an empty output.
func NewOutput(c OutputConfig) *Output {
	if c.Max == 0 {
		c.Max = OutputMax
	}
	return &Output{path: c.Path, max: c.Max, disk: c.Disk, over: c.Over}
}

// Write never fails: what cannot be kept is counted.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return len(b), nil
	}
	before := o.total
	o.total += int64(len(b))
	rest := b
	if n := min(headSize-len(o.head), len(rest)); n > 0 {
		o.head = append(o.head, rest[:n]...)
		rest = rest[n:]
	}
	o.push(rest)
	if o.wanted || o.total > headSize {
		o.save(b, before)
	}
	over := before <= o.max && o.total > o.max
	o.mu.Unlock()
	if over && o.over != nil {
		o.over()
	}
	return len(b), nil
}

// push adds b to the ring.
func (o *Output) push(b []byte) {
	if len(b) >= tailSize {
		o.ring = append(o.ring[:0], b[len(b)-tailSize:]...)
		o.next = 0
		return
	}
	if n := min(tailSize-len(o.ring), len(b)); n > 0 {
		o.ring = append(o.ring, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(o.ring[o.next:], b)
		b = b[n:]
		o.next = (o.next + n) % tailSize
	}
}

// save appends b, which starts at byte at of the output, to the file.
func (o *Output) save(b []byte, at int64) {
	if o.path == "" || o.full || o.closed {
		return
	}
	if o.file == nil {
		if err := o.create(); err != nil {
			o.fileErr, o.full = err, true
			return
		}
		if at > 0 { // all of it is in the head: a file starts before the head is full
			b = append(append([]byte{}, o.head[:min(at, int64(len(o.head)))]...), b...)
		}
	}
	room := FileSize - tailSize - 1000 - o.written
	if int64(len(b)) > room {
		b, o.full = b[:room], true
	}
	if !o.disk.take(int64(len(b))) {
		o.fileErr, o.full = errors.New("the session's output files are full"), true
		return
	}
	n, err := o.file.Write(b)
	o.written += int64(n)
	if err != nil {
		o.fileErr, o.full = err, true
	}
}

func (o *Output) create() error {
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(filepath.Clean(o.path))), 0o700); err != nil {
		return err
	}
	root, name, err := place(o.path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	o.file = f
	return nil
}

// Save makes the file now and from now on, however short the output is.
func (o *Output) Save() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wanted {
		return
	}
	o.wanted = true
	if o.file == nil {
		o.save(nil, o.total)
	}
}

// Close ends the output: the tail is added to a file that was full, and the
// file is closed. Reading stays possible.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.closed = true
	if o.file == nil {
		return
	}
	if tail := o.tail(); o.full && o.total > o.written {
		if gone := o.total - o.written - int64(len(tail)); gone > 0 {
			_, _ = fmt.Fprintf(o.file, "\n[%d bytes were not kept]\n", gone)
		} else {
			tail = tail[-gone:]
		}
		if _, err := o.file.Write(tail); err != nil && o.fileErr == nil {
			o.fileErr = err
		}
	}
	o.info, _ = o.file.Stat() // without it nothing is read again
	if err := o.file.Close(); err != nil && o.fileErr == nil {
		o.fileErr = err
	}
}

// A Saved is the file of a closed output, without what the Output holds in memory.
type Saved struct {
	path    string
	written int64
	info    fs.FileInfo
	disk    *Disk
}

// Saved is the file of a closed output. ok is false when there is none.
func (o *Output) Saved() (s Saved, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Saved{o.path, o.written, o.info, o.disk}, o.file != nil
}

// Remove deletes the file.
func (s Saved) Remove() error {
	s.disk.give(s.written)
	root, name, err := place(s.path)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || s.info == nil || !info.Mode().IsRegular() || !os.SameFile(info, s.info) {
		return err // somebody put another one there
	}
	return root.Remove(name)
}

// Remove deletes the file of a closed output.
func (o *Output) Remove() error {
	s, ok := o.Saved()
	if !ok {
		return nil
	}
	o.mu.Lock()
	o.written, o.file = 0, nil
	o.mu.Unlock()
	return s.Remove()
}

// place is the folder that was there before, opened, and where the file lies
// below it. Commands may be able to write there, so that nothing below it is
// reached by a link out of it.
func place(path string) (root *os.Root, name string, err error) {
	dir, file := filepath.Split(filepath.Clean(path))
	base, folder := filepath.Split(filepath.Clean(dir))
	root, err = os.OpenRoot(base)
	return root, filepath.Join(folder, file), err
}

// tail returns what the ring holds, oldest first.
func (o *Output) tail() []byte {
	out := make([]byte, 0, len(o.ring))
	return append(append(out, o.ring[o.next:]...), o.ring[:o.next]...)
}

// Kept is what an Output holds in memory.
type Kept struct {
	Head, Tail []byte // Tail follows Head directly when Gone is 0
	Gone       int64  // bytes between them
	Total      int64
	Path       string // of the file, "" when there is none
	FileErr    error  // why the file is not complete
}

// Kept returns copies of the head and the tail.
func (o *Output) Kept() Kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := Kept{Head: bytes.Clone(o.head), Tail: o.tail(), Total: o.total, FileErr: o.fileErr}
	k.Gone = o.total - int64(len(k.Head)) - int64(len(k.Tail))
	if o.file != nil {
		k.Path = o.path
	}
	return k
}

// Total is how many bytes were written so far.
func (o *Output) Total() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// From returns output from byte off on, at most max bytes; gone counts bytes
// at off that are no longer kept, and next is where to go on.
func (o *Output) From(off int64, max int) (b []byte, gone, next int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail := o.tail()
	tailAt := o.total - int64(len(tail))
	switch {
	case off >= o.total:
		return nil, 0, o.total
	case off < int64(len(o.head)):
		b = o.head[off:]
	case off >= tailAt:
		b = tail[off-tailAt:]
	case off < o.written:
		b = o.fromFile(off, min(int64(max), o.written-off))
	}
	if b == nil {
		gone = tailAt - off
		off, b = tailAt, tail
	}
	b = bytes.Clone(b[:min(len(b), max)])
	return b, gone, off + int64(len(b))
}

// fromFile reads n bytes at off; nil when it cannot. A closed file is opened
// again, if it is still the one that was written.
func (o *Output) fromFile(off, n int64) []byte {
	f := o.file
	if o.closed {
		if o.info == nil {
			return nil
		}
		root, name, err := place(o.path)
		if err != nil {
			return nil
		}
		defer root.Close()
		if f, err = regular.OpenIn(root, name, o.info); err != nil {
			return nil
		}
		defer f.Close()
	}
	b := make([]byte, n)
	m, err := f.ReadAt(b, off)
	if m == 0 || err != nil && err != io.EOF {
		return nil
	}
	return b[:m]
}

// Left is how many bytes may still be kept.
func (d *Disk) Left() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.max - d.used
}
