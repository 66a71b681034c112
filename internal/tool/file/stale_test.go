package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// touch gives a file another time, so that a change within the same tick of the
// clock is one.
func touch(t *testing.T, path string) {
	t.Helper()
	at := time.Now().Add(time.Hour)
	if fi, err := os.Stat(path); err == nil && fi.ModTime().After(time.Now()) {
		at = fi.ModTime().Add(time.Second)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// A file that changed since the model saw it is told once, with what changed as
// far as it is known; what the model writes itself is no change.
func TestStale(t *testing.T) {
	b := newBench(t, Config{})
	names := func() (out []string) {
		for _, s := range b.led.Stale() {
			out = append(out, fmt.Sprintf("%s %t %q", filepath.Base(s.Path), s.Gone, s.Diff))
		}
		return out
	}
	check := func(what, want string) {
		t.Helper()
		if got := strings.Join(names(), "; "); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	path := b.put("f", "one\ntwo\nthree\n")
	b.ok("Read", in{"file_path": path})
	check("as it was read", "")
	b.put("f", "one\n2\nthree\n")
	touch(t, path)
	check("changed", `f false "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"`)
	check("told", "")
	b.put("f", "one\n2\n3\n")
	touch(t, path)
	check("changed again", `f false "@@ -1,3 +1,3 @@\n one\n 2\n-three\n+3"`)
	if res := b.run("Edit", in{"file_path": path, "old_string": "one", "new_string": "1"}); !res.IsErr {
		t.Error("a file that was only told of can be edited")
	}
	touch(t, path)
	check("touched", "")
	b.ok("Read", in{"file_path": path})
	b.ok("Edit", in{"file_path": path, "old_string": "one", "new_string": "1"})
	check("edited by the model", "")
	b.put("f", "one\ntwo\nthree\n")
	touch(t, path)
	b.put("f", "1\n2\n3\n")
	touch(t, path)
	check("as it was again", "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check("gone", `f true ""`)
	check("still gone", "")
	b.put("f", "back\n")
	check("back", `f false "@@ -1,3 +1 @@\n-1\n-2\n-3\n+back"`)

	// Before it was ever looked at, what it was is not known.
	path = b.put("g", "x\n")
	b.ok("Read", in{"file_path": path})
	b.put("g", "y\n")
	touch(t, path)
	check("not looked at in between", `g false ""`)
	path = b.put("long", linesOf(3000))
	b.ok("Read", in{"file_path": path, "offset": 1, "limit": 5})
	check("a part", "")
	b.put("long", strings.ReplaceAll(linesOf(3000), "1", "one"))
	touch(t, path)
	if got := b.led.Stale(); len(got) != 1 || len(got[0].Diff) > staleDiff+100 {
		t.Errorf("%+v", got)
	}
	b.led.Forget()
	b.put("long", "z")
	check("forgotten", "")
}

// What is kept of files, and how many are looked at, is bounded.
func TestStaleIsBounded(t *testing.T) {
	b := newBench(t, Config{})
	for i := range maxLooked + 10 {
		text := strings.Repeat("x", keptSize-1)
		path := b.put(fmt.Sprint("f", i), text)
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		b.led.put(entry(path, fi, []byte(text)))
		b.led.Stale()
	}
	if len(b.led.recent) != maxLooked || b.led.size > maxKept || b.led.size < maxKept/2 || len(b.led.kept) > maxKept/(keptSize-1) {
		t.Errorf("%d files, %d bytes of %d", len(b.led.recent), b.led.size, len(b.led.kept))
	}
	sum := 0
	for _, k := range b.led.kept {
		sum += len(k.text)
	}
	if sum != b.led.size {
		t.Errorf("%d bytes are kept, %d counted", sum, b.led.size)
	}
}
