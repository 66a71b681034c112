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
	lines, _ := d.view(m, m.paper(), plainRows)
	if how := howPlain(d); how != "" {
		lines = append(lines, draw.L(draw.S("  "+how, draw.Quiet)))
	}
	if _, reads := d.(*sheet); reads { // there is nothing to answer
		m.close(d)
		m.announced = nil
	}
	return lines
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
			return "The number of a choice and Enter takes it."
		}
		return "The number of a choice, or letters of one, and Enter takes it."
	}
	return ""
}

// step tells plain mode that there is something new to print: the choices came.
func (d *menu) step() int {
	if d.loading {
		return 0
	}
	return 1
}

// numbered is the choice whose number was typed, where numbers stand before
// them.
func (d *menu) numbered(m *Model) (Choice, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(d.typed0.Text()))
	if !m.screen.plain || err != nil || n < 1 || n > len(d.all) {
		return Choice{}, false
	}
	return d.all[n-1], true
}

// plainRows is how many lines a dialog may take where all is printed.
const plainRows = 10_000
