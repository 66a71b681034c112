package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
)

// decide is what the rules and the mode say of a call at this moment.
func (st *state) decide(steers steering, q agent.Question) policy.Verdict {
	rules := st.inForce(q.Lent...)
	if st.mode == policy.Auto { // also for an agent whose own mode is stricter
		rules = policy.WithoutAside(rules)
	}
	return policy.Decide(steers.in(rules), policy.Stricter(q.Mode, st.mode), policy.Request{Tool: q.Tool, Actions: q.Plan.Actions, Sandboxed: q.Plan.Sandboxed})
}

// still is an Allow as it is at this moment. What is refused now does not run, whoever
// said yes before; what somebody said counts as long as it answers the question that
// there is now, and is that question otherwise.
func (st *state) still(steers steering, q agent.Question, v agent.Verdict) agent.Verdict {
	if v.Effect != policy.Allow {
		return v
	}
	switch now := st.decide(steers, q); {
	case now.Effect == policy.Deny:
		v.Verdict, v.Answer = now, nil
		v.Reason = "this has changed since it was looked at first: " + now.Reason
		if now.Check == policy.CheckMode {
			v.Reason = fmt.Sprintf("the mode is %s now: %s", st.mode, now.Reason)
		}
	case now.Effect == policy.Ask && !v.Yes.Answers(now):
		v.Verdict, v.Answer = now, nil
	default:
		v.Needs = now.Needs
	}
	return v
}

// Still is an Allow as it is now, when a wait may be behind it. An Ask wants a new
// ruling. Every verdict of this session goes through it, or Begin, before it is used.
func (s *Session) Still(q agent.Question, v agent.Verdict) (out agent.Verdict, err error) {
	if s.cfg.Still != nil {
		return s.cfg.Still(q, v)
	}
	s.fresh()
	steers := s.steers(q.Plan.Actions)
	err = s.do(func(st *state) { out = st.still(steers, q, v) })
	return out, err
}

// fresh has what files of settings say count now. A rule that was written before
// somebody said yes binds the call, and the watch of the files may not have told yet.
func (s *Session) fresh() {
	if s.cfg.Fresh != nil {
		s.cfg.Fresh()
	}
}

// Begin implements agent.Host. A mode or a rule counts for every call whose start
// comes after it in the log.
func (h host) Begin(q agent.Question, v agent.Verdict, start event.ToolStarted) (out agent.Verdict, err error) {
	if h.s.cfg.Still != nil {
		if out, err = h.s.cfg.Still(q, v); err != nil || out.Effect != policy.Allow {
			return out, err
		}
		return out, h.Emit(start)
	}
	h.s.fresh()
	steers := h.s.steers(q.Plan.Actions)
	derr := h.s.do(func(st *state) {
		if out = st.still(steers, q, v); out.Effect == policy.Allow {
			err = h.s.record(context.Background(), st, start)
		}
	})
	return out, errors.Join(derr, err)
}
