package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sort"
	"strings"
	"unicode/utf16"
)

// An encoding is how a file's text is stored.
type encoding int

const (
	plainUTF8 encoding = iota
	bomUTF8
	utf16LE // with byte order mark
	utf16BE // with byte order mark
)

const bom8 = "\xef\xbb\xbf"

// A document is a decoded file: raw is its text with its own line endings, lf
// the same with "\n" only, cr the offsets in lf of line ends that are "\r\n".
type document struct {
	enc encoding
	raw string
	lf  string
	cr  []int
}

var errUTF16 = errors.New("the file has a UTF-16 byte order mark but an odd number of bytes")

// decode reads bytes as text. Invalid UTF-8 stays as it is in raw, so that a
// write changes only what was meant.
func decode(b []byte) (document, error) {
	var d document
	switch {
	case bytes.HasPrefix(b, []byte(bom8)):
		d.enc, d.raw = bomUTF8, string(b[3:])
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		d.enc = utf16LE
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		d.enc = utf16BE
	default:
		d.raw = string(b)
	}
	if d.enc == utf16LE || d.enc == utf16BE {
		if len(b)%2 != 0 {
			return d, errUTF16
		}
		units := make([]uint16, 0, len(b)/2-1)
		for i := 2; i < len(b); i += 2 {
			units = append(units, d.order().Uint16(b[i:]))
		}
		d.raw = string(utf16.Decode(units))
	}
	d.fold()
	return d, nil
}

func (d *document) order() binary.ByteOrder {
	if d.enc == utf16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// fold fills lf and cr from raw.
func (d *document) fold() {
	if !strings.Contains(d.raw, "\r\n") {
		d.lf, d.cr = d.raw, nil
		return
	}
	b := make([]byte, 0, len(d.raw))
	d.cr = d.cr[:0]
	for i := 0; i < len(d.raw); i++ {
		if d.raw[i] == '\r' && i+1 < len(d.raw) && d.raw[i+1] == '\n' {
			d.cr = append(d.cr, len(b))
			continue
		}
		b = append(b, d.raw[i])
	}
	d.lf = string(b)
}

// rawAt maps an offset in lf to one in raw.
func (d *document) rawAt(off int) int { return off + sort.SearchInts(d.cr, off) }

// crlfAt reports whether a line break put at an offset of lf should be "\r\n":
// as the line it stands in ends, else as the line before.
func (d *document) crlfAt(off int) bool {
	if len(d.cr) == 0 {
		return false
	}
	if i := strings.IndexByte(d.lf[off:], '\n'); i >= 0 {
		at := off + i
		k := sort.SearchInts(d.cr, at)
		return k < len(d.cr) && d.cr[k] == at
	}
	at := strings.LastIndexByte(d.lf[:off], '\n')
	k := sort.SearchInts(d.cr, at)
	return at >= 0 && k < len(d.cr) && d.cr[k] == at
}

// replace returns d with lf[from:to] replaced by text.
func (d *document) replace(from, to int, text string) document {
	if d.crlfAt(from) {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	out := document{enc: d.enc, raw: d.raw[:d.rawAt(from)] + text + d.raw[d.rawAt(to):]}
	out.fold()
	return out
}

// with returns d holding text as its whole content, in d's encoding and, when
// text does not choose for itself, with d's line endings.
func (d *document) with(text string) document {
	if n := strings.Count(d.lf, "\n"); len(d.cr) > n/2 && !strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	out := document{enc: d.enc, raw: text}
	if d.enc == bomUTF8 {
		out.raw = strings.TrimPrefix(text, bom8)
	}
	out.fold()
	return out
}

// bytes is the content of the file on disk.
func (d *document) bytes() []byte {
	switch d.enc {
	case plainUTF8:
		return []byte(d.raw)
	case bomUTF8:
		return []byte(bom8 + d.raw)
	case utf16LE, utf16BE:
		out := d.order().(binary.AppendByteOrder).AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(d.raw)) {
			out = d.order().(binary.AppendByteOrder).AppendUint16(out, u)
		}
		return out
	}
	return nil
}

// splitLines cuts text into lines without their ends; a final newline does
// not start another line.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
