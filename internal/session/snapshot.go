package session

import (
	"bytes"
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/transcript"
)

// How many bytes of a log are read again rather than kept in a snapshot: while
// a session runs, and when it is left.
const (
	keepEvery = 1 << 20
	keepLast  = 256 << 10
)

// foldVersion names what a snapshot was made by: it changes with what is made of
// the same events, and not with each version of adze, because an update would have
// all of every log read once more.
var foldVersion = fmt.Sprintf("%d.%d.2", transcript.Version, auto.HistoryVersion)

// kept is the part of a session's state that comes from its log.
type kept struct {
	State   fastjson.Raw `json:"state"`
	History fastjson.Raw `json:"history"`
	Told    policy.Mode  `json:"told,omitempty"`
}

// restore begins with the newest snapshot, or with nothing, and folds what the
// log says after it.
func (s *Session) restore(ctx context.Context, st *state) error {
	if s.cfg.Keeper != nil {
		if data, at, ok := s.cfg.Keeper.Kept(foldVersion); ok && st.take(data) == nil && st.Seq == at.Seq {
			st.keptAt = at.Off
		} else {
			st.State, st.history, st.told, st.logged = transcript.State{}, auto.History{}, "", ""
		}
	}
	if st.Seq == 0 {
		if forks, err := s.base(ctx, st); err != nil {
			return err
		} else if forks {
			st.forks = st.Seq
		}
	}
	st.history.Facts = s.cfg.Facts
	for e, err := range s.cfg.Log.After(ctx, st.Seq) {
		if err != nil {
			return fmt.Errorf("read the session: %w", err)
		}
		st.apply(e)
	}
	return nil
}

// take replaces the state by that of a snapshot.
func (st *state) take(data []byte) error {
	var k kept
	if err := fastjson.Unmarshal(data, &k); err != nil {
		return err
	}
	var err error
	if st.State, err = transcript.ParseState(k.State); err != nil {
		return err
	}
	st.told, st.logged = k.Told, k.Told
	st.history, err = auto.ParseHistory(k.History)
	return err
}

// keep makes a snapshot in the background, when so many bytes came since the
// last one and none is being made. end waits for it.
func (s *Session) keep(st *state, every int64) {
	if s.cfg.Keeper == nil {
		return
	}
	select {
	case <-st.keeping: // it is written
		st.keeping = nil
	default:
		if st.keeping != nil {
			return
		}
	}
	at := s.cfg.Keeper.Place()
	if at == (store.Place{}) || at.Seq != st.Seq || at.Off-st.keptAt < every {
		return
	}
	st.keptAt = at.Off
	done := make(chan struct{})
	st.keeping = done
	state, history, told := st.State, st.history, st.logged
	go func() { // ends when it is written; end waits for it
		defer close(done)
		if data, err := encode(state, history, told); err == nil {
			_ = s.cfg.Keeper.Keep(context.Background(), foldVersion, at, data) // without one, more of the log is read next time
		}
	}()
}

// waitKept waits for the snapshot that is being made.
func (st *state) waitKept() {
	if st.keeping != nil {
		<-st.keeping
	}
}

func encode(st transcript.State, h auto.History, told policy.Mode) ([]byte, error) {
	k := kept{Told: told, State: fastjson.Raw("null")}
	var err error
	if k.History, err = auto.AppendHistory(nil, h); err != nil {
		return nil, err
	}
	head, err := fastjson.Append(nil, k)
	if err != nil {
		return nil, err
	}
	// The state, which can be large, is written where it stays.
	before, after, _ := bytes.Cut(head, k.State)
	about := st.Gauge().Bytes // of the conversation, which is most of it
	out := append(make([]byte, 0, len(head)+about+about/4), before...)
	if out, err = transcript.AppendState(out, st); err != nil {
		return nil, err
	}
	return append(out, after...), nil
}
