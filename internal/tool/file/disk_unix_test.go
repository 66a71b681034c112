//go:build unix

package file

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/disk/pin"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/tool"
)

func TestKeepsModeAndLinks(t *testing.T) {
	b := newBench(t, Config{})
	p := b.put("f", "one\n")
	if err := os.Chmod(p, 0o751); err != nil {
		t.Fatal(err)
	}
	b.put("h", "one\n")
	if err := os.Link(filepath.Join(b.dir, "h"), filepath.Join(b.dir, "h2")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("f", filepath.Join(b.dir, "s")); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"file_path": "s"})
	b.ok("Edit", in{"file_path": "s", "old_string": "one", "new_string": "two"})
	fi, err := os.Lstat(p)
	if err != nil || fi.Mode().Perm() != 0o751 || b.get("f") != "two\n" {
		t.Errorf("mode %v, content %q, %v", fi.Mode(), b.get("f"), err)
	}
	if to, err := os.Readlink(filepath.Join(b.dir, "s")); to != "f" || err != nil {
		t.Errorf("the link became %q, %v", to, err)
	}
	b.ok("Read", in{"file_path": "h"})
	b.ok("Edit", in{"file_path": "h", "old_string": "one", "new_string": "a longer text"})
	if b.get("h2") != "a longer text\n" {
		t.Errorf("the hard link is broken: %q", b.get("h2"))
	}
	b.ok("Edit", in{"file_path": "h", "old_string": "a longer text", "new_string": "x"})
	if b.get("h2") != "x\n" {
		t.Errorf("in place, shorter: %q", b.get("h2"))
	}
	if err := os.Chmod(p, 0o444); err != nil {
		t.Fatal(err)
	}
	b.fails("read-only (mode 0444)", "Edit", in{"file_path": "f", "old_string": "two", "new_string": "x"})
	tidy(t, b.dir)
}

// What is private is for this user alone, whatever the umask allows, also a file
// that was there before; what lies beside it is not.
func TestPrivate(t *testing.T) {
	var private string
	b := newBench(t, Config{Private: func(path string) bool { return strings.HasPrefix(path, private) }})
	private = filepath.Join(b.dir, "memory") + "/"
	b.ok("Write", in{"file_path": "memory/deep/a.md", "content": "one"})
	b.ok("Write", in{"file_path": "other/a.md", "content": "one"})
	old := b.put("memory/old.md", "one\n")
	if err := os.Chmod(old, 0o664); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"file_path": "memory/old.md"})
	b.ok("Edit", in{"file_path": "memory/old.md", "old_string": "one", "new_string": "two"})
	mode := func(name string) fs.FileMode {
		fi, err := os.Lstat(filepath.Join(b.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return fi.Mode().Perm()
	}
	for name, want := range map[string]fs.FileMode{"memory": 0o700, "memory/deep": 0o700, "memory/deep/a.md": 0o600, "memory/old.md": 0o600} {
		if got := mode(name); got != want {
			t.Errorf("%s: %04o, want %04o", name, got, want)
		}
	}
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	if got, want := mode("other/a.md"), 0o666&^fs.FileMode(mask); got != want {
		t.Errorf("beside it: %04o, want %04o", got, want)
	}
}

// tidy checks that no temporary file is left.
func tidy(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.Contains(e.Name(), ".tmp") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestFault41_RefusesSpecialFiles(t *testing.T) {
	b := newBench(t, Config{})
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	done := make(chan struct{})
	go func() { // ends when nothing blocks
		defer close(done)
		b.fails("FIFO", "Read", in{"file_path": "pipe"})
		b.fails("FIFO", "Write", in{"file_path": "pipe", "content": "x"})
		b.fails("device", "Read", in{"file_path": "/dev/zero"})
		b.fails("device", "Read", in{"file_path": "/dev/null"})
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("blocked")
	}
}

// A faulty file fails after a number of bytes.
type faulty struct {
	safe.Handle
	left *int
	err  error
}

func (f faulty) Write(b []byte) (int, error) {
	if len(b) > *f.left {
		n, _ := f.Handle.Write(b[:*f.left])
		*f.left = 0
		return n, f.err
	}
	*f.left -= len(b)
	return f.Handle.Write(b)
}

func (f faulty) Sync() error {
	if *f.left < 0 {
		return f.err
	}
	return f.Handle.Sync()
}

// TestFault11_FullDisk lets the disk fill up after every number of bytes: the
// original must stay whole, and no temporary file may stay.
func TestFault11_FullDisk(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	content := []byte("a new and longer content")
	for _, linked := range []bool{false, true} {
		for n := range len(content) {
			if err := os.WriteFile(path, []byte("the original"), 0o644); err != nil {
				t.Fatal(err)
			}
			if linked {
				os.Remove(path + "2")
				if err := os.Link(path, path+"2"); err != nil {
					t.Skip(err)
				}
			}
			was, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			d := realDisk()
			left, first := n, true
			d.Create = func(root *os.Root, name string, flag int, perm fs.FileMode) (safe.Handle, error) {
				h, err := realDisk().Open(root, name, flag, perm)
				if err != nil || !first {
					return h, err // putting the old content back takes no new space
				}
				first = false
				return faulty{h, &left, syscall.ENOSPC}, nil
			}
			if _, err := d.save(path, content, was); err == nil || !strings.Contains(err.Error(), "no space") {
				t.Fatalf("%d bytes: got %v", n, err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != "the original" {
				t.Fatalf("linked %v, %d bytes: got %q, %v", linked, n, got, err)
			}
			tidy(t, dir)
		}
	}
}

func TestFailingRenameAndSync(t *testing.T) {
	b := newBench(t, Config{})
	path := b.put("f", "old")
	stat := func() fs.FileInfo {
		fi, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi
	}
	d := realDisk()
	d.Rename = func(*os.Root, string, string) error { return syscall.EBUSY }
	before := stat()
	if _, err := d.save(path, []byte("bind mount"), before); err != nil || b.get("f") != "bind mount" || !os.SameFile(before, stat()) {
		t.Errorf("EBUSY: %v, %q", err, b.get("f"))
	}
	d.Rename = func(*os.Root, string, string) error { return syscall.EIO }
	if _, err := d.save(path, []byte("x"), stat()); err == nil || b.get("f") != "bind mount" {
		t.Errorf("EIO: %v, %q", err, b.get("f"))
	}
	d = realDisk()
	d.Create = func(root *os.Root, name string, flag int, perm fs.FileMode) (safe.Handle, error) {
		h, err := realDisk().Open(root, name, flag, perm)
		left := -1
		return syncFails{faulty{h, &left, syscall.EIO}}, err
	}
	if _, err := d.save(path, []byte("x"), stat()); err == nil || b.get("f") != "bind mount" {
		t.Errorf("EIO on fsync: %v, %q", err, b.get("f"))
	}
	was := stat()
	b.put("f", "changed between")
	if _, err := realDisk().save(path, []byte("x"), was); err == nil || b.get("f") != "changed between" {
		t.Errorf("stale: %v, %q", err, b.get("f"))
	}
	if _, err := realDisk().save(path, []byte("x"), nil); err == nil || b.get("f") != "changed between" {
		t.Errorf("appeared: %v, %q", err, b.get("f"))
	}
	tidy(t, b.dir)
}

type syncFails struct{ faulty }

func (f syncFails) Write(b []byte) (int, error) { return f.Handle.Write(b) }

// TestMovedBetweenPlanAndRun: a link that changes after the decision.
func TestMovedBetweenPlanAndRun(t *testing.T) {
	b := newBench(t, Config{})
	b.put("in/f", "x")
	b.put("out/f", "secret")
	link := filepath.Join(b.dir, "l")
	if err := os.Symlink("in", link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		in   in
	}{{"Read", in{"file_path": "l/f"}}, {"Write", in{"file_path": "l/new", "content": "y"}}} {
		b.env.Call = "call-" + c.name
		tl, _ := b.tools.Get(c.name)
		if _, err := tl.Plan(b.raw(c.in), b.env); err != nil {
			t.Fatal(err)
		}
		os.Remove(link)
		os.Symlink("out", link)
		r, err := tl.Run(t.Context(), b.raw(c.in), b.env)
		if err != nil || !r.IsErr || strings.Contains(r.Text, "secret") || !strings.Contains(r.Text, pin.ErrMoved.Error()) {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
		os.Remove(link)
		os.Symlink("in", link)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "out/new")); err == nil {
		t.Error("written outside")
	}
}

var swaps = flag.Int("swaps", 2000, "swaps of TestSwapRace, at least")

// TestSwapRace swaps the target's folder for a link to another one all the
// time: no write may land there.
func TestSwapRace(t *testing.T) {
	var swapped atomic.Int64
	b := newBench(t, Config{})
	b.put("d/x", "x")
	b.put("outside/keep", "k")
	d, kept, outside := filepath.Join(b.dir, "d"), filepath.Join(b.dir, "kept"), filepath.Join(b.dir, "outside")
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() { // ends when done is closed
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			os.Rename(d, kept)
			os.Symlink(outside, d)
			os.Remove(d)
			os.Rename(kept, d)
			swapped.Add(1)
		}
	}()
	wrote := 0
	// The resolver of this test answers as it did when the path was judged.
	set, err := tool.NewSet(newTools(Config{}, func(dir, _, asked string) (string, error) { return filepath.Join(dir, asked), nil })...)
	if err != nil {
		t.Fatal(err)
	}
	b.tools = set
	for i := 0; i < 250 || swapped.Load() < int64(*swaps); i++ {
		name := filepath.Join("d", "f"+string(rune('a'+i%26))+string(rune('a'+i/26%26)))
		if r := b.run("Write", in{"file_path": name, "content": "y"}); !r.IsErr {
			wrote++
		}
	}
	close(done)
	<-stopped
	list, err := os.ReadDir(outside)
	if err != nil || len(list) != 1 {
		t.Errorf("outside holds %v, %v", list, err)
	}
	t.Logf("%d of 250 writes went through", wrote)
}
