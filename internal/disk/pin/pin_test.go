package pin

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func dir(t *testing.T) string {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDirRefusesLinks(t *testing.T) {
	d := dir(t)
	if err := os.MkdirAll(filepath.Join(d, "real/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(d, "link")); err != nil {
		t.Skip(err)
	}
	r, err := Dir(filepath.Join(d, "real/sub"))
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := Dir(filepath.Join(d, "link/sub")); !errors.Is(err, ErrMoved) {
		t.Errorf("a link in the middle: got %v, want ErrMoved", err)
	}
	if _, err := Dir(filepath.Join(d, "link")); !errors.Is(err, ErrMoved) {
		t.Errorf("a link at the end: got %v, want ErrMoved", err)
	}
	if _, err := Dir(filepath.Join(d, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: got %v, want ErrNotExist", err)
	}
	r, rest, err := Deepest(filepath.Join(d, "real/a/b"))
	if err != nil || rest != filepath.Join("a", "b") {
		t.Fatalf("got %q, %v", rest, err)
	}
	r.Close()
	r, rest, err = walk(filepath.Join(d, "real/a/b"))
	if err != nil || rest != filepath.Join("a", "b") {
		t.Fatalf("walk: got %q, %v", rest, err)
	}
	r.Close()
	if _, _, err := walk(filepath.Join(d, "link/sub")); !errors.Is(err, ErrMoved) {
		t.Errorf("walk, a link in the middle: got %v, want ErrMoved", err)
	}
}

func TestCalls(t *testing.T) {
	var c Calls
	c.Plan("1", "x", "/w/x")
	if p, err := c.Run("1", "x", "/w/x"); p != "/w/x" || err != nil {
		t.Errorf("same path: got %q, %v", p, err)
	}
	c.Plan("2", "x", "/w/x")
	if _, err := c.Run("2", "x", "/etc/x"); !errors.Is(err, ErrMoved) {
		t.Errorf("moved: got %v", err)
	}
	if p, err := c.Run("3", "x", "/w/y"); p != "/w/y" || err != nil {
		t.Errorf("no plan: got %q, %v", p, err)
	}
}
