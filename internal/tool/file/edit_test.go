package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

func TestFault42_MustBeReadFirst(t *testing.T) {
	b := newBench(t, Config{})
	p := b.put("f", "one\n")
	b.fails("has not been read in this session", "Edit", in{"file_path": "f", "old_string": "one", "new_string": "two"})
	b.fails("has not been read in this session", "Write", in{"file_path": "f", "content": "two"})
	b.ok("Read", in{"file_path": "f"})
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(p, later, later); err != nil {
		t.Fatal(err)
	}
	b.ok("Edit", in{"file_path": "f", "old_string": "one", "new_string": "two"}) // only touched
	b.put("f", "six\n")
	b.fails("has changed since it was read", "Edit", in{"file_path": "f", "old_string": "six", "new_string": "two"})
	b.fails("has changed since it was read", "Write", in{"file_path": "f", "content": "two"})
	b.ok("Read", in{"file_path": "f"})
	b.ok("Write", in{"file_path": "f", "content": "seven\n"})
	b.ok("Write", in{"file_path": "f", "content": "eight\n"}) // knows its own writes
	if got := b.get("f"); got != "eight\n" {
		t.Errorf("got %q", got)
	}
}

func TestRestore(t *testing.T) {
	b := newBench(t, Config{})
	b.put("f", "one\n")
	files := effect.Files(b.ok("Read", in{"file_path": "f"}).Effects)
	c := newBench(t, Config{})
	c.env.Dir = b.dir
	c.led.Restore(files)
	c.ok("Edit", in{"file_path": "f", "old_string": "one", "new_string": "two"})
	c.led.Forget()
	c.fails("has not been read", "Edit", in{"file_path": "f", "old_string": "two", "new_string": "one"})
}

func TestEditMatching(t *testing.T) {
	for _, c := range []struct {
		name, text, old, new string
		all                  bool
		want, err            string
	}{
		{name: "plain", text: "a\nb\nc\n", old: "b", new: "x", want: "a\nx\nc\n"},
		{name: "not unique", text: "b\na\nb\n", old: "b", new: "x", err: "2 times (lines 1, 3)"},
		{name: "all", text: "b\na\nb\n", old: "b", new: "x", all: true, want: "x\na\nx\n"},
		{name: "same", text: "b\n", old: "b", new: "b", err: "old_string and new_string are the same"},
		{name: "no final newline", text: "a\nb", old: "b", new: "c", want: "a\nc"},
		{name: "crlf", text: "a\r\nb\r\nc\r\n", old: "a\nb", new: "x\ny\nz", want: "x\r\ny\r\nz\r\nc\r\n"},
		{name: "crlf in old", text: "a\r\nb\r\n", old: "a\r\nb", new: "a\r\nc", want: "a\r\nc\r\n"},
		{name: "crlf, all", text: "a\r\nb\r\na\r\n", old: "a\n", new: "x\ny\n", all: true, want: "x\r\ny\r\nb\r\nx\r\ny\r\n"},
		{name: "mixed ends", text: "a\nb\r\nc\nd\r\n", old: "c\nd", new: "x\ny", want: "a\nb\r\nx\ny\r\n"},
		{name: "bom", text: "\xef\xbb\xbfa\n", old: "a", new: "b", want: "\xef\xbb\xbfb\n"},
		{name: "utf-16", text: "\xff\xfea\x00\r\x00\n\x00", old: "a\n", new: "é\nb\n", want: "\xff\xfe\xe9\x00\r\x00\n\x00b\x00\r\x00\n\x00"},
		{name: "bad bytes kept", text: "\xff\nb\n", old: "b", new: "c", want: "\xff\nc\n"},
		{name: "curly quotes", text: "say “hi” it’s\n", old: `say "hi" it's`, new: `say "ho" it's me`, want: "say “ho” it’s me\n"},
		{name: "curly in old", text: "f(\"x\")\n", old: "f(“x”)", new: "f(“y”)", want: "f(\"y\")\n"},
		{name: "new quotes", text: "a = “b”\n", old: `a = "b"`, new: `c "d" = "b"`, want: "c “d” = “b”\n"},
		{name: "trailing blanks in file", text: "a  \nb\t\nc\n", old: "a\nb\n", new: "a\nx\n", want: "a  \nx\nc\n"},
		{name: "trailing blanks in old", text: "a\nb\n", old: "a \nb", new: "a \nc", want: "a\nc\n"},
		{name: "ambiguous quotes", text: "“a”\n‘x’\n“a”\n", old: `"a"`, new: `"b"`, err: "apart from the shape of quotes it is there 2 times (lines 1, 3)"},
		{name: "apart in file", text: "ein Cafe\u0301 hier\nu\u0308ber\n", old: "Café hier", new: "Café dort", want: "ein Cafe\u0301 dort\nu\u0308ber\n"},
		{name: "apart in file, new accents", text: "Cafe\u0301\n", old: "Café", new: "Thé", want: "The\u0301\n"},
		{name: "apart in old", text: "Café\n", old: "Cafe\u0301", new: "Cafe\u0301s", want: "Cafés\n"},
		{name: "no letter of a pair", text: "xe\u0301\nye\n", old: "ye\u0301", new: "q", err: "old_string is not in the file"},
		{name: "apart, ambiguous", text: "e\u0301\nb\ne\u0301\n", old: "é", new: "a", err: "apart from how accents or no-break spaces are encoded it is there 2 times (lines 1, 3)"},
		{name: "two marks", text: "e\u0323\u0302x\n", old: "\u1ec7x", new: "\u1ec7y", want: "e\u0323\u0302y\n"},
		{name: "one of two marks", text: "q\u0323\u0302e\u0301\n", old: "\u0302é", new: "z", want: "q\u0323z\n"},
		{name: "hangul", text: "\u1112\u1161\u11ab!\n", old: "한!", new: "한?", want: "\u1112\u1161\u11ab?\n"},
		{name: "no-break space", text: "10\u00a0km\u202f: “a”\n", old: `10 km : "a"`, new: `10 km : "b"`, want: "10\u00a0km\u202f: “b”\n"},
		{name: "accents at bad bytes", text: "\xff\xcc e\u0301\xcc\n", old: " é", new: " e", want: "\xff\xcc e\xcc\n"},
		{name: "indentation", text: "func f() {\n\tif x {\n\t\treturn\n\t}\n}\n", old: "    if x {\n        return\n    }", new: "x", err: "differs in indentation (line 2): the file has 1 tab, old_string has 4 spaces"},
		{name: "inner blanks", text: "a =  b\n", old: "a = b", new: "x", err: "white space inside the line (line 1)"},
		{name: "case", text: "func Foo() {}\n", old: "func foo() {}", new: "x", err: "upper and lower case (line 1)"},
		{name: "nearest", text: "one\nfunc compute(a int) int {\nthree\n", old: "func compute(b int) int {", new: "x", err: "nearest text is at line 2 and differs in the text (line 2):\n     2\tfunc compute(a int) int {"},
		{name: "nothing alike", text: "one\n", old: "entirely different words", new: "x", err: "nor anything like it"},
		{name: "line numbers", text: "one\ntwo\n", old: "     1\tone\n     2\ttwo", new: "x", err: "line numbers that Read adds"},
		{name: "made before", text: "one two three\n", old: "uno", new: "one two three", err: "was this edit made before?"},
		{name: "empty old", text: "x\n", old: "", new: "y", err: "old_string is empty, but the file exists"},
		{name: "empty file", text: "", old: "", new: "y\n", want: "y\n"},
		{name: "delete", text: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n"},
		{name: "delete all", text: "a\n", old: "a\n", new: "", want: ""},
		{name: "dollar", text: "a\n", old: "a", new: "$1 \\1 %s", want: "$1 \\1 %s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Config{})
			b.put("f", c.text)
			b.ok("Read", in{"file_path": "f"})
			m := in{"file_path": "f", "old_string": c.old, "new_string": c.new, "replace_all": c.all}
			if c.err != "" {
				b.fails(c.err, "Edit", m)
				c.want = c.text
			} else {
				b.ok("Edit", m)
			}
			if got := b.get("f"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEditCreates(t *testing.T) {
	b := newBench(t, Config{})
	r := b.ok("Edit", in{"file_path": "new/f", "old_string": "", "new_string": "a\nb\n"})
	if got := b.get("new/f"); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
	if d := r.View.(view.Diff); !d.Created || d.Added != 2 || d.Removed != 0 {
		t.Errorf("view: %+v", d)
	}
	b.fails("does not exist", "Edit", in{"file_path": "other", "old_string": "x", "new_string": "y"})
}

func TestEditReport(t *testing.T) {
	b := newBench(t, Config{})
	b.put("f", linesOf(40))
	b.ok("Read", in{"file_path": "f"})
	tl, _ := b.tools.Get("Edit")
	m := in{"file_path": "f", "old_string": "line 20\n", "new_string": "twenty\nmore\n"}
	plan, err := tl.Plan(b.raw(m), b.env)
	if err != nil {
		t.Fatal(err)
	}
	want := view.Diff{Path: "f", Added: 2, Removed: 1, Unified: "@@ -17,7 +17,8 @@\n line 17\n line 18\n line 19\n-line 20\n+twenty\n+more\n line 21\n line 22\n line 23\n"}
	if plan.View != want || plan.Parallel || plan.Actions[0] != (policy.Write{Path: filepath.Join(b.dir, "f"), Asked: "f"}) {
		t.Errorf("plan: %+v", plan)
	}
	if got := b.get("f"); got != linesOf(40) {
		t.Fatal("planning changed the file")
	}
	r := b.ok("Edit", m)
	if r.View != want {
		t.Errorf("view: %+v", r.View)
	}
	text := "f was changed (1 replacement). It reads now:\n    16\tline 16\n    17\tline 17\n    18\tline 18\n    19\tline 19\n    20\ttwenty\n    21\tmore\n    22\tline 21\n    23\tline 22\n    24\tline 23\n    25\tline 24\n"
	if r.Text != text {
		t.Errorf("got %q\nwant %q", r.Text, text)
	}
	r = b.ok("MultiEdit", in{"file_path": "f", "edits": []in{{"old_string": "line 3\n", "new_string": ""}, {"old_string": "line 38", "new_string": "L38"}}})
	if !strings.Contains(r.Text, "\n...\n") || !strings.Contains(r.Text, "    38\tL38\n") {
		t.Errorf("two places: %q", r.Text)
	}
	b.put("g", "x\n")
	b.ok("Read", in{"file_path": "g"})
	if r = b.ok("Edit", in{"file_path": "g", "old_string": "x\n", "new_string": ""}); !strings.Contains(r.Text, "(the file is empty)") {
		t.Errorf("emptied: %q", r.Text)
	}
}

func TestMultiEditAllOrNothing(t *testing.T) {
	b := newBench(t, Config{})
	b.put("f", "a\nb\n")
	b.ok("Read", in{"file_path": "f"})
	b.fails("edit 2 of 2: old_string is not in the file", "MultiEdit", in{"file_path": "f", "edits": []in{
		{"old_string": "a", "new_string": "x"}, {"old_string": "zzz", "new_string": "y"}}})
	if got := b.get("f"); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
	b.fails("edits is empty", "MultiEdit", in{"file_path": "f", "edits": []in{}})
	b.fails("leave the file as it is", "MultiEdit", in{"file_path": "f", "edits": []in{
		{"old_string": "a", "new_string": "x"}, {"old_string": "x", "new_string": "a"}}})
	b.ok("MultiEdit", in{"file_path": "new", "edits": []in{{"old_string": "", "new_string": "one\n"}, {"old_string": "one", "new_string": "two"}}})
	if got := b.get("new"); got != "two\n" {
		t.Errorf("created: %q", got)
	}
}

func TestWriteKeepsForm(t *testing.T) {
	b := newBench(t, Config{})
	for name, c := range map[string][3]string{
		"crlf":  {"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"},
		"bom":   {"\xef\xbb\xbfa\n", "x\n", "\xef\xbb\xbfx\n"},
		"utf16": {"\xfe\xff\x00a", "xy", "\xfe\xff\x00x\x00y"},
		"lf":    {"a\n", "x\r\ny", "x\r\ny"},
	} {
		b.put(name, c[0])
		b.ok("Read", in{"file_path": name})
		b.ok("Write", in{"file_path": name, "content": c[1]})
		if got := b.get(name); got != c[2] {
			t.Errorf("%s: got %q, want %q", name, got, c[2])
		}
	}
}

func TestWrongFields(t *testing.T) {
	b := newBench(t, Config{})
	for name, m := range map[string]in{
		"Read": {"path": "x"}, "Write": {"path": "x", "content": "y"}, "Edit": {"path": "x", "old_string": "a", "new_string": "b"}, "MultiEdit": {"path": "x", "edits": []in{}},
	} {
		b.fails("file_path", name, m)
	}
	b.fails(`"new_string" is missing`, "Edit", in{"file_path": "f", "old_string": "x"})
}

// TestFault43_TwoWriters: of two agents that read the same state, one wins and the
// other is told.
func TestFault43_TwoWriters(t *testing.T) {
	a := newBench(t, Config{})
	a.put("f", "0\n")
	b := newBench(t, Config{})
	b.env.Dir, b.dir = a.dir, a.dir
	a.ok("Read", in{"file_path": "f"})
	b.ok("Read", in{"file_path": "f"})
	res := make(chan tool.Result, 2)
	for i, x := range []*bench{a, b} {
		go func() { // ends with its one edit
			res <- x.run("Edit", in{"file_path": "f", "old_string": "0", "new_string": string(rune('1' + i))})
		}()
	}
	r1, r2 := <-res, <-res
	if r1.IsErr == r2.IsErr {
		t.Errorf("want one winner: %q and %q", r1.Text, r2.Text)
	}
}

func TestDescriptionsAreShort(t *testing.T) {
	total := 0
	for _, tl := range New(Config{}) {
		total += len(tl.Spec().Description)
	}
	if total > 2800 {
		t.Errorf("%d bytes", total)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb  \n“c”\n", "b\n\"c\"", "x", false)
	f.Add("aaaa", "aa", "b", true)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		d, err := decode([]byte(text))
		if err != nil || len(text) > 2000 {
			return
		}
		out, n, loose, err := replaceIn(d, change{old, new, all})
		if err != nil {
			return
		}
		if n == 0 {
			t.Fatal("nothing replaced and no error")
		}
		if loose == "" && old != "" && len(d.cr) == 0 && d.enc == plainUTF8 && !strings.Contains(old+new, "\r") {
			got, err := out.bytes()
			if want := strings.Replace(text, old, new, n); err != nil || string(got) != want {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
		(&draft{old: d, new: out}).around()
		draft{old: d, new: out}.diff("f")
	})
}

// A name that means something else makes no file.
func TestNamesOfFolders(t *testing.T) {
	b := newBench(t, Config{})
	for _, name := range []string{"new/", "new/sub//", "new/."} {
		b.fails("names a folder", "Write", in{"file_path": name, "content": "x"})
		b.fails("names a folder", "Edit", in{"file_path": name, "old_string": "", "new_string": "x"})
	}
	b.fails("`mkdir -p new/sub` in Bash", "Write", in{"file_path": "new/sub/", "content": "x"})
	if list, _ := os.ReadDir(b.dir); len(list) > 0 {
		t.Error("it was made all the same")
	}
	b.fails("./~x where the file has this name", "Write", in{"file_path": "~x", "content": "x"})
	b.ok("Write", in{"file_path": "./~x", "content": "x"})
	b.put("w", "h\x00e\x00l\x00l\x00o\x00")
	b.fails("`iconv -f UTF-16LE -t UTF-8`", "Read", in{"file_path": "w"})
}
