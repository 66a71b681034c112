package tui

import (
	"context"

	"github.com/adze-agent/adze/internal/ask"
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

// remember adds a line to a memory file.
func (m *Model) remember(p edit.Prompt) []effect {
	line := p.Body()
	d := newMenu(m, "Add this line to", nil, func(m *Model, c Choice) []effect {
		return []effect{work{func(ctx context.Context) func(*Model) []effect {
			err := m.host.keep(ctx, ask.Note{File: c.ID, Line: line})
			return func(m *Model) []effect {
				if err != nil {
					m.box.Restore(p)
					return m.fail(err)
				}
				text := "added to " + c.Name + ": " + line
				if m.s == nil {
					m.note("quiet", text, "")
					return nil
				}
				m.note("quiet", text+" (this session is told, too)", "")
				return []effect{submit{op: op.Notify{Text: "The person added a line to a memory file (" + c.Name + "), which sessions begin with from now on. It counts in this one, too:\n" + line}, then: (*Model).fail}}
			}
		}}}
	})
	d.About, d.Fixed, d.Loading = line, true, true
	d.dropped = func(m *Model) []effect { m.box.Restore(p); return nil }
	m.open(d)
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, nil, ask.Memory{})
		return func(m *Model) []effect {
			if d.Loading = false; err != nil {
				m.close(d)
				m.box.Restore(p)
				return m.fail(err)
			}
			d.Set(r.Choices)
			return nil
		}
	}}}
}
