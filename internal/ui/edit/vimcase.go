package edit

import "unicode"

// caser is what an operator or a command of visual mode makes of each character's
// case: u lower, U upper, ~ the other one. nil is for any other key.
func caser(k rune) func(rune) rune {
	switch k {
	case 'u':
		return unicode.ToLower
	case 'U':
		return unicode.ToUpper
	case '~':
		return func(r rune) rune {
			if u := unicode.ToUpper(r); u != r {
				return u
			}
			return unicode.ToLower(r)
		}
	}
	return nil
}

// recase changes the case of a part of the text.
func (e *Editor) recase(from, to int, f func(rune) rune) {
	rs := make([]rune, 0, to-from)
	for _, r := range e.t.r[from:to] {
		if !isChip(r) {
			r = f(r)
		}
		rs = append(rs, r)
	}
	e.step(doOther)
	e.change(from, to, rs)
}
