package session

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// Settings are what of a Config may change while a session runs.
type Settings struct {
	// Rules, Forbidden and Auto count from the next decision. Rules that were
	// granted for the session stay.
	Rules     policy.Rules
	Forbidden map[policy.Mode]string
	Auto      *auto.Classifier
	Loop      *agent.Loop   // from the next turn
	Budget    agent.Budget  // from the next turn
	WarnUSD   float64       // from the next request; what was spent by then is not told
	Tools     *tool.Set     // from the next step; nil leaves them as they are
	Target    *agent.Target // from the next step; nil leaves the model as it is
	// Begin is called when the next turn begins, before anything of it runs,
	// unless other settings come before. It must not block. nil is fine.
	Begin func()
}

// maxEarly bounds what is kept for a log that has not begun.
const maxEarly = 600

// Apply makes changed settings count, and records what changed unless nothing
// did. The record does not end with ctx: it is brief, and must be made. An error is about the record: the settings count all the same.
func (s *Session) Apply(ctx context.Context, n Settings, what event.SettingsChanged) error {
	var res error
	if err := s.do(func(st *state) { res = s.adopt(context.WithoutCancel(ctx), st, n, what) }); err != nil {
		return err
	}
	return res
}

// adopt runs on the session's goroutine.
func (s *Session) adopt(ctx context.Context, st *state, n Settings, what event.SettingsChanged) error {
	var granted []policy.Rule
	for _, r := range st.rules.List {
		if r.Scope == policy.Session {
			granted = append(granted, r)
		}
	}
	st.rules = n.Rules
	st.rules.List = append(slices.Clip(n.Rules.List), granted...)
	st.loop, st.budget, st.auto, st.forbidden = n.Loop, n.Budget, n.Auto, n.Forbidden
	st.onBegin, st.warnUSD = n.Begin, n.WarnUSD
	if n.Tools != nil {
		st.wanted = n.Tools
	}
	if n.Target != nil {
		st.target = *n.Target
	}
	var events []event.Body
	if len(what.Changes)+len(what.Untrusted)+len(what.Problems)+len(what.Mended) > 0 {
		events = append(events, what)
	}
	if why := st.forbidden[st.mode]; why != "" {
		st.mode = policy.Default
		events = append(events, event.ModeChanged{Mode: policy.Default, Cause: event.CauseSettings, Why: why})
	}
	if st.Seq == 0 {
		st.early = append(st.early, events...)
		st.early = st.early[max(0, len(st.early)-maxEarly):]
		for _, b := range events { // a reader need not wait for the first prompt to learn of them
			s.fan.send(event.Event{Time: s.cfg.Now(), Body: b})
		}
		return nil
	}
	for _, e := range events {
		if err := s.record(ctx, st, e); err != nil {
			return err
		}
	}
	if st.Running != "" { // else with the next turn
		return s.sayAside(ctx, st)
	}
	return nil
}

// begun records the first event of a log, and what happened before it.
func (s *Session) begun(ctx context.Context, st *state) error {
	if err := s.record(ctx, st, s.cfg.Begin); err != nil {
		return err
	}
	for _, b := range st.early {
		tell := s.fan.send
		switch b.(type) {
		case event.SettingsChanged, event.ModeChanged:
			tell = s.fan.told
		default: // the newest state, which may be told twice
		}
		if err := s.put(ctx, st, b, tell); err != nil {
			return err
		}
	}
	return nil
}
