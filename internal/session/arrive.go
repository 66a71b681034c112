package session

import "github.com/adze-agent/adze/internal/event"

// Arrival is closed when something waits for the model, which it reads after the current
// step: a prompt, a notice of a task, a note.
func (s *Session) Arrival() <-chan struct{} {
	now := make(chan struct{})
	close(now)
	out := now // a session that has ended waits for nothing
	_ = s.do(func(st *state) {
		if st.waits() {
			return
		}
		if st.arrival == nil {
			st.arrival = make(chan struct{})
		}
		out = st.arrival
	})
	return out
}

// waits reports whether something waits for the model that joins a turn.
func (st *state) waits() bool {
	for _, q := range st.Queue {
		if !q.Later {
			return true
		}
	}
	return len(st.notes) > 0
}

// arrived ends what waits for something to arrive.
func (st *state) arrived() {
	if st.arrival != nil {
		close(st.arrival)
		st.arrival = nil
	}
}

// arrives is arrived where an event is a prompt that joins a turn.
func (st *state) arrives(b event.Body) {
	if q, ok := b.(event.InputQueued); ok && !q.Later {
		st.arrived()
	}
}
