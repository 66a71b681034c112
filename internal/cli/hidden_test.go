package cli

import (
	"strings"
	"testing"
)

func TestHiddenLine(t *testing.T) {
	long := strings.Repeat("k", maxHidden)
	for _, c := range []struct {
		in, text string
		end      hiddenEnd
	}{
		{"abc\r", "abc", hiddenTaken},
		{"abc\n", "abc", hiddenTaken},
		{"\r", "", hiddenTaken},
		{"abc", "abc", hiddenGoesOn},
		{"abx\x7fc\r", "abc", hiddenTaken},
		{"\x7f\x08abc\r", "abc", hiddenTaken},
		{"wrong\x15abc\r", "abc", hiddenTaken},
		{"wrong words\x17abc\r", "abc", hiddenTaken},
		{"ab\x1b[Dc\r", "abc", hiddenTaken},
		{"\x1b[200~abc\x1b[201~\r", "abc", hiddenTaken},
		{"ab\x1bOPc\r", "abc", hiddenTaken},
		{"ab\x1b[1;5Cc\r", "abc", hiddenTaken},
		{"ab\x1bxc\r", "abc", hiddenTaken}, // Alt+X
		{"ab\tc\x00\r", "abc", hiddenTaken},
		{"über…\r", "über…", hiddenTaken},
		{"ü\x7fu\r", "u", hiddenTaken},
		{"abc\x03\r", "abc", hiddenLeft},
		{"\x04", "", hiddenLeft},
		{long + "k\r", long, hiddenTaken},
	} {
		for _, piece := range []int{len(c.in), 1} {
			var l hiddenLine
			end := hiddenGoesOn
			for at := 0; at < len(c.in) && end == hiddenGoesOn; at += piece {
				end = l.feed([]byte(c.in[at:min(at+piece, len(c.in))]))
			}
			if string(l.text) != c.text || end != c.end || l.over != (c.in == long+"k\r") {
				t.Errorf("%.40q in pieces of %d: %.40q, %d, over %v; want %.40q, %d", c.in, piece, string(l.text), end, l.over, c.text, c.end)
			}
		}
	}
}

// TestHiddenEscape: what begins an escape sequence and does not go on is a person's Esc.
func TestHiddenEscape(t *testing.T) {
	var l hiddenLine
	if l.feed([]byte("abc\x1b")); len(l.sequence) != 1 {
		t.Errorf("%q is not held back", l.sequence)
	}
	if l.feed([]byte("[A")); len(l.sequence) != 0 || string(l.text) != "abc" {
		t.Errorf("%q, %q", l.sequence, string(l.text))
	}
}
