package wire

import (
	"strings"
	"unicode/utf8"
)

// A Text collects a string that arrives in pieces. A piece may end inside a
// UTF-8 sequence or between the halves of a surrogate pair: the tail waits for
// the next piece, and only a real error becomes U+FFFD. What Add returns
// shares the memory of the whole, so a delta costs no allocation of its own.
type Text struct {
	sb   strings.Builder
	pend []byte
	buf  []byte
}

// AddJSON adds the raw inside of a JSON string and returns what became readable.
func (t *Text) AddJSON(raw []byte) string {
	if len(t.pend) == 0 && unescaped(raw) {
		return t.write(raw)
	}
	t.buf = append(t.buf[:0], t.pend...)
	t.buf = unescape(t.buf, raw)
	return t.flush(false)
}

// Add adds plain bytes.
func (t *Text) Add(s string) string {
	t.buf = append(append(t.buf[:0], t.pend...), s...)
	return t.flush(false)
}

// Waits reports whether a tail waits for the next piece.
func (t *Text) Waits() bool { return len(t.pend) > 0 }

// Close gives up waiting: a tail that is still incomplete becomes U+FFFD.
func (t *Text) Close() string {
	if len(t.pend) == 0 {
		return ""
	}
	t.buf = append(t.buf[:0], t.pend...)
	return t.flush(true)
}

// String is everything so far.
func (t *Text) String() string { return t.sb.String() }

// Len is the length of String in bytes.
func (t *Text) Len() int { return t.sb.Len() }

func (t *Text) write(b []byte) string {
	if t.sb.Cap() == 0 {
		t.sb.Grow(1 << 10)
	}
	start := t.sb.Len()
	t.sb.Write(b)
	return t.sb.String()[start:]
}

// flush moves the readable part of buf to the text and keeps the tail.
func (t *Text) flush(last bool) string {
	start := t.sb.Len()
	b := t.buf
	t.pend = t.pend[:0]
	for len(b) > 0 {
		n, r, wait := joinRune(b)
		if wait && !last {
			t.pend = append(t.pend, b...)
			break
		}
		t.sb.WriteRune(r)
		b = b[n:]
	}
	return t.sb.String()[start:]
}

// joinRune reads one rune from b, where a surrogate may stand as its own
// three-byte sequence. wait is true when more bytes could complete it.
func joinRune(b []byte) (n int, r rune, wait bool) {
	if b[0] < utf8.RuneSelf {
		return 1, rune(b[0]), false
	}
	if hi, ok := half(b); ok {
		if hi >= 0xDC00 {
			return 3, utf8.RuneError, false
		}
		rest := b[3:]
		if lo, ok := half(rest); ok && lo >= 0xDC00 {
			return 6, 0x10000 + (hi-0xD800)<<10 + (lo - 0xDC00), false
		}
		return 3, utf8.RuneError, len(rest) == 0
	}
	r, n = utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		return 1, r, len(b) < utf8.UTFMax && !utf8.FullRune(b)
	}
	return n, r, false
}

// half reads a surrogate code point written in three bytes.
func half(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xED || b[1] < 0xA0 || b[1] > 0xBF || b[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F), true
}

// unescaped reports whether raw means itself: ASCII without escapes.
func unescaped(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Unquote returns the meaning of the raw inside of a JSON string.
func Unquote(raw []byte) string {
	if unescaped(raw) {
		return string(raw)
	}
	var t Text
	t.AddJSON(raw)
	t.Close()
	return t.String()
}

// unescape appends the meaning of raw to dst. A \u escape of a surrogate is
// written as its own three bytes so that flush can join it with its half.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 >= len(raw) {
			dst = append(dst, c)
			continue
		}
		i++
		switch raw[i] {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, ok := hex4(raw[i+1:])
			if !ok {
				dst = utf8.AppendRune(dst, utf8.RuneError)
				continue
			}
			i += 4
			if r >= 0xD800 && r < 0xE000 {
				dst = append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
			} else {
				dst = utf8.AppendRune(dst, r)
			}
		default:
			dst = append(dst, raw[i])
		}
	}
	return dst
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
