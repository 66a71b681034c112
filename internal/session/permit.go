package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// Permit rules on something that a running call turned out to do and that its
// plan could not name, such as a connection of a command: as on a call, by the
// rules, the mode, the classifier, a person. q.Call needs no ID. A question
// ends with ctx and with the turn. Between turns nobody is asked. When nobody
// came to rule on it, the verdict is Deny and comes with an error.
func (s *Session) Permit(ctx context.Context, q agent.Question) (policy.Verdict, error) {
	v, err := s.Ask(ctx, q)
	return v.Verdict, err
}

// Ask is Permit with what was said beside yes or no: the values of a form.
func (s *Session) Ask(ctx context.Context, q agent.Question) (agent.Verdict, error) {
	v, err := s.RuleOn(ctx, q)
	if v.Answer != nil && len(v.Answer.Input) > 0 && err == nil {
		// What was asked about is fixed here, and nobody said yes to it.
		v.Effect, v.Reason = policy.Deny, "other arguments are wanted, which this cannot have"
	}
	return v, err
}

// RuleOn is Ask for a call whose arguments may still change: where the answer
// has some, the caller plans with them and asks again, with Rewritten set.
func (s *Session) RuleOn(ctx context.Context, q agent.Question) (agent.Verdict, error) {
	var turn context.Context
	err := s.do(func(st *state) {
		st.names++
		q.Call.ID = fmt.Sprintf("x%d.%d", st.Seq+1, st.names)
		if st.cancel != nil {
			turn = st.turn
		}
	})
	if err != nil {
		return agent.Verdict{Verdict: policy.Verdict{Effect: policy.Deny, Reason: "the session is over"}}, err
	}
	if turn == nil {
		v, err := s.between(q)
		return agent.Verdict{Verdict: v}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(turn, cancel)()
	v, err := s.settled(ctx, q)
	if err != nil {
		v.Effect, v.Reason = policy.Deny, "the question was withdrawn"
		return v, errors.Join(err, s.withdraw(q.Call.ID))
	}
	return v, nil
}

// maxRulings bounds how often something is ruled on that turns out to be a question
// when that is done.
const maxRulings = 5

// settled is a ruling that still holds when nobody is waited for any more.
func (s *Session) settled(ctx context.Context, q agent.Question) (v agent.Verdict, err error) {
	for range maxRulings {
		v, err = host{s}.Rule(ctx, q)
		if err == nil {
			v, err = s.Still(q, v)
		}
		if err != nil || v.Effect != policy.Ask {
			return v, err
		}
	}
	v.Effect = policy.Deny
	return v, nil
}

// between rules on what a command in the background does while no turn runs.
func (s *Session) between(q agent.Question) (v policy.Verdict, err error) {
	steers := s.steers(q.Plan.Actions)
	err = s.do(func(st *state) {
		v = st.decide(steers, q)
	})
	if v.Effect == policy.Ask || err != nil {
		v.Effect, v.Reason = policy.Deny, "nobody can be asked while no turn runs: "+v.Reason
		err = errors.Join(err, ErrIdle)
	}
	return v, err
}

// steering are paths that rules protect for one decision.
type steering []policy.Steer

// steers are looked for when there is something that writes.
func (s *Session) steers(actions []policy.Action) steering {
	writes := false
	for a := range policy.All(actions) {
		_, is := a.(policy.Write)
		writes = writes || is
	}
	if !writes || s.cfg.Steers == nil {
		return nil
	}
	return s.cfg.Steers()
}

func (t steering) in(r policy.Rules) policy.Rules {
	if len(t) > 0 {
		r.Protected = slices.Concat(r.Protected, t)
	}
	return r
}

// withdrawn settles a question that nobody waits for.
func withdrawn(call string) event.Answered {
	return event.Answered{Answer: op.Answer{Call: call}, By: event.By{Kind: event.ByInterrupt}}
}

// withdraw closes a question that nobody waits for, unless the end of its
// turn did.
func (s *Session) withdraw(call string) (err error) {
	derr := s.do(func(st *state) {
		if _, open := st.Pending[call]; open {
			err = s.record(context.Background(), st, withdrawn(call))
		}
	})
	return errors.Join(derr, err)
}
