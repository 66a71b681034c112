//go:build unix

package temp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMakeAndRemove(t *testing.T) {
	f, err := Make(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(f.Path); err != nil || fi.Mode() != os.ModeDir|0o700 || !named(filepath.Base(f.Path)) {
		t.Errorf("%s: %v %v", f.Path, fi, err)
	}
	if err := os.MkdirAll(f.Path+"/locked/in", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.Path+"/locked", 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(f.Path); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestSweepTakesOnlyDeadFolders(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	lives, err := Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lives.Remove()
	died, err := Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(died.Path+"/a/b", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside+"/precious", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{died.Path + "/out", died.Path + "/a/b/out", dir + "/adze-s-77"} {
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
	}
	died.held.Close() // as the kernel does
	stays := []string{filepath.Base(lives.Path), "adze-s-77"}
	for _, n := range []string{"adze-1", "adze-s-", "adze-s-1x", "xadze-s-1", "adze-s-young"} {
		if err := os.Mkdir(filepath.Join(dir, n), 0o700); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, n)
	}
	if err := os.WriteFile(dir+"/adze-s-6", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stays = append(stays, "adze-s-6")
	if os.Geteuid() == 0 {
		if err := os.Mkdir(dir+"/adze-s-8", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir+"/adze-s-8", 65534, 65534); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, "adze-s-8")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if n := Sweep(over, dir); n != 0 {
		t.Errorf("%d removed after the end", n)
	}
	if n := Sweep(t.Context(), dir); n != 1 {
		t.Errorf("%d removed", n)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(stays)
	if !slices.Equal(got, stays) {
		t.Errorf("left\n%q, want\n%q", got, stays)
	}
	if _, err := os.Stat(outside + "/precious"); err != nil {
		t.Error(err)
	}
}

// TestMakeAgainstSweep: a folder that is swept away before it is locked is made
// again, and one that is locked stays.
func TestMakeAgainstSweep(t *testing.T) {
	dir := t.TempDir()
	stop, over := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(over)
		for {
			select {
			case <-stop:
				return
			default:
				Sweep(t.Context(), dir)
			}
		}
	}()
	defer func() { close(stop); <-over }()
	for range 300 {
		f, err := Make(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path+"/file", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}

// All sessions of a user are in one folder, which goes with the last of them. Where
// somebody else has its name, or may write there, a session has a folder of its own.
func TestHomeOfAllSessions(t *testing.T) {
	dir := t.TempDir()
	a, home, err := MakeIn(dir)
	if err != nil || filepath.Dir(a.Path) != home || filepath.Dir(home) != dir {
		t.Fatalf("%+v in %q: %v", a, home, err)
	}
	b, again, err := MakeIn(dir)
	if err != nil || again != home {
		t.Fatalf("%q, not %q: %v", again, home, err)
	}
	for _, f := range []*Folder{a, b} {
		if _, err := os.Stat(home); err != nil {
			t.Error(err)
		}
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(home); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
	for name, plant := range map[string]func(at string) error{
		"a link":      func(at string) error { return os.Symlink(t.TempDir(), at) },
		"a file":      func(at string) error { return os.WriteFile(at, nil, 0o600) },
		"open to all": func(at string) error { return errors.Join(os.Mkdir(at, 0o700), os.Chmod(at, 0o777)) },
		"somebody's":  func(at string) error { return errors.Join(os.Mkdir(at, 0o700), os.Chown(at, 65534, 65534)) },
	} {
		if name == "somebody's" && os.Geteuid() != 0 {
			continue
		}
		dir := t.TempDir()
		if err := plant(filepath.Join(dir, filepath.Base(home))); err != nil {
			t.Fatal(err)
		}
		f, in, err := MakeIn(dir)
		if err != nil || in != "" || filepath.Dir(f.Path) != dir {
			t.Errorf("%s: %+v in %q, %v", name, f, in, err)
		}
	}
}
