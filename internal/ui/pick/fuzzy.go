// Package pick finds things by a few typed letters: files for "@", commands for
// "/", and the entries of any menu. It is pure but for List, which walks a
// folder. It opens nothing and decides nothing about what is picked.
package pick

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Query is what somebody typed, ready to be matched. Words are apart by
// spaces; all must match, in any order, each as letters that follow each other
// with gaps. A capital letter matches only itself.
type Query struct {
	text  string
	words []word
}

type word struct {
	s    string // folded, unless exact
	fold bool
	mask uint64
}

// NewQuery reads a query.
func NewQuery(text string) Query {
	q := Query{text: text}
	for f := range strings.FieldsSeq(text) {
		w := word{s: fold(f), fold: true}
		if f != w.s {
			w.s, w.fold = f, false
		}
		w.mask = mask(fold(f))
		q.words = append(q.words, w)
	}
	return q
}

// Empty reports that everything matches.
func (q Query) Empty() bool { return len(q.words) == 0 }

// fold is s in small letters, each as many bytes as it was, so that positions
// stay.
func fold(s string) string {
	lower := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			lower = false
			break
		}
	}
	if lower {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if l := unicode.ToLower(r); utf8.RuneLen(l) == n && !(r == utf8.RuneError && n == 1) {
			b = utf8.AppendRune(b, l)
		} else {
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// mask has a bit for each letter of folded text, to tell quickly that one is
// missing.
func mask(s string) uint64 {
	var m uint64
	for i := 0; i < len(s); i++ {
		m |= 1 << bit(s[i])
	}
	return m
}

func bit(c byte) uint {
	switch {
	case c >= 'a' && c <= 'z':
		return uint(c - 'a')
	case c >= '0' && c <= '9':
		return uint(c-'0') + 26
	case c == '/':
		return 36
	case c == '.':
		return 37
	case c == '_':
		return 38
	case c == '-':
		return 39
	}
	return 40 + uint(c)%24
}

// Scores of one letter. What begins a word and what follows the letter before
// it are what people type; a gap costs a little.
const (
	perLetter   = 16
	atBoundary  = 10 // after / _ - . or a space, or at the start
	atCamel     = 8  // a capital after a small letter, a digit after none
	following   = 12
	firstFactor = 2 // the first letter's bonus counts twice
	gapStart    = -3
	gapMore     = -1
	caseFits    = 1
)

// match finds the letters of w in text, which is folded when w is, with s as it
// was written. The letters found last are taken as far left as the end of the
// first match allows, so that the stretch is the shortest that ends there.
func (w word) match(s, text string, at []int) (score int, end int, ok bool) {
	best, bestEnd := 0, 0
	from := 0
	for tries := 0; tries < 3; tries++ {
		start, stop, found := w.stretch(text, from)
		if !found {
			break
		}
		if sc := w.score(s, text, start, stop, nil); !ok || sc > best {
			best, bestEnd, ok = sc, stop, true
			from = start
		}
		from = start + 1
	}
	if !ok {
		return 0, 0, false
	}
	if at != nil {
		start := w.startOf(text, bestEnd)
		w.score(s, text, start, bestEnd, at)
	}
	return best, bestEnd, true
}

// stretch is the first part of text from an index that has the letters of w in
// their order, and the shortest that ends there.
func (w word) stretch(text string, from int) (start, end int, ok bool) {
	at := from
	for i := 0; i < len(w.s); i++ {
		k := strings.IndexByte(text[at:], w.s[i])
		if k < 0 {
			return 0, 0, false
		}
		at += k + 1
	}
	return w.startOf(text, at), at, true
}

func (w word) startOf(text string, end int) int {
	at := end
	for i := len(w.s) - 1; i >= 0; i-- {
		at = strings.LastIndexByte(text[:at], w.s[i])
	}
	return at
}

// score rates the letters of w between start and end; into at, when it has room,
// go their places.
func (w word) score(s, text string, start, end int, at []int) int {
	total, i, gap := 0, 0, 0
	run := 0
	for p := start; p < end && i < len(w.s); p++ {
		if text[p] != w.s[i] {
			if i > 0 {
				if gap++; gap == 1 {
					total += gapStart
				} else {
					total += gapMore
				}
			}
			run = 0
			continue
		}
		b := bonus(s, p)
		if run > 0 {
			b = max(b, following)
		}
		if i == 0 {
			b *= firstFactor
		}
		total += perLetter + b
		if at != nil {
			at[i] = p
		}
		run++
		gap = 0
		i++
	}
	return total
}

// bonus is what the place of a letter is worth.
func bonus(s string, p int) int {
	if p == 0 {
		return atBoundary
	}
	c, before := s[p], s[p-1]
	switch {
	case separator(before) && !separator(c):
		return atBoundary
	case c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z', digit(c) && !digit(before):
		return atCamel
	}
	return 0
}

func separator(c byte) bool {
	switch c {
	case '/', '_', '-', '.', ' ', '\\', ':', ',', '(', '\n', '\t', '"', '\'':
		return true
	}
	return false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// Match rates s, more is better, and says which bytes matched, in order.
func (q Query) Match(s string) (score int, at []int, ok bool) {
	score, ok = q.rate(s, fold(s))
	if !ok {
		return 0, nil, false
	}
	return score, q.places(s), true
}

// rate is Match without places, on a text that is folded already.
func (q Query) rate(s, folded string) (int, bool) {
	total := 0
	for _, w := range q.words {
		text := folded
		if !w.fold {
			text = s
		}
		n, _, ok := w.match(s, text, nil)
		if !ok {
			return 0, false
		}
		total += n
	}
	return total, true
}

// places are the bytes of s that matched.
func (q Query) places(s string) []int {
	var out []int
	folded := fold(s)
	for _, w := range q.words {
		text := folded
		if !w.fold {
			text = s
		}
		at := make([]int, len(w.s))
		if _, _, ok := w.match(s, text, at); ok {
			out = append(out, at...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
