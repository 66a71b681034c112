package session

import (
	"context"
	"errors"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// lateTime bounds the look for what changed while no call ran.
const lateTime = 10 * time.Second

// late records what changed on disk since the newest call, where something that calls left
// running may have done it: before a turn's first call and after its last one, before a
// rewind, when the last of what runs has ended, and when the session ends. So each rewind
// finds it on its side of the prompt.
//
// may says, once no other look is made, whether one is to be made. Until its end no call
// begins, because a turn comes here first.
func (s *Session) late(may func(*state) bool) error {
	if s.cfg.Files == nil {
		return nil
	}
	s.looks.Lock()
	defer s.looks.Unlock()
	due := false
	if err := s.do(func(st *state) { due = may(st) }); err != nil || !due {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), lateTime) // whatever interrupted the turn
	defer stop()
	changed := s.cfg.Files.Late(ctx)
	if !changed.Any() {
		return nil
	}
	var res error
	err := s.do(func(st *state) { res = s.record(context.Background(), st, event.FilesChanged{Changed: changed}) })
	return errors.Join(err, res)
}

// always makes a look: no call runs.
func always(*state) bool { return true }

// rests reports whether the last of what calls left running has ended while nothing else runs.
func rests(st *state) bool {
	return st.cancel == nil && !st.rewinding && len(st.Working()) == 0
}
