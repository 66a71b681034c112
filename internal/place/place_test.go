package place_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/place"
)

func world(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on Windows")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"a/b", "other", ".hidden"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a/x.go", "a/y.go", "a/.env", "other/z", "a/b/q*", "a b.go"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"a/out": "../other", "a/abs": dir + "/other", "loop": "loop", "a/gone": "../nowhere/deep", "a/self": "."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResolve(t *testing.T) {
	dir := world(t)
	for in, want := range map[string]string{
		"a/x.go": "a/x.go", "a/../a/x.go": "a/x.go", "a/out/z": "other/z", "a/abs/z": "other/z", "a/out/../a/x.go": "a/x.go", "a/out/new/leaf": "other/new/leaf",
		"a/gone": "nowhere/deep", "a/gone/../x": "nowhere/x", "a/self/self/x.go": "a/x.go", "nope/../a/out/z": "other/z", "a/x.go/y": "a/x.go/y", "": "",
	} {
		got, err := place.Resolve(dir + "/" + in)
		if err != nil || got != strings.TrimSuffix(dir+"/"+want, "/") {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
		// Where everything exists, the system agrees.
		if sys, err := filepath.EvalSymlinks(dir + "/" + in); err == nil && !strings.Contains(in, "..") && sys != got {
			t.Errorf("%s: the system says %s, we say %s", in, sys, got)
		}
	}
	for _, bad := range []string{"loop", "a\x00b"} {
		if got, err := place.Resolve(dir + "/" + bad); err == nil {
			t.Errorf("%q resolves to %s", bad, got)
		}
	}
	if _, err := place.Resolve("relative"); err == nil {
		t.Error("a relative path resolves")
	}
	if got, _ := place.Resolve("/proc/self/cwd/../x"); runtime.GOOS == "linux" && got != "/proc/self/x" {
		t.Errorf("a magic link is followed: %s", got)
	}
}

func TestGlob(t *testing.T) {
	dir := world(t)
	for pattern, want := range map[string][]string{
		"a/*.go": {"a/x.go", "a/y.go"}, "a/*": {"a/abs", "a/b", "a/gone", "a/out", "a/self", "a/x.go", "a/y.go"}, "a/.e*": {"a/.env"}, "*/z": {"other/z"}, "a/b/q\\*": {"a/b/q*"},
		"a/[!x].go": {"a/y.go"}, "nope*": {}, "a b.go": {"a b.go"}, "a/x.go/.": {}, "a/.": {"a"}, "?": {"a"}, "a/nope": {},
	} {
		got := place.Glob(dir + "/" + pattern)
		var full []string
		for _, w := range want {
			full = append(full, dir+"/"+w)
		}
		if got == nil || !slices.Equal(got, full) && len(got)+len(full) > 0 {
			t.Errorf("%s: got %q, want %q", pattern, got, full)
		}
	}
	if got := place.Glob(dir + "/[[:alpha:]]*"); got != nil {
		t.Errorf("a class is answered: %q", got)
	}
}
