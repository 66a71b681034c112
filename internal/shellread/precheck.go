package shellread

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// precheck refuses, before parsing, what the parser and real shells are known
// to read differently. It returns why, "" when the text may be parsed.
func precheck(s string) string {
	if !utf8.ValidString(s) {
		return "it is not valid UTF-8"
	}
	n := 0
	for i, c := range s {
		if n++; n > MaxChars {
			return fmt.Sprintf("it is longer than %d characters", MaxChars)
		}
		if why := badRune(s, i, c); why != "" {
			return why
		}
	}
	return ""
}

// badRune refuses control characters and what a person cannot see.
func badRune(s string, i int, c rune) string {
	switch {
	case c == '\n' || c == '\t':
		return ""
	case c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0:
		return fmt.Sprintf("it holds the control character U+%04X", c)
	case c < 0x7f:
		return ""
	case c == 0xfe0f && i > 0:
		// The emoji selector, behind an emoji.
		if prev, _ := utf8.DecodeLastRuneInString(s[:i]); prev >= 0x2000 || prev >= '0' && prev <= '9' || prev == '#' || prev == '*' {
			return ""
		}
	case c != ' ' && unicode.IsSpace(c), unicode.In(c, unicode.Zs, unicode.Zl, unicode.Zp):
		return fmt.Sprintf("it holds the look-alike space U+%04X", c)
	case unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) && !invisible(c):
		return ""
	}
	return fmt.Sprintf("it holds the invisible character U+%04X", c)
}

// invisible are characters that are letters, marks or symbols by category but
// draw nothing.
func invisible(c rune) bool {
	switch {
	case c == 0x034f, c == 0x115f, c == 0x1160, c == 0x17b4, c == 0x17b5, c == 0x2800, c == 0x3164, c == 0xffa0,
		c >= 0x180b && c <= 0x180f, c >= 0xfe00 && c <= 0xfe0f, c >= 0xe0000 && c <= 0xe0fff, c == 0x1d159, c == 0xfffc:
		return true
	}
	return false
}
