package edit

import "slices"

// overtype types over what stands at the cursor, one character for one; a line's end
// stays.
func (v *vim) overtype(e *Editor, rs []rune) {
	for _, r := range rs {
		to := e.at
		if r != '\n' && !e.t.eol(e.at) {
			to = e.t.next(e.at)
		}
		v.overs = append(v.overs, slices.Clone(e.t.r[e.at:to]))
		e.change(e.at, to, []rune{r})
		e.at++
	}
	e.anchor, e.goal = -1, -1
}

// untype is Backspace in replace mode: what stood there comes back, and before what was
// typed the cursor only moves.
func (v *vim) untype(e *Editor) Result {
	n := len(v.overs)
	if n == 0 {
		return e.moveTo(e.t.prev(e.at), false)
	}
	old := v.overs[n-1]
	v.overs = v.overs[:n-1]
	e.step(doErase)
	e.change(e.at-1, e.at, old)
	e.at--
	return Changed
}
