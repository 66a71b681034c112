package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// A ruler rules on a planned call, knowing what those before it said. What it
// has nothing to say about it returns as it came. It may wait, and tells
// q.Waits before it does; it runs on a goroutine of the turn.
type ruler func(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error)

// A chain asks its rulers in order. An error ends it.
type chain []ruler

func (c chain) rule(ctx context.Context, q agent.Question) (v agent.Verdict, err error) {
	v.Effect = policy.Ask // the zero verdict is none
	for _, r := range c {
		if v, err = r(ctx, q, v); err != nil || v.Defers {
			return v, err
		}
	}
	return v, nil
}

// rulers are who rules on a call.
func (h host) rulers() chain { return chain{h.byRules, h.byHooks, h.byClassifier, h.byPerson} }

// Rule implements agent.Host.
func (h host) Rule(ctx context.Context, q agent.Question) (agent.Verdict, error) {
	if q.Waits == nil {
		q.Waits = func() {}
	}
	return h.rulers().rule(ctx, q)
}

// byRules is the ruling of the rules and the mode. What a person wrote, only
// a refusal can stop; arguments that anybody else wrote are as any other.
func (h host) byRules(_ context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	steers := h.s.steers(q.Plan.Actions)
	err := h.s.do(func(st *state) { v.Verdict = st.decide(steers, q) })
	if v.Effect == policy.Ask {
		v.Yes.To = v.Check
		if q.Rewritten != nil && q.Rewritten.Person() {
			v.Yes.Person = true
			v.Verdict = policy.Verdict{Effect: policy.Allow, Reason: "the person wrote it", Part: v.Part, Needs: v.Needs}
		}
	}
	return v, err
}

// byHooks has a person's programs rule. What the rules refuse stays refused.
// What they allow under conditions (Needs) a hook does not loosen. With other
// arguments than the model's the call is planned anew and comes back as another
// question, with Rewritten set.
func (h host) byHooks(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if h.s.cfg.Hooks == nil || v.Effect == policy.Deny {
		return v, nil
	}
	needs := v.Needs
	v, err := h.s.cfg.Hooks.Rule(ctx, q, v)
	if v.Needs = needs; err == nil && v.Check == hook.Check {
		err = h.s.do(func(st *state) { v.Verdict = policy.UnlessDontAsk(policy.Stricter(q.Mode, st.mode), v.Verdict) })
	}
	return v, err
}

// byClassifier settles questions in the mode auto, until it refused too often.
func (h host) byClassifier(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if !auto.Applies(v.Verdict) {
		return v, nil
	}
	var by *auto.Classifier
	var over string
	k := auto.Case{Call: q.Call, Tool: q.Tool, Actions: q.Plan.Actions, Verdict: v.Verdict}
	err := h.s.do(func(st *state) {
		by, k.History, k.Dir = st.auto, st.history, st.Dir
		over = st.limits.Reached()
	})
	if err != nil || by == nil {
		return v, err
	}
	if over != "" {
		v.Reason += " (" + over + ")"
		return v, nil
	}
	q.Waits()
	var ruling auto.Ruling
	var broke *ErrBudget
	switch err = h.s.Buy(ctx, func() (spent event.Spent) { ruling, spent = by.Judge(ctx, k); return spent }); {
	case errors.As(err, &broke):
		ruling = auto.Ruling{Effect: auto.Ask, Reason: broke.Why}
	case err != nil:
		return v, err
	}
	v.Verdict = ruling.Over(v.Verdict)
	var res error
	err = h.s.do(func(st *state) { res = h.s.ruled(context.WithoutCancel(ctx), st, q, ruling) })
	if v.Effect == policy.Deny && h.Hooked(hook.PermissionDenied) && h.s.cfg.Hooks.Refused(ctx, q, v) {
		v.Reason += ". A hook says that you may try it once more"
	}
	return v, errors.Join(err, res)
}

// ruled counts a ruling of the classifier, and records when it was the last one for now.
func (s *Session) ruled(ctx context.Context, st *state, q agent.Question, r auto.Ruling) (err error) {
	if q.Reply > 0 { // what a running call asks is of its reply
		st.reply = q.Reply
	}
	was := st.limits.Reached()
	st.limits = st.limits.After(r, fmt.Sprintf("%s.%d", st.Running, st.reply))
	if now := st.limits.Reached(); now != "" && was == "" {
		err = s.record(ctx, st, event.Noted{Level: "warning", Text: now + ". What needs a decision is a question to a person, and refused where nobody can be asked"})
	}
	return err
}

// Review has the classifier look at what an agent did that was started for task and has
// ended, where this session is in the mode auto. doubt says what is suspicious, "" for
// nothing.
func (s *Session) Review(ctx context.Context, task string, end event.TaskEnded) (doubt string) {
	var by *auto.Classifier
	h := auto.Handoff{Task: task, End: end}
	if s.do(func(st *state) {
		if st.mode == policy.Auto {
			by, h.History = st.auto, st.history
		}
	}) != nil || by == nil {
		return ""
	}
	var broke *ErrBudget
	switch err := s.Buy(ctx, func() (spent event.Spent) { doubt, spent = by.Review(ctx, h); return spent }); {
	case errors.As(err, &broke):
		return "what it did could not be checked: " + broke.Why
	case ctx.Err() != nil: // it is stopped, and hands nothing over
		return ""
	}
	return doubt
}

// byPerson settles what is still a question: it asks, and waits for the
// answer. Without anybody to ask it is a refusal.
func (h host) byPerson(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if v.Effect != policy.Ask {
		return v, nil
	}
	if h.s.cfg.Hooks != nil && h.s.cfg.Hooks.Hooked(hook.PermissionRequest) {
		q.Waits()
		if a, ok := h.s.cfg.Hooks.Asks(ctx, q, v); ok {
			return h.byHook(ctx, q, v, a)
		}
	}
	var wait chan op.Answer
	var res error
	err := h.s.do(func(st *state) { wait, res = h.s.ask(ctx, st, q, &v.Verdict) })
	if err := errors.Join(err, res); err != nil || wait == nil {
		return v, err
	}
	q.Waits()
	if h.s.cfg.Above != nil {
		defer h.s.above(ctx, q.Call.ID)()
	}
	select {
	case a, asked := <-wait:
		if !asked {
			v.Verdict = nobody(v.Verdict)
			return v, nil
		}
		h.keep(ctx, q.Tool, a)
		return verdictOf(v, a), nil
	case <-ctx.Done():
		select {
		case a, asked := <-wait: // it came with the end of the turn (op.Answer.Stop), or just before
			if asked {
				h.keep(ctx, q.Tool, a)
				return verdictOf(v, a), nil
			}
		default:
		}
		_ = h.s.do(func(st *state) { delete(st.asks, q.Call.ID) })
		return v, ctx.Err()
	}
}

// byHook settles a question as a hook answered it, in a person's stead.
func (h host) byHook(ctx context.Context, q agent.Question, v agent.Verdict, a op.Answer) (agent.Verdict, error) {
	v.By, v.Answer = event.By{Kind: event.ByHook, Name: a.By}, &a
	if !a.Allow {
		v.Verdict = v.Denied(v.Check, "a hook ("+a.By+") said no")
		if a.Comment != "" {
			v.Reason += ": " + a.Comment
		}
		return v, nil
	}
	v.Verdict = policy.Verdict{Effect: policy.Allow, Reason: "approved by the hook " + a.By, Part: v.Part, Needs: v.Needs}
	var res error
	err := h.s.do(func(st *state) {
		var rules, list []policy.Rule
		if list, res = st.changed(a.Changes); res != nil {
			return
		}
		if rules, res = h.s.change(ctx, st, a); res == nil {
			st.rules.List = append(list, rules...)
			res = h.s.sayAside(ctx, st)
		}
	})
	if res != nil { // the call was allowed all the same
		return v, errors.Join(err, h.Emit(event.Noted{Level: "warning", Text: "what the hook " + a.By + " wanted to change besides was left out: " + res.Error()}))
	}
	h.keep(ctx, q.Tool, a)
	return v, err
}

// keep saves the rules of an answer, and makes its changes of folders. What goes wrong
// does not undo it: the rules hold for the session in any case.
func (h host) keep(ctx context.Context, tool string, a op.Answer) {
	if a.Allow && len(a.Folders) > 0 {
		err := errNoFolders
		if h.s.cfg.Folders != nil {
			err = h.s.cfg.Folders(ctx, a.Folders)
		}
		if err != nil {
			_ = h.Emit(event.Noted{Level: "warning", Text: fmt.Sprintf("what %s wants of folders was left out: %s", a.By, strings.ReplaceAll(err.Error(), "\n", "; "))})
		}
	}
	if !a.Allow || len(a.Rules) == 0 || h.s.cfg.Keep == nil {
		return
	}
	if err := h.s.cfg.Keep(ctx, tool, a.Keep, a.Rules); err != nil {
		until := "for this session only"
		if a.Keep == op.ForSession {
			until = "until the session is closed"
		}
		_ = h.Emit(event.Noted{Level: "warning", Text: fmt.Sprintf("the rule holds %s: %v", until, err)})
	}
}

var errNoFolders = errors.New("the folders of this session cannot be changed")

// ask opens a question. Without anybody to ask it is a refusal.
func (s *Session) ask(ctx context.Context, st *state, q agent.Question, v *policy.Verdict) (chan op.Answer, error) {
	if len(st.people) == 0 && onlyAsks(q.Plan.Actions) {
		v.Effect, v.Reason = policy.Allow, "it does nothing but ask, and its result says that nobody is there"
		return nil, nil
	}
	if len(st.people) == 0 && s.cfg.Above == nil {
		*v = nobody(*v)
		return nil, nil
	}
	wait := make(chan op.Answer, 1)
	st.asks[q.Call.ID] = wait
	return wait, s.record(ctx, st, event.Asked{Call: q.Call.ID, Tool: q.Tool, Input: q.Call.Input, Title: q.Plan.Title, Verdict: *v, View: q.Plan.View})
}

// nobody is the refusal of what only a person could allow.
func nobody(v policy.Verdict) policy.Verdict {
	v.Effect, v.Reason = policy.Deny, "it needs a person's approval, and nobody can be asked in this run: "+v.Reason
	return v
}

// onlyAsks reports whether a call does nothing but put something to a person.
func onlyAsks(actions []policy.Action) bool {
	for _, a := range actions {
		if _, ok := a.(policy.Person); !ok {
			return false
		}
	}
	return len(actions) > 0
}

// verdictOf turns a person's answer into a verdict.
func verdictOf(v agent.Verdict, a op.Answer) agent.Verdict {
	v.By = event.Client(a.By)
	if a.Allow {
		v.Verdict = policy.Verdict{Effect: policy.Allow, Reason: "approved by " + a.By, Part: v.Part, Needs: v.Needs}
		v.Answer, v.Yes.Person = &a, true
		return v
	}
	v.Verdict = v.Denied(v.Check, "the person said no")
	if a.Exact && a.Comment != "" {
		v.Reason, v.Answer = a.Comment, &a
		return v
	}
	if a.Comment != "" {
		v.Reason += ": " + a.Comment
	}
	return v
}
