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
	words []word
}

type word struct {
	s    string // folded, unless exact
	fold bool
	mask uint64
	head string // up to the last "/", when there is one
	tail *word  // what follows it, nil when nothing does
}

// NewQuery reads a query.
func NewQuery(text string) Query {
	var q Query
	for f := range strings.FieldsSeq(text) {
		w := word{s: fold(f), fold: true}
		if f != w.s {
			w.s, w.fold = f, false
		}
		w.mask = mask(fold(f))
		if i := strings.LastIndexByte(w.s, '/'); i >= 0 && i+1 < len(w.s) {
			w.tail = &word{s: w.s[i+1:], fold: w.fold, mask: mask(fold(f[i+1:]))}
			w.head = w.s[:i+1]
		} else if i >= 0 {
			w.head = w.s
		}
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
)

// longestWord bounds a word whose letters may have gaps.
const longestWord = 64

// longText is from where on only one way is tried, in bytes.
const longText = 32

// scratch is where match tries places; who matches much keeps one.
type scratch struct{ right, near [longestWord]int }

// match finds the word in text, which is folded when w is, with s as it was
// written: as it stands there, best where a word begins, or else its letters in
// their order. Of the latter two ways are tried, as far right as they are and as
// near to the first of those as they are (in a short text), because that costs
// the same for any text. Into at, when it is not nil, go the places.
func (w word) match(s, text string, at []int, tmp *scratch) (score, start, end int, ok bool) {
	if p := w.occurrence(s, text); p >= 0 {
		for i := range at {
			at[i] = p + i
		}
		return w.solid(s, p), p, p + len(w.s), true
	}
	return w.gaps(s, text, at, tmp)
}

// above is match, without the places, for who has no use for less than floor. A
// word that is not there as it is, and with gaps is worth less, is hopeless: it
// is not looked whether it is there at all.
func (w word) above(s, text string, floor int, tmp *scratch) (score int, ok, hopeless bool) {
	if p := w.occurrence(s, text); p >= 0 {
		return w.solid(s, p), true, false
	}
	if n := len(w.s); n*perLetter+firstFactor*atBoundary+(n-2)*following+atBoundary+gapStart < floor {
		return 0, false, true
	}
	score, _, _, ok = w.gaps(s, text, nil, tmp)
	return score, ok, false
}

// gaps is match for a word that text does not have as it is.
func (w word) gaps(s, text string, at []int, tmp *scratch) (score, start, end int, ok bool) {
	if len(w.s) > longestWord {
		return 0, 0, 0, false
	}
	right, near := &tmp.right, &tmp.near
	n := len(w.s)
	i := n - 1
	for p := len(text) - 1; p >= 0 && i >= 0; p-- {
		if text[p] == w.s[i] {
			right[i] = p
			i--
		}
	}
	if i >= 0 {
		return 0, 0, 0, false
	}
	if at == nil && len(text) > longText { // many long paths have to be rated quickly
		return rate(s, right[:n]), right[0], right[n-1] + 1, true
	}
	near[0] = right[0]
	for i := 1; i < n; i++ {
		near[i] = near[i-1] + 1 + strings.IndexByte(text[near[i-1]+1:], w.s[i])
	}
	places := right[:n]
	score = rate(s, places)
	if other := rate(s, near[:n]); other > score {
		score, places = other, near[:n]
	}
	copy(at, places)
	return score, places[0], places[n-1] + 1, true
}

// occurrence is where the word stands in text, at the start of a word if it does
// so among the first few times, or -1.
func (w word) occurrence(s, text string) int {
	first := strings.Index(text, w.s)
	for p, tries := first, 0; p >= 0 && tries < 4; tries++ {
		if bonus(s, p) > 0 {
			return p
		}
		k := strings.Index(text[p+1:], w.s)
		if k < 0 {
			break
		}
		p += 1 + k
	}
	return first
}

// solid rates a word without gaps that starts at p.
func (w word) solid(s string, p int) int {
	n := len(w.s)
	return n*perLetter + firstFactor*bonus(s, p) + (n-1)*following
}

// rate rates letters at their places.
func rate(s string, places []int) int {
	total := 0
	for i, p := range places {
		b := bonus(s, p)
		switch {
		case i == 0:
			b *= firstFactor
		case p == places[i-1]+1:
			b = max(b, following)
		default:
			total += gapStart + gapMore*(p-places[i-1]-2)
		}
		total += perLetter + b
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
	var tmp scratch
	total := 0
	for _, w := range q.words {
		text := folded
		if !w.fold {
			text = s
		}
		n, _, _, ok := w.match(s, text, nil, &tmp)
		if !ok {
			return 0, false
		}
		total += n
	}
	return total, true
}

// places are the bytes of s that matched.
func (q Query) places(s string) []int {
	var tmp scratch
	var out []int
	folded := fold(s)
	for _, w := range q.words {
		text := folded
		if !w.fold {
			text = s
		}
		at := make([]int, len(w.s))
		if _, _, _, ok := w.match(s, text, at, &tmp); ok {
			out = append(out, at...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
