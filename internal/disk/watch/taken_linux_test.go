package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// All that was done before Take is in what it says, and of a folder that is another one
// by now nothing old is taken for it.
func TestNamesThatWereTouched(t *testing.T) {
	root := t.TempDir()
	if distant(root) {
		t.Skip("the folder for temporary files is on a file system that does not tell")
	}
	n := WatchNames(100, func(string) bool { return false })
	defer n.Close()
	if !n.works() {
		t.Skip("this system watches nothing")
	}
	at := func(p string) string { return filepath.Join(root, p) }
	do := func(script string) {
		t.Helper()
		c := exec.Command("sh", "-ec", script)
		c.Dir = root
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	}
	touched := func(want ...string) {
		t.Helper()
		got, all := n.Take()
		slices.Sort(got)
		for i, p := range want {
			want[i] = at(p)
		}
		if all || !slices.Equal(got, want) {
			t.Errorf("%v touched, want %v (all: %v)", got, want, all)
		}
	}
	do("mkdir -p a/b c; echo x >a/f")
	n.Add(root, at("a"), at("a/b"), at("c"))
	touched()
	do("echo y >a/f; chmod 600 a/f; cat a/f") // no name came or went
	touched()
	do("touch a/new")
	touched("a")
	do("chmod 700 c")
	touched("c")
	do("mv a/b c/b") // it has its watch under another name
	touched("a", "c", "c/b")
	do("touch c/b/x")
	touched("c/b")
	do("rmdir a/../c/b 2>/dev/null || rm -r c/b")
	touched("c", "c/b")
	if n.Watches(at("c/b")) || n.Watches(at("a/b")) || !n.Watches(at("c")) {
		t.Error("a folder that is gone counts as watched")
	}
	do("mkdir c/b; touch c/b/y") // it came, and is watched
	if n.Take(); !n.Watches(at("c/b")) {
		t.Error("a folder that came is not watched")
	}
	away := t.TempDir()
	do("mv c " + away + "/c; mkdir c; touch c/z")
	n.Take()
	n.Again(at("c"))
	do("touch " + away + "/c/q")
	touched()
	do("touch c/w")
	touched("c")
	if err := os.RemoveAll(at("c")); err != nil {
		t.Fatal(err)
	}
	if n.Take(); n.Watches(at("c")) {
		t.Error("what was removed counts as watched")
	}
}
