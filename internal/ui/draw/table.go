package draw

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/view"
)

// A grid is a table of lines.
type grid struct {
	head          []Line
	rows          [][]Line
	right, center []bool
}

// maxRows bounds the rows of one table that are laid out.
const maxRows = 2000

func tableBlock(b view.Table, o Options) []Line {
	g := grid{}
	for _, h := range b.Head {
		g.head = append(g.head, L(Span{Text: String(h), Style: Style{Attr: Bold}}))
	}
	for _, r := range b.Rows[:min(len(b.Rows), maxRows)] {
		var row []Line
		for _, c := range r {
			row = append(row, L(S(c, Plain)))
		}
		g.rows = append(g.rows, row)
	}
	for c := range b.Head {
		g.right = append(g.right, numbers(b.Rows, c))
	}
	out := g.draw(o)
	if n := len(b.Rows) - maxRows; n > 0 {
		out = append(out, o.missing(n, "more "))
	}
	return o.Bound(out)
}

// numbers reports whether a column holds numbers alone.
func numbers(rows [][]string, c int) bool {
	n := 0
	for _, r := range rows {
		if c >= len(r) || r[c] == "" {
			continue
		}
		if strings.Trim(r[c], "0123456789.,+-−%$ ") != "" {
			return false
		}
		n++
	}
	return n > 0
}

const between = 2 // columns between two of a table

// draw lays the table out: columns as wide as what they hold, or as the width
// allows; where that is too little, each row becomes a list of its cells.
func (g grid) draw(o Options) []Line {
	cols := len(g.head)
	for _, r := range g.rows {
		cols = max(cols, len(r))
	}
	if cols == 0 {
		return nil
	}
	want := make([]int, cols)
	for _, r := range append([][]Line{g.head}, g.rows...) {
		for c, cell := range r {
			want[c] = max(want[c], cell.Width(), 1)
		}
	}
	widths, ok := shares(want, o.width()-between*(cols-1))
	if !ok {
		return g.records(o)
	}
	var out []Line
	if g.headed() {
		out = append(out, g.row(g.head, widths)...)
		var rule Line
		for c, w := range widths {
			if c > 0 {
				rule = append(rule, Span{Text: spaces(between)})
			}
			rule = append(rule, sign(strings.Repeat(o.glyph(HBar), w), BorderQuiet))
		}
		if !o.Spoken {
			out = append(out, rule)
		}
	}
	tall := false
	for i, r := range g.rows {
		lines := g.row(r, widths)
		if (tall || len(lines) > 1) && i > 0 {
			out = append(out, nil)
		}
		tall = len(lines) > 1
		out = append(out, lines...)
	}
	return out
}

// headed reports whether a column has a name: Markdown has no table without a
// row for them.
func (g grid) headed() bool {
	return slices.ContainsFunc(g.head, func(l Line) bool { return l.Width() > 0 })
}

// shares gives each column what it wants, or cuts the widest until all fit,
// and reports false when a column would be too narrow to read.
func shares(want []int, room int) ([]int, bool) {
	out := append([]int(nil), want...)
	sum := 0
	for _, w := range out {
		sum += w
	}
	for sum > room {
		widest, next := 0, 0
		for c, w := range out {
			if w > out[widest] {
				widest = c
			}
		}
		for c, w := range out {
			if c != widest {
				next = max(next, w)
			}
		}
		less := min(max(out[widest]-next, 1), sum-room)
		out[widest] -= less
		sum -= less
		if out[widest] < min(want[widest], 6) {
			return nil, false
		}
	}
	return out, true
}

// row draws one row, as many lines as its tallest cell.
func (g grid) row(cells []Line, widths []int) []Line {
	parts := make([][]Line, len(widths))
	tall := 1
	for c := range widths {
		if c < len(cells) {
			parts[c] = cells[c].Wrap(widths[c])
		}
		tall = max(tall, len(parts[c]))
	}
	out := make([]Line, tall)
	for i := range tall {
		var l Line
		for c, w := range widths {
			if c > 0 {
				l = append(l, Span{Text: spaces(between)})
			}
			var cell Line
			if i < len(parts[c]) {
				cell = parts[c][i]
			}
			free := w - cell.Width()
			left := 0
			switch {
			case c < len(g.right) && g.right[c]:
				left = free
			case c < len(g.center) && g.center[c]:
				left = free / 2
			}
			if left > 0 {
				l = append(l, Span{Text: spaces(left)})
			}
			l = append(l, cell...)
			if free > left {
				l = append(l, Span{Text: spaces(free - left)})
			}
		}
		out[i] = l.trimRight()
	}
	return out
}

// records draws each row as lines of "name: value".
func (g grid) records(o Options) []Line {
	var out []Line
	for i, r := range g.rows {
		if i > 0 {
			out = append(out, nil)
		}
		for c, cell := range r {
			var l Line
			if c < len(g.head) {
				l = append(append(l, g.head[c]...), Span{Text: ": "})
			}
			out = append(out, append(l, cell...).Wrap(o.width(), Span{Text: "  "})...)
		}
	}
	if len(g.rows) == 0 {
		for _, h := range g.head {
			out = append(out, h.Wrap(o.width())...)
		}
	}
	return out
}
