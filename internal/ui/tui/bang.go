package tui

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/view"
)

// shell runs the person's own command.
func (m *Model) shell(p edit.Prompt) []effect {
	if m.s == nil {
		m.box.Restore(p)
		m.say("the session is not open yet", draw.Quiet)
		return nil
	}
	id, command := m.host.NewID(), p.Body()
	m.story.Shell(id, command, m.now)
	return []effect{submit{op: op.Shell{ID: id, Command: command}, urgent: true, then: func(m *Model, err error) []effect {
		if err != nil {
			m.story.Ran(event.Ran{ID: id, IsErr: true, View: view.Text{S: err.Error()}}, m.now)
		}
		return nil
	}}}
}

// remembers reports whether there are memory files that "#" can add to.
func (m *Model) remembers() bool { return m.host.Memory != nil && m.host.Note != nil }

// remember adds a line to a memory file.
func (m *Model) remember(p edit.Prompt) []effect {
	if !m.remembers() {
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
