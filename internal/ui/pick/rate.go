package pick

import (
	"math"
	"strings"
)

// What a match in the last name is worth more than one in the folders, and what
// the typed text as it is, is worth.
const (
	inBase     = 40
	wholeBase  = 60
	fromStart  = 50
	perFolder  = 2
	perEight   = 1 // and for eight letters more
	basePrefix = 20
)

// rate says how well a file matches that does not do so in its last name. What
// is worth less than floor may be told as hopeless, and is not looked into.
func (f *Files) rate(i int32, q Query, floor int, tmp *scratch) (score int, ok, hopeless bool) {
	o := &f.lines[i]
	total := -int(o.len) / 8 * perEight
	for _, w := range q.words {
		if o.mask&w.mask != w.mask {
			return 0, false, false
		}
		n, ok, hopeless := 0, true, false
		if c := w.s[0]; len(w.s) == 1 && w.fold && bit(c) < 40 {
			n = o.letter(w.mask, c)
		} else {
			n, ok, hopeless = f.all[i].word(w, o, len(q.words) > 1, floor-total, tmp)
		}
		if !ok {
			return 0, false, hopeless
		}
		total += n
	}
	return total, true, false
}

// letter rates a single letter: most files have it somewhere, and where hardly
// matters.
func (o *outline) letter(m uint64, c byte) int {
	switch {
	case o.first == c:
		return perLetter + firstFactor*atBoundary + inBase + basePrefix
	case o.base&m != 0:
		return perLetter + inBase
	}
	return perLetter
}

func (e *file) text(w word) string {
	if w.fold {
		return e.fold
	}
	return e.path
}

// inBase rates a match in the last name.
func (e *file) inBase(w word, o *outline, floor int, tmp *scratch) (n int, ok, hopeless bool) {
	if o.base&w.mask != w.mask {
		return 0, false, false
	}
	base := e.text(w)[e.base:]
	n, ok, hopeless = w.above(e.path[e.base:], base, floor-inBase, tmp)
	if !ok {
		return 0, false, hopeless
	}
	n += inBase
	if rest, ok := strings.CutPrefix(base, w.s); ok {
		n += basePrefix
		if rest == "" || rest == "/" || rest[0] == '.' {
			n += wholeBase
		}
	}
	return n, true, false
}

// inPath rates a word with a "/" that the path has as it is, or of which it has
// the folders so and the rest in the last name.
func (e *file) inPath(w word, o *outline, tmp *scratch) (int, bool) {
	text := e.text(w)
	p := strings.Index(text, w.head)
	if p < 0 {
		return 0, false
	}
	if p > 0 { // better where a name begins
		if k := strings.Index(text[p:], "/"+w.head); k >= 0 {
			p += k + 1
		}
	}
	n := word{s: w.head}.solid(e.path, p)
	if w.tail == nil {
		return n + e.start(w, text), true
	}
	if strings.HasPrefix(text[p+len(w.head):], w.tail.s) {
		return n + len(w.tail.s)*(perLetter+following) + wholeBase + e.start(w, text), true
	}
	if p+len(w.head) > e.base || o.base&w.tail.mask != w.tail.mask {
		return 0, false
	}
	t, _, _, ok := w.tail.match(e.path[e.base:], text[e.base:], nil, tmp)
	return n + t, ok
}

// start is what it is worth that a path starts with the word.
func (e *file) start(w word, text string) int {
	if !strings.HasPrefix(text, w.s) {
		return 0
	}
	return fromStart - perFolder*strings.Count(text[len(w.s):], "/")
}

// word rates a match anywhere in the path; base says that the last name has not
// been looked at.
func (e *file) word(w word, o *outline, base bool, floor int, tmp *scratch) (n int, ok, hopeless bool) {
	text := e.text(w)
	if w.head != "" {
		if n, ok := e.inPath(w, o, tmp); ok {
			return n, true, false
		}
		find := w.gaps
		if len(w.s) > longestWord {
			find = w.match
		}
		n, _, _, ok := find(e.path, text, nil, tmp)
		return n, ok, false
	}
	if base {
		if n, ok, _ := e.inBase(w, o, math.MinInt32, tmp); ok {
			return n, true, false
		}
	}
	n, ok, hopeless = w.above(e.path, text, floor, tmp)
	return n + e.start(w, text), ok, hopeless
}
