package place_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/place"
)

func TestTree(t *testing.T) {
	dir := world(t)
	list := func(sub string, most int) (names []string, unhides, ok bool) {
		l, ok := place.Tree(filepath.Join(dir, sub), most)
		for _, e := range l.Entries {
			n := e.Name
			switch {
			case e.Dir:
				n += "/"
			case e.Link:
				n += "@"
			}
			names = append(names, n)
		}
		slices.Sort(names)
		return names, l.Unhides, ok
	}
	names, unhides, ok := list("a", 100)
	if want := []string{".env", "abs@", "b/", "b/q*", "gone@", "out@", "self@", "x.go", "y.go"}; !slices.Equal(names, want) || unhides || !ok {
		t.Errorf("got %q, %v, %v", names, unhides, ok)
	}
	if _, _, ok := list("a", 8); ok {
		t.Error("eight entries hold nine")
	}
	if names, _, ok := list("nothing", 8); len(names) > 0 || !ok {
		t.Errorf("a folder that is not there: %q, %v", names, ok)
	}
	if names, _, ok := list("a/x.go", 8); len(names) > 0 || !ok {
		t.Errorf("a file: %q, %v", names, ok)
	}
	for at, text := range map[string]string{"a/b/.ignore": "x\n!.env\n", ".gitignore": "!.env\n"} {
		file := filepath.Join(dir, at)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, unhides, _ := list("a", 100); !unhides {
			t.Errorf("%s is not seen", at)
		}
		if err := os.WriteFile(file, []byte(".env\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, unhides, _ := list("a", 100); unhides {
			t.Errorf("%s without ! counts", at)
		}
	}
}
