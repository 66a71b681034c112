package secret

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/order"
)

// Bounds of the search for values whose characters stand apart.
const (
	// maxApart is the longest text, in bytes, that is looked through.
	maxApart = 1 << 20
	// maxApartGap is how many bytes may stand between two characters.
	maxApartGap = 24
	// longApart is from how many bytes on a value may also be in groups; of a
	// shorter one every character must stand apart, or words would be hidden.
	longApart = 16
)

// A bare is a text without what may stand between the characters of a value
// that were set apart: "k e y", "k-e-y", one a line, with numbers or without.
type bare struct {
	text []byte
	at   []int32 // where each byte of text stands in the original
}

// A drop says what a bare text leaves out.
type drop int

const (
	marks   drop = iota // all but letters and digits
	spaces              // only white space
	numbers             // marks, and numbers at the beginning of lines
	drops
)

// bareOf also reads \n and its like as a mark: a text may be inside of JSON.
func bareOf(b []byte, d drop) bare {
	out := bare{text: make([]byte, 0, len(b)), at: make([]int32, 0, len(b))}
	line := true
	for i := 0; i < len(b); {
		c, n := rune(b[i]), 1
		if c < utf8.RuneSelf && d != numbers && c != '\\' {
			if alnum[c] || d == spaces && c != ' ' && (c < '\t' || c > '\r') {
				out.text, out.at = append(out.text, b[i]), append(out.at, int32(i))
			}
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(b[i:])
		}
		if c == '\\' && i+1 < len(b) && bytes.IndexByte([]byte(`nrt"\/`), b[i+1]) >= 0 && d != spaces {
			line = line || b[i+1] == 'n'
			i += 2
			continue
		}
		if d == numbers && line && c >= '0' && c <= '9' {
			if m := numbered(b[i:]); m > 0 {
				i += m
				line = false
				continue
			}
		}
		keep := unicode.IsLetter(c) || unicode.IsDigit(c)
		if d == spaces {
			keep = !unicode.IsSpace(c)
		}
		line = c == '\n' || line && !keep
		if keep {
			for k := range n {
				out.text = append(out.text, b[i+k])
				out.at = append(out.at, int32(i+k))
			}
		}
		i += n
	}
	return out
}

// numbered is the length of a line's number with what ends it: "12:", "12\t".
func numbered(b []byte) int {
	i := 0
	for i < len(b) && i < 10 && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i < len(b) && bytes.IndexByte([]byte(":\t .)|-"), b[i]) >= 0 {
		return i + 1
	}
	if i+1 < len(b) && b[i] == '\\' && b[i+1] == 't' {
		return i + 2
	}
	return 0
}

// addBare adds what is looked for in bare texts: a value and its reverse.
func (ix *index) addBare(v string) {
	want, by := bareOf([]byte(v), marks).text, []drop{marks, numbers}
	if len(want) < minValue {
		want, by = bareOf([]byte(v), spaces).text, []drop{spaces}
	}
	if len(want) < minValue {
		return
	}
	back := slices.Clone(want)
	slices.Reverse(back)
	for _, d := range by {
		ix.bare[d] = append(ix.bare[d], want, back)
	}
}

// apart finds the values in b whose characters stand apart, forwards and
// backwards, as pairs of where each begins and ends, in order.
func (ix *index) apart(b []byte) [][2]int {
	if len(ix.values) == 0 || len(b) > maxApart {
		return nil
	}
	var out [][2]int
	for d, wants := range ix.bare {
		if len(wants) == 0 {
			continue
		}
		text := bareOf(b, drop(d))
		for _, want := range wants {
			out = append(out, text.find(want)...)
		}
	}
	order.By(out, func(a, b [2]int) int { return a[0] - b[0] })
	return out
}

func (t bare) find(want []byte) (out [][2]int) {
	for from := 0; ; {
		i := bytes.Index(t.text[from:], want)
		if i < 0 {
			return out
		}
		i += from
		if t.setApart(i, len(want)) {
			out = append(out, [2]int{int(t.at[i]), int(t.at[i+len(want)-1]) + 1})
			from = i + len(want)
			continue
		}
		from = i + 1
	}
}

// setApart reports whether n bytes from i on are one value: nothing long
// stands between them, and a short one is all in single characters.
func (t bare) setApart(i, n int) bool {
	gaps := 0
	for k := i + 1; k < i+n; k++ {
		gap := int(t.at[k] - t.at[k-1] - 1)
		if gap > maxApartGap {
			return false
		}
		if gap > 0 || !utf8.RuneStart(t.text[k]) {
			gaps++
		}
	}
	return gaps == n-1 || n >= longApart
}

// withoutApart replaces such values, too.
func (ix *index) withoutApart(b []byte) (string, bool) {
	found := ix.apart(b)
	if len(found) == 0 {
		return "", false
	}
	var out []byte
	end := 0
	for _, f := range found {
		if f[0] >= end {
			out = append(append(out, b[end:f[0]]...), Masked...)
		}
		end = max(end, f[1])
	}
	return string(append(out, b[end:]...)), true
}
