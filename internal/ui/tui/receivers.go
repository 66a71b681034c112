package tui

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/ui/dialog"
)

// receivers are the agents and sessions that a prompt can be sent to, asked for once for each
// word that begins one with "@".
type receivers struct {
	asked bool
	all   []Choice
}

// findReceivers puts those whom the word may mean into the list, before the files, where it is
// the first of the prompt.
func (m *Model) findReceivers() []effect {
	if !m.list.token.First || m.s == nil {
		return nil
	}
	word := strings.ToLower(m.list.token.Query)
	for _, c := range m.files.who.all {
		if strings.Contains(strings.ToLower(c.ID), word) {
			m.list.Found = append(m.list.Found, dialog.Found{Choice: c})
		}
	}
	m.list.who = len(m.list.Found)
	m.list.Local = m.list.who
	if m.files.who.asked {
		return nil
	}
	m.files.who.asked = true
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, _ := m.host.ask(ctx, s, ask.Receivers{}) // who cannot be listed is written by hand
		return func(m *Model) []effect {
			if m.s != s || !m.files.who.asked || len(r.Choices) == 0 {
				return nil
			}
			m.files.who.all = r.Choices
			if m.list == nil || !m.list.token.First || m.list.Moved {
				return nil
			}
			return m.complete()
		}
	}}}
}
