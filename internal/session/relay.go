package session

import (
	"context"
	"errors"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// ErrNobody says that nobody can be asked.
var ErrNobody = errors.New("nobody can be asked")

// Relay puts a question of an agent that works for this session, or one that is about its
// agents and of none, to the people here or, where there are none, to those above. It returns the first answer; rules of a yes count
// here, too. The question is withdrawn when ctx ends. The error is ErrNobody when nobody
// is there, or goes before they answered.
func (s *Session) Relay(ctx context.Context, q event.Asked) (op.Answer, error) {
	var wait chan op.Answer
	var res error
	err := s.do(func(st *state) {
		if len(st.people) == 0 || st.ending {
			return
		}
		if st.relayed[q.Call] != nil {
			res = errors.New("the question " + q.Call + " is open already")
			return
		}
		if res = s.record(context.WithoutCancel(ctx), st, q); res == nil {
			wait = make(chan op.Answer, 1)
			st.relayed[q.Call] = wait
		}
	})
	switch {
	case err != nil || res != nil:
		return op.Answer{}, errors.Join(err, res)
	case wait == nil && s.cfg.Above != nil:
		return s.cfg.Above(ctx, q)
	case wait == nil:
		return op.Answer{}, ErrNobody
	}
	select {
	case a, asked := <-wait:
		if !asked {
			return a, ErrNobody
		}
		if a.Allow && a.Keep == op.ForSession {
			host{s}.keep(ctx, q.Tool, op.Answer{Allow: true, By: a.By, Rules: a.Rules}) // as for a call of its own
		}
		return a, nil
	case <-ctx.Done():
		return op.Answer{}, errors.Join(ctx.Err(), s.do(func(st *state) {
			if st.relayed[q.Call] == wait {
				delete(st.relayed, q.Call)
				_ = s.record(context.Background(), st, withdrawn(q.Call)) // a log that cannot be written says so with the next turn
			}
		}))
	}
}

// Attended reports whether a person can be asked here.
func (s *Session) Attended() (is bool) {
	_ = s.do(func(st *state) { is = len(st.people) > 0 && !st.ending })
	return is
}

// above has an open question of this session answered above, unless it is answered here
// first. The function that it returns ends that.
func (s *Session) above(ctx context.Context, call string) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the question
		var q event.Asked
		open := false
		if s.do(func(st *state) { q, open = st.Pending[call] }) != nil || !open {
			return
		}
		a, err := s.cfg.Above(ctx, q)
		_ = s.do(func(st *state) {
			switch {
			case st.asks[call] == nil: // it was answered here
			case errors.Is(err, ErrNobody) && len(st.people) == 0:
				_ = s.unanswered(st, call)
			case err == nil:
				a.Call = call
				_ = s.answer(context.Background(), st, a) // what is wrong with it was said above
			}
		})
	}()
	return cancel
}

// unanswered settles a question that nobody is there to answer. Whoever waits for it finds
// the channel closed.
func (s *Session) unanswered(st *state, call string) error {
	for _, open := range []map[string]chan op.Answer{st.asks, st.relayed} {
		if wait := open[call]; wait != nil {
			close(wait)
			delete(open, call)
		}
	}
	return s.record(context.Background(), st, event.Answered{Answer: op.Answer{Call: call}, By: event.By{Kind: event.ByNobody}})
}
