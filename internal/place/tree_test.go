package place_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestSearchedAsRipgrep: what Searched lists is what ripgrep would open, also from a
// folder below, in a nested repository, and in a folder that is ignored itself.
func TestSearchedAsRipgrep(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed: nothing to compare with")
	}
	root := t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, repo := range []string{"", "inner/"} {
		put(repo+".git/HEAD", "ref: refs/heads/main\n")
		put(repo+".git/refs/x", "")
		put(repo+".git/objects/x", "")
	}
	for i, patterns := range []string{"*.key\n!a.key\nt/", "/b\nsub/**/x\n", "**/y\n!y\nCASE\n", "*\n!*.c\n!*/\n", "sub/*\n!sub/b\n", "\\!odd\n#no\n"} {
		d := fmt.Sprintf("d%d", i)
		put(d+"/.gitignore", patterns)
		for _, n := range []string{"a.key", "b.key", "b", "x", "y", "z.c", "sub/b", "sub/x", "sub/t/x", "sub/t/z.c", "t/y", "sub/sub/a.key", ".hidden", "case", "!odd", "CVS/k.key", "sub/_darcs/x"} {
			put(d+"/"+n, "text\n")
		}
	}
	put(".gitignore", "node_modules\nd4/sub\n")
	put("node_modules/m/test/k.key", "text\n")
	put("inner/node_modules/k.key", "text\n")
	put("inner/d4/sub/k.key", "text\n")
	for _, at := range []string{"", "d0", "d0/sub", "d3/sub", "d4", "d4/sub", "inner", "node_modules", "node_modules/m"} {
		dir := filepath.Join(root, at)
		c := exec.Command(rg, "--files", "--hidden", "--no-config", "--no-ignore-global")
		c.Dir = dir
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		want := strings.Split(strings.TrimSpace(string(out)), "\n")
		l, ok := place.Searched(dir, 10_000)
		var got []string
		for _, e := range l.Entries {
			if !e.Dir {
				got = append(got, e.Name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%q, %v: ripgrep looks at - and Searched lists +\n%s", at, ok, diff)
		}
	}
	if _, ok := place.Searched(root, 5); ok {
		t.Error("it lists more than was asked for")
	}
	put("d1/.ignore", "!b\n")
	if _, ok := place.Searched(root, 10_000); ok {
		t.Error("an ignore file for searches takes names out again, and the list claims to be whole")
	}
	if _, ok := place.Searched(filepath.Join(root, "d1", "sub"), 10_000); ok {
		t.Error("so does one above")
	}
	if _, ok := place.Searched(t.TempDir(), 10_000); ok {
		t.Error("there is no repository")
	}
}
