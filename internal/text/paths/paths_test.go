package paths_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/adze-agent/adze/internal/text/paths"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/w/project", "/w/project", true}, {"/w/project", "/w/project/a", true}, {"/w/project", "/w/project-x", false},
		{"/w/project", "/w", false}, {"/w/project", "/w/project/../x", false}, {"/w", "/w/..x", true}, {"/", "/x", true},
		{"/w", "/w/.x", true}, {"/w/.x", "/w/.xy", false}, {"/w", "/w/./../x", false}, {"/w", "/w/a/..", true}, {"/w/a", "/w/a/..", false},
		{"/w/", "/w//a", true}, {"/w/.", "/w/a", true}, {"/", "/", true}, {"w", "w/a", true}, {"/w/..", "/x", true},
		{"", "/x", false}, {"", "x", false}, {"/x", "", false}, {"", "", false}, {"/w", "w", false},
	} {
		dir, path := filepath.FromSlash(c.dir), filepath.FromSlash(c.path)
		if got := paths.Within(dir, path); got != c.want {
			t.Errorf("Within(%q, %q) = %v", dir, path, got)
		}
		if got := paths.WithinAny([]string{"/elsewhere", dir}, path); got != c.want {
			t.Errorf("WithinAny(%q, %q) = %v", dir, path, got)
		}
	}
	if paths.WithinAny(nil, "/x") {
		t.Error("it is in none")
	}
}

// TestWithinAgrees: paths that can be compared as text and others get one answer.
func TestWithinAgrees(t *testing.T) {
	parts := []string{"", "/", "/a", "/a/b", "/a/bc", "/a/b/c", "/a/.b", "/a/..b", "/..a", "/a/b..", "/a/b."}
	for _, dir := range parts {
		for _, path := range parts {
			if got, want := paths.Within(dir, path), dir != "" && path != "" && paths.Within(dir+"/.", path+"/."); got != want {
				t.Errorf("Within(%q, %q) = %v, and with dots %v", dir, path, got, want)
			}
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range [][3]string{
		{"/w", "/w/a/b", "a/b"}, {"/w", "/w", "."}, {"/w", "/x", "/x"}, {"/w/a", "/w", "/w"}, {"", "/w", "/w"}, {"", "a", "a"}, {"/w", "a", "a"},
	} {
		if got := paths.Short(filepath.FromSlash(c[0]), filepath.FromSlash(c[1])); got != filepath.FromSlash(c[2]) {
			t.Errorf("Short(%q, %q) = %q", c[0], c[1], got)
		}
	}
}

func TestAbsolute(t *testing.T) {
	for _, c := range [][4]string{
		{"/w", "/h", "~", "/h"}, {"/w", "/h", "~/a/../b", "/h/b"}, {"/w", "/h", "~x", "/w/~x"}, {"/w", "", "~/a", "/w/~/a"},
		{"/w", "/h", "/a/./b", "/a/b"}, {"/w", "/h", "../b", "/b"}, {"/w", "/h", "", "/w"},
	} {
		if got := paths.Absolute(c[0], c[1], c[2]); got != c[3] && filepath.Separator == '/' {
			t.Errorf("Absolute(%q, %q, %q) = %q", c[0], c[1], c[2], got)
		}
	}
}

func TestCause(t *testing.T) {
	_, err := os.Open(filepath.Join(t.TempDir(), "none"))
	if got := paths.Cause(fmt.Errorf("read it: %w", err)); !errors.Is(got, fs.ErrNotExist) || got.Error() == err.Error() || got != errors.Unwrap(err) {
		t.Error(got)
	}
	err = os.Link(filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "new"))
	if got := paths.Cause(err); got != errors.Unwrap(err) {
		t.Error(got)
	}
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err == nil {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		_, err = root.Open("out/x")
		if got := paths.Cause(err); got == nil || got.Error() != "a link leads out of the folder" {
			t.Errorf("%v", got)
		}
	}
	if other := errors.New("other"); paths.Cause(other) != other || paths.Cause(nil) != nil {
		t.Error("it changed what is no error of a call")
	}
}
