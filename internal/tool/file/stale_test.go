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
	if res := b.run("Edit", in{"file_path": path, "old_string": "one ", "new_string": "1 "}); !res.IsErr {
		t.Error("a file that was only told of can be edited by a guess")
	}
	touch(t, path)
	check("touched", "")
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

// Write replaces no text that the model did not see: lines that it did not read, lines that
// somebody else wrote meanwhile, ends of long lines. Edit goes on where it changes only what it names.
func TestWriteUnseen(t *testing.T) {
	const long, told, part, ends, changed = "a\nb\nc\nd\n", "changed since all of it was read", "only lines ", "more than 2,000 characters", "has changed since it was read"
	write := in{"file_path": "f", "content": "new\n"}
	edit := func(old string) in { return in{"file_path": "f", "old_string": old, "new_string": "x"} }
	read := func(first, limit int) func(*bench) {
		return func(b *bench) { b.ok("Read", in{"file_path": "f", "offset": first, "limit": limit}) }
	}
	all := read(0, 0)
	others := func(text string) func(*bench) {
		return func(b *bench) { touch(b.t, b.put("f", text)) }
	}
	// tell is what the loop does before each request (own: behind hooks).
	tell := func(own bool) func(*bench) {
		return func(b *bench) {
			for _, s := range b.led.Stale() {
				if s.Now.Path != "" {
					b.led.Know(s, own)
				}
			}
		}
	}
	does := func(name string, m in) func(*bench) { return func(b *bench) { b.ok(name, m) } }
	for _, c := range []struct {
		name, text string
		steps      []func(*bench)
		write      string // why Write is refused, "" where it is not
		edit       in     // what Edit does then, where it is given
		refused    string
	}{
		{name: "all", text: long, steps: []func(*bench){all}},
		{name: "one part", text: long, steps: []func(*bench){read(1, 2)}, write: part + "1-2 of f were read, and Write would replace all of it; use Read with offset=3 ", edit: edit("a")},
		{name: "the end", text: long, steps: []func(*bench){read(3, 2)}, write: part + "3-4 of f were read, and Write would replace all of it; use Read without offset"},
		{name: "part by part", text: long, steps: []func(*bench){read(1, 2), read(3, 2)}},
		{name: "backwards", text: long, steps: []func(*bench){read(3, 9), read(2, 2), read(1, 1)}},
		{name: "with a gap", text: long, steps: []func(*bench){read(1, 1), read(3, 2)}, write: part + "3-4"},
		{name: "a part, then all", text: long, steps: []func(*bench){read(1, 1), all}},
		{name: "all, then a part", text: long, steps: []func(*bench){all, read(2, 1)}},
		{name: "a part that changed", text: long, steps: []func(*bench){read(1, 2), does("Edit", edit("a"))}, write: told, edit: edit("b")},
		{name: "all that changed", text: long, steps: []func(*bench){all, does("Edit", edit("a"))}},
		{name: "written, then a part", text: long, steps: []func(*bench){all, does("Write", in{"file_path": "f", "content": long + "e\n"}), read(1, 1)}},
		{name: "a long line", text: strings.Repeat("x", 3000) + "\na\n", steps: []func(*bench){all}, write: ends, edit: edit("a")},
		{name: "a long line, edited", text: strings.Repeat("x", 3000) + "\na\nb\n", steps: []func(*bench){all, does("Edit", edit("a"))}, write: ends, edit: edit("b")},
		{name: "others, nothing told", text: long, steps: []func(*bench){all, others(long + "e\n")}, write: changed, edit: edit("a"), refused: changed},
		{name: "others, told", text: long, steps: []func(*bench){all, tell(false), others(long + "e\n"), tell(false)}, write: told, edit: edit("a")},
		{name: "others, told, read", text: long, steps: []func(*bench){all, tell(false), others(long + "e\n"), tell(false), all}},
		{name: "a hook, told", text: long, steps: []func(*bench){all, tell(true), others(long + "e\n"), tell(true)}},
		{name: "others, too much to tell", text: long, steps: []func(*bench){all, tell(false), others(long + linesOf(2000)), tell(false)}, write: changed, edit: edit("a\nb")},
		{name: "too much to tell, not unique", text: long, steps: []func(*bench){all, tell(false), others(linesOf(2000) + long + long), tell(false)}, write: changed, edit: in{"file_path": "f", "old_string": "c\nd", "new_string": "x", "replace_all": true}, refused: changed},
		{name: "edited in between", text: long, steps: []func(*bench){all, tell(false), others(long + linesOf(2000)), tell(false), does("Edit", edit("a\nb"))}, write: told},
		{name: "told, then others again", text: long, steps: []func(*bench){all, tell(false), others(long + "e\n"), tell(false), others("f\n" + long)}, write: changed, edit: edit("a"), refused: changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Config{})
			b.put("f", c.text)
			for _, step := range c.steps {
				step(b)
			}
			if c.write != "" {
				b.fails(c.write, "Write", write)
			}
			switch {
			case c.refused != "":
				b.fails(c.refused, "Edit", c.edit)
			case c.edit != nil:
				b.ok("Edit", c.edit)
			}
			if c.write == "" {
				b.ok("Write", write)
			}
		})
	}
}
