package edit

import "strings"

// brackets are those that % knows; each stands beside its partner.
const brackets = "()[]{}"

// pair is %: where the partner of the first bracket is that stands at a position or
// behind it in the line.
func (t *text) pair(at int) (int, bool) {
	_, end := t.bounds(at)
	i := -1
	for ; at < end; at++ {
		if i = strings.IndexRune(brackets, t.r[at]); i >= 0 {
			break
		}
	}
	if i < 0 {
		return at, false
	}
	step, here, there := 1, t.r[at], rune(brackets[i^1])
	if i%2 == 1 {
		step = -1
	}
	quoted := t.inQuotes()
	for p, depth := at+step, 0; p >= 0 && p < len(t.r); p += step {
		r := t.r[p]
		switch {
		case r != here && r != there, quoted[p] != quoted[at]: // a string's are its own
		case r == here:
			depth++
		case depth == 0:
			return p, true
		default:
			depth--
		}
	}
	return at, false
}

// inQuotes says of each position whether it is inside of double quotes of its line.
// Where these are of an odd number, nothing is.
func (t *text) inQuotes() []bool {
	out := make([]bool, len(t.r))
	for i := range t.lines {
		from, to := t.lines[i].start, t.lineEnd(i)
		open := -1 // where the last of an odd number of quotes stands
		for p := from; p < to; p++ {
			switch t.r[p] {
			case '\\':
				p++
			case '"':
				if p > from && p+1 < to && t.r[p-1] == '\'' && t.r[p+1] == '\'' {
					continue // the character "
				}
				if open < 0 {
					open = p
					continue
				}
				for q := open + 1; q <= p; q++ {
					out[q] = true
				}
				open = -1
			}
		}
		if open >= 0 {
			clear(out[from:to])
		}
	}
	return out
}

// paragraph is { and }: the count-th empty line before or behind, or where the text
// ends. There the motion takes the last character in.
func (t *text) paragraph(at, count int, back bool) (r reach, ok bool) {
	i, last := t.lineOf(at), len(t.lines)-1
	step, end := 1, last
	if back {
		step, end = -1, 0
	}
	for ; count > 0; count-- {
		for text := !t.emptyLine(t.lines[i].start); ; {
			if i == end {
				if count > 1 {
					return reach{}, false
				}
				break
			}
			i += step
			if empty := t.emptyLine(t.lines[i].start); empty && text {
				break
			} else if !empty {
				text = true
			}
		}
	}
	start := t.lines[i].start
	if !back && i == last && !t.emptyLine(start) {
		return reach{to: t.lastOf(start), inclusive: true, one: true}, true
	}
	return reach{to: start, one: true}, true
}

// wordEndBack is ge: the end of the count-th word before. False means that the text
// began before that.
func (t *text) wordEndBack(at, count int, big bool) (int, bool) {
	for ; count > 0; count-- {
		if at == 0 {
			return 0, false
		}
		class := t.class(at, big)
		at = t.prev(at)
		for class != classBlank && t.class(at, big) == class {
			if at == 0 {
				return 0, true
			}
			at = t.prev(at)
		}
		for t.class(at, big) == classBlank && !t.emptyLine(at) {
			if at == 0 {
				return 0, true
			}
			at = t.prev(at)
		}
	}
	return at, true
}
