package tui

import (
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
)

// shell runs the person's own command.
func (m *Model) shell(p edit.Prompt) []effect {
	m.box.Restore(p)
	m.say("shell mode is not there yet", draw.Attention)
	return nil
}

// remember adds a line to a memory file.
func (m *Model) remember(p edit.Prompt) []effect {
	if m.host.Memory == nil || m.host.Note == nil {
		return m.send(p)
	}
	line := p.Body()
	d := newMenu(m, "Add this line to", m.host.Memory(), func(m *Model, c Choice) []effect {
		if err := m.host.Note(c.ID, line); err != nil {
			m.box.Restore(p)
			return m.fail(err)
		}
		m.note("quiet", "added to "+c.Name+": "+line, "")
		return nil
	})
	d.about, d.fixed = line, true
	d.dropped = func(m *Model) []effect { m.box.Restore(p); return nil }
	m.open(d)
	return nil
}

// welcome asks what a first start asks.
func (m *Model) welcome() []effect { return nil }
