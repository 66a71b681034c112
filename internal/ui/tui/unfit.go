package tui

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// unfit takes back the prompt that could not be sent because it is too large, so
// that what is said next does not fail for its sake.
func (m *Model) unfit(b event.TurnEnded) []effect {
	q := m.given
	m.given = nil
	if q == nil || !b.Overfull() {
		return nil
	}
	s := m.s
	return []effect{submit{op: op.Rewind{To: q.id, Conversation: true}, then: func(m *Model, err error) []effect {
		if err != nil || m.s != s {
			return nil // it stays, and the hint says what helps
		}
		m.box.Restore(q.prompt)
		m.note("info", "The prompt is not part of the conversation. It is in the box again, to be made shorter.", "")
		return m.edited()
	}}}
}
