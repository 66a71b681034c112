package file

import (
	"strings"
	"testing"
)

// TestLegacy: files that are no UTF-8 are shown as text, and keep their encoding
// and every byte that was not meant.
func TestLegacy(t *testing.T) {
	const notUTF8 = "\xf3\xff\x81\x01 x\nline two\n" // of no encoding that is known
	for _, c := range []struct {
		name, was  string
		note       string // of Read
		shown      string
		tool       string
		in         in
		want, fail string
	}{
		{name: "edit elsewhere", was: "prix = \"caf\xe9\"\nline two\n", note: "[the file is stored as windows-1252, not UTF-8", shown: `prix = "café"`,
			tool: "Edit", in: in{"old_string": "line two", "new_string": "line é"}, want: "prix = \"caf\xe9\"\nline \xe9\n"},
		{name: "edit the accent", was: "caf\xe9\nline two\n", shown: "café",
			tool: "Edit", in: in{"old_string": "café", "new_string": "thé"}, want: "th\xe9\nline two\n"},
		{name: "crlf", was: "caf\xe9\r\nline two\r\n", note: "[lines end with CRLF]", shown: "café",
			tool: "Edit", in: in{"old_string": "café\nline", "new_string": "thé\nà\nline"}, want: "th\xe9\r\n\xe0\r\nline two\r\n"},
		{name: "write", was: "caf\xe9\nline two\n", tool: "Write", in: in{"content": "déjà vu — 5 €\n"}, want: "d\xe9j\xe0 vu \x97 5 \x80\n"},
		{name: "multi", was: "\x93\xfa\x96\x7b\x8c\xea\nline two\n", note: "Shift_JIS", shown: "日本語",
			tool: "MultiEdit", in: in{"edits": []in{{"old_string": "日本", "new_string": "英"}, {"old_string": "two", "new_string": "二"}}}, want: "\x89\x70\x8c\xea\nline \x93\xf1\n"},
		{name: "shifted", was: "\x1b$BF|K\\8l\x1b(B\nline two\n", note: "ISO-2022-JP", shown: "日本語",
			tool: "Edit", in: in{"old_string": "line two", "new_string": "二"}, want: "\x1b$BF|K\\8l\x1b(B\n\x1b$BFs\x1b(B\n"},
		{name: "shifted, in its own way", was: "\x1b$BF|K\\8l\x1b(J\nline two\n", tool: "Edit", in: in{"old_string": "two", "new_string": "é"}, fail: `its encoding is not known`},
		{name: "what it cannot hold", was: "caf\xe9\nline two\n", tool: "Edit", in: in{"old_string": "line two", "new_string": "a\n語"},
			fail: `the file is stored as windows-1252, not UTF-8: windows-1252 does not have the character '語' (U+8A9E) in line 3`},
		{name: "write what it cannot hold", was: "\x93\xfa\x96\x7b\x8c\xea\n", tool: "Write", in: in{"content": "日本語 é\n"}, fail: `'é' (U+00E9)`},
		{name: "U+FFFD", was: "caf\xe9\nline two\n", tool: "Write", in: in{"content": "caf\ufffd\nline 2\n"}, fail: "holds U+FFFD"},
		{name: "not known", was: notUTF8, note: "[bytes that are no UTF-8 are shown as \ufffd (U+FFFD)", tool: "Edit", in: in{"old_string": "two", "new_string": "2"}, want: strings.Replace(notUTF8, "two", "2", 1)},
		{name: "not known, new text", was: notUTF8, tool: "Edit", in: in{"old_string": "two", "new_string": "é"}, fail: `its encoding is not known, so that 'é' (U+00E9) cannot be written`},
		{name: "not known, U+FFFD", was: notUTF8, tool: "Write", in: in{"content": "\ufffd\nline\n"}, fail: "holds U+FFFD"},
		{name: "not known, old has U+FFFD", was: notUTF8, tool: "Edit", in: in{"old_string": "\ufffd x", "new_string": "y"}, fail: "U+FFFD (\ufffd) stands for bytes"},
		{name: "UTF-8 with a broken byte", was: "é à ü \xe9\nline two\n", note: "U+FFFD", tool: "Edit", in: in{"old_string": "line two", "new_string": "ligne é"}, want: "é à ü \xe9\nligne é\n"},
		{name: "UTF-8 with a broken byte, U+FFFD", was: "é à ü \xe9\nline two\n", tool: "Write", in: in{"content": "é à ü \ufffd\n"}, fail: "holds U+FFFD"},
		{name: "U+FFFD that is there", was: "a \ufffd\nline two\n", tool: "Write", in: in{"content": "a \ufffd\ufffd\n"}, want: "a \ufffd\ufffd\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Config{})
			b.put("a", c.was)
			r := b.ok("Read", in{"file_path": "a"})
			if !strings.Contains(r.Text, c.note) || !strings.Contains(r.Text, c.shown) {
				t.Errorf("Read: %q", r.Text)
			}
			c.in["file_path"] = "a"
			if c.fail != "" {
				b.fails(c.fail, c.tool, c.in)
				c.want = c.was
			} else {
				b.ok(c.tool, c.in)
			}
			if got := b.get("a"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLineEnds: Read says how lines end.
func TestLineEnds(t *testing.T) {
	b := newBench(t, Config{})
	for text, want := range map[string]string{
		"a\r\nb\r\n":      "[lines end with CRLF]",
		"a\r\nb\nc\n":     "[1 line ends with CRLF, the others with LF]",
		"a\r\nb\r\nc\n":   "[2 lines end with CRLF, the others with LF]",
		"a\r\nb":          "[lines end with CRLF]",
		"a\nb\n":          "",
		"one without end": "",
	} {
		b.put("f", text)
		r := b.ok("Read", in{"file_path": "f"})
		_, note, _ := strings.Cut(r.Text, "[")
		if note != strings.TrimPrefix(want, "[") {
			t.Errorf("%q: %q, want %q", text, r.Text, want)
		}
	}
}
