package changed_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/disk/changed"
)

// Setting the time of a file back does not hide that it changed.
func TestAt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the time of writing is all there is")
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, past, past); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if at, number := changed.At(info); number == 0 || at.Sub(past) < 59*time.Minute {
		t.Error(at, number)
	}
}
