package edit

import (
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// View draws at most height rows of at most width columns around the cursor and
// says where the cursor is. The last column stays free for it: text wraps one
// column earlier.
func (e *Editor) View(width, height int) (lines []draw.Line, row, col int) {
	width, height = max(width, 1), max(height, 1)
	e.width = max(width-1, 1)
	w := e.width
	cur := e.cursorRow()
	e.scroll(cur, height)
	at := e.top
	for len(lines) < height && at.line < len(e.t.lines) {
		if at == cur {
			row = len(lines)
			col = min(e.t.column(at.line, at.row, e.at, w), width-1)
		}
		lines = append(lines, e.drawRow(at))
		at, _ = e.t.down(at, w)
	}
	return lines, row, col
}

// Hidden reports whether rows above or below the last View were left out.
func (e *Editor) Hidden(height int) (above, below bool) {
	at, n := e.top, 1
	for ok := true; ok; n++ {
		if at, ok = e.t.down(at, e.width); ok && n >= height {
			return e.top != rowAt{}, true
		}
	}
	return e.top != rowAt{}, false
}

func (e *Editor) cursorRow() rowAt {
	i := e.t.lineOf(e.at)
	return rowAt{i, e.t.row(i, e.at, e.width)}
}

// scroll moves the first row so that the cursor is seen, as little as needed,
// and so that no row stays empty below while there is text above.
func (e *Editor) scroll(cur rowAt, height int) {
	w := e.width
	e.top.line = min(e.top.line, len(e.t.lines)-1)
	e.top.row = min(e.top.row, len(e.t.rows(e.top.line, w)))
	if before(cur, e.top) {
		e.top = cur
	}
	if lowest := e.t.back(cur, height-1, w); before(e.top, lowest) {
		e.top = lowest
	}
	last := len(e.t.lines) - 1
	if last-e.top.line < height {
		end := rowAt{last, len(e.t.rows(last, w))}
		if full := e.t.back(end, height-1, w); before(full, e.top) {
			e.top = full
		}
	}
}

func before(a, b rowAt) bool { return a.line < b.line || a.line == b.line && a.row < b.row }

// back is the row n rows above, or the first.
func (t *text) back(at rowAt, n, w int) rowAt {
	for n > at.row {
		if at.line == 0 {
			return rowAt{}
		}
		n -= at.row + 1
		at.line--
		at.row = len(t.rows(at.line, w))
	}
	at.row -= n
	return at
}

// down is the row below; false when there is none.
func (t *text) down(at rowAt, w int) (rowAt, bool) {
	if at.row < len(t.rows(at.line, w)) {
		return rowAt{at.line, at.row + 1}, true
	}
	return rowAt{at.line + 1, 0}, at.line+1 < len(t.lines)
}

// drawRow draws one row.
func (e *Editor) drawRow(at rowAt) draw.Line {
	from, to := e.t.span(at.line, at.row, e.width)
	selFrom, selTo, selected := e.selection()
	mode := e.Mode()
	word := 0 // the end of a command's name
	if mode == Command {
		for word < e.t.len() && e.t.r[word] != ' ' && e.t.r[word] != '\n' {
			word++
		}
	}
	var out draw.Line
	var b strings.Builder
	var style draw.Style
	flush := func() {
		if b.Len() > 0 {
			out = append(out, draw.Span{Text: b.String(), Style: style})
			b.Reset()
		}
	}
	e.t.each(from, to, func(a, z, w int) bool {
		s := e.cell(a, z)
		if w > e.width {
			s = cut(s, e.width)
		}
		if s == "" {
			return true
		}
		st := draw.Style{Role: draw.Plain}
		switch {
		case isChip(e.t.r[a]):
			st.Role = draw.Code
		case a == 0 && mode == Shell:
			st.Role = draw.Shell
		case a == 0 && (mode == Memory || mode == Background), a < word:
			st.Role = draw.Accent
		}
		if selected && a >= selFrom && a < selTo {
			st.On = draw.Selected
		}
		if st != style {
			flush()
			style = st
		}
		b.WriteString(s)
		return true
	})
	flush()
	if selected && to == e.t.lineEnd(at.line) && to >= selFrom && to < selTo && out.Width() < e.width {
		out = append(out, draw.Span{Text: " ", Style: draw.Style{On: draw.Selected}}) // a selected newline is seen
	}
	return out
}

// cell is a cluster as it is drawn.
func (e *Editor) cell(a, z int) string {
	switch r := e.t.r[a]; {
	case r == '\t':
		return "    "
	case isChip(r):
		return e.t.chips[r-chipBase].Label
	case z == a+1 && r >= 0x20 && r < 0x7f:
		return string(r)
	}
	return draw.String(string(e.t.r[a:z]))
}

// cut is the beginning of a label or character that is wider than the row.
func cut(s string, width int) string {
	l := draw.L(draw.Span{Text: s}).Cut(width)
	if out := l.String(); out != "" {
		return out
	}
	return "?"
}
