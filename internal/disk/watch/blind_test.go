package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Where the system cannot watch, changes are told all the same, later.
func TestWithoutTheSystem(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	told := make(chan struct{}, 10)
	w := start(Config{Files: []string{file}, Dirs: []string{filepath.Join(dir, "managed.d")}, Changed: func() { told <- struct{}{} }}, nil)
	t.Cleanup(w.Close)
	heard := func(what string) {
		t.Helper()
		select {
		case <-told:
		case <-time.After(5 * fast):
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
