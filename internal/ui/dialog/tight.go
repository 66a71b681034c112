package dialog

import (
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// tightRows is the height below which a dialog has no border: what it is about
// and what can be answered need all of the screen.
const tightRows = 7

// A Reading is how far something that is longer than the screen was scrolled.
type Reading struct {
	at   int // the first line that is seen
	seen int // how many lines were seen when it was drawn last
}

// page scrolls by what is seen at once, but for a line that stays; back for a
// negative n.
func (r *Reading) page(n int) { r.at = max(r.at+n*max(r.seen-1, 1), 0) }

// key scrolls, and reports whether k does that.
func (r *Reading) key(k keymap.Key) bool {
	switch k.Name {
	case "pgup":
		r.page(-1)
	case "pgdown":
		r.page(1)
	case "home":
		r.at = 0
	case "end":
		r.at = theEnd
	default:
		return false
	}
	return true
}

// End scrolls to the last page.
func (r *Reading) End() { r.at = theEnd }

// theEnd is beyond the last line; the next frame makes it the last page.
const theEnd = 1 << 30

// window is the first and the end of n lines that are seen, when rows are.
func (r *Reading) window(n, rows int) (int, int) {
	r.seen = max(min(rows, n), 1)
	r.at = max(min(r.at, n-rows), 0)
	return r.at, min(n, r.at+rows)
}

// tight puts what a dialog is about above its answers, on a screen of a few
// rows. At least one line of each is seen: of the body that from off on, of the
// answers the marked one.
func (p Paper) tight(body []draw.Line, off *Reading, answers []draw.Line, marked, rows, cols int) []draw.Line {
	rows = max(rows, 2)
	keep := min(len(answers), rows-1)
	first := max(0, min(marked-keep/2, len(answers)-keep))
	room := rows - keep
	from, to := off.window(len(body), room)
	shown := body[from:to]
	out := make([]draw.Line, 0, rows)
	for i, l := range shown {
		var more draw.Line
		if i == 0 && from > 0 {
			more = append(more, draw.S(p.Sign(draw.MoreUp), draw.Attention))
		}
		if i == len(shown)-1 && to < len(body) {
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
func (d *permit) tight(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	cols := p.O.Width
	width := max(cols-4, 1)
	d.offers = false // no hint has room
	t := d.passage(p, width, c.Dir)
	body := t.lines
	d.hides = 0
	if room := rows - min(len(d.answers), rows-1); len(body) > room && !d.whole && !d.scrolls {
		var must int
		if body, must = t.heaviestFirst(); !d.runs() {
			must = max(must, t.why-1)
		}
		if must > room && !d.moved {
			d.at = len(d.answers) - 1
		}
	}
	var answers []draw.Line
	for i, a := range d.answers {
		lead, role := p.numbered(i, i == d.at)
		answers = append(answers, append(lead, draw.S([...]string{yes: "Yes", yesRule: "Yes, and keep a rule", no: "No, and say why"}[a], role)))
	}
	if d.answers[d.at] == yesRule {
		l := append(draw.Exact(strings.Join(d.rules, ", "), draw.Code), draw.S(" "+keeps[d.keep].name, draw.Plain))
		body = l.Wrap(width)
	}
	if d.wrong != "" {
		body = append(draw.L(draw.S(d.wrong, draw.Wrong)).Wrap(width), body...)
	}
	cur := term.Cursor{Hidden: true}
	if e := d.writing(); e != nil { // what is written stands in the place of the answers
		l, col := p.FieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), e, cols)
		answers = []draw.Line{l}
		out := p.tight(body, &d.off, answers, 0, rows, cols)
		return out, term.Cursor{Row: len(out) - 1, Col: col}
	}
	return p.tight(body, &d.off, answers, d.at, rows, cols), cur
}

// tight is the page on a screen of a few rows.
func (d *survey) tight(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	cols, pg := c.O.Width, &d.pages[d.at]
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
		l, col := p.FieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), pg.words, cols)
		out := p.tight(body, &d.off, []draw.Line{l}, 0, rows, cols)
		return out, term.Cursor{Row: len(out) - 1, Col: col}
	}
	var answers []draw.Line
	for i := range len(pg.Options) + 1 {
		l, role := p.numbered(i, i == pg.at)
		text := d.other()
		if i < len(pg.Options) {
			text = pg.Options[i].Label
		}
		if pg.ticks[i] {
			l = append(l, draw.S(p.Sign(draw.Check)+" ", draw.OK))
		}
		answers = append(answers, append(l, draw.S(text, role)))
	}
	return p.tight(body, &d.off, answers, pg.at, rows, cols), term.Cursor{Hidden: true}
}

// tight is the menu on a screen of a few rows.
func (d *Menu) tight(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	cols := p.O.Width
	width := max(cols-4, 1)
	heading := draw.Text(d.Heading, draw.Style{Role: draw.Border, Attr: draw.Bold})
	body := draw.WrapAll(heading, width)
	if d.Wrong != "" {
		body = append(draw.WrapAll(draw.Text(d.Wrong, draw.Style{Role: draw.Wrong}), width), body...)
	}
	if d.About != "" {
		body = append(body, draw.WrapAll(draw.Text(d.About, draw.Style{Role: draw.Quiet}), width)...)
	}
	if d.Above != nil {
		at := d.Off
		body = append(body, d.Above(p, width, 1<<20)...) // whole: it is scrolled here
		d.Off = at
	}
	var answers []draw.Line
	for i, f := range d.found {
		answers = append(answers, p.choice(f, i, i == d.at, d.Fixed, cols))
	}
	switch {
	case d.field != nil:
		l, col := p.FieldLine(draw.L(draw.S(d.field.label+": ", draw.Accent)), d.field.e, cols)
		out := p.tight(body, &d.Off, []draw.Line{l}, 0, rows, cols)
		return out, term.Cursor{Row: len(out) - 1, Col: col}
	case d.Loading:
		answers = []draw.Line{draw.L(draw.S("  looking …", draw.Quiet))}
	case len(d.all) == 0:
		answers = draw.WrapAll(draw.Text(d.None, draw.Style{Role: draw.Quiet}), width)
	case len(answers) == 0:
		answers = []draw.Line{draw.L(draw.S("  nothing matches", draw.Quiet))}
	}
	if d.Fixed {
		return p.tight(body, &d.Off, answers, d.at, rows, cols), term.Cursor{Hidden: true}
	}
	// What is typed says what is looked for, so that the heading gives way to it.
	l, col := p.FieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), d.typed, cols)
	var at Reading
	out := p.tight([]draw.Line{l}, &at, answers, d.at, min(rows, len(answers)+1), cols)
	return out, term.Cursor{Col: col}
}

// tight is the form on a screen of a few rows: the message, and what is asked
// now or the buttons.
func (d *form) tight(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	cols := p.O.Width
	width := max(cols-4, 1)
	body := draw.WrapAll(draw.Text(d.heading()+": "+d.f.Message, draw.Style{}), width)
	if d.opened != nil {
		body = append(append(body, draw.Exact(d.f.URL, draw.Quiet).Wrap(width)...), d.page(width)...)
	}
	if d.wrong != "" {
		body = append(draw.WrapAll(draw.Text(d.wrong, draw.Style{Role: draw.Wrong}), width), body...)
	}
	r := d.now()
	if r == nil {
		buttons := d.buttons(p)
		return p.tight(body, &d.off, buttons, d.at-len(d.rows), rows, cols), term.Cursor{Hidden: true}
	}
	answers, col := r.view(p, true, cols)
	cur := term.Cursor{Hidden: r.text == nil}
	out := p.tight(body, &d.off, answers, 0, rows, cols)
	if r.text != nil {
		cur = term.Cursor{Row: len(out) - min(len(answers), max(rows, 2)-1), Col: col}
	}
	return out, cur
}
