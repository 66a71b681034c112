package tui

import (
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// tightRows is the height below which a dialog has no border: what it is about
// and what can be answered need all of the screen.
const tightRows = 7

// stride is how many lines a dialog is scrolled by at once.
func (m *Model) stride() int {
	if m.screen.size.Rows <= tightRows {
		return 1
	}
	return 5
}

// tight puts what a dialog is about above its answers, on a screen of a few
// rows. At least one line of each is seen: of the body that from off on, of the
// answers the marked one.
func (p paper) tight(body []draw.Line, off *int, answers []draw.Line, marked, rows, cols int) []draw.Line {
	rows = max(rows, 2)
	keep := min(len(answers), rows-1)
	first := max(0, min(marked-keep/2, len(answers)-keep))
	room := rows - keep
	*off = max(0, min(*off, len(body)-room))
	shown := body[*off:min(len(body), *off+room)]
	out := make([]draw.Line, 0, rows)
	for i, l := range shown {
		var more draw.Line
		if i == 0 && *off > 0 {
			more = append(more, draw.S(p.Sign(draw.MoreUp), draw.Attention))
		}
		if i == len(shown)-1 && *off+room < len(body) {
			more = append(more, draw.S(p.Sign(draw.MoreDown), draw.Attention))
		}
		out = append(out, draw.Beside(l, more, cols, p.O))
	}
	for _, l := range answers[first : first+keep] {
		out = append(out, l.Truncate(cols, p.O))
	}
	return out
}

// tight is the dialog on a screen of a few rows. With the answer that keeps a
// rule marked, the rule is what is read.
func (d *permit) tight(m *Model, p paper, rows int) ([]draw.Line, term.Cursor) {
	cols := m.screen.size.Cols
	width := max(cols-4, 1)
	var answers []draw.Line
	for i, a := range d.answers {
		lead, role := p.lead(i, i == d.at)
		answers = append(answers, draw.L(lead, draw.S([...]string{yes: "Yes", yesRule: "Yes, and keep a rule", no: "No, and say why"}[a], role)))
	}
	body := d.body(p, width, m.st.Dir)
	if d.answers[d.at] == yesRule {
		l := append(draw.Exact(strings.Join(d.rules, ", "), draw.Code), draw.S(" "+keeps[d.keep].name, draw.Plain))
		body = l.Wrap(width)
	}
	if d.wrong != "" {
		body = append(draw.L(draw.S(d.wrong, draw.Wrong)).Wrap(width), body...)
	}
	cur := term.Cursor{Hidden: true}
	if e := d.writing(); e != nil { // what is written stands in the place of the answers
		l, col := p.fieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), e, cols)
		answers = []draw.Line{l}
		out := p.tight(body, &d.off, answers, 0, rows, cols)
		return out, term.Cursor{Row: len(out) - 1, Col: col}
	}
	return p.tight(body, &d.off, answers, d.at, rows, cols), cur
}

// tight is the page on a screen of a few rows.
func (d *survey) tight(m *Model, p paper, rows int) ([]draw.Line, term.Cursor) {
	cols, pg := m.screen.size.Cols, &d.pages[d.at]
	width := max(cols-4, 1)
	body := draw.WrapAll(draw.Text(pg.Text, draw.Style{Attr: draw.Bold}), width)
	for _, b := range d.about {
		o := p.Inner(0, 0, false)
		o.Width = width
		if t, ok := b.(view.Text); ok {
			body = append(body, draw.Markdown(t.S, o)...)
		} else {
			body = append(body, draw.Block(b, o)...)
		}
	}
	if pg.words != nil {
		l, col := p.fieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), pg.words, cols)
		out := p.tight(body, &d.off, []draw.Line{l}, 0, rows, cols)
		return out, term.Cursor{Row: len(out) - 1, Col: col}
	}
	var answers []draw.Line
	for i := range len(pg.Options) + 1 {
		lead, role := p.lead(i, i == pg.at)
		text := d.other()
		if i < len(pg.Options) {
			text = pg.Options[i].Label
		}
		l := draw.L(lead)
		if pg.ticks[i] {
			l = append(l, draw.S(p.Sign(draw.Check)+" ", draw.OK))
		}
		answers = append(answers, append(l, draw.S(text, role)))
	}
	return p.tight(body, &d.off, answers, pg.at, rows, cols), term.Cursor{Hidden: true}
}
