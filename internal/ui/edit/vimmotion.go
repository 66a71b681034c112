package edit

import "unicode"

// Classes of characters, as words are made of them.
const (
	classBlank = iota
	classPunct
	classWord
	classOther // and above: scripts without spaces, emoji, chips
)

// class is the class of the character at a position; a line's end is blank.
func (t *text) class(at int, big bool) int {
	if t.eol(at) {
		return classBlank
	}
	r := t.r[at]
	switch {
	case r == ' ' || r == '\t' || r == 0xa0:
		return classBlank
	case isChip(r):
		return 1000 + int(r-chipBase) // each is a word of its own
	case big:
		return classWord
	case r < 0x80:
		if letter(r) {
			return classWord
		}
		return classPunct
	case unicode.Is(unicode.Han, r):
		return classOther
	case unicode.Is(unicode.Hiragana, r):
		return classOther + 1
	case unicode.Is(unicode.Katakana, r):
		return classOther + 2
	case unicode.Is(unicode.Hangul, r):
		return classOther + 3
	case letter(r):
		return classWord
	case unicode.Is(unicode.So, r):
		return classOther + 4
	}
	return classPunct
}

// eol reports that no character stands at a position.
func (t *text) eol(at int) bool { return at >= len(t.r) || t.r[at] == '\n' }

// emptyLine reports that a position is a line without characters.
func (t *text) emptyLine(at int) bool { return t.eol(at) && (at == 0 || t.r[at-1] == '\n') }

// How inc left a position.
type moved int

const (
	movedIn   moved = iota // to another character of the line
	movedLine              // to the start of the next line
	movedEnd               // behind the last character of the line
	stuck                  // the text ends
)

// inc is the position after one, which a line's end is, too.
func (t *text) inc(at int) (int, moved) {
	if at >= len(t.r) {
		return at, stuck
	}
	if t.r[at] == '\n' {
		return at + 1, movedLine
	}
	at = t.next(at)
	if t.eol(at) {
		return at, movedEnd
	}
	return at, movedIn
}

// wordForward is vim's w. With an operator, the last word of a line ends the
// motion. False means that it could not go on.
func (t *text) wordForward(at, count int, big, op bool) (int, bool) {
	for ; count > 0; count-- {
		class := t.class(at, big)
		last := t.lineOf(at) == len(t.lines)-1
		var m moved
		at, m = t.inc(at)
		if m == stuck || m != movedIn && last {
			return at, false
		}
		if m != movedIn && op && count == 1 {
			return at, true
		}
		for class != classBlank && t.class(at, big) == class {
			at, m = t.inc(at)
			if m == stuck || m != movedIn && op && count == 1 {
				return at, true
			}
		}
		for t.class(at, big) == classBlank && !t.emptyLine(at) {
			at, m = t.inc(at)
			if m == stuck || m != movedIn && last {
				return at, true
			}
		}
	}
	return at, true
}

// wordEnd is vim's e; stay lets the end of the word at the position count, and
// an empty line beyond it when empty is set.
func (t *text) wordEnd(at, count int, big, stay, empty bool) (int, bool) {
	for ; count > 0; count-- {
		class := t.class(at, big)
		var m moved
		if at, m = t.inc(at); m == stuck {
			return at, false
		}
		switch {
		case class != classBlank && t.class(at, big) == class:
		case stay && class != classBlank:
			at, stay = t.prev(at), false
			continue
		default:
			for t.class(at, big) == classBlank {
				if empty && t.emptyLine(at) {
					return at, true
				}
				if at, m = t.inc(at); m == stuck {
					return at, false
				}
			}
			class = t.class(at, big)
		}
		for t.class(at, big) == class {
			if at, m = t.inc(at); m == stuck {
				return at, false
			}
		}
		at, stay = t.prev(at), false
	}
	return at, true
}

// wordBack is vim's b.
func (t *text) wordBack(at, count int, big bool) (int, bool) {
	for ; count > 0; count-- {
		if at == 0 {
			return at, false
		}
		at = t.prev(at)
		for t.class(at, big) == classBlank && !t.emptyLine(at) {
			if at == 0 {
				return 0, true
			}
			at = t.prev(at)
		}
		if t.emptyLine(at) {
			continue
		}
		class := t.class(at, big)
		for at > 0 && t.class(t.prev(at), big) == class {
			at = t.prev(at)
		}
		if at == 0 {
			return 0, true // the start of the text is far enough
		}
	}
	return at, true
}

// firstNonBlank is where the text of a line starts, or its last character.
func (t *text) firstNonBlank(at int) int {
	from, to := t.bounds(at)
	for p := from; p < to; p = t.next(p) {
		if t.class(p, false) != classBlank {
			return p
		}
	}
	return t.lastOf(from)
}

// lastOf is the last character of the line around a position, or where it would
// be.
func (t *text) lastOf(at int) int {
	from, to := t.bounds(at)
	if to == from {
		return from
	}
	return max(from, t.prev(to))
}

// find is f, F, t and T: the count-th occurrence of r in the line.
func (t *text) find(at, count int, r rune, back, till, again bool) (int, bool) {
	from, to := t.bounds(at)
	step := t.next
	if back {
		step = t.prev
	}
	p := at
	if again && till && count == 1 { // ";" goes on where t stopped before the same character
		if n := step(p); inside(n, from, to) && t.r[n] == r {
			p = n
		}
	}
	for count > 0 {
		n := step(p)
		if n == p || !inside(n, from, to) {
			return at, false
		}
		if p = n; t.r[p] == r {
			count--
		}
	}
	if till && back {
		p = t.next(p)
	} else if till {
		p = t.prev(p)
	}
	return p, true
}

func inside(at, from, to int) bool { return at >= from && at < to }

// A reach is where a motion leads and what an operator makes of it.
type reach struct {
	to        int
	inclusive bool // the character there is part of it
	lines     bool // whole lines
	vertical  bool // keeps the column
	anyway    bool // the cursor goes there although the motion failed
	one       bool // what is deleted goes to register 1, however short
}

// motion finds where a key leads. False: it is none, or leads nowhere.
func (v *vim) motion(e *Editor, k rune, count int, counted bool) (reach, bool) {
	t := &e.t
	from, to := t.bounds(e.at)
	switch k {
	case 'h':
		p := e.at
		for n := count; n > 0 && p > from; n-- {
			p = t.prev(p)
		}
		return reach{to: p}, p != e.at || v.op != 0
	case 'l', ' ':
		p, end := e.at, to
		if v.op == 0 && !v.visual() {
			end = t.lastOf(e.at)
		}
		for n := count; n > 0 && p < end; n-- {
			p = t.next(p)
		}
		return reach{to: p}, p != e.at || v.op != 0
	case '0':
		return reach{to: from}, true
	case '^':
		return reach{to: t.firstNonBlank(e.at)}, true
	case '$':
		i := t.lineOf(e.at)
		if count > 1 && i == len(t.lines)-1 {
			return reach{}, false
		}
		i = min(i+count-1, len(t.lines)-1)
		last := t.lastOf(t.lines[i].start)
		if v.visual() {
			last = t.lineEnd(i)
		}
		v.goal = 1 << 30
		return reach{to: last, inclusive: true, vertical: true}, true
	case 'w', 'W':
		return v.word(e, count, k == 'W')
	case 'e', 'E':
		p, ok := t.wordEnd(e.at, count, k == 'E', false, false)
		return reach{to: p, inclusive: true, anyway: true}, ok || v.op != 0
	case 'b', 'B':
		p, ok := t.wordBack(e.at, count, k == 'B')
		return reach{to: p, anyway: true}, ok
	case 'j', 'k', 'G', 'g':
		return v.lineMotion(e, k, count, counted)
	case '%':
		if counted {
			return v.percent(e, count)
		}
		p, ok := t.pair(e.at)
		return reach{to: p, inclusive: true, one: true}, ok
	case '{', '}':
		return t.paragraph(e.at, count, k == '{')
	case ';', ',':
		f := v.found
		if f.r == 0 {
			return reach{}, false
		}
		if k == ',' {
			f.back = !f.back
		}
		p, ok := t.find(e.at, count, f.r, f.back, f.till, true)
		return reach{to: p, inclusive: !f.back}, ok
	}
	return reach{}, false
}

// percent is a count and %: the line at so many hundredths of the text.
func (v *vim) percent(e *Editor, n int) (reach, bool) {
	if n > 100 {
		return reach{}, false
	}
	i := max(0, (n*len(e.t.lines)+99)/100-1)
	return reach{to: e.t.firstNonBlank(e.t.lines[i].start), lines: true}, true
}

// word is w, and what cw makes of it.
func (v *vim) word(e *Editor, count int, big bool) (reach, bool) {
	if v.op == 'c' && e.t.class(e.at, big) != classBlank {
		p, _ := e.t.wordEnd(e.at, count, big, true, false)
		return reach{to: p, inclusive: true}, true
	}
	p, ok := e.t.wordForward(e.at, count, big, v.op != 0)
	return reach{to: p, anyway: true}, ok || v.op != 0
}

// lineMotion is j, k, G and gg.
func (v *vim) lineMotion(e *Editor, k rune, count int, counted bool) (reach, bool) {
	t := &e.t
	i, last := t.lineOf(e.at), len(t.lines)-1
	to := i
	switch k {
	case 'j':
		to = min(i+count, last)
	case 'k':
		to = max(i-count, 0)
	case 'G':
		if to = last; counted {
			to = min(count-1, last)
		}
	case 'g':
		to = min(count-1, last)
	}
	if k == 'G' || k == 'g' {
		return reach{to: t.firstNonBlank(t.lines[to].start), lines: true}, true
	}
	if to == i {
		return reach{}, false
	}
	if v.goal < 0 {
		v.goal = t.lineColumn(i, e.at)
	}
	return reach{to: t.atLineColumn(to, v.goal, v.visual() && v.goal == 1<<30), lines: true, vertical: true}, true
}

// lineColumn is how many columns stand left of a position in its line.
func (t *text) lineColumn(i, at int) int {
	col := 0
	t.each(t.lines[i].start, at, func(_, _, w int) bool { col += w; return true })
	return col
}

// atLineColumn is the character of a line at a column, or its last.
func (t *text) atLineColumn(i, col int, end bool) int {
	from, to := t.lines[i].start, t.lineEnd(i)
	if end {
		return to
	}
	at, n := from, 0
	t.each(from, to, func(a, _, w int) bool {
		if n > col {
			return false
		}
		if at = a; n+w > col {
			return false
		}
		n += w
		return true
	})
	return at
}
