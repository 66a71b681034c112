package safe

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
)

// batchSize is how many files are written before the disk is waited for, and at most left
// beside the old ones by a crash.
const batchSize = 64

// A Batch replaces many files as Replace does, and waits for the disk once for all that it
// has taken. Its Flush puts the last of them in their places.
type Batch struct {
	Disk Disk
	// Failed is told of a file that is as it was.
	Failed func(path string, err error)
	// Each calls do with 0 to n-1. Many at a time are good: the disk puts what waits for it
	// together, so that it takes little longer than one.
	Each  func(n int, do func(i int))
	waits []waiting
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
	b.Each(len(list), func(i int) {
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
	b.Each(len(folders), func(i int) {
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

// tempName is a name beside a file that nobody knows.
func tempName(name string) string {
	return filepath.Join(filepath.Dir(name), tempPrefix+rand.Text()[:tempRandom]+tempSuffix)
}
