package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, line, text string }{
		{"plain é 漢 🙂 \\ \"", "plain é 漢 🙂 \\ \"", "plain é 漢 🙂 \\ \""},
		{"a\nb\tc\r", `a\nb\tc\r`, "a\nb\tc\\r"},
		{"\x1b[31mred\x1b]0;t\x07", `\x1b[31mred\x1b]0;t\a`, `\x1b[31mred\x1b]0;t\a`},
		{"a\u202eb\u2066c\u200bd\ufeff", `a\u202eb\u2066c\u200bd\ufeff`, `a\u202eb\u2066c\u200bd\ufeff`},
		{"\u009b31m\x7f", `\u009b31m\x7f`, `\u009b31m\x7f`},
		{"a\xffb", `a\xffb`, `a\xffb`},
		{"\U000e0041x\u3164\ufe0f\u2800", `\U000e0041x\u3164\ufe0f\u2800`, `\U000e0041x\u3164\ufe0f\u2800`},
		{"a\u00a0b\u2028c", `a\u00a0b\u2028c`, `a\u00a0b\u2028c`},
		{"", "", ""},
	} {
		if got := clip.Visible(c.in); got != c.line {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := clip.VisibleText(c.in); got != c.text {
			t.Errorf("VisibleText(%q) = %q, want %q", c.in, got, c.text)
		}
	}
}

func TestPictures(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"a\n\tb\r\n":                "a\n\tb\n",
		"\x1b[31mred\x00\r\x7f":     "␛[31mred␀␍␡",
		"é\xff\u202e\u009b31m \x1b": "é\ufffd<U+202E><U+009B>31m ␛",
		"b\u0085c <U+0041>":         "b<U+0085>c <U+0041>",
	} {
		if got := clip.Pictures(in); got != want {
			t.Errorf("Pictures(%q) = %q, want %q", in, got, want)
		}
		if back := clip.Unpictured(want); utf8.ValidString(in) && back != strings.ReplaceAll(in, "\r\n", "\n") {
			t.Errorf("Unpictured(%q) = %q", want, back)
		}
	}
}
