//go:build unix

package confedit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/config"
)

// Fault 9: devices, FIFOs, folders and huge files are refused, at once.
func TestFault09RefusesWhatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	huge := filepath.Join(dir, "huge")
	write(t, huge, "")
	if err := os.Truncate(huge, 5<<30); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "a named pipe", "/dev/zero": "a device", link: "a device", dir: "a folder", huge: "larger than 2048 KiB"} {
		if b, err := (Disk{}).Read(path, config.MaxFile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d bytes, %v", path, len(b), err)
		}
		if path == dir || path == "/dev/zero" || path == link {
			continue
		}
		if err := (Editor{}).Update(t.Context(), Target{Path: path}, setModel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("update of %s: %v", path, err)
		}
	}
	if _, err := (Disk{}).Read(filepath.Join(dir, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Whoever made a file read-only wants it to stay as it is.
func TestUpdateLeavesWhatIsReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, "{}")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	err := (Editor{}).Update(t.Context(), Target{Path: path}, setModel)
	if text, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), "read-only") || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
}
