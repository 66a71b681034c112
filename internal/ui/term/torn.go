package term

import (
	"slices"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// Where the rows of a live area are once the terminal has another size.

// toTop goes to the first row of the live area.
func (r *inline) toTop(dst []byte) []byte {
	if up := r.above(r.taken, r.size); up > 0 {
		dst = csi(dst, up, 'A')
	}
	r.at, r.taken = Cursor{}, 0
	return append(dst, '\r')
}

// above returns how many rows there are in a terminal of size z from the line i
// of what is shown down to the cursor.
func (r *inline) above(i int, z Size) int {
	n := r.counted(i, z.Cols)
	if r.climb == 0 {
		return n
	}
	return max(r.climb-r.counted(0, r.on.Cols)+n, 0)
}

// counted is above, as far as each row of what is shown is where it should be.
func (r *inline) counted(i, cols int) int {
	if !r.rewrap || r.climb == 0 && cols == r.drawn.Cols || r.drawn == (Size{}) {
		return r.at.Row - i
	}
	wraps, up := r.shown[i:max(min(r.at.Row, len(r.shown)), i)], r.at.Col/cols
	if r.marked {
		wraps, up = r.shown[i:max(r.free, i)], r.at.Row-max(r.free, i)
	}
	for _, l := range wraps {
		up += rowsOf(l, cols)
	}
	return up
}

// spread returns how many rows are to be left empty above a live area that takes
// rows rows together with what is printed above it, so that its last row stays where
// the terminal has it. Where it went up instead, and what is below was left empty,
// each further step of a drag would take it further up, and at the top of the screen
// into the scrollback.
func (r *inline) spread(rows int, anew bool) int {
	if !r.fills {
		return 0
	}
	if !anew || r.row < 0 {
		return max(min(len(r.shown)-rows, r.gap), 0)
	}
	top := max(r.row-r.above(r.taken, r.size), 0)
	below := -r.at.Col / r.size.Cols
	for _, l := range r.shown[min(r.at.Row, len(r.shown)):] {
		below += rowsOf(l, r.size.Cols)
	}
	return max(min(r.row+below, r.size.Rows)-top-rows, 0)
}

// rowsOf returns how many rows a terminal that wraps makes of l.
func rowsOf(l draw.Line, cols int) int {
	n := 1
	for {
		l = l.Skip(cols)
		if len(l) == 0 {
			return n
		}
		n++
	}
}

// first returns the lines that are the first n rows that a terminal of cols columns
// makes of what is shown, from the line i on.
func (r *inline) first(i, n, cols int) (out []draw.Line) {
	for ; i < len(r.shown) && n > 0; i++ {
		l := r.shown[i]
		if r.marked && i >= r.free {
			l = nil // it is empty now
		}
		out = append(out, l.Cut(n*cols))
		n -= rowsOf(l, cols)
	}
	return out
}

// arrived is told that the last frame, these bytes, was drawn on size z and not
// on the one that it was made for, while the cursor was in a row of the screen
// (-1: nobody knows). What it changed may be other rows than it meant to, but how
// far it went up and down is certain, and so how far up the next frame has to go
// to erase all of it. The rows are returned that have to be printed again then:
// those that it printed, and such that were printed before and that it erased.
func (r *inline) arrived(frame []byte, z Size, row int) (again []draw.Line) {
	if r.was == nil {
		return nil
	}
	if row < 0 {
		row, z.Rows = 1<<20, 1<<21
	}
	was := r.was
	up, down, end := walk(frame, row, z.Rows)
	above := was.above(was.taken, z)
	over, left := max(up-above, 0), max(above-up, 0)
	r.was, r.torn, r.drawn, r.on = nil, true, z, z
	next := make([]draw.Line, len(r.shown)) // as it is there
	for i, l := range r.shown {
		next[i] = l.Cut(z.Cols)
	}
	r.shown = next
	cut := slices.ContainsFunc(r.placed, func(l draw.Line) bool { return l.Width() > z.Cols })
	if r.whole && over == 0 && left == 0 && !cut { // each of its rows is one row
		return nil
	}
	for i, n := len(r.said)-1, over; i >= 0 && n > 0; i-- {
		n -= rowsOf(r.said[i], z.Cols)
		again = r.said[i:]
	}
	r.said = r.said[:len(r.said)-len(again)]
	r.climb, r.hurt = above+over+down, true
	// What went into the scrollback stays there.
	again = slices.Concat(again, r.placed[min(max(r.climb-end-left, 0), len(r.placed)):])
	rest := was.first(was.taken, left, z.Cols)
	r.free = len(rest) + len(r.placed)
	r.at.Row += r.free
	r.shown = slices.Concat(rest, r.placed, r.shown)
	for i, l := range r.placed {
		r.shown[len(rest)+i] = l.Cut(z.Cols)
	}
	r.placed = nil
	return again
}

// walk returns how far up from where it began a frame goes, how far down from
// there it ends, and in which row of a screen that is, when it begins in row. What
// it scrolls counts: a row that goes up takes with it what stands in it.
func walk(frame []byte, row, rows int) (up, down, end int) {
	begin, scrolled, saved := row, 0, row
	for i := 0; i < len(frame); i++ {
		switch c := frame[i]; {
		case c == '\n' && row < rows-1:
			row++
		case c == '\n':
			scrolled++
		case c != 0x1b || i+1 == len(frame):
		case frame[i+1] == '[':
			n := 0
			for i += 2; i < len(frame) && (frame[i] < 0x40 || frame[i] > 0x7e); i++ {
				if c := frame[i]; c >= '0' && c <= '9' {
					n = min(n*10+int(c-'0'), 1<<20)
				}
			}
			switch n = max(n, 1); {
			case i == len(frame):
			case frame[i] == 'A':
				row = max(row-n, 0)
			case frame[i] == 'B':
				row = min(row+n, rows-1)
			}
		case frame[i+1] == ']' || frame[i+1] == '_' || frame[i+1] == 'P': // until BEL or ST
			for i += 2; i < len(frame) && frame[i] != 7 && (frame[i] != '\\' || frame[i-1] != 0x1b); i++ {
			}
		default:
			switch i++; frame[i] {
			case '7':
				saved = row
			case '8':
				row = saved
			}
		}
		up = max(up, begin-row-scrolled)
	}
	return up, row + scrolled - begin, row
}
