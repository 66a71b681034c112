package sandbox

import (
	"io/fs"
	"os"
	"testing"
)

// A workspace whose folders hand on their group goes on to do so inside.
func TestSetgidFolders(t *testing.T) {
	plain, shared := t.TempDir(), t.TempDir()
	if err := os.Chmod(shared, 0o775|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	for want, p := range map[bool]Policy{false: {Writable: []string{plain, plain + "/none"}}, true: {Writable: []string{plain, shared}}} {
		if got := setgid(p); got != want {
			t.Errorf("%v: %v", p.Writable, got)
		}
	}
}
