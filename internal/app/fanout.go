package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// A fanout says what agents of a session would come to, and asks its people. It implements
// fleet.Asker.
type fanout struct{ *Running }

// USD implements fleet.Asker.
func (f fanout) USD() float64 { return f.place.Config().Agents.AskUSD }

// Small implements fleet.Asker.
func (f fanout) Small(ctx context.Context) string {
	if small, _ := f.place.models.Load().Beside(ctx, f.Target().ID()); small != nil {
		return small.ID()
	}
	return ""
}

// Cap implements fleet.Asker.
func (f fanout) Cap() string {
	b := f.Bounded(f.budget(f.place.Config()))
	for at := &b; at != nil; at = at.Outer {
		if at.USD > 0 {
			return fmt.Sprintf("no more than the $%.2f that are left of the budget of $%.2f", max(0, at.USD-at.Account().USD), at.USD)
		}
	}
	return "nothing bounds what they cost (max_budget_usd)"
}

// Likely implements fleet.Asker.
func (f fanout) Likely(ctx context.Context, o fleet.Order) (l fleet.Likely) {
	t, kind := f.target(ctx, o)
	l.Model = t.ID()
	for _, c := range sessions.In(f.place.Paths.State).AgentCosts(sessions.Key(f.place.Paths.Root)) {
		if c.Type == kind && c.Model == l.Model {
			l.USD, l.Known, l.Here = c.USD, true, true
			return l
		}
	}
	begins := 0
	if o.Fork {
		begins = f.State().Gauge().Tokens
	}
	l.USD, l.Known = t.Usual(begins)
	return l
}

// target is the model that an agent would ask, as far as that is known before it starts, and
// the name that its costs are remembered by.
func (f fanout) target(ctx context.Context, o fleet.Order) (t agent.Target, kind string) {
	t, kind = f.Target(), cmp.Or(o.Type, "general-purpose")
	if o.Fork {
		return t, kind
	}
	name := o.Model
	if main, err := f.ext.Agent(o.Type); err == nil && main != nil {
		kind, name = main.Name, cmp.Or(name, main.Model)
	}
	if name != "" && f.spec.Target == nil {
		if named, err := f.named(ctx, name); err == nil {
			t = named
		}
	}
	return t, kind
}

// Ask implements fleet.Asker.
func (f fanout) Ask(ctx context.Context, q event.Asked) (a op.Answer, there bool, err error) {
	for at := f.Running; ; at = at.spec.Child.Of {
		if there = at.Attended(); there {
			break
		}
		if at.spec.Child == nil {
			return a, false, nil
		}
	}
	q.Call = "agents-" + f.ID[len(f.ID)-8:] + fmt.Sprint("-", f.State().Seq)
	if c := f.spec.Child; c != nil {
		a, err = c.above(ctx, q)
	} else {
		a, err = f.Relay(ctx, q)
	}
	if errors.Is(err, session.ErrNobody) { // they went before they answered
		return op.Answer{Comment: "nobody is there any more who could be asked"}, true, nil
	}
	return a, true, err
}

// learn remembers what an agent of the session has cost, for estimates of later ones.
func (r *Running) learn(b event.TaskEnded) {
	m, ok := r.tree.Find(b.ID)
	if !ok || b.Status != event.TaskCompleted || b.Tally.Cost == 0 {
		return
	}
	p := r.place.process
	p.learning.Lock()
	defer p.learning.Unlock()
	at := r.place.Paths
	sessions.In(at.State).AddAgentCost(sessions.Key(at.Root), cmp.Or(m.Type, "general-purpose"), m.Begun.Model, b.Tally.Cost)
}
