package edit

import (
	"slices"
	"strings"
)

// An extent is a part of the text that an operator works on.
type extent struct {
	from, to int // to is behind it
	lines    bool
}

// object finds a text object around the cursor: i or a and its letter. In visual
// mode it is more than what is selected. Words are wordObject's.
func (v *vim) object(e *Editor, around bool, k rune, count int) (extent, bool) {
	pairs := []string{"()b", "[]", "{}B", "<>"}
	if k == '"' || k == '\'' || k == '`' {
		return e.t.quoted(e.at, k, around, count)
	}
	i := slices.IndexFunc(pairs, func(s string) bool { return strings.ContainsRune(s, k) })
	if i < 0 {
		return extent{}, false
	}
	open, end := rune(pairs[i][0]), rune(pairs[i][1])
	if !v.visual() || v.start == e.at {
		return e.t.bracketed(e.at, open, end, around, count)
	}
	a, b := min(v.start, e.at), max(v.start, e.at)
	for ; ; count++ {
		if _, enclosed := e.t.opening(a, open, end, count > 1); !enclosed {
			return extent{}, false
		}
		x, ok := e.t.bracketed(a, open, end, around, count)
		if !ok || x.from <= a && x.to > b && (x.from < a || x.to > b+1) {
			return x, ok
		}
	}
}

// runEnd is where the characters of one class end, in their line.
func (t *text) runEnd(at int, big bool) int {
	class := t.class(at, big)
	for !t.eol(at) && t.class(at, big) == class {
		at = t.next(at)
	}
	return at
}

func (t *text) runStart(at int, big bool) int {
	from, _ := t.bounds(at)
	class := t.class(at, big)
	for at > from && t.class(t.prev(at), big) == class {
		at = t.prev(at)
	}
	return at
}

// wordObject is iw and aw: from is where it starts, to its last character. Blanks
// between words are words of iw's, and an empty line is one of blanks. What is
// selected already is gone on from. Where it fails, the cursor goes to to.
func (v *vim) wordObject(e *Editor, around, big bool, count int) (from, to int, ok bool) {
	t := &e.t
	from, to, ok = v.start, e.at, true
	behind := false // blanks behind the first word belong to it
	if !v.visual() || v.start == e.at {
		from = t.runStart(e.at, big)
		behind = around && t.class(from, big) != classBlank
		to, ok = t.wordFrom(from, around, big)
		count--
	}
	for ; count > 0 && ok; count-- {
		if v.visual() && to < from {
			to, ok = t.wordBefore(to, around, big)
			continue
		}
		at, m := t.inc(to)
		if m == movedEnd {
			at, m = t.inc(at)
		}
		if m == stuck {
			return from, to, false
		}
		to, ok = t.wordFrom(at, around, big)
	}
	if start, _ := t.bounds(from); ok && behind && t.class(to, big) != classBlank && from > start && t.class(t.prev(from), big) == classBlank {
		if p := t.runStart(t.prev(from), big); p > start { // not the indentation
			from = p
		}
	}
	return from, to, ok
}

// wordFrom is the last character of the word or the blanks at a position; around adds
// the blanks behind a word, or the word behind blanks.
func (t *text) wordFrom(at int, around, big bool) (to int, ok bool) {
	blank := t.class(at, big) == classBlank
	if blank && around {
		return t.wordEnd(at, 1, big, true, true)
	}
	end := t.runEnd(at, big)
	if around && !t.eol(end) && t.class(end, big) == classBlank {
		end = t.runEnd(end, big)
	}
	return max(at, t.prev(end)), true
}

// wordBefore goes back from the first character of a word to that of the one before.
func (t *text) wordBefore(at int, around, big bool) (int, bool) {
	if at == 0 {
		return at, false
	}
	if at = t.prev(at); at > 0 && t.eol(at) && !t.emptyLine(at) {
		at = t.prev(at)
	}
	blank := t.class(at, big) == classBlank
	at = t.runStart(at, big)
	if start, _ := t.bounds(at); around && at > start && (blank || t.class(t.prev(at), big) == classBlank) {
		at = t.runStart(t.prev(at), big)
	}
	return at, true
}

// quoted finds what stands in quotes in the line: around the cursor, or else
// behind it. Two of what is inside is with the quotes.
func (t *text) quoted(at int, q rune, around bool, count int) (extent, bool) {
	from, to := t.bounds(at)
	first, ok := -1, false
	if at < to && t.r[at] == q { // which of a pair it is, only the line's start tells
		for p := from; ; {
			a, found := t.quote(p, to, q)
			if !found || a > at {
				return extent{}, false
			}
			b, found := t.quote(a+1, to, q)
			if !found {
				return extent{}, false
			}
			if at <= b {
				first, ok = a, true
				break
			}
			p = b + 1
		}
	} else {
		for p := at - 1; p >= from; p-- {
			if t.r[p] == q && !t.escaped(p, from) {
				first, ok = p, true
				break
			}
		}
		if !ok {
			first, ok = t.quote(at, to, q)
		}
	}
	if !ok {
		return extent{}, false
	}
	last, ok := t.quote(first+1, to, q)
	if !ok {
		return extent{}, false
	}
	if !around && count > 1 {
		return extent{first, last + 1, false}, true
	}
	if !around {
		return extent{first + 1, last, false}, true
	}
	return t.withBlanks(first, last+1, from, to), true
}

// withBlanks adds the blanks behind a part of a line, or else those before it.
func (t *text) withBlanks(a, b, from, to int) extent {
	end := b
	for end < to && t.class(end, false) == classBlank {
		end++
	}
	if end == b {
		for a > from && t.class(a-1, false) == classBlank {
			a--
		}
	}
	return extent{a, end, false}
}

// quote is the next quote that no backslash takes away.
func (t *text) quote(p, to int, q rune) (int, bool) {
	for ; p < to; p++ {
		switch t.r[p] {
		case '\\':
			p++
		case q:
			return p, true
		}
	}
	return 0, false
}

// escaped: an odd number of backslashes stands before p.
func (t *text) escaped(p, from int) bool {
	n := 0
	for p-1-n >= from && t.r[p-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// bracketed finds the count-th pair of brackets around the cursor. Where there is
// none, the next one behind it counts.
func (t *text) bracketed(at int, open, end rune, around bool, count int) (extent, bool) {
	a, b := at, 0
	for n := range count {
		p, ok := t.opening(a, open, end, n > 0)
		if !ok {
			if p, ok = t.nextOpen(a, open, n > 0); !ok {
				return extent{}, false
			}
		}
		if b, ok = t.closing(p, open, end); !ok {
			return extent{}, false
		}
		a = p
	}
	if around {
		return extent{a, b + 1, false}, true
	}
	return t.between(a+1, b), true
}

// opening is the bracket that opens what a position is in; beyond leaves the
// bracket out that stands there.
func (t *text) opening(at int, open, end rune, beyond bool) (int, bool) {
	if at < len(t.r) && t.r[at] == open && !beyond {
		return at, true
	}
	for a, depth := at-1, 0; a >= 0; a-- {
		switch t.r[a] {
		case end:
			depth++
		case open:
			if depth == 0 {
				return a, true
			}
			depth--
		}
	}
	return 0, false
}

func (t *text) nextOpen(at int, open rune, beyond bool) (int, bool) {
	if beyond {
		at++
	}
	for ; at < len(t.r); at++ {
		if t.r[at] == open {
			return at, true
		}
	}
	return 0, false
}

func (t *text) closing(at int, open, end rune) (int, bool) {
	for b, depth := at+1, 0; b < len(t.r); b++ {
		switch t.r[b] {
		case open:
			depth++
		case end:
			if depth == 0 {
				return b, true
			}
			depth--
		}
	}
	return 0, false
}

// between is what stands inside brackets. When they stand on lines of their own,
// it is the lines between.
func (t *text) between(from, to int) extent {
	if from < to && t.r[from] == '\n' {
		from++
	}
	start, _ := t.bounds(to)
	indent := start
	for indent < to && t.class(indent, false) == classBlank {
		indent++
	}
	if indent == to && start > from { // only blanks before the closing bracket
		if t.r[from-1] == '\n' {
			return extent{from, start - 1, true}
		}
		return extent{from, start - 1, false}
	}
	return extent{from, max(from, to), false}
}
