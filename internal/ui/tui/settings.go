package tui

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/ui/keymap"
)

// adopt takes over the settings.
func (m *Model) adopt(u Settings) []effect {
	m.screen.ascii = m.screen.poor || u.ASCII
	if u.Keys != nil {
		m.keys = u.Keys
		m.box.SetKeys(u.Keys)
	}
	m.box.SetVim(u.Vim)
	for _, w := range u.KeysWrong {
		m.note("warning", w, "")
	}
	m.line.changed = true
	m.screen.chosen = u.Theme
	return append(m.setTheme(u.Theme), m.statusDue()...)
}

// lookAgain has the settings of the UI read anew, and count.
func (m *Model) lookAgain() []effect {
	if m.host.Look == nil || m.s == nil {
		return nil
	}
	look, s := m.host.Look, m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect { return looked(ctx, look, s) }}}
}

// looked reads the settings of the UI anew, and returns what has them count in
// the session s, unless another one is shown by then.
func looked(ctx context.Context, look func(context.Context) (Settings, error), s *Session) func(*Model) []effect {
	u, err := look(ctx)
	return func(m *Model) []effect {
		if err != nil || m.s != s {
			return m.fail(err)
		}
		return m.readopt(u)
	}
}

// readopt takes over changed settings while a session runs.
func (m *Model) readopt(u Settings) []effect {
	was := m.s.UI
	m.s.UI = u
	if slices.Equal(was.KeysWrong, u.KeysWrong) {
		u.KeysWrong = nil // they were told
	}
	if u.Status.Run == nil {
		m.line = statusLine{since: m.line.since, before: m.line.before, limits: m.line.limits} // what is known of the session stays
	}
	m.chord = keymap.Chord{}
	out := m.adopt(u)
	if was.Fullscreen != u.Fullscreen && m.pager == nil && !m.screen.plain {
		out = append(out, full{u.Fullscreen})
	}
	if was.TitleOff && !u.TitleOff {
		out = append(out, m.retitle())
	}
	return out
}

// retitle names the terminal's window after the session.
func (m *Model) retitle() effect { return title{"adze · " + m.s.where()} }
