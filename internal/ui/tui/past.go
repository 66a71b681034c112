package tui

import (
	"context"
	"maps"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/story"
)

// A session that is taken up again is shown from its newest events on; what
// came before is read when the screen stands.
const (
	firstEvents = 600      // read before anything is shown
	moreEvents  = 200      // read at once afterwards
	maxPast     = 32 << 20 // bytes of texts that are read back
)

// first is the event after which a session is shown at once. Without a state
// to begin with, all of it is.
func (s *Session) first() event.Seq {
	if s.Was.Seq == 0 || s.After <= firstEvents {
		return 0
	}
	return min(s.After-firstEvents, s.Was.Seq)
}

// before reports whether an event of the past is left to be read back: the
// story begins with a prompt, or where none comes, with a reply.
func (m *Model) before(e event.Event) bool {
	if m.shownAfter == 0 || m.begun {
		return false
	}
	switch b := e.Body.(type) {
	case event.InputAccepted:
		m.begun = !b.Hidden && !b.Steer
	case event.Replied:
		m.begun = e.Seq > m.s.After-firstEvents/2
	default: // what comes before belongs to what is read back
		m.begun = e.Seq >= m.s.After
	}
	if !m.begun {
		m.shownAfter = e.Seq
	}
	return !m.begun
}

// readBack reads what came before what is shown, as far as it may be kept.
func (m *Model) readBack() []effect {
	if m.shownAfter == 0 {
		return nil
	}
	s, upTo := m.s, m.shownAfter
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		past, from := story.New(), upTo
		var parts [][]event.Event
		for room := maxPast; from > 0 && room > 0; {
			after := from - min(from, moreEvents)
			var es []event.Event
			for e, err := range m.host.Client.Follow(ctx, s.ID, after, event.Durable) {
				if err != nil {
					return func(m *Model) []effect { return m.fail(err) }
				}
				es = append(es, e)
				room -= event.Weight(e.Body)
				if e.Seq >= from {
					break
				}
			}
			if len(es) == 0 || es[len(es)-1].Seq < from {
				return nil // the session ended meanwhile
			}
			parts, from = append(parts, es), after
		}
		for _, es := range slices.Backward(parts) {
			for _, e := range es {
				if _, asked := e.Body.(event.Asked); !asked {
					past.Apply(e)
				}
			}
		}
		return func(m *Model) []effect {
			if m.s == s {
				m.shownAfter = from
				m.prepend(past)
			}
			return nil
		}
	}}}
}

// prepend puts what was read back before the story.
func (v *conversation) prepend(past *story.Story) {
	n, s := len(past.Items), v.story
	for _, it := range past.Items {
		it.Done = true
	}
	s.Items = append(past.Items, s.Items...)
	s.Printed, s.Reply = s.Printed+n, s.Reply+n
	maps.Copy(past.ByID, s.ByID)
	s.ByID = past.ByID
	s.Remark()
	if g := v.pager; g != nil {
		g.top.item += n
		if g.hit.item >= 0 {
			g.hit.item += n
		}
	}
}
