package tui

import (
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// announce prints a dialog once, where nothing is drawn anew. It is answered
// with the number of an answer, or with y and n.
func (m *Model) announce() []draw.Line {
	if len(m.dialogs) == 0 {
		m.announced = nil
		return nil
	}
	d := m.dialogs[0]
	step := 0
	if s, ok := d.(interface{ step() int }); ok { // it asks one thing after the other
		step = s.step()
	}
	if d == m.announced && step == m.step {
		return nil
	}
	m.announced, m.step = d, step
	p := m.paper()
	lines, _ := d.view(m, p, plainRows)
	if list, ok := d.(*menu); ok && list.misses > 0 { // the list was printed before
		lines = p.failed(list.wrong, p.O.Width)
	}
	if how := howPlain(d); how != "" {
		lines = append(lines, draw.L(draw.S("  "+how, draw.Quiet)))
	}
	if read(d) {
		m.close(d)
		m.announced = nil
	}
	return lines
}

// read reports whether a dialog is there to be read: there is nothing to answer.
func read(d dialog) bool {
	switch d := d.(type) {
	case *sheet:
		return true
	case *menu:
		return !d.loading && len(d.all) == 0 && d.none != "" && d.field == nil && d.dropped == nil
	}
	return false
}

// howPlain says how a dialog is answered by lines that are typed, "" where it
// says so itself or nothing is to be answered.
func howPlain(d dialog) string {
	switch d := d.(type) {
	case *permit, *survey:
		return "The number of an answer and Enter answers; y and n do, too."
	case *menu:
		switch {
		case len(d.found) == 0:
			return ""
		case d.fixed:
			return "The number of a choice takes it; Esc leaves."
		}
		return "The number of a choice, or letters of one, takes it; Enter alone leaves."
	}
	return ""
}

// step tells plain mode that there is something new to print: the choices came, or
// a line named none of them.
func (d *menu) step() int {
	if d.loading {
		return 0
	}
	return 1 + d.misses
}

// line takes a line that was typed in plain mode, where no choice is marked.
func (d *menu) line(m *Model) []effect {
	text := strings.TrimSpace(d.typed0.Text())
	switch c, ok := d.numbered(); {
	case ok:
		m.close(d)
		return d.chosen(m, c)
	case text == "":
		m.close(d)
		if d.dropped != nil {
			return d.dropped(m)
		}
	case len(d.found) > 0:
		m.close(d)
		return d.chosen(m, d.found[0].Choice)
	default:
		d.typed0 = field(m, "")
		d.find()
		d.misses, d.wrong = d.misses+1, "nothing matches "+draw.String(text)
	}
	return nil
}

// numbered is the choice whose number was typed, where numbers stand before
// them.
func (d *menu) numbered() (Choice, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(d.typed0.Text()))
	if err != nil || n < 1 || n > len(d.all) {
		return Choice{}, false
	}
	return d.all[n-1], true
}

// plainRows is how many lines a dialog may take where all is printed.
const plainRows = 10_000
