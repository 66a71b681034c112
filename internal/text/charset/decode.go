package charset

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

// MaxFind bounds the texts whose encoding is looked for, in bytes.
const MaxFind = 8 << 20

// Decode returns bytes as text, without a byte order mark. name is how they are stored,
// "" for UTF-8. Where that is not sure, and for more than MaxFind bytes that are no
// Unicode, the text is the bytes as they are, with the name "".
func Decode(b []byte) (text, name string) {
	if text, name, ok := UTF16(b); ok {
		return text, name
	}
	if len(b) <= MaxFind && (!utf8.Valid(b) || Shifted(b)) {
		if e, text, ok := Find(b); ok {
			return text, e.Name
		}
	}
	return string(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))), ""
}

// UTF16 reads bytes that begin with a byte order mark of UTF-16. ok is false where they
// do not, or where a half of a character is missing at their end.
func UTF16(b []byte) (text, name string, ok bool) {
	var order binary.ByteOrder
	switch {
	case len(b)%2 != 0:
		return "", "", false
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		order, name = binary.LittleEndian, "UTF-16LE"
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		order, name = binary.BigEndian, "UTF-16BE"
	default:
		return "", "", false
	}
	units := make([]uint16, 0, len(b)/2-1)
	for i := 2; i < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	return string(utf16.Decode(units)), name, true
}

// Bare16 is the name of the encoding of bytes that look like UTF-16 of mostly ASCII
// without a byte order mark, "" for others. The beginning of a file is enough.
func Bare16(b []byte) string {
	even, odd := 0, 0
	for i, c := range b {
		switch {
		case c != 0:
		case i%2 == 0:
			even++
		default:
			odd++
		}
	}
	switch half := len(b) / 2; {
	case half < 4:
	case odd*10 >= half*7 && even*20 <= half:
		return "UTF-16LE"
	case even*10 >= half*7 && odd*20 <= half:
		return "UTF-16BE"
	}
	return ""
}

// Shifted reports whether bytes change to a set of two bytes a character, as ISO-2022-JP
// does (RFC 1468), which has no byte above 0x7f.
func Shifted(b []byte) bool {
	return bytes.Contains(b, []byte("\x1b$B")) || bytes.Contains(b, []byte("\x1b$@"))
}

// shifted is the encoding of bytes for which Shifted is true.
func shifted() *Encoding { return &Encoding{Name: "ISO-2022-JP", enc: japanese.ISO2022JP} }
