package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/adze-agent/adze/internal/disk/regular"
)

// TestOpen: only regular files are opened, and nothing blocks.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "file", "device": os.DevNull, "loop": "loop"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
	}
	if out, err := exec.Command("mkfifo", at("pipe")).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v %s", err, out)
	}
	for name, want := range map[string]error{"file": nil, "link": nil, "pipe": regular.ErrKind, "device": regular.ErrKind, ".": regular.ErrKind, "none": fs.ErrNotExist} {
		b, err := regular.Read(at(name), 4)
		if !errors.Is(err, want) || want == nil && (err != nil || string(b) != "text") {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if b, err := regular.Read(at("loop"), 4); err == nil {
		t.Errorf("a loop: %q", b)
	}
	if b, err := regular.Read(at("file"), 3); !errors.Is(err, regular.ErrLarge) {
		t.Errorf("%q %v", b, err)
	}
	if b, err := regular.Head(at("file"), 3); string(b) != "tex" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	for name, want := range map[string]error{"file": nil, "link": nil, "device": regular.ErrKind, ".": regular.ErrKind, "none": fs.ErrNotExist} {
		if b, err := regular.Given(at(name), 4); !errors.Is(err, want) || want == nil && (err != nil || string(b) != "text") {
			t.Errorf("given %s: %q %v", name, b, err)
		}
	}
	for max, want := range map[int64]error{4: nil, 3: regular.ErrLarge} { // a pipe is taken where a person names it
		wrote := make(chan error, 1)
		go func() { wrote <- os.WriteFile(at("pipe"), []byte("text"), 0) }() // ends when the pipe is read
		if b, err := regular.Given(at("pipe"), max); !errors.Is(err, want) || want == nil && string(b) != "text" {
			t.Errorf("a pipe, at most %d: %q %v", max, b, err)
		}
		if err := <-wrote; err != nil {
			t.Error(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	same, err := os.Stat(at("file"))
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"file": true, "link": false, "pipe": false, "device": false, "none": false} {
		f, err := regular.OpenIn(root, name, same)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			f.Close()
		}
	}
}
