package edit

import (
	"github.com/adze-agent/adze/internal/ui/keymap"
)

func keyOf(r rune) keymap.Key { return keymap.Rune(string(r)) }

// normalKey runs a command of normal mode that is no motion and no operator's
// second part.
func (v *vim) normalKey(e *Editor, k rune) {
	t := &e.t
	v.goal = -1
	switch k {
	case 'd', 'c', 'y', '>', '<', '=':
		v.op = k
	case 'R':
		v.insert(e, e.at, v.n(), false)
		v.mode = VimReplace
	case 'q': // ends what would be recorded
		v.tapes = false
		v.finish(false)
	case 'x', 'X', 's', 'D', 'C', 'Y', 'S':
		v.short(e, k)
	case 'i', 'a', 'I', 'A', 'o', 'O':
		v.toInsert(e, k)
	case 'p', 'P':
		v.doneOrFail(v.put(e, k == 'P', v.n()))
	case 'J':
		v.doneOrFail(v.join(e, v.n()))
	case '~':
		end := e.at
		for n := v.n(); n > 0 && !t.eol(end); n-- {
			end = t.next(end)
		}
		if end > e.at {
			e.recase(e.at, end, caser('~'))
		}
		e.at = end
		v.finish(true)
	case 'u':
		v.times(func() bool { return e.Undo() == Changed })
		v.finish(false)
	case '.':
		v.unrecord()
		v.repeatLast(e)
	case 'v', 'V':
		v.start = e.at
		v.mode = VimVisual
		if k == 'V' {
			v.mode = VimVisualLine
		}
		v.finish(false)
	default:
		v.finish(false)
	}
}

func (v *vim) doneOrFail(ok bool) {
	if v.finish(ok); !ok {
		v.failed = true
	}
}

// short runs the commands that are an operator and its motion in one key.
func (v *vim) short(e *Editor, k rune) {
	t := &e.t
	from, to := t.bounds(e.at)
	x := extent{from: e.at, to: e.at}
	v.op = 'd'
	switch k {
	case 'x', 's':
		for n := v.n(); n > 0 && x.to < to; n-- {
			x.to = t.next(x.to)
		}
		if k == 's' {
			v.op = 'c'
		}
	case 'X':
		for n := v.n(); n > 0 && x.from > from; n-- {
			x.from = t.prev(x.from)
		}
	case 'D', 'C':
		if v.n() > 1 && to == t.len() {
			v.fail()
			return
		}
		if k == 'C' {
			v.op = 'c'
		}
		last := min(t.lineOf(e.at)+v.n()-1, len(t.lines)-1)
		x = v.extent(e, reach{to: t.lastOf(t.lines[last].start), inclusive: true})
	case 'Y', 'S':
		if v.op = 'y'; k == 'S' {
			v.op = 'c'
		}
		v.wholeLines(e)
		return
	}
	if x.from == x.to && v.op == 'd' {
		e.step(doOther)
		v.fail()
		return
	}
	v.operate(e, x)
}

func (v *vim) toInsert(e *Editor, k rune) {
	t := &e.t
	from, to := t.bounds(e.at)
	at, newline := e.at, false
	switch k {
	case 'a':
		if !t.eol(at) {
			at = t.next(at)
		}
	case 'I':
		if at = t.firstNonBlank(e.at); t.class(at, false) == classBlank && !t.eol(at) {
			at = to // a line of blanks alone
		}
	case 'A':
		at = to
	case 'o':
		e.step(doOther)
		e.change(to, to, []rune{'\n'})
		at, newline = to+1, true
	case 'O':
		e.step(doOther)
		e.change(from, from, []rune{'\n'})
		at, newline = from, true
	}
	v.insert(e, at, v.n(), newline)
}

// visualKey runs a command of visual mode that is no motion.
func (v *vim) visualKey(e *Editor, k rune) {
	t := &e.t
	v.goal = -1
	from, to := v.span(e)
	x := extent{from, to, v.mode == VimVisualLine}
	if x.lines {
		x.to = max(min(v.start, e.at), max(v.start, e.at))
		x.from = min(v.start, e.at)
	}
	switch k {
	case 'v', 'V':
		want := VimVisual
		if k == 'V' {
			want = VimVisualLine
		}
		if v.mode == want {
			want = VimNormal
		}
		v.mode = want
		v.counts()
		v.finish(false)
	case 'o':
		v.start, e.at = e.at, v.start
		v.counts()
	case 'd', 'x', 'X', 'D', 'c', 's', 'S', 'C', 'R', 'y', 'Y', '>', '<':
		v.remember(e)
		if k == 'X' || k == 'D' || k == 'S' || k == 'C' || k == 'R' || k == 'Y' {
			x.from, x.to, x.lines = min(v.start, e.at), max(v.start, e.at), true
		}
		v.visualOp(e, k, x)
	case '~', 'u', 'U':
		v.remember(e)
		if x.lines {
			x.from, x.to = from, to
		}
		v.visualCase(e, k, x)
	case 'J':
		v.remember(e)
		n := t.lineOf(max(v.start, e.at)) - t.lineOf(min(v.start, e.at)) + 1
		if e.at = min(v.start, e.at); v.mode == VimVisualLine {
			e.at, _ = t.bounds(e.at)
		}
		v.mode = VimNormal
		v.doneOrFail(v.join(e, n))
	case 'p', 'P':
		v.remember(e)
		v.visualPut(e, x)
	default:
		v.counts()
		v.finish(false)
	}
}

// remember keeps how large the selection is, for ".".
func (v *vim) remember(e *Editor) {
	if v.replays {
		return
	}
	t := &e.t
	a, b := min(v.start, e.at), max(v.start, e.at)
	lines := t.lineOf(b) - t.lineOf(a)
	from := a
	if lines > 0 {
		from, _ = t.bounds(b)
	}
	cols := 0
	for p := from; p < b; p = t.next(p) {
		cols++
	}
	v.sel = repeat{visual: true, lines: lines, cols: cols, whole: v.mode == VimVisualLine}
	// What selects is not repeated, only what was done then.
	if n := len(v.rec); n > 0 {
		keep := 1
		if n > 1 && v.rec[n-2].key.Name == "r" {
			keep = 2
		}
		v.rec = append(v.rec[:0], v.rec[n-keep:]...)
	}
}

func (v *vim) visualOp(e *Editor, k rune, x extent) {
	n := v.n()
	v.mode = VimNormal
	switch k {
	case 'd', 'x', 'X', 'D':
		v.op = 'd'
	case 'c', 's', 'S', 'C', 'R':
		v.op = 'c'
	case 'y', 'Y':
		v.op = 'y'
		if x.lines {
			x.from, _ = e.t.bounds(x.from)
		}
		e.at = x.from
	case '>', '<':
		if !x.lines { // what ends with a line's end is no part of the next one
			x.to = max(x.from, x.to-1)
		}
		v.shift(e, x, k == '>', n)
		v.counts()
		v.finish(true)
		return
	}
	v.counts()
	v.operate(e, x)
}

func (v *vim) visualCase(e *Editor, k rune, x extent) {
	e.recase(x.from, x.to, caser(k))
	if !x.lines || e.t.lineOf(e.at) == e.t.lineOf(max(v.start, e.at)) { // else it is in the first line already
		e.at = x.from
	}
	v.mode = VimNormal
	v.counts()
	v.finish(true)
}

// visualPut puts a register in the place of the selection.
func (v *vim) visualPut(e *Editor, x extent) {
	r := v.register()
	n := v.n()
	v.mode = VimNormal
	if len(r.r) == 0 && !r.lines || len(r.r)*n > maxGrown {
		v.finish(false)
		return
	}
	t := &e.t
	body := r.r
	for range n - 1 {
		if r.lines {
			body = append(body[:len(body):len(body)], '\n')
		}
		body = append(body[:len(body):len(body)], r.r...)
	}
	if x.lines {
		x.from, _ = t.bounds(x.from)
		_, x.to = t.bounds(x.to)
	}
	name := v.reg
	v.reg = 0
	v.keep(t.r[x.from:x.to], x.lines, false)
	v.reg = name
	e.step(doOther)
	switch {
	case r.lines && !x.lines:
		body = append(append([]rune{'\n'}, body...), '\n')
		e.change(x.from, x.to, body)
		e.at = t.firstNonBlank(x.from + 1)
	case x.lines:
		e.change(x.from, x.to, body)
		if e.at = x.from; r.lines {
			e.at = t.firstNonBlank(x.from)
		}
	default:
		e.change(x.from, x.to, body)
		e.at = max(x.from, t.prev(x.from+len(body)))
	}
	v.finish(true)
}
