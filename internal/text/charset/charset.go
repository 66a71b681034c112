// Package charset reads and writes text that is stored otherwise than in UTF-8:
// in the code pages and national encodings that came before it. It finds out
// which one a file uses, and says so only when it is sure and the text leads
// back to the same bytes. What has no byte order mark is never taken for UTF-16.
package charset

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A kind is how an encoding uses the bytes above 0x7f.
type kind int

const (
	latin  kind = iota // one byte is a letter among ASCII letters
	script             // one byte is a letter of another script
	wide               // two bytes are one character
)

// An Encoding is a way to store text.
type Encoding struct {
	// Name is its name in the registry of IANA.
	Name string

	kind   kind
	common bool // far more files are stored so than in others of its kind
	enc    encoding.Encoding
	// detected are the names that the detector gives it.
	detected string
	// alphabets are the letters with accents of the languages that are written so; for
	// latin ones.
	alphabets string
	// first reports whether two bytes are a character of the part that the
	// standard fills with what is used most; for wide ones.
	first func(a, b byte) bool
	// tells reports whether a character that starts with this byte is one that
	// other encodings with the same bytes would hardly have so often.
	tells func(a byte) bool
}

// Letters with accents: of French, German, Spanish, Portuguese, Italian, Catalan, Dutch,
// Swedish, Danish, Icelandic, Estonian; of Polish, Czech, Slovak, Hungarian, Romanian,
// Croatian, German; of Turkish.
const (
	western = "àâæçéèêëîïôœûüÿùñ äöüßéà áéíóúüñç àáâãçéêíóôõúü àèéìíòóùú àçèéíïòóúü áàâäéèêëíîïóôöúûü åäöéüàšž æøåéèêóòôâ áðéíóúýþæö äöõüšž"
	central = "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţ čćđšž äöüß"
	turkish = "çğıöşüâîû"
)

// encodings are those that are known. Of two that fit equally, the first wins.
var encodings = []*Encoding{
	{Name: "windows-1252", alphabets: western, common: true, enc: charmap.Windows1252, detected: "ISO-8859-1 windows-1252"},
	{Name: "windows-1250", alphabets: central, enc: charmap.Windows1250, detected: "ISO-8859-2 windows-1250"},
	{Name: "ISO-8859-2", alphabets: central, enc: charmap.ISO8859_2, detected: "ISO-8859-2 windows-1250"},
	{Name: "windows-1254", alphabets: turkish, enc: charmap.Windows1254, detected: "ISO-8859-9 windows-1254"},
	{Name: "windows-1251", kind: script, enc: charmap.Windows1251, detected: "windows-1251"},
	{Name: "KOI8-R", kind: script, enc: charmap.KOI8R, detected: "KOI8-R"},
	{Name: "ISO-8859-5", kind: script, enc: charmap.ISO8859_5, detected: "ISO-8859-5"},
	{Name: "windows-1253", kind: script, enc: charmap.Windows1253, detected: "ISO-8859-7 windows-1253"},
	{Name: "windows-1255", kind: script, enc: charmap.Windows1255, detected: "ISO-8859-8 ISO-8859-8-I windows-1255"},
	{Name: "windows-1256", kind: script, enc: charmap.Windows1256, detected: "windows-1256"},
	{Name: "ISO-8859-6", kind: script, enc: charmap.ISO8859_6, detected: "ISO-8859-6"},
	// JIS X 0208: rows 1-8 are signs and kana, 16-47 the kanji of level 1.
	{Name: "Shift_JIS", kind: wide, enc: japanese.ShiftJIS, detected: "Shift_JIS", first: func(a, _ byte) bool { return a >= 0x81 && a <= 0x84 || a >= 0x88 && a <= 0x98 }},
	{Name: "EUC-JP", kind: wide, enc: japanese.EUCJP, detected: "EUC-JP", first: func(a, b byte) bool { return (a >= 0xa1 && a <= 0xa8 || a >= 0xb0 && a <= 0xcf) && b >= 0xa1 },
		tells: func(a byte) bool { return a == 0xa4 || a == 0xa5 }},
	// KS X 1001: rows 1-12 are signs, 16-40 the syllables.
	{Name: "EUC-KR", kind: wide, enc: korean.EUCKR, detected: "EUC-KR", first: func(a, b byte) bool { return (a >= 0xa1 && a <= 0xac || a >= 0xb0 && a <= 0xc8) && b >= 0xa1 },
		tells: func(a byte) bool { return a >= 0xb0 && a <= 0xc8 }},
	// GB 2312: rows 1-9 are signs, 16-55 the characters of level 1.
	{Name: "GBK", kind: wide, common: true, enc: simplifiedchinese.GBK, detected: "GB18030 GB-18030", first: gbFirst},
	{Name: "GB18030", kind: wide, common: true, enc: simplifiedchinese.GB18030, detected: "GB18030 GB-18030", first: gbFirst},
	// Big5: A1-A3 are signs, A4-C6 the characters of level 1.
	{Name: "Big5", kind: wide, enc: traditionalchinese.Big5, detected: "Big5", first: func(a, b byte) bool { return a >= 0xa1 && a <= 0xc6 }},
}

func gbFirst(a, b byte) bool { return (a >= 0xa1 && a <= 0xa9 || a >= 0xb0 && a <= 0xd7) && b >= 0xa1 }

// decode returns b as text; ok is false when the text does not lead back to the
// same bytes.
func (e *Encoding) decode(b []byte) (text string, ok bool) {
	out, err := e.enc.NewDecoder().Bytes(b)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", false
	}
	back, err := e.enc.NewEncoder().Bytes(out)
	return string(out), err == nil && bytes.Equal(back, b)
}

// Encode returns the bytes that text is stored as. It fails, with the character
// and its place, when the encoding does not hold one.
func (e *Encoding) Encode(text string) ([]byte, error) {
	out, err := e.enc.NewEncoder().Bytes([]byte(text))
	if err == nil {
		if back, ok := e.decode(out); ok && back == text {
			return out, nil
		}
	}
	one := e.enc.NewEncoder()
	for i, r := range text {
		if r < utf8.RuneSelf {
			continue
		}
		b, err := one.Bytes([]byte(string(r)))
		if err == nil {
			if back, ok := e.decode(b); ok && back == string(r) {
				continue
			}
		}
		return nil, fmt.Errorf("%s does not have the character %q (U+%04X) in line %d", e.Name, r, r, strings.Count(text[:i], "\n")+1)
	}
	return nil, fmt.Errorf("this text cannot be stored as %s", e.Name)
}
