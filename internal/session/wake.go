package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// maxWakes bounds the turns in a row that began without a prompt: what such a turn starts
// may end, and begin the next one.
const maxWakes = 10

// notify keeps a text for the model. What is to wake the session begins a turn when
// nothing runs, or when what runs has come to its end.
func (s *Session) notify(st *state, o op.Notify) error {
	st.notes = append(st.notes, o.Text)
	if o.Wake == "" {
		return nil
	}
	st.wake = o.Wake
	return s.awaken(st)
}

// awaken begins a turn for what waits to be told, unless something is in the way: then the
// model reads it with the next prompt.
func (s *Session) awaken(st *state) error {
	switch {
	case st.wake == "", st.cancel != nil, st.rewinding, st.ending, st.Seq == 0, len(st.asks) > 0, st.Deferred() != nil:
		return nil
	case len(st.Queue) > 0: // left by an earlier process: they wait for a person's word
		return nil
	}
	if st.wakes >= maxWakes {
		st.wake = ""
		return s.record(context.Background(), st, event.Noted{Level: "warning", Text: fmt.Sprintf(
			"%d turns in a row began without a prompt, and no more do: what happens now, the model reads with the next prompt", maxWakes)})
	}
	s.begin(st)
	return nil
}

// woken begins a turn with what happened meanwhile. A prompt that came first begins it in
// its stead, and the model reads both.
func (s *Session) woken(ctx context.Context) (loop *agent.Loop, t agent.Turn, err error) {
	due := func(st *state) bool { return st.wake != "" && len(st.Queue) == 0 && !st.ending && ctx.Err() == nil }
	waits, budget := false, agent.Budget{}
	if derr := s.do(func(st *state) { waits, budget = due(st), s.bounded(st) }); !waits || derr != nil {
		return nil, t, derr
	}
	if budget.USD > 0 {
		if why, _ := budget.Over(budget.Account()); why != "" {
			return nil, t, nil // the next prompt's turn says so
		}
	}
	s.fresh()
	derr := s.do(func(st *state) {
		if !due(st) {
			return
		}
		why := st.wake
		st.wakes++
		if err = s.instruct(st); err != nil {
			return
		}
		if t, err = s.turn(st); err != nil {
			return
		}
		loop = st.loop
		err = s.record(context.Background(), st, event.Noted{Level: "info", Text: "this turn began without a prompt: " + why})
	})
	return loop, t, errors.Join(err, derr)
}
