package session

import (
	"context"
	"errors"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/tasklist"
)

// ChangeList makes a change of the list of what is to be done, for the session or for an
// agent that works for it. Changes are made one after the other, each as a whole, and are
// recorded when it returns.
func (s *Session) ChangeList(ctx context.Context, c tasklist.Change) (out tasklist.Outcome, err error) {
	derr := s.within(ctx, func(st *state) {
		if out = st.Todo().Change(c); out.Refused != "" || len(out.Changed)+len(out.Order) == 0 {
			return
		}
		e := event.TodoChanged{Tasks: out.Changed, Order: out.Order, By: c.By}
		if st.List.Last == 0 {
			e.Tasks = out.List.Tasks
		}
		err = s.record(context.Background(), st, e)
	})
	return out, errors.Join(derr, err)
}
