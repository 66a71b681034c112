package proc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"
)

// Whatever the sizes of the pieces, head, tail and counts are those of the whole.
func TestOutputKeepsBothEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, total := range []int{0, 1, headSize - 1, headSize, headSize + 1, headSize + tailSize, headSize + tailSize + 1, 5 * (headSize + tailSize), 300_000} {
		all := make([]byte, total)
		for i := range all {
			all[i] = "abc\n"[rng.IntN(4)]
		}
		o := NewOutput(OutputConfig{})
		for rest := all; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN([]int{10, 1000, 200_000}[rng.IntN(3)]))
			_, _ = o.Write(rest[:n])
			rest = rest[n:]
		}
		k := o.Kept()
		if !bytes.Equal(k.Head, all[:len(k.Head)]) || !bytes.Equal(k.Tail, all[total-len(k.Tail):]) ||
			k.Total != int64(total) || k.Gone != int64(total-len(k.Head)-len(k.Tail)) {
			t.Errorf("%d bytes: head %d, tail %d, gone %d, total %d", total, len(k.Head), len(k.Tail), k.Gone, k.Total)
		}
		if k.Gone > 0 && (len(k.Head) != headSize || len(k.Tail) != tailSize) || k.Gone < 0 || k.Path != "" {
			t.Errorf("%d bytes: head %d, tail %d, gone %d, path %q", total, len(k.Head), len(k.Tail), k.Gone, k.Path)
		}
		// From gives the same in pieces, except for what is not kept.
		var got []byte
		var gone int64
		for off := int64(0); ; {
			b, lost, next := o.From(off, 777)
			if len(b) == 0 {
				break
			}
			got, gone, off = append(got, b...), gone+lost, next
		}
		if want := append(bytes.Clone(k.Head), k.Tail...); !bytes.Equal(got, want) || gone != k.Gone {
			t.Errorf("%d bytes: From gave %d of %d, gone %d of %d", total, len(got), len(want), gone, k.Gone)
		}
	}
}

func TestOutputFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "out.txt")
	disk := NewDisk(1 << 40)
	over := 0
	o := NewOutput(OutputConfig{Path: path, Disk: disk, Max: FileSize + 5_000_000, Over: func() { over++ }})
	line := []byte(strings.Repeat("x", 99) + "\n")
	_, _ = o.Write(line)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a file for %d bytes: %v", len(line), err)
	}
	var all []byte
	all = append(all, line...)
	big := bytes.Repeat(line, 1000)
	for len(all) < FileSize+10_000_000 {
		big[0] = byte('a' + len(all)/len(big)%26)
		_, _ = o.Write(big)
		all = append(all, big...)
	}
	b, gone, next := o.From(10_000_000, 1000)
	if gone != 0 || next != 10_001_000 || !bytes.Equal(b, all[10_000_000:10_001_000]) {
		t.Errorf("from the file: %d bytes, gone %d, next %d", len(b), gone, next)
	}
	o.Close()
	if over != 1 {
		t.Errorf("Over was called %d times", over)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(got, []byte(" bytes were not kept]\n"))
	i := bytes.LastIndexByte(head, '[')
	if !ok || !bytes.Equal(head[:i-1], all[:i-1]) || !bytes.HasSuffix(all, rest) || len(rest) != tailSize || len(got) > FileSize {
		t.Errorf("file of %d bytes, tail %d, head %d", len(got), len(rest), i)
	}
	if b, _, _ := o.From(10_000_000, 1000); !bytes.Equal(b, all[10_000_000:10_001_000]) {
		t.Error("reading after Close differs")
	}
	before := disk.Left()
	if err := o.Remove(); err != nil || disk.Left() <= before || disk.Left() != 1<<40 {
		t.Errorf("Remove: %v, left %d", err, disk.Left())
	}
	_, _ = o.Write(line) // after Close: nothing
	if o.Total() != int64(len(all)) {
		t.Error("written after Close")
	}
}

func TestOutputFileTrouble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := NewOutput(OutputConfig{Path: path})
	o.Save()
	_, _ = o.Write([]byte("x"))
	o.Close()
	if k := o.Kept(); !errors.Is(k.FileErr, os.ErrExist) || k.Path != "" || string(k.Head) != "x" {
		t.Errorf("%+v", k)
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Error("an existing file was changed")
	}
	full := NewOutput(OutputConfig{Path: filepath.Join(t.TempDir(), "a"), Disk: NewDisk(10)})
	full.Save()
	_, _ = full.Write([]byte("0123456789"))
	_, _ = full.Write([]byte("x"))
	full.Close()
	if k := full.Kept(); k.FileErr == nil || k.Total != 11 {
		t.Errorf("%+v", k)
	}
}

// TestOutputIsItsOwnFile: what lies under the name of an output that is closed
// is read and removed only when it is that output.
func TestOutputIsItsOwnFile(t *testing.T) {
	if _, err := exec.LookPath("mkfifo"); err != nil {
		t.Skip("needs mkfifo")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(path string) error{
		"link": func(p string) error { return os.Symlink(secret, p) },
		"hard": func(p string) error { return os.Link(secret, p) },
		"pipe": func(p string) error { return exec.Command("mkfifo", p).Run() },
		"dir":  func(p string) error { return os.Mkdir(p, 0o700) },
		"file": func(p string) error { return os.WriteFile(p, []byte("other"), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "tasks", "b1.output")
		o := NewOutput(OutputConfig{Path: path})
		text := bytes.Repeat([]byte("0123456789abcde\n"), (headSize+2*tailSize)/16)
		if _, err := o.Write(text); err != nil {
			t.Fatal(err)
		}
		o.Close()
		if b, gone, _ := o.From(headSize, 16); string(b) != "0123456789abcde\n" || gone != 0 {
			t.Fatalf("%s: %q %d", name, b, gone)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		if b, gone, _ := o.From(headSize, 16); gone == 0 || bytes.Contains(b, []byte("secret")) {
			t.Errorf("%s: %q %d", name, b, gone)
		}
		_ = o.Remove()
		if _, err := os.Lstat(path); err != nil && name != "file" { // a new file may have the number of the old one
			t.Errorf("%s: it was removed: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "tasks", "b1.output")
	o := NewOutput(OutputConfig{Path: path})
	o.Save()
	o.Close()
	if err := o.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("it was not removed")
	}
}

// Who keeps the file of an output keeps nothing of what the output holds in memory.
func TestASavedFileIsAllThatIsKept(t *testing.T) {
	disk := NewDisk(1 << 40)
	path := filepath.Join(t.TempDir(), "tasks", "c1.txt")
	o := NewOutput(OutputConfig{Path: path, Disk: disk})
	_, _ = o.Write(make([]byte, headSize+1))
	o.Close()
	s, ok := o.Saved()
	held := weak.Make(o)
	runtime.KeepAlive(o)
	o = nil
	for range 3 {
		runtime.GC()
	}
	if !ok || held.Value() != nil {
		t.Errorf("a file: %t; the output is held", ok)
	}
	if err := s.Remove(); err != nil || disk.Left() != 1<<40 {
		t.Errorf("%v; %d bytes are left", err, disk.Left())
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file is still there")
	}
	if _, ok := NewOutput(OutputConfig{Path: path}).Saved(); ok {
		t.Error("an output that was short has a file")
	}
}
