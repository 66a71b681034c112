package draw

import (
	"fmt"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// marks and their stand-ins tell shares apart without colours, too.
var meterMarks = [2][]string{{"■", "▣", "▤", "▥", "▦", "▧", "▨", "▩"}, {"#", "@", "%", "=", "+", "*", "o", "x"}}

// meterRoles are colours that every theme has, told apart easily.
var meterRoles = []Role{Keyword, StringLit, Function, Number, TypeName, Constant, Tag, Escape, Heading, Accent, Link}

// Columns and rows of the map of a meter.
const (
	meterColumns = 40
	meterRows    = 5
)

// meterBlock draws a map in which each cell is of a share, and below it the
// shares with their numbers.
func meterBlock(b view.Meter, o Options) []Line {
	used := 0
	for _, s := range b.Shares {
		used += s.N
	}
	whole := max(b.Whole, used, 1)
	columns := min(o.width(), meterColumns)
	cells := columns * meterRows
	span := func(i int) Span {
		marks := meterMarks[set(o.ASCII)]
		return sign(marks[i%len(marks)], meterRoles[i%len(meterRoles)])
	}
	var out []Line
	if b.Title != "" {
		head := fmt.Sprintf(" %s %s", clip.Thousands(used), b.Unit)
		if b.Whole > 0 {
			head = fmt.Sprintf(" %s of %s %s, %d %%", clip.Thousands(used), clip.Thousands(b.Whole), b.Unit, 100*used/whole)
		}
		out = append(out, L(Span{Text: String(b.Title), Style: Style{Role: Heading}}, S(head, Plain)).Wrap(o.width())...)
	}
	share, sum := 0, 0
	line := Line{}
	if o.Spoken {
		cells = 0
	}
	for c := range cells {
		at := float64(c) + 0.5 // the middle of the cell
		for share < len(b.Shares) && at*float64(whole) >= float64(sum+b.Shares[share].N)*float64(cells) {
			sum += b.Shares[share].N
			share++
		}
		if share < len(b.Shares) {
			line = append(line, span(share))
		} else {
			line = append(line, sign(o.glyph(Middot), Quiet))
		}
		if len(line) == columns {
			out, line = append(out, line), Line{}
		}
	}
	row := func(mark Span, name string, n int) {
		if o.Spoken {
			mark = S("", Plain)
		}
		out = append(out, L(mark, S(fmt.Sprintf(" %-20s %11s %4d %%", name, clip.Thousands(n), 100*n/whole), Plain)).Cut(o.width()))
	}
	for i, s := range b.Shares {
		row(span(i), s.Name, s.N)
	}
	if b.Whole > used {
		row(sign(o.glyph(Middot), Quiet), "free", b.Whole-used)
	}
	return o.Bound(out)
}
