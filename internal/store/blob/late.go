package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/store/disk"
)

// A Late is a folder whose blobs are put on disk for good together, when Flush
// is called: before what names them is on disk for good itself. It may be used
// by several goroutines.
type Late struct {
	Folder Folder

	flushing sync.Mutex // one Flush at a time

	mu    sync.Mutex      // guards waits
	waits map[string]bool // files that may be lost in a power cut; true: a flush of it failed
}

// maxFlushes bounds how many files are flushed at the same time: the disk
// does several as one, and commits its journal once for them.
const maxFlushes = 16

// Put keeps a content and returns its name.
func (l *Late) Put(content []byte) (name string, err error) { return l.put(l.Folder, content) }

// Plain is Put, for a content that others read by its path: it is not packed.
func (l *Late) Plain(content []byte) (name string, err error) {
	f := l.Folder
	f.Pack = false
	return l.put(f, content)
}

func (l *Late) put(f Folder, content []byte) (string, error) {
	file, err := f.keep(content)
	if err != nil {
		return "", err
	}
	l.Wait(file) // also when it was there: whoever kept it may have been killed before its Flush
	return Name(content), nil
}

// Get returns the content that was kept under a name; see Folder.Get.
func (l *Late) Get(name string) ([]byte, error) { return l.Folder.Get(name) }

// Wait has the next Flush flush a file of the folder, which something else put there.
func (l *Late) Wait(file string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits == nil {
		l.waits = map[string]bool{}
	}
	if _, known := l.waits[file]; !known {
		l.waits[file] = false
	}
}

// Flush puts on disk for good what was kept before it was called, and the
// folder with it. After an error all of it waits for the next Flush. A file
// that is gone or was changed by somebody else stops nothing: Get says so.
func (l *Late) Flush() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	batch := l.waits
	l.waits = nil
	l.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	if err := l.flush(batch); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.waits == nil {
			l.waits = map[string]bool{}
		}
		for file := range batch {
			l.waits[file] = true
		}
		return err
	}
	return nil
}

func (l *Late) flush(batch map[string]bool) error {
	dir, err := l.Folder.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("flush blobs: %w", err)
	}
	defer dir.Close()
	files := slices.Sorted(maps.Keys(batch))
	errs := make([]error, len(files))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(maxFlushes, len(files)) {
		all.Go(func() { // ends with the files
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				errs[i] = syncFile(dir, files[i], batch[files[i]])
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("flush blobs: %w", err)
	}
	return dir.Sync()
}

// syncFile flushes a file. After a flush that failed the system may have thrown
// its pages away, and the next one would not say so: it is written again.
func syncFile(dir disk.Dir, file string, again bool) error {
	f, err := dir.OpenFile(file, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if again {
		err = rewrite(dir, f, file)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func rewrite(dir disk.Dir, f disk.File, file string) error {
	raw, err := read(dir, file)
	if errors.Is(err, ErrChanged) {
		return nil
	}
	if err != nil {
		return err
	}
	content := raw
	if strings.HasSuffix(file, packedSuffix) {
		content, err = unpack(raw)
	}
	if err != nil || Name(content) != strings.TrimSuffix(file, packedSuffix) {
		return nil
	}
	_, err = f.WriteAt(raw, 0)
	return err
}
