//go:build unix

package watch_test

import (
	"os"
	"testing"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &rig{T: t, dir: dir}
	r.write("dots/one.json", "1")
	r.write("dots/two.json", "2")
	r.do(os.MkdirAll(r.path("home/.adze"), 0o755), os.Symlink("../../dots/one.json", r.path("home/.adze/settings.json")))
	r = start(t, dir, []string{r.path("home/.adze/settings.json")}, nil)

	r.write("dots/one.json", "11")
	r.heard("what a link leads to")
	r.do(os.Symlink("../../dots/two.json", r.path("home/.adze/new")), os.Rename(r.path("home/.adze/new"), r.path("home/.adze/settings.json")))
	r.heard("another link")
	r.write("dots/two.json", "22")
	r.heard("what the other link leads to")
	r.write("dots/one.json", "1")
	r.silent("what no link leads to any more")
	r.do(os.Rename(r.path("home/.adze"), r.path("dots/adze")), os.Symlink("../dots/adze", r.path("home/.adze")))
	r.heard("the folder became a link")
	r.do(os.Remove(r.path("dots/adze/settings.json")))
	r.write("dots/adze/settings.json", "3")
	r.heard("a link became a file")
	r.do(os.Remove(r.path("dots/adze/settings.json")), os.Symlink("settings.json", r.path("dots/adze/settings.json")))
	r.heard("a link to itself")
}
