package seal

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = Key(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != keySize || !bytes.Equal(k, keys[0]) {
			t.Fatalf("%x and %x", k, keys[0])
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("left behind: %v %v", names, err)
	}
	if info, err := os.Stat(filepath.Join(dir, KeyName)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestKeyThatIsNone(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"short":  func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"open":   func(p string) error { return os.WriteFile(p, make([]byte, keySize), 0o644) },
		"link":   func(p string) error { return os.Symlink("/dev/zero", p) },
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (name == "open" || name == "link") {
				return // neither means anything there
			}
			dir := t.TempDir()
			if err := spoil(filepath.Join(dir, KeyName)); err != nil {
				t.Fatal(err)
			}
			if k, err := Key(dir); err == nil {
				t.Errorf("got %x", k)
			}
		})
	}
}

// A chain of lines checks out; with any byte of it changed, a line taken out,
// put twice or in another order, it does not.
func TestChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New([]byte("key"))
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{`{"a":1}`, `{"b":"x"}`, `{"mac":"y"}`, `{"c":{"d":"}"}}`}), 2, 6).Draw(t, "lines")
		var prev Mark
		var sealed [][]byte
		for _, l := range lines {
			var out []byte
			out, prev = s.Append([]byte("before"+l), 6, prev)
			sealed = append(sealed, out[6:])
			if len(out) != 6+len(l)+Size {
				t.Fatalf("%d bytes more", len(out)-6-len(l))
			}
		}
		good := func(sealed [][]byte) int {
			prev, n := Mark{}, 0
			for _, l := range sealed {
				body, m := Split(bytes.Clone(l))
				if s.Check(prev, body, m) {
					n++
				}
				prev = m
			}
			return n
		}
		if got := good(sealed); got != len(lines) {
			t.Fatalf("%d of %d are good", got, len(lines))
		}
		for i, l := range sealed {
			if body, _ := Split(bytes.Clone(l)); string(body) != lines[i] {
				t.Fatalf("%s became %s", lines[i], body)
			}
		}
		i := rapid.IntRange(0, len(sealed)-2).Draw(t, "line")
		spoilt := append([][]byte(nil), sealed...)
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			spoilt = append(spoilt[:i:i], spoilt[i+1:]...)
		case 1:
			spoilt = append(spoilt[:i+1:i+1], spoilt[i:]...)
		case 2:
			spoilt[i], spoilt[i+1] = spoilt[i+1], spoilt[i]
			if bytes.Equal(spoilt[i], spoilt[i+1]) {
				return
			}
		case 3:
			spoilt[i] = bytes.Clone(spoilt[i])
			at := rapid.IntRange(0, len(spoilt[i])-1).Draw(t, "at")
			spoilt[i][at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bit"))
		}
		if got := good(spoilt); got == len(spoilt) {
			t.Fatalf("nothing is noticed")
		}
		if New([]byte("other")).Check(Mark{}, []byte(lines[0]), Mark(sealed[0][len(sealed[0])-24:])) {
			t.Fatal("another key will do")
		}
	})
}
