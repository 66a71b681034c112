package place

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFoldsCase(t *testing.T) {
	folds := func(a, b string) bool { return a != b && strings.EqualFold(a, b) }
	never := func(a, b string) bool { return false }
	for name, c := range map[string]struct {
		dir   string
		names []string
		same  func(a, b string) bool
		want  bool
	}{
		"a name in it":                   {"/1", []string{"2", "aB.txt"}, folds, true},
		"a name in it, told apart":       {"/1", []string{"2", "aB.txt"}, never, false},
		"the first with a letter":        {"/x", []string{"a", "b"}, func(a, b string) bool { return a == "/x/a" && b == "/x/A" }, true},
		"its own name, when it is empty": {"/1/ab", nil, func(a, b string) bool { return a == "/1/ab" && b == "/1/AB" }, true},
		"no letter anywhere":             {"/1", []string{"2"}, folds, false},
		"the root":                       {"/", nil, folds, false},
	} {
		if got := foldsCase(c.dir, c.names, c.same); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "name"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := os.Lstat(filepath.Join(dir, "NAME"))
	if want := err == nil || runtime.GOOS == "darwin" || runtime.GOOS == "windows"; FoldsCase(dir) != want {
		t.Errorf("%s: %v, but another case is found: %v", dir, !want, err == nil)
	}
	// Two files whose names differ in case alone are not one.
	if err := os.WriteFile(filepath.Join(dir, "NAME"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && err != nil && FoldsCase(dir) {
		t.Error("two files are taken for one")
	}
}
