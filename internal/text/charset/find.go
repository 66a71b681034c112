package charset

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
)

// Bounds of finding out.
const (
	maxSample = 32 << 10 // bytes looked at
	minSample = 256      // shorter samples are repeated: the detector counts
	likely    = 0.9      // share of characters that must make sense
	confident = 20       // of the detector, in percent, for single bytes of another script
	// Of fewer bytes above 0x7f than fewLetters the detector knows no language; fewer than
	// fewWide may be characters of two bytes by chance, and than fewScript letters of any script.
	fewLetters = 12
	fewWide    = 8
	fewScript  = 4
	// close scores of two texts of fewWide bytes are no decision.
	close = 10
)

// Find returns the encoding of bytes that are no UTF-8, or shifted, and their text. ok is
// false when that is not sure.
//
// The detector compares the bytes with tables of languages and is good with
// long texts. Source code often has three words of comment: there, what the
// characters would be decides which encodings remain.
func Find(b []byte) (e *Encoding, text string, ok bool) {
	if Shifted(b) && isASCII(b) {
		e = shifted()
		text, ok = e.decode(b)
		return e, text, ok
	}
	s := sample(b)
	if len(s) == 0 || bytes.IndexByte(b, 0) >= 0 || mostlyUTF8(b) {
		return nil, "", false
	}
	sure := confidence(s)
	var best *Encoding
	top, second := 0.0, 0.0 // second of what says something else
	high := highBytes(s)
	western := amongASCII(s)
	for _, e := range encodings {
		if western != (e.kind == latin) {
			continue
		}
		score := e.score(s, sure)
		if score <= second {
			continue
		}
		switch t, ok := e.decode(b); {
		case !ok || t == text: // of two that say the same, the first
		case score > top:
			best, text, top, second = e, t, score, top
		default:
			second = score
		}
	}
	if best == nil || best.kind == wide && high < fewWide && top-second < close {
		return nil, "", false
	}
	return best, text, true
}

func highBytes(s []byte) (n int) {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// score is 0 for what cannot be meant.
func (e *Encoding) score(s []byte, sure map[string]int) float64 {
	t, ok := e.decode(s)
	if !ok {
		return 0
	}
	conf := 0
	for _, name := range strings.Fields(e.detected) {
		conf = max(conf, sure[name])
	}
	sense, high := sensible(t), highBytes(s)
	switch {
	case e.kind == latin && high < fewLetters:
		conf = 0
	case e.kind == script && high < fewScript, e.kind == wide && high < fewWide && conf <= 10:
		return 0
	}
	if e.kind == latin {
		conf += int(100 * e.spoken(t))
	}
	if e.kind == wide {
		n := 0
		sense, n = e.usual(s)
		conf += 2 * min(n, 12)
	}
	if sense < likely || e.kind == script && conf < confident {
		return 0
	}
	if e.common {
		conf += 5
	}
	return sense*1000 + float64(conf)
}

// spoken is the share of the letters with accents that one language has which is written
// in e, of the language that has most of them.
func (e *Encoding) spoken(text string) float64 {
	var letters []rune
	before := ' '
	for _, r := range text {
		if r = unicode.ToLower(r); unicode.IsLetter(r) && strings.ContainsRune("ìù", before) { // they end words
			letters[len(letters)-1] = '?'
		}
		if before = r; r >= utf8.RuneSelf && unicode.IsLetter(r) && !strings.ContainsRune("µªº", r) {
			letters = append(letters, r)
		}
	}
	if len(letters) == 0 {
		return 1
	}
	most := 0
	for alphabet := range strings.FieldsSeq(e.alphabets) {
		n := 0
		for _, r := range letters {
			if strings.ContainsRune(alphabet, r) {
				n++
			}
		}
		most = max(most, n)
	}
	return float64(most) / float64(len(letters))
}

// sample is the words of b that have bytes above 0x7f, with blanks between.
// A blank or newline is never a part of a character.
func sample(b []byte) []byte {
	var out []byte
	for _, w := range bytes.Fields(b[:min(len(b), 64*maxSample)]) {
		if isASCII(w) {
			continue
		}
		if len(out)+len(w) > maxSample {
			break
		}
		out = append(append(out, w...), ' ')
	}
	return out
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// confidence is what the detector says of each encoding, in percent.
func confidence(s []byte) map[string]int {
	if n := minSample/len(s) + 1; n > 1 {
		s = bytes.Repeat(s, n)
	}
	out := map[string]int{}
	found, err := chardet.NewTextDetector().DetectAll(s)
	if err != nil {
		return out
	}
	for _, r := range found {
		out[r.Charset] = max(out[r.Charset], r.Confidence)
	}
	return out
}

// mostlyUTF8 reports whether b is UTF-8 with some broken bytes.
func mostlyUTF8(b []byte) bool {
	good, bad := Count(b)
	return good > bad
}

// Count returns the characters above ASCII that are stored as UTF-8 in b, and
// the bytes that are no part of one.
func Count(b []byte) (good, bad int) {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case r >= utf8.RuneSelf:
			good++
		}
		b = b[n:]
	}
	return good, bad
}

// amongASCII reports whether bytes above 0x7f stand for letters with accents
// and for signs in words of ASCII letters, as in western languages.
func amongASCII(s []byte) bool {
	high, pairs, letters, inWords := 0, 0, 0, 0
	for _, w := range bytes.FieldsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && !unicode.IsLetter(r) }) {
		h := 0
		for i, c := range w {
			if c < utf8.RuneSelf {
				continue
			}
			h++
			if i > 0 && w[i-1] >= utf8.RuneSelf {
				pairs++
			}
		}
		high += h
		if len(w) > 1 && h > 0 {
			letters, inWords = letters+len(w), inWords+h
		}
	}
	return 2*pairs <= high && 10*inWords <= 7*letters
}

// sensible is the share of the characters above ASCII in t that can stand where
// they stand.
func sensible(t string) float64 {
	all, bad := 0, 0
	var before rune
	rs := []rune(t)
	for i, r := range rs {
		if r >= utf8.RuneSelf {
			all++
			var after rune
			if i+1 < len(rs) {
				after = rs[i+1]
			}
			if !fits(before, r, after) {
				bad++
			}
		}
		before = r
	}
	if all == 0 {
		return 0
	}
	return 1 - float64(bad)/float64(all)
}

func fits(before, r, after rune) bool {
	switch {
	case r == 'ÿ' || r == '˙': // 0xff, which is rarely meant as text
		return false
	case unicode.IsMark(r): // one behind another only where the first doubles a letter or tells two apart
		return !unicode.IsMark(before) || strings.ContainsRune("\u0651\u05bc\u05c1\u05c2", before)
	case strings.ContainsRune("‚„‹¿¡", r): // they begin something
		return !unicode.IsLetter(before) && !unicode.IsNumber(before) && after != 0 && !unicode.IsSpace(after)
	case r == 'µ': // a letter of no script, before a unit; its byte is a Slovak ľ, mostly before a vowel
		return !unicode.IsLetter(before) && !strings.ContainsRune("aáeéiíoóuúyý", after)
	case unicode.IsLetter(r):
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			return false
		}
		for _, o := range []rune{before, after} {
			if unicode.IsLetter(o) && unicode.Is(unicode.Latin, o) != unicode.Is(unicode.Latin, r) {
				return false
			}
		}
		return true
	case unicode.IsGraphic(r) || r == 0xad:
		return !unicode.IsLetter(before) || !unicode.IsLetter(after) || strings.ContainsRune("’‘·–—…\u00a0\u00ad", r)
	}
	return false
}

// usual is the share of the characters of s that belong to the part used most,
// and the number of those that tell.
func (e *Encoding) usual(s []byte) (share float64, telling int) {
	all, first := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] < utf8.RuneSelf {
			continue
		}
		all++
		if i+1 < len(s) && e.first(s[i], s[i+1]) {
			first++
			if e.tells != nil && e.tells(s[i]) {
				telling++
			}
			i++
			continue
		}
		switch {
		case e.Name == "Shift_JIS" && s[i] >= 0xa1 && s[i] <= 0xdf: // kana in one byte
		case e.Name == "GB18030" && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9': // four bytes
			i += 3
		default:
			i++
		}
	}
	if all == 0 {
		return 0, 0
	}
	return float64(first) / float64(all), telling
}
