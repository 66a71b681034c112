package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/charset"
)

// An encoding is how a file's text is stored.
type encoding int

const (
	plainUTF8 encoding = iota
	bomUTF8
	utf16LE // with byte order mark
	utf16BE // with byte order mark
	legacy  // as document.set says
	unknown // no UTF-8; raw are the bytes as they are
)

const bom8 = "\xef\xbb\xbf"

// A document is a decoded file: raw is its text with its own line endings, lf
// the same with "\n" only, cr the offsets in lf of line ends that are "\r\n".
type document struct {
	enc encoding
	set *charset.Encoding // for legacy
	raw string
	lf  string
	cr  []int
}

var errUTF16 = errors.New("the file has a UTF-16 byte order mark but an odd number of bytes")

// decode reads bytes as text. Where they are no UTF-8 and their encoding is not
// known, or only some are broken, they stay as they are in raw, so that a write
// changes only what was meant.
func decode(b []byte) (document, error) {
	d, err := decodeRaw(b)
	d.fold()
	return d, err
}

// decodeRaw is decode without lf and cr.
func decodeRaw(b []byte) (document, error) {
	var d document
	switch {
	case bytes.HasPrefix(b, []byte(bom8)):
		d.enc, d.raw = bomUTF8, string(b[3:])
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		d.enc = utf16LE
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		d.enc = utf16BE
	case utf8.Valid(b) && !charset.Shifted(b):
		d.raw = string(b)
	default:
		d.unUTF8(b)
	}
	if d.enc == utf16LE || d.enc == utf16BE {
		var ok bool
		if d.raw, _, ok = charset.UTF16(b); !ok {
			return d, errUTF16
		}
	}
	return d, nil
}

// unUTF8 reads bytes that are no UTF-8, or not all of them.
func (d *document) unUTF8(b []byte) {
	if len(b) <= charset.MaxFind {
		if e, text, ok := charset.Find(b); ok {
			d.enc, d.set, d.raw = legacy, e, text
			return
		}
	}
	d.raw = string(b)
	if good, bad := charset.Count(b); bad > good || charset.Shifted(b) {
		d.enc = unknown
	}
}

// same is a document that is stored as d is.
func (d *document) same(raw string) document {
	out := document{enc: d.enc, set: d.set, raw: raw}
	out.fold()
	return out
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
	return d.same(d.raw[:d.rawAt(from)] + text + d.raw[d.rawAt(to):])
}

// with returns d holding text as its whole content, in d's encoding and, when
// text does not choose for itself, with d's line endings. A script that starts
// with #! does: the system finds no program whose name ends with a CR.
func (d *document) with(text string) document {
	if d.mostlyCRLF() && !strings.Contains(text, "\r\n") && !strings.HasPrefix(text, "#!") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if d.enc == bomUTF8 {
		text = strings.TrimPrefix(text, bom8)
	}
	return d.same(text)
}

func (d *document) mostlyCRLF() bool { return len(d.cr) > strings.Count(d.lf, "\n")/2 }

// bytes is the content of the file on disk. It fails when the file's encoding
// does not hold the text.
func (d *document) bytes() ([]byte, error) {
	switch d.enc {
	case plainUTF8, unknown:
		return []byte(d.raw), nil
	case bomUTF8:
		return []byte(bom8 + d.raw), nil
	case legacy:
		return d.set.Encode(d.raw)
	case utf16LE, utf16BE:
		out := d.order().(binary.AppendByteOrder).AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(d.raw)) {
			out = d.order().(binary.AppendByteOrder).AppendUint16(out, u)
		}
		return out, nil
	}
	return nil, nil
}

// added returns the first character in b that is there more often than in a, of
// those that are meant.
func added(a, b string, meant func(rune) bool) (rune, bool) {
	count := map[rune]int{}
	each := func(s string, n int) (r rune, ok bool) {
		for i, r := range s {
			if meant(r) && (r != utf8.RuneError || strings.HasPrefix(s[i:], "\uFFFD")) {
				if count[r] += n; count[r] < 0 {
					return r, true
				}
			}
		}
		return 0, false
	}
	each(a, 1)
	return each(b, -1)
}

// keeps checks that new, a change of d, is text and holds nothing that d cannot.
func (d *document) keeps(new *document) error {
	broken := d.enc == unknown || !utf8.ValidString(d.raw)
	if _, ok := added(d.raw, new.raw, func(r rune) bool { return r == utf8.RuneError }); ok && (broken || d.enc == legacy) {
		return errors.New("the new text holds U+FFFD (\uFFFD), which stands for bytes of the file that Read could not show as text; " +
			"writing it would lose them. Use Edit on the parts around them")
	}
	if d.enc == unknown {
		if r, ok := added(d.raw, new.raw, func(r rune) bool { return r >= utf8.RuneSelf }); ok {
			return fmt.Errorf("the file is not UTF-8 and its encoding is not known, so that %q (U+%04X) cannot be written in it; "+
				"write it in ASCII, or convert the file first, such as with `iconv -f ENCODING -t UTF-8`", r, r)
		}
	}
	_, err := new.bytes()
	if err != nil && d.enc == legacy {
		err = fmt.Errorf("the file is stored as %s, not UTF-8: %w; write it otherwise, or convert the file first, such as with `iconv -f %s -t UTF-8`", d.set.Name, err, d.set.Name)
	}
	return err
}

// splitLines cuts text into lines without their ends; a final newline does
// not start another line.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
