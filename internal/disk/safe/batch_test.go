package safe_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// synced counts the files that are on disk.
type synced struct {
	safe.Handle
	n    *atomic.Int64
	fail error
}

func (s synced) Sync() error {
	if s.n.Add(1); s.fail != nil {
		return s.fail
	}
	return s.Handle.Sync()
}

func one(n int, do func(int)) {
	for i := range n {
		do(i)
	}
}

// A batch puts nothing in its place before everything that it has taken is on disk, and
// leaves what cannot be written as it was.
func TestBatch(t *testing.T) {
	const files = 150
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	put, onDisk, bad := 0, atomic.Int64{}, map[string]bool{}
	failed := map[string]error{}
	b := safe.Batch{Each: one, Failed: func(path string, err error) { failed[path] = err }, Disk: safe.Disk{
		Create: func(root *os.Root, name string, flag int, mode fs.FileMode) (safe.Handle, error) {
			h, err := safe.Disk{}.Open(root, name, flag, mode)
			s := synced{Handle: h, n: &onDisk}
			if put++; put == 8 {
				s.fail, bad[filepath.Join(dir, "f7")] = errBad, true
			}
			return s, err
		},
		Rename: func(root *os.Root, from, to string) error {
			if int(onDisk.Load()) != put {
				t.Errorf("%s: %d of %d files were on disk", to, onDisk.Load(), put)
			}
			if to == "f140" {
				bad[filepath.Join(dir, to)] = true
				return errBad
			}
			return root.Rename(from, to)
		},
	}}
	for n := range files {
		name := fmt.Sprint("f", n)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := func() error {
			own, err := os.OpenRoot(dir)
			if err != nil {
				return err
			}
			defer own.Close()
			return b.Put(filepath.Join(dir, name), own, safe.File{Name: name, Text: []byte("new"), Mode: 0o640, Exact: true})
		}()
		if err != nil {
			t.Fatal(err)
		}
	}
	b.Flush()
	for n := range files {
		path, want := filepath.Join(dir, fmt.Sprint("f", n)), "new"
		if bad[path] {
			want = "old"
		}
		if got, err := os.ReadFile(path); string(got) != want || err != nil || bad[path] != errors.Is(failed[path], errBad) {
			t.Errorf("%s: %q, %v, told of %v", path, got, err, failed[path])
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != files {
		t.Errorf("%d files, want %d", len(list), files)
	}
}
