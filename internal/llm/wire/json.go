package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// A JSON writes a request by hand, member by member, so that the same request
// always gives the same bytes and the order of members is ours. Commas are
// its own business.
type JSON struct {
	done [][]byte // before b, in a request with a conversation; see Writing
	b    []byte
	sep  bool
}

// Bytes is what was written, but for a conversation.
func (j *JSON) Bytes() []byte { return j.b }

func (j *JSON) comma() {
	if j.sep {
		j.b = append(j.b, ',')
	}
	j.sep = true
}

// Obj opens an object.
func (j *JSON) Obj() { j.comma(); j.b = append(j.b, '{'); j.sep = false }

// End closes an object.
func (j *JSON) End() { j.b = append(j.b, '}'); j.sep = true }

// Arr opens an array.
func (j *JSON) Arr() { j.comma(); j.b = append(j.b, '['); j.sep = false }

// EndArr closes an array.
func (j *JSON) EndArr() { j.b = append(j.b, ']'); j.sep = true }

// Key names the next member.
func (j *JSON) Key(k string) { j.Str(k); j.b = append(j.b, ':'); j.sep = false }

// Str writes a string; bytes that are not UTF-8 become U+FFFD.
func (j *JSON) Str(s string) { j.comma(); j.b = AppendString(j.b, s) }

// Int writes a number.
func (j *JSON) Int(n int) { j.comma(); j.b = strconv.AppendInt(j.b, int64(n), 10) }

// Bool writes a truth value.
func (j *JSON) Bool(v bool) { j.comma(); j.b = strconv.AppendBool(j.b, v) }

// Null writes null.
func (j *JSON) Null() { j.comma(); j.b = append(j.b, "null"...) }

// Raw writes a JSON value without its white space. What is not JSON is
// written as a string.
func (j *JSON) Raw(v json.RawMessage) {
	var buf bytes.Buffer
	if err := json.Compact(&buf, v); err != nil {
		j.Str(string(v))
		return
	}
	j.comma()
	j.b = append(j.b, bytes.ToValidUTF8(buf.Bytes(), []byte("\uFFFD"))...)
}

// Exact writes a JSON value byte for byte.
func (j *JSON) Exact(v json.RawMessage) { j.comma(); j.b = append(j.b, v...) }

// Base64 writes data as a string with a prefix such as "data:image/png;base64,".
func (j *JSON) Base64(prefix string, data []byte) {
	j.comma()
	j.b = append(j.b, '"')
	j.b = append(j.b, prefix...)
	j.b = base64.StdEncoding.AppendEncode(j.b, data)
	j.b = append(j.b, '"')
}

// Member writes a string member and skips an empty one.
func (j *JSON) Member(k, v string) {
	if v != "" {
		j.Key(k)
		j.Str(v)
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
