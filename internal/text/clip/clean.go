package clip

import (
	"bytes"
	"unicode/utf8"
)

// Clean returns s as text that is safe for a model, a log and a screen:
// invalid UTF-8 becomes U+FFFD; terminal escape sequences (CSI, OSC, DCS, SOS,
// PM, APC, both 7 and 8 bit forms), NUL and other control characters except
// newline and tab are dropped; CRLF becomes LF; a lone CR overwrites its line
// as a terminal would (what stood before it on that line is dropped when text
// follows). Bidirectional overrides and invisible tag characters are dropped.
func Clean(s string) string {
	if clean(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	line := 0      // where the current line starts in b
	again := false // a CR stands before what comes next on this line
	put := func(text string) {
		if again {
			b, again = b[:line], false
		}
		b = append(b, text...)
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == 0x1b:
			i = skipEscape(s, i)
		case c == '\r':
			again = true
			i++
		case c == '\n':
			b, again = append(b, c), false
			i++
			line = len(b)
		case c == '\t' || c >= 0x20 && c < 0x7f:
			put(s[i : i+1])
			i++
		case c < 0x20 || c == 0x7f:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				put(string(utf8.RuneError))
			case r >= 0x80 && r < 0xa0:
				if introducer(r) {
					i = skipSequence(s, i+n, r)
					continue
				}
			case hidden(r):
			default:
				put(s[i : i+n])
			}
			i += n
		}
	}
	return string(b)
}

// clean reports whether Clean would return s as it is.
func clean(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r < 0xa0 || hidden(r) {
			return false
		}
		i += n
	}
	return true
}

// hidden characters change how text reads without being seen: bidirectional
// controls (UAX #9), and the tag block that can carry unseen instructions.
func hidden(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r >= 0xe0000 && r <= 0xe007f
}

// introducer reports whether an 8-bit control opens a sequence (ECMA-48 8.3).
func introducer(r rune) bool {
	switch r {
	case 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f:
		return true
	}
	return false
}

// Escape returns the index after the escape sequence that starts with the
// ESC at s[i], for who reads some of them before the rest goes through Clean.
func Escape(s string, i int) int { return skipEscape(s, i) }

// skipEscape returns the index after the escape sequence that starts at i.
func skipEscape(s string, i int) int {
	if i+1 >= len(s) {
		return len(s)
	}
	switch s[i+1] {
	case '[':
		return skipSequence(s, i+2, 0x9b)
	case ']', 'P', 'X', '^', '_':
		return skipSequence(s, i+2, 0x9d)
	}
	i++
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f { // intermediate bytes
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f {
		i++
	}
	return i
}

// skipSequence returns the index after a sequence's body. A string sequence
// without an end is skipped to the end of its line, so that one stray byte
// cannot hide the rest of a file.
func skipSequence(s string, i int, kind rune) int {
	if kind == 0x9b {
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
			i++
		}
		return i
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		case s[i] == '\n' || s[i] == 0x1b:
			return i
		}
	}
	return i
}

// Binary reports whether b looks like something other than text: a NUL byte in
// its first 8,192 bytes, unless it starts with a UTF-16 byte order mark.
func Binary(b []byte) bool {
	if len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff) {
		return false
	}
	return bytes.IndexByte(b[:min(len(b), 8192)], 0) >= 0
}
