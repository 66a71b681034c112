package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNamesThatComeAreTold(t *testing.T) {
	dir := t.TempDir()
	n := WatchNames(10, func(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") })
	defer n.Close()
	if !n.works() {
		t.Skip("this system watches nothing")
	}
	n.Add(dir, dir)
	told := func(want bool, what string) {
		t.Helper()
		wait := time.Minute
		if !want {
			wait = 50 * time.Millisecond
		}
		select {
		case <-n.Came():
			if !want {
				t.Errorf("%s was told", what)
			}
		case <-time.After(wait):
			if want {
				t.Errorf("%s was not told", what)
			}
		}
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".a")
	told(true, ".a")
	write("b")
	told(false, "b")
	if err := os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, ".c")); err != nil {
		t.Fatal(err)
	}
	told(true, ".c")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	told(true, "a folder")
	write("sub/.d")
	told(true, "sub/.d")
}

// After Release nothing is told, by neither kind of watcher, and folders are not
// armed any more.
func TestReleased(t *testing.T) {
	dir := t.TempDir()
	n := WatchNames(10, func(string) bool { return true })
	defer n.Close()
	told := make(chan struct{}, 10)
	w := Start(Config{Files: []string{filepath.Join(dir, "a")}, Changed: func() { told <- struct{}{} }})
	defer w.Close()
	if !n.works() || w.fs == nil {
		t.Skip("this system watches nothing")
	}
	n.Add(dir)
	n.Release()
	w.Release()
	if left := w.fs.WatchList(); len(left) > 0 || n.watching() > 0 {
		t.Errorf("still watched: %q, %d", left, n.watching())
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-n.Came():
		t.Error("a name was told")
	case <-told:
		t.Error("a change was told")
	case <-time.After(2 * Quiet):
	}
}

func TestNamesAreBounded(t *testing.T) {
	dir := t.TempDir()
	n := WatchNames(1, func(string) bool { return true })
	defer n.Close()
	if !n.works() {
		t.Skip("this system watches nothing")
	}
	other := t.TempDir()
	n.Add(dir, other, filepath.Join(dir, "absent"))
	if n.watching() != 1 {
		t.Errorf("watched: %d", n.watching())
	}
}
