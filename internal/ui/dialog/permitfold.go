package dialog

import (
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/view"
)

// A passage is what a permit is about, in lines: what would happen, and from why on
// the reasons.
type passage struct {
	lines  []draw.Line
	claims []claim
	why    int
	more   int // parts that ask and have no line
}

// claim is how much a line is worth where not all have room.
type claim uint8

const (
	allowed claim = iota // and what is not known to ask
	asking               // that, or why
	needed               // it must be seen before somebody says yes
)

// passage is what would happen, and why it is asked. Needed is what names each part
// of a call that asks; else the command, as far as it asks.
func (d *permit) passage(p Paper, width int, dir string) passage {
	what := fewBlank(d.what(p, width, dir))
	t := passage{lines: append(what, nil), why: len(what) + 1}
	if d.whole {
		t.lines = append(t.lines, d.decision(width, dir)...)
		t.claims = make([]claim, len(t.lines))
		return t
	}
	why, named := d.why(p, width)
	t.lines = append(t.lines, why...)
	t.claims = make([]claim, len(t.lines))
	for i, l := range why {
		if len(l) > 0 && l[0].Role == draw.OK { // what is allowed is last
			break
		}
		t.claims[t.why+i] = asking
		if named[i] {
			t.claims[t.why+i] = needed
		}
	}
	of, some := needed, false
	if len(named) > 0 {
		of = asking
	}
	for i, l := range what {
		for _, s := range l {
			if s.Role == draw.Attention && s.Text != "" {
				t.claims[i], some = of, true
			}
		}
	}
	if d.runs() && !some { // it asks as a whole
		for i := range what {
			t.claims[i] = of
		}
	}
	asks := 0
	for _, x := range d.deeds() {
		if x.gravest().Effect != policy.Allow {
			asks++
		}
	}
	t.more = max(asks-maxAsking, 0)
	return t
}

// leastBlank is how many empty lines become one that says so.
const leastBlank = 3

// fewBlank puts one line in the place of many that are empty.
func fewBlank(lines []draw.Line) []draw.Line {
	out := make([]draw.Line, 0, len(lines))
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && blank(lines[i+n]) {
			n++
		}
		switch {
		case n >= leastBlank:
			out = append(out, draw.L(draw.S(clip.Count(n, "empty line"), draw.Quiet)))
		default:
			n = max(n, 1)
			out = append(out, lines[i:i+n]...)
		}
		i += n
	}
	return out
}

func blank(l draw.Line) bool {
	for _, s := range l {
		if strings.TrimSpace(s.Text) != "" {
			return false
		}
	}
	return true
}

// fold is the passage in at most rows lines, the heaviest first. Lines in between say
// how much is left out, from next on. hidden counts what is needed and found no room.
func (t passage) fold(p Paper, rows int) (out []draw.Line, hidden, next int) {
	if len(t.lines) <= rows {
		return t.lines, t.more, 0
	}
	keep, used := make([]bool, len(t.lines)), 1 // a line for the whole that is left out
	gap := func(i int) int {
		if i < 0 || i >= len(keep) || keep[i] {
			return 0
		}
		return 1
	}
	try := func(i int) bool {
		if i < 0 || i >= len(keep) || keep[i] {
			return true
		}
		n := gap(i-1) + gap(i+1) // it stands in a gap, which it ends, makes smaller or parts
		if used+n > rows {
			return false
		}
		keep[i], used = true, used+n
		return true
	}
	heavy := func(w claim, do func(i int)) {
		for i := range keep {
			if t.claims[i] == w {
				do(i)
			}
		}
	}
	hidden = t.more
	heavy(needed, func(i int) {
		if !try(i) {
			hidden++
		}
	})
	_ = try(0)
	heavy(asking, func(i int) { _ = try(i) })
	heavy(needed, func(i int) { _, _ = try(i-1), try(i+1) })
	for i := 0; i < t.why && try(i); i++ {
	}
	for i := len(keep) - 1; i >= t.why && try(i); i-- {
	}
	next = -1
	for i := 0; i < len(keep); {
		if keep[i] {
			out = append(out, t.lines[i])
			i++
			continue
		}
		n := 0
		for ; i < len(keep) && !keep[i]; i++ {
			n++
		}
		text := p.Sign(draw.Ellipsis) + " " + clip.Count(n, "line") + " not shown"
		if next < 0 {
			next = i - n
			text += " " + p.Sign(draw.Middot) + " PgDn"
		}
		out = append(out, draw.L(draw.S(text, draw.Attention)))
	}
	return out, hidden, next
}

// heaviestFirst is the passage for a screen of a few rows, and how many of the lines
// must be seen.
func (t passage) heaviestFirst() (out []draw.Line, must int) {
	for w := needed; ; w-- {
		for i, l := range t.lines {
			if t.claims[i] == w {
				out = append(out, l)
			}
		}
		if w == needed {
			must = len(out) + t.more
		}
		if w == allowed {
			return out, must
		}
	}
}

// scroll is the passage from off on, with the reasons below it where they leave as much
// room as they take.
func (t passage) scroll(p Paper, off *Reading, rows int) []draw.Line {
	why := t.lines[t.why:]
	if len(why)+1 > rows/2 {
		return p.Scrolled(t.lines, off, rows)
	}
	return append(append(p.Scrolled(t.lines[:t.why-1], off, rows-len(why)-1), nil), why...)
}

// runs reports whether a command is asked about: what asks in it is named among the
// reasons. Of a change, each line asks.
func (d *permit) runs() bool { _, is := d.q.View.(view.Terminal); return is }

// read is the passage as far as it is read. Where something that asks is not seen, the
// answer that is marked at first is not the yes.
func (d *permit) read(p Paper, t passage, rows int) []draw.Line {
	switch {
	case d.whole:
		return p.Scrolled(t.lines, &d.off, rows)
	case p.Plain:
		return t.lines
	case d.scrolls:
		return t.scroll(p, &d.off, rows)
	}
	out, hidden, first := t.fold(p, rows)
	d.hides = first
	if cut := len(t.lines) > rows && first < t.why; (hidden > 0 || cut && !d.runs()) && !d.moved {
		d.at = len(d.answers) - 1
	}
	return out
}

// scroll takes a key that scrolls. The first one leads to what is not shown.
func (d *permit) scroll(k keymap.Key) {
	switch {
	case k.Name == "down" && d.scrolls || k.Name == "down" && d.whole:
		d.off.at++
	case d.scrolls || d.whole || k.Name == "home" || k.Name == "end":
		d.scrolls = d.off.key(k) || d.scrolls
	case k.Name == "down" || k.Name == "pgdown":
		d.scrolls, d.off.at = true, d.hides
	}
}
