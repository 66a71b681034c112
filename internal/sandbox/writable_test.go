package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWritableFile: a file that the settings name can be written, one that is not there is
// left out, and one that steers programs stays as it is.
func TestWritableFile(t *testing.T) {
	dir := real(t.TempDir())
	file, steers := filepath.Join(dir, "out.txt"), filepath.Join(dir, ".bashrc")
	for _, f := range []string{file, steers} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := Policy{Writable: []string{steers, file, filepath.Join(dir, "absent")}, Protected: []string{steers}}
	steps, _ := p.layout()
	if want := []step{{steers, keep}, {file, write}}; !slices.Equal(steps, want) {
		t.Errorf("got %v, want %v", steps, want)
	}
}
