package session

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/transcript"
)

// forkedText is the result of each call of the newest reply in a fork.
const forkedText = "[Forked here: what this call comes to is not seen on this side.]"

// A Base is the conversation that a fork begins with. Its log holds only what came after.
type Base struct {
	state   transcript.State
	history auto.History
	told    policy.Mode
}

// At is the last event of the other session that it has.
func (b Base) At() event.Seq { return b.state.Seq }

// errNoFork is why there is no Base.
var errNoFork = errors.New("only a reply of the conversation itself can fork it")

// Fork is the conversation as it is now, for a fork that an open call of the newest reply
// wants.
func (s *Session) Fork(call string) (b Base, err error) {
	derr := s.do(func(st *state) { b, err = forked(st, call) })
	return b, errors.Join(derr, err)
}

// Forked is the conversation as it was with an event: what Fork returned then. events are
// those of the session from its first one on.
func Forked(events iter.Seq2[event.Event, error], at event.Seq, call string, facts auto.Facts) (Base, error) {
	st := &state{}
	st.history.Facts = facts
	for e, err := range events {
		if err != nil {
			return Base{}, fmt.Errorf("read the conversation that was forked: %w", err)
		}
		if e.Seq > at {
			break
		}
		st.apply(e)
	}
	return forked(st, call)
}

func forked(st *state, call string) (Base, error) {
	c, ok := st.State.Fork(call, forkedText)
	if !ok {
		return Base{}, errNoFork
	}
	return Base{c, st.history, st.told}, nil
}

// base begins the state with the conversation that this session is a fork of, if it is
// one. It returns whether it did.
func (s *Session) base(ctx context.Context, st *state) (bool, error) {
	if s.cfg.Base == nil {
		return false, nil
	}
	b, err := s.cfg.Base(ctx)
	if err != nil {
		return false, err
	}
	st.State, st.history, st.told, st.logged = b.state, b.history, b.told, b.told
	return true, nil
}
