package term

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// place tells in which row of the screen the cursor is now that the size is
// another. When less of the live area fits above it than there is, the rest was
// taken into the scrollback, where nothing can be changed any more. A line of
// which a part was taken stays as it is, too: the terminal knows its parts as one.
func (r *inline) place(row int) {
	text := !r.hurt // what is not whole comes again
	r.taken, r.fresh, r.row = 0, "", row
	for i, l := range r.shown[:min(r.at.Row, len(r.shown))] {
		if r.above(i, r.size) <= row {
			return
		}
		if text = text && !bordered(l); text {
			r.fresh += dense(l)
		}
		r.taken = i + 1
	}
}

// bordered reports whether l belongs to a box. What follows is no text of the
// conversation, and comes again in the live area.
func bordered(l draw.Line) bool {
	return slices.ContainsFunc(l, func(s draw.Span) bool { return s.Role == draw.Border || s.Role == draw.BorderQuiet })
}

// leastKnown is how much of what was lost must come again before it is left out.
// Less may be the same by chance.
const leastKnown = 3

// known leaves out what stands in the scrollback already, because the terminal
// took it of the live area: the text that begins what is printed next, or, as
// long as nothing is printed, the live area.
func (r *inline) known(printed, next []draw.Line, cur Cursor) ([]draw.Line, []draw.Line, Cursor) {
	r.lost, r.fresh = r.lost+r.fresh, ""
	if r.lost == "" {
		return printed, next, cur
	}
	if dense(printed...) != "" {
		rest, n := without(printed, r.lost)
		if n < leastKnown {
			r.lost = ""
			return printed, next, cur
		}
		r.lost = r.lost[n:]
		if printed = rest; dense(rest...) != "" {
			r.lost = ""
		}
	}
	if r.lost != "" {
		if rest, n := without(next, r.lost); n >= leastKnown {
			gone := len(next) - len(rest)
			return printed, rest, Cursor{Row: max(cur.Row-gone, 0), Col: cur.Col, Hidden: cur.Hidden}
		}
	}
	return printed, next, cur
}

// dense is the text of lines without blanks.
func dense(lines ...draw.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			for _, c := range s.Text {
				if c != ' ' {
					b.WriteRune(c)
				}
			}
		}
	}
	return b.String()
}

// without returns lines without the text that they begin with as known does,
// and how many bytes of known that is. A line is cut only where known ends: it
// was wrapped otherwise then. Where a line goes on in another way, it is another.
func without(lines []draw.Line, known string) ([]draw.Line, int) {
	n := 0
	for i, l := range lines {
		if n == len(known) {
			return lines[i:], n
		}
		col, before := 0, n
		for _, s := range l {
			for j, c := range s.Text {
				if c == ' ' {
					continue
				}
				k, size := utf8.DecodeRuneInString(known[n:])
				if size > 0 && c != k {
					return lines[i:], before
				}
				if size == 0 {
					text := l.String()
					margin := draw.S(text[:len(text)-len(strings.TrimLeft(text, " "))], draw.Plain)
					rest := append(draw.Line{margin}, l.Skip(col+draw.Width(s.Text[:j]))...)
					return append([]draw.Line{rest}, lines[i+1:]...), n
				}
				n += size
			}
			col += draw.Width(s.Text)
		}
	}
	return nil, n
}
