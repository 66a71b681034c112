package session

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/usage"
)

// record makes an event durable, folds it and hands it on.
func (s *Session) record(ctx context.Context, st *state, b event.Body) error {
	if st.Seq == 0 {
		if _, first := b.(event.SessionStarted); !first {
			if err := s.begun(ctx, st); err != nil {
				return err
			}
		}
	}
	was := st.Total
	if err := s.put(ctx, st, b, s.fan.send); err != nil {
		return err
	}
	if text := dear(was, st.Total, st.warnUSD); text != "" {
		if s.cfg.AskDear && st.Running != "" {
			st.dear = text
		}
		return s.record(ctx, st, event.Noted{Level: "warning", Text: text, About: event.AboutCost})
	}
	if _, end := b.(event.TurnEnded); end {
		s.keep(st, keepEvery)
	}
	return nil
}

// put writes an event into the log and hands it to tell.
func (s *Session) put(ctx context.Context, st *state, b event.Body, tell func(event.Event)) error {
	e := event.Event{Seq: st.Seq + 1, Time: s.cfg.Now(), Body: b}
	if err := s.cfg.Log.Append(ctx, e); err != nil {
		return err
	}
	st.apply(e)
	tell(e)
	return nil
}

// dear says that a session costs as much as a person wanted to be told of, when
// it does since its newest request.
func dear(was, now usage.Spent, warn float64) string {
	if was.Cost >= warn || now.Cost < warn { // of 0 that is so at any time
		return ""
	}
	return fmt.Sprintf("this session has cost %s; cost.warn_usd is $%.2f", now.Money(), warn)
}

func (st *state) apply(e event.Event) {
	st.State = st.Apply(e)
	st.history = st.history.Apply(e)
	st.arrives(e.Body)
	switch b := e.Body.(type) {
	case event.InputAccepted:
		st.given = st.given || !b.Hidden && !b.Steer
		if _, said, _ := b.Typed.Cut(b.Text); !b.Hidden && said != "" {
			st.limits = st.limits.Answered()
		}
	case event.TurnStarted:
		if st.given { // a turn that gives the model no prompt does not tell it of the mode either
			st.told, st.logged = b.Mode, b.Mode
		}
		st.given = false
	case event.TurnEnded:
		st.given, st.lent, st.dear = false, nil, "" // its turn could not begin, where it is set
	case event.ModeChanged:
		if b.Cause != event.CauseAsked { // a call's result says it
			st.told, st.logged = b.Mode, b.Mode
		}
	default: // the model learns of no mode
	}
}
