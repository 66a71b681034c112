package clip_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"accents", "é 漢 🙂", "é 漢 🙂"},
		{"NUL and other controls", "a\x00b\x01c\x07d\x08e\x0bf\x0cg\x7fh", "abcdefgh"},
		{"colour", "\x1b[31mred\x1b[0m \x1b[1;38;2;1;2;3mx\x1b[m", "red x"},
		{"cursor and modes", "\x1b[2J\x1b[H\x1b[?1049h\x1b[10;20Hx\x1b[?25l", "x"},
		{"CSI with intermediate", "\x1b[!pa\x1b[0 qb", "ab"},
		{"OSC ended by BEL", "\x1b]0;title\x07x", "x"},
		{"OSC ended by ST", "\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"OSC ended by 8-bit ST", "\x1b]52;c;aGk=\u009cx", "x"},
		{"OSC without an end hides one line only", "\x1b]0;evil\nnext", "\nnext"},
		{"DCS, APC, PM, SOS", "\x1bPq#0\x1b\\a\x1b_G\x1b\\b\x1b^p\x1b\\c\x1bXs\x1b\\d", "abcd"},
		{"8-bit CSI", "\u009b31mred\u009b0m", "red"},
		{"8-bit OSC", "\u009d0;t\x07x\u009d0;u\u009cy", "xy"},
		{"other C1", "a\u0085b\u0084c", "abc"},
		{"two-character escapes", "\x1b7a\x1b8b\x1b=c\x1bcd", "abcd"},
		{"charset", "\x1b(0a\x1b(Bb", "ab"},
		{"an escape in an escape", "\x1b]0;a\x1b[31mx", "x"},
		{"a lone ESC at the end", "a\x1b", "a"},
		{"ESC before a line end", "a\x1b\nb", "a\nb"},
		{"a CSI at the end", "a\x1b[31", "a"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"CR CR LF", "a\r\r\nb", "a\nb"},
		{"progress", "10%\r50%\r100%\ndone", "100%\ndone"},
		{"CR at the end", "50%\r", "50%"},
		{"CR, then nothing that can be seen", "kept\r\x1b[0m\nb", "kept\nb"},
		{"CR, then a colour", "gone\r\x1b[31mred", "red"},
		{"bad bytes", "a\xffb\xc3(\xe2\x82", "a\ufffdb\ufffd(\ufffd\ufffd"},
		{"a real U+FFFD stays", "\ufffd", "\ufffd"},
		{"a surrogate in UTF-8 is no character", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"bidi", "a\u202eb\u2066c\u2069d", "abcd"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"a joined emoji stays", "👨‍👩‍👧", "👨‍👩‍👧"},
	} {
		if got := clip.Clean(c.in); got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07", "\x1b]0;t\nx", "a\r\nb\rc\r", "\xc2\x1b[m\x9b", "\xc2\x00\x9b31m", "\x1b\x1b[", "\u009bx\u009d", "\xed\xa0\x80",
		"\xe2\u202e\x80\xae", "\x1b\xe2\x80\xae", "a\r\xff", "\U000e0041", "\x1bP\x1b\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clip.Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q became %q, which is not UTF-8", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f {
				t.Fatalf("%q became %q, which holds %U", s, got, r)
			}
		}
		if again := clip.Clean(got); again != got {
			t.Fatalf("%q became %q, then %q", s, got, again)
		}
		// Line ends are never hidden, whatever stands before them.
		if n, m := strings.Count(s, "\n"), strings.Count(got, "\n"); n != m {
			t.Fatalf("%q has %d lines, %q has %d", s, n, got, m)
		}
	})
}

func TestMiddle(t *testing.T) {
	lines := strings.Repeat("0123456789\n", 100)
	for _, c := range []struct {
		name, in string
		max      int
		how      string
		want     string
	}{
		{"fits", "abc", 3, "", "abc"},
		{"empty", "", 0, "", ""},
		{"no lines", strings.Repeat("x", 100), 20, "", strings.Repeat("x", 12) + "\n[82 bytes left out, 0 lines]\n" + strings.Repeat("x", 6)},
		{"lines", lines, 110, "read the file", strings.Repeat("0123456789\n", 6) + "[1.0 KB left out, 91 lines; read the file]\n" + strings.Repeat("0123456789\n", 3)},
		{"nothing may stay", "abcdef", 0, "", "\n[6 bytes left out, 0 lines]\n"},
	} {
		if got := clip.Middle(c.in, c.max, c.how); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Fault 32: wherever a text is cut, no character is.
func TestFault32_NoCharacterIsCut(t *testing.T) {
	s := strings.Repeat("a🙂é漢\n", 20)
	for max := range len(s) + 2 {
		mid := clip.Middle(s, max, "")
		head, cutHead := clip.Head(s, max)
		tail, cutTail := clip.Tail(s, max)
		for what, got := range map[string]string{"middle": mid, "head": head, "tail": tail} {
			if !utf8.ValidString(got) {
				t.Errorf("%s of %d bytes: %q", what, max, got)
			}
		}
		if len(head) > max || len(tail) > max || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Errorf("of %d bytes: head %q, tail %q", max, head, tail)
		}
		if cut := max < len(s); cutHead != cut || cutTail != cut || !cut && (head != s || tail != s || mid != s) {
			t.Errorf("of %d bytes: cut %v and %v", max, cutHead, cutTail)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a🙂é漢\nb", 5)
	f.Add("\xff\xfe\x80\x80\x80", 2)
	f.Add("", -1)
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < 0 || max > 1<<20 {
			return
		}
		head, a := clip.Head(s, max)
		tail, b := clip.Tail(s, max)
		if len(head) > max || len(tail) > max || a != (len(s) > max) || b != a || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("%q, %d: head %q %v, tail %q %v", s, max, head, a, tail, b)
		}
		mid := clip.Middle(s, max, "how")
		if n := len(mid); len(s) > max && n > max+80 {
			t.Fatalf("%d bytes for at most %d", n, max)
		}
		if utf8.ValidString(s) && !(utf8.ValidString(head) && utf8.ValidString(tail) && utf8.ValidString(mid)) {
			t.Fatalf("%q, %d: %q %q %q", s, max, head, tail, mid)
		}
		if max > 0 {
			if l := clip.Line(s, max); utf8.RuneCountInString(l) > max || strings.ContainsAny(l, "\n\r\t") {
				t.Fatalf("line %q", l)
			}
		}
	})
}

func TestHeadAndTailPreferWholeLines(t *testing.T) {
	if got, _ := clip.Head("one line\ntwo", 10); got != "one line\n" {
		t.Errorf("%q", got)
	}
	if got, _ := clip.Head("a\nlonger line", 10); got != "a\nlonger l" {
		t.Errorf("%q", got)
	}
	if got, _ := clip.Tail("two\none line", 10); got != "one line" {
		t.Errorf("%q", got)
	}
	if got, _ := clip.Tail("longer line\na", 10); got != "ger line\na" {
		t.Errorf("%q", got)
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{{"a  b\n\tc", 10, "a b c"}, {"abcdef", 3, "ab…"}, {"🙂🙂🙂🙂", 3, "🙂🙂…"}, {"abc", 3, "abc"}, {"abc", 1, "…"}, {"abc", 0, ""}} {
		if got := clip.Line(c.in, c.max); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

func TestSizeAndTokens(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.0 KB", 3400: "3.4 KB", 999_949: "999.9 KB", 1_200_000: "1.2 MB", 5e9: "5.0 GB"} {
		if got := clip.Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 400: 100} {
		if got := clip.Tokens(n); got != want {
			t.Errorf("Tokens(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestBinary(t *testing.T) {
	for in, want := range map[string]bool{"": false, "text": false, "a\x00b": true, "\xff\xfea\x00": false, "\xfe\xff\x00a": false,
		strings.Repeat("x", 8191) + "\x00": true, strings.Repeat("x", 8192) + "\x00": false} {
		if got := clip.Binary([]byte(in)); got != want {
			t.Errorf("Binary(%.20q) = %v", in, got)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "now", 59 * time.Second: "now", time.Minute: "1m", 61 * time.Minute: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d"} {
		if got := clip.Age(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
