package edit

// A spot keeps to the character it is at while the text around it changes.
type spot int

// moved is the spot after a part of the text became n characters.
func (p spot) moved(from, to, n int) spot {
	switch at := int(p); {
	case at >= to && at > from:
		return spot(at + n - (to - from))
	case at > from+n:
		return spot(from + n)
	}
	return p
}

// A selected is a visual selection that was left.
type selected struct {
	mode       VimMode
	start, end spot
}

// shifted keeps marks where they are while the text changes.
func (v *vim) shifted(from, to, n int) {
	for r, p := range v.marks {
		v.marks[r] = p.moved(from, to, n)
	}
	for _, s := range []*selected{&v.seen, &v.last} {
		s.start, s.end = s.start.moved(from, to, n), s.end.moved(from, to, n)
	}
}

// mark is m and a letter.
func (v *vim) mark(e *Editor, name rune) {
	if !isMark(name) {
		v.fail()
		return
	}
	if v.marks == nil {
		v.marks = map[rune]spot{}
	}
	v.marks[name] = spot(e.at)
	v.finish(false)
}

func isMark(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// toMark is ` or ' and the letter of a mark.
func (v *vim) toMark(e *Editor, name rune, lines bool) (reach, bool) {
	p, ok := v.marks[name]
	if !ok {
		return reach{}, false
	}
	at := min(int(p), e.t.len())
	if lines {
		return reach{to: e.t.firstNonBlank(at), lines: true}, true
	}
	return reach{to: e.t.snap(at), one: true}, true
}

// selectLast is gv: it selects anew what was selected last.
func (v *vim) selectLast(e *Editor) {
	was := v.last
	if was.mode == VimOff {
		v.fail()
		return
	}
	if v.visual() {
		v.last = v.seen
	}
	n := e.t.len()
	v.mode, v.start, e.at = was.mode, e.t.snap(min(int(was.start), n)), e.t.snap(min(int(was.end), n))
	v.finish(false)
}
