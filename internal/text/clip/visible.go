package clip

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s on one line with nothing in it that a screen would obey or
// not show: what is no printable character stands as an escape, \n and \u202e,
// also line feeds, tabs and bytes that are not UTF-8. It is for names, settings
// and other text from outside, of which nothing may hide from who reads it.
func Visible(s string) string { return visible(s, "") }

// VisibleText is Visible that leaves line feeds and tabs.
func VisibleText(s string) string { return visible(s, "\n\t") }

func visible(s, keep string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return (r < ' ' || r > '~') }); i < 0 {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\x`...)
			b = append(b, "0123456789abcdef"[s[i]>>4], "0123456789abcdef"[s[i]&15])
		case unicode.IsPrint(r) && !blank(r), strings.ContainsRune(keep, r):
			b = append(b, s[i:i+n]...)
		default:
			q := strconv.AppendQuoteRuneToASCII(nil, r)
			if q[1] != '\\' { // printable, and yet it shows nothing
				q = strconv.AppendInt([]byte(`'\u`), int64(r), 16)
				q = append(q, '\'')
			}
			b = append(b, q[1:len(q)-1]...)
		}
		i += n
	}
	return string(b)
}

// blank are characters that count as printable and draw nothing.
func blank(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0, r == 0xfffc,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// Pictures is Clean that shows control characters of ASCII by their symbols (U+2400
// and on) and others that cannot be seen as <U+0085>, and drops no escape
// sequence: it is for the text of a file, which is to be seen as it is.
func Pictures(s string) string {
	i := 0
	for i < len(s) && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t') {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	b = append(b, s[:i]...)
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		case c == 0x7f:
			b = utf8.AppendRune(b, 0x2421)
		case c < 0x20 && c != '\n' && c != '\t':
			b = utf8.AppendRune(b, 0x2400+rune(c))
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if Unseen(r) {
				b = fmt.Appendf(b, "<U+%04X>", r)
			} else {
				b = append(b, s[i:i+n]...)
			}
			i += n - 1
		default:
			b = append(b, c)
		}
	}
	return Clean(string(b))
}

// Unseen reports whether Pictures shows a character above ASCII by its number: a
// control (C1), or one that changes how text reads.
func Unseen(r rune) bool { return r >= 0x80 && r < 0xa0 || hidden(r) }

// Unpictured is the text that Pictures showed so. What it shows is not told from
// what stands in a file as such.
func Unpictured(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x2400 && r < 0x2420:
			return r - 0x2400
		case r == 0x2421:
			return 0x7f
		}
		return r
	}, s)
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "<U+")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		digits, rest, _ := strings.Cut(after, ">")
		n, err := strconv.ParseUint(digits, 16, 21)
		if sign := fmt.Sprintf("<U+%04X>", n); err != nil || !Unseen(rune(n)) || !strings.HasPrefix("<U+"+after, sign) {
			b.WriteString("<U+")
			s = after
			continue
		}
		b.WriteRune(rune(n))
		s = rest
	}
}

// Prose is a text with each carriage return as the end of a line: what somebody wrote
// is not overwritten, as the output of a program is.
func Prose(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
