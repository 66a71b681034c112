package jsonl_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/store/disk"
)

// A fakeDisk holds one folder in memory. It counts operations, fails the ones
// it is told to, and can lose power.
type fakeDisk struct {
	mu    sync.Mutex
	now   func() time.Time
	names map[string]*inode // as a running system sees them
	saved map[string]*inode // as they are after a power cut
	made  bool

	ops  int
	fail func(op int) error // nil means it works

	looks int                  // that were made: reads, and questions for sizes
	blind func(look int) error // nil means that all of them work

	flushed []string // what was synced, in order; a folder is "."

	handles int                     // that are open
	closing func(name string) error // what a close comes to; nil means it works
}

type inode struct {
	data, saved []byte
	at          time.Time
}

func newFakeDisk() *fakeDisk {
	return &fakeDisk{now: time.Now, names: map[string]*inode{}, saved: map[string]*inode{}, fail: func(int) error { return nil }}
}

func (d *fakeDisk) open(_ string, create bool) (disk.Dir, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.op(); err != nil {
		return nil, err
	}
	if !d.made && !create {
		return nil, fs.ErrNotExist
	}
	d.made = true
	d.handles++
	return fakeDir{d}, nil
}

// close takes a handle back, which the system does whatever it answers.
func (d *fakeDisk) close(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handles--
	if d.closing == nil {
		return nil
	}
	return d.closing(name)
}

// allClosed fails the test where something is still open.
func (d *fakeDisk) allClosed(t *testing.T, when string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handles != 0 {
		t.Errorf("%s: %d handles are open", when, d.handles)
	}
}

// look counts a read; the caller holds mu.
func (d *fakeDisk) look() error {
	if d.looks++; d.blind == nil {
		return nil
	}
	return d.blind(d.looks)
}

// op counts an operation; the caller holds mu.
func (d *fakeDisk) op() error {
	d.ops++
	return d.fail(d.ops)
}

// powerCut drops what was not synced. Of a file's unsynced end a part may have
// reached the disk, as written or as NUL bytes.
func (d *fakeDisk) powerCut(r *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := map[string]*inode{}
	for name, f := range d.saved {
		data := append([]byte(nil), f.saved...)
		if more := len(f.data) - len(data); more > 0 {
			end := append([]byte(nil), f.data[len(data):len(data)+r.IntN(more+1)]...)
			if r.IntN(2) == 0 {
				clear(end[r.IntN(len(end)+1):])
			}
			data = append(data, end...)
		}
		names[name] = &inode{data: data, saved: append([]byte(nil), data...), at: f.at}
	}
	d.names = names
	d.saved = map[string]*inode{}
	for name, f := range names {
		d.saved[name] = f
	}
	d.fail = func(int) error { return nil }
}

type fakeDir struct{ d *fakeDisk }

func (x fakeDir) OpenFile(name string, flag int, _ fs.FileMode) (disk.File, error) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.op(); err != nil {
		return nil, err
	}
	f, ok := x.d.names[name]
	switch {
	case ok && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case !ok && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case !ok:
		f = &inode{at: x.d.now()}
		x.d.names[name] = f
	}
	x.d.handles++
	return fakeFile{x.d, f, name}, nil
}

func (x fakeDir) Stat(name string) (fs.FileInfo, error) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	f, ok := x.d.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return info{int64(len(f.data)), f.at}, nil
}

func (x fakeDir) Remove(name string) error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.op(); err != nil {
		return err
	}
	if _, ok := x.d.names[name]; !ok {
		return fs.ErrNotExist
	}
	delete(x.d.names, name)
	return nil
}

func (x fakeDir) Rename(old, name string) error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.op(); err != nil {
		return err
	}
	f, ok := x.d.names[old]
	if !ok {
		return fs.ErrNotExist
	}
	x.d.names[name] = f
	delete(x.d.names, old)
	return nil
}

func (x fakeDir) Sync() error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.op(); err != nil {
		return err
	}
	x.d.saved = map[string]*inode{}
	for name, f := range x.d.names {
		x.d.saved[name] = f
	}
	x.d.flushed = append(x.d.flushed, ".")
	return nil
}

func (x fakeDir) Close() error { return x.d.close(".") }

type fakeFile struct {
	d    *fakeDisk
	f    *inode
	name string
}

func (x fakeFile) ReadAt(p []byte, off int64) (int, error) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.look(); err != nil {
		return 0, err
	}
	if off >= int64(len(x.f.data)) {
		return 0, io.EOF
	}
	n := copy(p, x.f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (x fakeFile) WriteAt(p []byte, off int64) (int, error) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	err := x.d.op()
	if err != nil {
		p = p[:len(p)/2] // a failed write leaves a part
	}
	if grow := int(off) + len(p) - len(x.f.data); grow > 0 {
		x.f.data = append(x.f.data, make([]byte, grow)...)
	}
	copy(x.f.data[off:], p)
	x.f.at = x.d.now()
	return len(p), err
}

func (x fakeFile) Sync() error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.op(); err != nil {
		// The worst a disk does: the pages are gone, and only this call says so.
		if errors.Is(err, errLostPages) {
			clear(x.f.data[min(len(x.f.saved), len(x.f.data)):])
		}
		return err
	}
	x.f.saved = append([]byte(nil), x.f.data...)
	x.d.flushed = append(x.d.flushed, x.name)
	return nil
}

var errLostPages = errors.New("input/output error, and the pages are gone")

func (x fakeFile) Truncate(size int64) error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.op(); err != nil {
		return err
	}
	if int(size) < len(x.f.data) {
		x.f.data = x.f.data[:size]
	}
	if int(size) < len(x.f.saved) {
		x.f.saved = x.f.saved[:size]
	}
	return nil
}

func (x fakeFile) Stat() (fs.FileInfo, error) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := x.d.look(); err != nil {
		return nil, err
	}
	return info{int64(len(x.f.data)), x.f.at}, nil
}

func (x fakeFile) Close() error { return x.d.close(x.name) }

type info struct {
	size int64
	at   time.Time
}

func (i info) Name() string       { return "" }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return disk.FileMode }
func (i info) ModTime() time.Time { return i.at }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
