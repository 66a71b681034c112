package tui

import "github.com/adze-agent/adze/internal/ui/draw"

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
	if _, reads := d.(*sheet); reads { // there is nothing to answer
		m.close(d)
		m.announced = nil
	}
	return lines
}

// plainRows is how many lines a dialog may take where all is printed.
const plainRows = 10_000
