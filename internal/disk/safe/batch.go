package safe

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

const (
	// batchSize is how many files are written before the disk is waited for, and at most left
	// beside the old ones by a crash.
	batchSize = 64
	// batchSyncs bounds how many files are flushed at the same time: the disk puts them
	// together, so that more of them take little longer than one.
	batchSyncs = 16
)

// A Batch replaces many files as Replace does, and waits for the disk once for all that it
// has taken. Its Flush puts the last of them in their places.
type Batch struct {
	Disk Disk
	// Failed is told of a file that is as it was.
	Failed func(path string, err error)
	waits  []waiting
}

// A waiting is a file that is written, beside the old one.
type waiting struct {
	path string
	root *os.Root
	h    Handle
	temp string
	name string
	err  error
}

// Put takes a file of root, in no other folder, whose whole path is that. What is wrong with it
// now, it returns.
func (b *Batch) Put(path string, root *os.Root, f File) error {
	own, err := root.OpenRoot(".") // who calls closes the other one
	if err != nil {
		return err
	}
	w := waiting{path: path, root: own, temp: tempName(f.Name), name: f.Name}
	if w.h, err = b.Disk.fill(own, w.temp, f); err != nil {
		return errors.Join(err, own.Close())
	}
	if b.waits = append(b.waits, w); len(b.waits) >= batchSize {
		b.Flush()
	}
	return nil
}

// Flush waits until everything is on disk, and then puts it in its place.
func (b *Batch) Flush() {
	list := b.waits
	b.waits = nil
	together(len(list), func(i int) {
		w := &list[i]
		w.err = w.h.Sync()
		if err := w.h.Close(); w.err == nil {
			w.err = err
		}
	})
	var folders []int // of list, one for each folder
	seen := map[string]bool{}
	for i := range list {
		w := &list[i]
		if w.err == nil {
			w.err = b.Disk.rename(w.root, w.temp, w.name)
		}
		switch dir := filepath.Dir(w.path); {
		case w.err != nil:
			_ = w.root.Remove(w.temp) // the failure is reported; what is left is harmless
		case !seen[dir]:
			seen[dir], folders = true, append(folders, i)
		}
	}
	together(len(folders), func(i int) {
		w := &list[folders[i]]
		w.err = syncDir(w.root, ".")
	})
	for _, w := range list {
		_ = w.root.Close()
		if w.err != nil {
			b.Failed(w.path, w.err)
		}
	}
}

// together calls do with 0 to n-1, several at a time.
func together(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(batchSyncs, n) {
		all.Go(func() { // ends with the last
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// tempName is a name beside a file that nobody knows.
func tempName(name string) string {
	return filepath.Join(filepath.Dir(name), tempPrefix+rand.Text()[:tempRandom]+tempSuffix)
}
