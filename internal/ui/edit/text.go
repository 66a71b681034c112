package edit

import (
	"slices"
	"sort"
	"unicode"

	"github.com/clipperhouse/displaywidth"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// A text is runes and a table of its lines. A position is an index of r. Runes
// from chipBase on are no characters but chips: what is shown as a label and
// stands for something else. Lines remember how they wrap, so that a key costs
// as much as its own line.
type text struct {
	r     []rune
	lines []line // at least one
	chips []Chip // chip i is the rune chipBase+i
}

// chipBase is the first rune after Unicode.
const chipBase = unicode.MaxRune + 1

type line struct {
	start int
	width int // that rows are for; 0 before they are known
	rows  []int
}

func newText() text { return text{lines: []line{{}}} }

func (t *text) len() int { return len(t.r) }

// lineOf is the number of the line that holds a position.
func (t *text) lineOf(at int) int {
	return sort.Search(len(t.lines), func(i int) bool { return t.lines[i].start > at }) - 1
}

// lineEnd is the position of a line's newline, or the end of the text.
func (t *text) lineEnd(i int) int {
	if i+1 < len(t.lines) {
		return t.lines[i+1].start - 1
	}
	return len(t.r)
}

// bounds are where the line around a position starts and ends.
func (t *text) bounds(at int) (from, to int) {
	i := t.lineOf(at)
	return t.lines[i].start, t.lineEnd(i)
}

// replace puts ins where from up to to was. It is the only way to change t.
func (t *text) replace(from, to int, ins []rune) {
	a, b := t.lineOf(from), t.lineOf(to)
	fresh := []line{{start: t.lines[a].start}}
	for i, r := range ins {
		if r == '\n' {
			fresh = append(fresh, line{start: from + i + 1})
		}
	}
	t.r = slices.Replace(t.r, from, to, ins...)
	t.lines = slices.Replace(t.lines, a, b+1, fresh...)
	if d := len(ins) - (to - from); d != 0 {
		for i := a + len(fresh); i < len(t.lines); i++ {
			t.lines[i].start += d
		}
	}
}

func isChip(r rune) bool { return r >= chipBase }

// unjoined runes are never part of a longer grapheme cluster when they stand
// between runes like them: Latin without combining marks, kana and Han.
func unjoined(r rune) bool {
	return r < 0x300 || r >= 0x3041 && r < 0xa000 && r != 0x3099 && r != 0x309a
}

// apart reports that a cluster ends between a and b. When it does not, it takes
// a look at more runes to know.
func apart(a, b rune) bool {
	return isChip(a) || isChip(b) || a == '\n' || b == '\n' || unjoined(a) && unjoined(b)
}

// longest is how many runes around a position are looked at for its cluster. A
// tower of more combining marks counts as several clusters.
const longest = 256

// run is a stretch around at, within from and to, that starts and ends between
// clusters.
func (t *text) run(at, from, to int) (int, int) {
	a, b := at, min(at+1, to)
	for a > from && at-a < longest && !apart(t.r[a-1], t.r[a]) {
		a--
	}
	for b < to && b-at < longest && !apart(t.r[b-1], t.r[b]) {
		b++
	}
	return a, b
}

// next is the position after the cluster that starts at a position.
func (t *text) next(at int) int {
	n := len(t.r)
	if at >= n {
		return n
	}
	if at+1 == n || apart(t.r[at], t.r[at+1]) {
		return at + 1
	}
	end := at + 1
	t.clusters(at, func(_, b int) bool { end = b; return b <= at })
	return max(end, at+1)
}

// prev is the position where the cluster before a position starts.
func (t *text) prev(at int) int {
	if at <= 1 {
		return 0
	}
	if apart(t.r[at-2], t.r[at-1]) {
		return at - 1
	}
	start := at - 1
	t.clusters(at-1, func(a, b int) bool { start = a; return b < at })
	return min(start, at-1)
}

// clusters yields the clusters of the run around at.
func (t *text) clusters(at int, yield func(a, b int) bool) {
	from, to := t.run(at, 0, len(t.r))
	g := displaywidth.StringGraphemes(string(t.r[from:to]))
	for a := from; g.Next(); {
		b := a + runeCount(g.Value())
		if !yield(a, b) {
			return
		}
		a = b
	}
}

func runeCount(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

// snap is the nearest position at or before at that is between clusters.
func (t *text) snap(at int) int {
	at = max(0, min(at, len(t.r)))
	if at == 0 || at == len(t.r) || apart(t.r[at-1], t.r[at]) {
		return at
	}
	start := at
	t.clusters(at, func(a, b int) bool { start = a; return b <= at })
	return min(start, at)
}

// tabWidth is how wide a tab is drawn, in columns.
const tabWidth = 4

// each yields the clusters of a part of one line with their columns.
func (t *text) each(from, to int, yield func(a, b, width int) bool) {
	for a := from; a < to; {
		r := t.r[a]
		if a+1 == to || apart(r, t.r[a+1]) {
			if !yield(a, a+1, t.width1(r)) {
				return
			}
			a++
			continue
		}
		end := a + 1
		for end < to && end-a < longest && !apart(t.r[end-1], t.r[end]) {
			end++
		}
		g := displaywidth.StringGraphemes(string(t.r[a:end]))
		for g.Next() {
			b := a + runeCount(g.Value())
			if !yield(a, b, shownWidth(g.Value())) {
				return
			}
			a = b
		}
	}
}

func shownWidth(s string) int { return draw.Width(draw.String(s)) }

func (t *text) width1(r rune) int {
	switch {
	case r == '\t':
		return tabWidth
	case r >= 0x20 && r < 0x7f:
		return 1
	case isChip(r):
		return draw.Width(t.chips[r-chipBase].Label)
	}
	return shownWidth(string(r))
}

// rows are where the rows of a line start after its first, relative to the
// line, at a width. A line breaks after a space or a wide character, and inside
// a word that is longer than a row.
func (t *text) rows(i, width int) []int {
	ln := &t.lines[i]
	if ln.width == width {
		return ln.rows
	}
	start := ln.start
	rows := []int(nil)
	row, col, brk, brkCol := start, 0, -1, 0
	t.each(start, t.lineEnd(i), func(a, b, w int) bool {
		w = min(w, width)
		for col+w > width && a > row {
			if brk > row && brk <= a && t.r[a] != ' ' {
				row, col = brk, col-brkCol
			} else {
				row, col = a, 0
			}
			rows = append(rows, row-start)
			brk = -1
		}
		col += w
		if t.r[a] == ' ' || w == 2 && b-a == 1 {
			brk, brkCol = b, col
		}
		return true
	})
	ln.width, ln.rows = width, rows
	return rows
}

// row is the row of a line that a position is in.
func (t *text) row(i, at, width int) int {
	rel := at - t.lines[i].start
	rows := t.rows(i, width)
	return sort.Search(len(rows), func(k int) bool { return rows[k] > rel })
}

// span is where row k of line i starts and ends.
func (t *text) span(i, k, width int) (from, to int) {
	rows := t.rows(i, width)
	from, to = t.lines[i].start, t.lineEnd(i)
	if k < len(rows) {
		to = t.lines[i].start + rows[k]
	}
	if k > 0 {
		from = t.lines[i].start + rows[k-1]
	}
	return from, to
}

// column is how many columns stand left of a position in its row.
func (t *text) column(i, k, at, width int) int {
	from, _ := t.span(i, k, width)
	col := 0
	t.each(from, at, func(_, _, w int) bool { col += min(w, width); return true })
	return col
}

// atColumn is the position in a row that is nearest left of a column.
func (t *text) atColumn(i, k, col, width int) int {
	from, to := t.span(i, k, width)
	at, n := from, 0
	t.each(from, to, func(a, b, w int) bool {
		n += min(w, width)
		if n > col {
			return false
		}
		at = b
		return true
	})
	if at == to && k < len(t.rows(i, width)) { // that is the next row's start
		at = t.prev(at)
	}
	return at
}
