package edit

import (
	"slices"
	"strings"
)

// awaits reports whether another key belongs to this one: marks have one, and of
// commands that there are not, no key may be taken for another command.
func (v *vim) awaits(k rune) bool {
	switch k {
	case '`', '\'', '[', ']':
		return true
	case 'm', '@', 'z', 'Z':
		return v.op == 0
	case 'q':
		return v.op == 0 && !v.tapes
	}
	return false
}

// noOps are operators of vim's that do nothing here; each takes its motion.
const noOps = "=?qw@"

// command takes one key of normal or visual mode.
func (v *vim) command(e *Editor, k rune) {
	if v.wait != 0 {
		v.second(e, k)
		return
	}
	switch {
	case k >= '1' && k <= '9', k == '0' && (v.op == 0 && v.count > 0 || v.op != 0 && v.count2 > 0):
		v.unrecord()
		n := &v.count
		if v.op != 0 {
			n = &v.count2
		}
		*n = min(*n*10+int(k-'0'), maxCount)
		return
	case strings.ContainsRune("\"fFtTg", k), v.awaits(k), (v.op != 0 || v.visual()) && (k == 'i' || k == 'a'), k == 'r' && v.op == 0:
		v.wait = k
		return
	}
	counted := v.count > 0 || v.count2 > 0
	if v.op != 0 && k == v.op { // dd and its like
		v.wholeLines(e)
		return
	}
	if slices.Contains([]rune("hl 0^$wWeEbBjkG;,%{}"), k) {
		m, ok := v.motion(e, k, v.n(), counted)
		v.follow(e, m, ok, k)
		return
	}
	switch {
	case v.op != 0: // no motion: the operator is dropped
		v.fail()
	case v.visual():
		v.visualKey(e, k)
	default:
		v.normalKey(e, k)
	}
}

// second takes the key that a key waited for.
func (v *vim) second(e *Editor, k rune) {
	wait := v.wait
	v.wait = 0
	switch wait {
	case '"':
		v.unrecord()
		v.unrecord()
		v.reg = k
		if !v.replays { // "." uses the register again
			v.rec = append(v.rec, input{key: keyOf('"')}, input{key: keyOf(k)})
		}
	case 'f', 'F', 't', 'T':
		v.found = found{k, wait == 'F' || wait == 'T', wait == 't' || wait == 'T'}
		p, ok := e.t.find(e.at, v.n(), k, v.found.back, v.found.till, false)
		v.follow(e, reach{to: p, inclusive: !v.found.back}, ok, wait)
	case 'g':
		v.afterG(e, k)
	case 'm':
		v.mark(e, k)
	case '`', '\'':
		m, ok := v.toMark(e, k, wait == '\'')
		v.follow(e, m, ok, k)
	case 'q':
		v.tapes = true
		v.fail()
	case '@', 'z', 'Z', '[', ']':
		v.fail()
	case 'r':
		v.replaceWith(e, k)
	case 'i', 'a':
		if k == 'w' || k == 'W' {
			v.words(e, wait == 'a', k == 'W')
			return
		}
		x, ok := v.object(e, wait == 'a', k, v.n())
		switch {
		case !ok:
			v.fail()
		case v.visual():
			v.start, e.at = x.from, max(x.from, e.t.prev(x.to))
			if x.lines {
				v.mode = VimVisualLine
			}
			v.counts()
		default:
			v.operate(e, x)
		}
	}
}

// afterG takes the key behind a g.
func (v *vim) afterG(e *Editor, k rune) {
	switch {
	case k == 'g':
		m, ok := v.motion(e, 'g', v.n(), true)
		v.follow(e, m, ok, k)
	case k == 'e' || k == 'E':
		p, ok := e.t.wordEndBack(e.at, v.n(), k == 'E')
		v.follow(e, reach{to: p, inclusive: true, anyway: true}, ok, k)
	case v.op != 0 && k == v.op: // gugu is guu
		v.wholeLines(e)
	case v.op != 0:
		v.fail()
	case v.visual() && caser(k) != nil:
		v.visualKey(e, k)
	case k == 'v':
		v.selectLast(e)
	case caser(k) != nil, strings.ContainsRune(noOps, k) && !v.visual():
		v.op = k
	default:
		v.fail()
	}
}

// words runs the operator on words, or selects them.
func (v *vim) words(e *Editor, around, big bool) {
	from, to, ok := v.wordObject(e, around, big, v.n())
	switch {
	case !ok:
		e.at = to
		v.fail()
	case v.visual():
		v.start, e.at, v.mode = from, to, VimVisual
		v.counts()
	default:
		e.at = from
		v.operate(e, v.extent(e, reach{to: to, inclusive: true}))
	}
}

// counts drops the counts of a motion in visual mode.
func (v *vim) counts() { v.count, v.count2 = 0, 0 }

// follow moves the cursor, or gives the operator what the motion spans.
func (v *vim) follow(e *Editor, m reach, ok bool, k rune) {
	if !m.vertical {
		v.goal = -1
	}
	switch {
	case v.op != 0 && !ok:
		if m.anyway {
			e.at = m.to
		}
		v.fail()
	case v.op != 0:
		v.goal = -1
		v.operate(e, v.extent(e, m))
	default:
		if !ok && (k == 'j' || k == 'k') && !v.visual() {
			v.history(e, k)
		}
		if ok || m.anyway {
			e.at = m.to
			e.undo.open = false
		}
		if v.visual() {
			v.counts()
			v.failed = !ok
			return
		}
		v.finish(false)
		v.failed = !ok
	}
}

// history: above the first line are the earlier prompts.
func (v *vim) history(e *Editor, k rune) {
	if k == 'k' {
		e.Older()
	} else {
		e.Newer()
	}
}

// extent is what lies between the cursor and where a motion leads. One that ends
// at the start of a line ends at the end of the line before; when it starts in the
// indentation it is whole lines.
func (v *vim) extent(e *Editor, m reach) extent {
	t := &e.t
	from, to := min(e.at, m.to), max(e.at, m.to)
	v.one = m.one
	if m.lines {
		return extent{from, to, true}
	}
	if m.inclusive {
		if !t.eol(to) {
			to = t.next(to)
		}
	} else if start, _ := t.bounds(to); to == start && t.lineOf(from) < t.lineOf(to) {
		to--
		if t.inIndent(from) {
			return extent{from, to, true}
		}
	}
	if v.op == 'd' && t.lineOf(from) < t.lineOf(to) && t.inIndent(from) {
		p := to
		for !t.eol(p) && t.class(p, false) == classBlank {
			p++
		}
		if t.eol(p) {
			return extent{from, to, true}
		}
	}
	return extent{from, to, false}
}

// inIndent: only blanks stand before a position in its line.
func (t *text) inIndent(at int) bool {
	from, _ := t.bounds(at)
	for p := from; p < at; p++ {
		if t.class(p, false) != classBlank {
			return false
		}
	}
	return true
}

// wholeLines is dd, cc, yy, >> and <<.
func (v *vim) wholeLines(e *Editor) {
	t := &e.t
	i := t.lineOf(e.at)
	if v.n() > 1 && i == len(t.lines)-1 {
		v.fail()
		return
	}
	last := min(i+v.n()-1, len(t.lines)-1)
	x := extent{e.at, max(e.at, t.lines[last].start), true}
	if caser(v.op) != nil && last == i {
		x.from = min(x.from, t.firstNonBlank(x.from))
	}
	v.operate(e, x)
}

// operate runs the operator on an extent.
func (v *vim) operate(e *Editor, x extent) {
	t := &e.t
	cursor := min(x.from, e.t.len())
	if x.lines {
		x.from, _ = t.bounds(x.from)
		_, x.to = t.bounds(x.to)
	}
	op := v.op
	switch op {
	case 'y':
		v.keep(t.r[x.from:x.to], x.lines, true)
		e.at = cursor
		v.finish(false)
	case 'd':
		v.keep(t.r[x.from:x.to], x.lines, false)
		e.step(doOther)
		if x.lines {
			v.deleteLines(e, x)
		} else {
			e.change(x.from, x.to, nil)
			e.at = x.from
		}
		v.finish(true)
	case 'c':
		v.keep(t.r[x.from:x.to], x.lines, false)
		e.step(doOther)
		e.change(x.from, x.to, nil)
		if v.count > 0 || v.count2 > 0 { // "." has it, what is typed does not
			v.sel.count = v.n()
		}
		v.counts()
		v.insert(e, x.from, 1, false)
	case '>', '<':
		v.shift(e, x, op == '>', 1)
		v.finish(true)
	case 'u', 'U', '~':
		e.recase(x.from, x.to, caser(op))
		e.at = cursor
		v.finish(true)
	default: // noOps
		v.fail()
	}
}

// deleteLines takes whole lines away with one of their newlines.
func (v *vim) deleteLines(e *Editor, x extent) {
	t := &e.t
	from, to := x.from, x.to
	switch {
	case to < t.len():
		to++
	case from > 0:
		from--
	}
	e.change(from, to, nil)
	e.at = t.firstNonBlank(min(x.from, t.len()))
}

// shiftWidth is what > adds to a line.
const shiftWidth = 8

// shift moves lines to the right or to the left by n steps.
func (v *vim) shift(e *Editor, x extent, right bool, n int) {
	t := &e.t
	e.step(doOther)
	a, b := t.lineOf(x.from), t.lineOf(x.to)
	for i := a; i <= b; i++ {
		from, to := t.lines[i].start, t.lineEnd(i)
		if from == to {
			continue
		}
		p, cols := from, 0
		for p < to && (t.r[p] == ' ' || t.r[p] == '\t') {
			if cols++; t.r[p] == '\t' {
				cols += shiftWidth - 1
			}
			p++
		}
		if right {
			cols += shiftWidth * n
		} else {
			cols = max(0, cols-shiftWidth*n)
		}
		e.change(from, p, slices.Repeat([]rune{' '}, cols))
	}
	e.at = t.firstNonBlank(t.lines[a].start)
}

// replaceWith is r and a character.
func (v *vim) replaceWith(e *Editor, k rune) {
	t := &e.t
	if v.visual() {
		v.remember(e)
		from, to := v.span(e)
		e.step(doOther)
		rs := slices.Clone(t.r[from:to])
		for i, r := range rs {
			if r != '\n' {
				rs[i] = k
			}
		}
		e.change(from, to, rs)
		e.at = from
		v.mode = VimNormal
		v.finish(true)
		return
	}
	end := e.at
	for n := v.n(); n > 0; n-- {
		if t.eol(end) {
			v.fail()
			return
		}
		end = t.next(end)
	}
	e.step(doOther)
	if k == '\n' {
		e.change(e.at, end, []rune{'\n'})
		e.at++
	} else {
		n := v.n()
		e.change(e.at, end, slices.Repeat([]rune{k}, n))
		e.at += n - 1
	}
	v.finish(true)
}

// join makes one line of n lines. False when there are not enough.
func (v *vim) join(e *Editor, n int) bool {
	t := &e.t
	i := t.lineOf(e.at)
	n = max(n, 2)
	if i+1 >= len(t.lines) {
		return false
	}
	e.step(doOther)
	for n = min(n, len(t.lines)-i); n > 1; n-- {
		start, end := t.lines[i].start, t.lineEnd(i)
		next := end + 1
		for !t.eol(next) && (t.r[next] == ' ' || t.r[next] == '\t') {
			next++
		}
		gap := []rune{' '}
		if end == start || t.r[end-1] == '\t' || t.r[end-1] == ' ' || t.eol(next) || t.r[next] == ')' {
			gap = nil
		}
		e.change(end, next, gap)
		e.at = end
	}
	return true
}
