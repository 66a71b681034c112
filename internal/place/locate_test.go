package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/place"
)

func TestLocate(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(filepath.Join(home, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": filepath.Join(home, "deep"), "self": "/proc/self"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for asked, want := range map[string]string{
		".": "", "a": "a", "a/../b": "b", "link/x": "home/deep/x", "link/../x": "home/x", "~": "home", "~/x": "home/x", "a~": "a~", "=x/y": "=x/y",
	} {
		if got, err := place.Locate(dir, home, asked); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%q: %q, %v", asked, got, err)
		}
	}
	if got, err := place.Locate("", "", dir); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
	for asked, why := range map[string]string{
		"": "empty", " \n": "empty", "a\x00b": "NUL", "~root/x": "only a shell", "$HOME/x": "only a shell", "${HOME}/x": "only a shell", "%TEMP%/x": "only a shell", "=ls": "only a shell",
		`\\host\share`: "only a shell", "//host/share": "only a shell", `\??\C:\x`: "only a shell",
		"/proc/self/environ": "process internals", "/proc/1/task/2/mem": "process internals", "/dev/stdin": "descriptors", "/x/../proc/1/fd/3": "process internals", "self/environ": "process internals",
	} {
		if got, err := place.Locate(dir, home, asked); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %q, %v; want %s", asked, got, err, why)
		}
	}
	for _, asked := range []string{"~/x", "x"} {
		if got, err := place.Locate("", "", asked); err == nil {
			t.Errorf("without folders, %q is %q", asked, got)
		}
	}
}
