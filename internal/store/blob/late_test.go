package blob_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/disk"
)

// syncs notes what is flushed in a folder; the folder itself is ".".
type syncs struct {
	disk.Dir
	*flushed
}

type flushed struct {
	mu   sync.Mutex // guards list
	list []string
}

func (f *flushed) note(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, name)
}

func (s syncs) Sync() error {
	s.note(".")
	return s.Dir.Sync()
}

func (s syncs) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := s.Dir.OpenFile(name, flag, perm)
	return noted{f, name, s.flushed}, err
}

type noted struct {
	disk.File
	name string
	*flushed
}

func (n noted) Sync() error {
	n.note(n.name)
	return n.File.Sync()
}

func TestLate(t *testing.T) {
	var got flushed
	dir := t.TempDir()
	l := blob.Late{Folder: blob.Folder{Path: dir, Pack: true, Open: func(path string, _ bool) (disk.Dir, error) {
		d, err := disk.Open(path)
		return syncs{d, &got}, err
	}}}
	want := []string{"linked"}
	if err := os.WriteFile(l.Folder.At("linked"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Wait("linked")
	l.Wait("nothing") // what is gone stops nothing
	for n := range 40 {
		name, err := l.Plain([]byte(strings.Repeat("x", 600+n)))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	slices.Sort(want)
	if err := l.Flush(); err != nil || len(got.list) != 42 || got.list[41] != "." {
		t.Fatalf("%d were flushed: %v", len(got.list), err)
	}
	if slices.Sort(got.list[:41]); !slices.Equal(got.list[:41], want) {
		t.Errorf("flushed %q, want %q", got.list, want)
	}
	if err := l.Flush(); err != nil || len(got.list) != 42 {
		t.Errorf("with nothing new, %q were flushed: %v", got.list[42:], err)
	}
}
