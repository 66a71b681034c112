package app

import (
	"os"
	"path/filepath"
	"testing"
)

// scratch is a folder to work in and a home, both real paths.
func scratch(t *testing.T) (dir, home string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, home = filepath.Join(root, "project"), filepath.Join(root, "home")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, home
}
