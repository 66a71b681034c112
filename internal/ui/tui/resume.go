package tui

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/ui/keymap"
)

// resumeCommand goes on with another session: the one that was named, or one
// from the picker.
func (m *Model) resumeCommand(args string) []effect {
	if args != "" {
		return m.begin(Start{Resume: args})
	}
	return m.pickSession(func(m *Model) []effect { return nil })
}

// pickSession opens the picker of sessions.
func (m *Model) pickSession(dropped func(*Model) []effect) []effect {
	all := false
	d := newMenu(m, "Go on with a session", nil, func(m *Model, c Choice) []effect { return m.begin(Start{Resume: c.ID}) })
	d.dropped, d.loading = dropped, true
	load := func() []effect {
		everywhere := all
		return []effect{work{func(ctx context.Context) func(*Model) []effect {
			list, err := m.host.Sessions(ctx, everywhere)
			return func(m *Model) []effect {
				d.loading = false
				if err != nil {
					m.close(d)
					return m.fail(err)
				}
				d.set(slices.DeleteFunc(list, func(c Choice) bool { return m.s != nil && c.ID == m.s.ID }))
				return nil
			}
		}}}
	}
	d.hint = "Ctrl+A all folders"
	d.more = func(_ *Model, k keymap.Key) ([]effect, bool) {
		if k.Mod == keymap.Ctrl && k.Name == "a" {
			all = !all
			d.hint = "Ctrl+A all folders"
			if all {
				d.hint = "Ctrl+A this folder"
			}
			return load(), true
		}
		return nil, false
	}
	m.open(d)
	return load()
}
