package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Where the system cannot watch, changes are told all the same, later.
func TestWithoutTheSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	told := make(chan struct{}, 10)
	w := start(Config{Files: []string{file}, Dirs: []string{filepath.Join(dir, "managed.d")}, Changed: func() { told <- struct{}{} }}, nil)
	t.Cleanup(w.Close)
	heard := func(what string) {
		t.Helper()
		select {
		case <-told:
		case <-time.After(time.Minute):
			t.Fatalf("%s: nothing was told", what)
		}
	}
	if err := os.WriteFile(file, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	heard("a new file")
	if err := os.Mkdir(filepath.Join(dir, "managed.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "managed.d", "a.json"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	heard("a new file in a folder")
}

// Where the system tells of every change, nothing wakes to look for one.
func TestNothingIsLookedAtWhereTheSystemTells(t *testing.T) {
	dir := t.TempDir()
	if distant(dir) {
		t.Skip("the folder for temporary files is on a file system that is looked at")
	}
	w := Start(Config{Files: []string{filepath.Join(dir, "settings.json")}, Changed: func() {}})
	w.Close() // what run owns can be read now
	if p := w.pause(); p != 0 {
		t.Errorf("the files are looked at every %s", p)
	}
	w.far = true
	if p := w.pause(); p != slow {
		t.Errorf("on a network file system they are looked at every %s", p)
	}
	if !distant("/proc/self") {
		t.Error("a file system that the kernel makes up is taken for a disk")
	}
}
