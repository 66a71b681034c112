package safe_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/disk/safe"
)

var errBad = errors.New("as the test wants it")

// A faulty handle writes left bytes and then fails; the other steps fail when
// they are told to.
type faulty struct {
	safe.Handle
	left               int
	chmod, sync, close error
}

func (f faulty) Write(b []byte) (int, error) {
	if f.left < 0 || len(b) <= f.left {
		return f.Handle.Write(b)
	}
	n, _ := f.Handle.Write(b[:f.left])
	return n, errBad
}
func (f faulty) Chmod(m fs.FileMode) error { return cmp(f.chmod, f.Handle.Chmod(m)) }
func (f faulty) Sync() error               { return cmp(f.sync, f.Handle.Sync()) }
func (f faulty) Close() error              { return cmp(f.close, f.Handle.Close()) }

func cmp(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func scene(t *testing.T) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, root
}

// holds checks what a folder holds: f with this text, and nothing else.
func holds(t *testing.T, dir, text string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "f"))
	list, bad := os.ReadDir(dir)
	if err != nil || bad != nil || string(b) != text || len(list) != 1 {
		t.Errorf("%q %v, and %v %v", b, err, list, bad)
	}
}

// TestReplaceFaults: whatever step fails, at whatever byte, the old file stays
// and nothing is left beside it.
func TestReplaceFaults(t *testing.T) {
	wrap := func(f faulty) func(*os.Root, string, int, fs.FileMode) (safe.Handle, error) {
		return func(root *os.Root, name string, flag int, mode fs.FileMode) (safe.Handle, error) {
			h, err := safe.Disk{}.Open(root, name, flag, mode)
			f.Handle = h
			return f, err
		}
	}
	faults := map[string]safe.Disk{
		"create": {Create: func(*os.Root, string, int, fs.FileMode) (safe.Handle, error) { return nil, errBad }},
		"chmod":  {Create: wrap(faulty{left: -1, chmod: errBad})},
		"sync":   {Create: wrap(faulty{left: -1, sync: errBad})},
		"close":  {Create: wrap(faulty{left: -1, close: errBad})},
		"rename": {Rename: func(*os.Root, string, string) error { return errBad }},
	}
	for n := range len("the new one") {
		faults["full after "+string(rune('a'+n))] = safe.Disk{Create: wrap(faulty{left: n})}
	}
	for name, d := range faults {
		if runtime.GOOS == "windows" && name == "chmod" {
			continue
		}
		dir, root := scene(t)
		if err := d.Replace(root, safe.File{Name: "f", Text: []byte("the new one"), Mode: 0o600, Exact: true}); !errors.Is(err, errBad) {
			t.Errorf("%s: %v", name, err)
		}
		holds(t, dir, "old")
	}
	dir, root := scene(t)
	if err := safe.Replace(root, safe.File{Name: "f", Text: []byte("x"), Mode: 0o600, Check: func(temp string) error {
		if b, err := root.ReadFile(temp); err != nil || string(b) != "x" {
			t.Errorf("asked before all was written: %q %v", b, err)
		}
		return errBad
	}}); !errors.Is(err, errBad) {
		t.Error(err)
	}
	holds(t, dir, "old")
}

// TestReplaceCrash: a process that dies between leaves the old file and one that
// the sweeper of edits knows.
func TestReplaceCrash(t *testing.T) {
	dir, root := scene(t)
	func() {
		defer func() { _ = recover() }()
		_ = safe.Disk{Rename: func(*os.Root, string, string) error { panic("killed") }}.Replace(root, safe.File{Name: "f", Text: []byte("x"), Mode: 0o600})
	}()
	b, err := os.ReadFile(filepath.Join(dir, "f"))
	left, _ := filepath.Glob(filepath.Join(dir, ".adze-*"))
	if err != nil || string(b) != "old" || len(left) != 1 || !safe.IsTemp(filepath.Base(left[0])) {
		t.Errorf("%q %v %q", b, err, left)
	}
}

func TestIsTemp(t *testing.T) {
	for name, want := range map[string]bool{
		".adze-ABCDEFGHIJ27.tmp": true, ".adze-ABCDEFGHIJ2.tmp": false, ".adze-ABCDEFGHIJ277.tmp": false, ".adze-ABCDEFGHIJ28.tmp": false, ".adze-abcdefghij27.tmp": false,
		"adze-ABCDEFGHIJ27.tmp": false, ".adze-ABCDEFGHIJ27.tmp.x": false, ".adze-ABCDE/GHIJ27.tmp": false, "": false,
	} {
		if safe.IsTemp(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// TestReplaceFollowsNothing: what is planted under the name, or in the folder's
// place, is never written through.
func TestReplaceFollowsNothing(t *testing.T) {
	dir, root := scene(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "f")), os.Symlink(secret, filepath.Join(dir, "f"))); err != nil {
		t.Skip(err)
	}
	if err := safe.Replace(root, safe.File{Name: "f", Text: []byte("new"), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "new")
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := safe.Replace(root, safe.File{Name: filepath.Join("out", "secret"), Text: []byte("new"), Mode: 0o600}); err == nil {
		t.Error("it left the folder")
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("%q %v", b, err)
	}
}

// TestMake: what is there stays, and what fails leaves nothing.
func TestMake(t *testing.T) {
	dir, root := scene(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := safe.Make(root, safe.File{Name: "f", Text: []byte("new"), Mode: 0o600}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	holds(t, dir, "old")
	if err := errors.Join(os.Remove(filepath.Join(dir, "f")), safe.Make(root, safe.File{Name: "f", Text: []byte("new"), Mode: 0o600})); err != nil {
		t.Error(err)
	}
	holds(t, dir, "new")
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "f")); err != nil {
		t.Skip(err)
	}
	if err := safe.Make(root, safe.File{Name: "f", Text: []byte("new"), Mode: 0o600}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("through a link: %v", err)
	}
	if _, err := safe.New(filepath.Join(dir, "f")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("through a link: %v", err)
	}
	holds(t, dir, "secret")
	full := safe.Disk{Create: func(root *os.Root, name string, flag int, mode fs.FileMode) (safe.Handle, error) {
		h, err := safe.Disk{}.Open(root, name, flag, mode)
		return faulty{Handle: h, left: 1}, err
	}}
	if err := full.Make(root, safe.File{Name: "g", Text: []byte("new"), Mode: 0o600}); !errors.Is(err, errBad) {
		t.Error(err)
	}
	holds(t, dir, "secret")
}

func TestReplaceModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are none")
	}
	dir, root := scene(t)
	for mode, exact := range map[fs.FileMode]bool{0o777: true, 0o600: false} {
		if err := safe.Replace(root, safe.File{Name: "f", Text: []byte("x"), Mode: mode, Exact: exact}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Mode() != mode {
			t.Errorf("%v: %v %v", mode, info.Mode(), err)
		}
	}
}

func TestReplaceInALockedFolder(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("no mode stops this user")
	}
	dir, root := scene(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	err := safe.Replace(root, safe.File{Name: "f", Text: []byte("x"), Mode: 0o600})
	var beside *safe.CreateError
	if !errors.As(err, &beside) || !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	_ = os.Chmod(dir, 0o700)
	holds(t, dir, "old")
}

// TestRemoveAll: folders that were made unwritable go, and links lead nowhere.
func TestRemoveAll(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "precious"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "gone")
	deep := filepath.Join(dir, "a", "b")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "f"), nil, 0), os.Symlink(outside, filepath.Join(deep, "out"))); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{deep, filepath.Dir(deep), dir} {
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := safe.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	list, err := os.ReadDir(outside)
	info, bad := os.Stat(outside)
	if err != nil || bad != nil || len(list) != 1 || info.Mode().Perm() != 0o755 && info.Mode().Perm() != 0o700 || !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == "precious" }) {
		t.Errorf("%v %v %v", list, info, err)
	}
	if err := safe.RemoveAll(dir); err != nil {
		t.Errorf("what is not there: %v", err)
	}
}
