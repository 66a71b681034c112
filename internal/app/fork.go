package app

import (
	"context"

	"github.com/adze-agent/adze/internal/agents"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/environment"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
)

// A fork sends what the session that started it sends, byte for byte: its instructions,
// tools, model and conversation. So all of that is taken from there and made of no setting,
// and the provider's cache serves it.

// fork says where the child's conversation comes from. at is the last event of it, 0 for a
// fork that was there before.
func (c *Child) fork() (at event.Seq, err error) {
	c.main = c.Of.main
	if c.Order.Resume != nil {
		return 0, nil
	}
	base, err := c.Of.Fork(c.Order.Call)
	if err != nil {
		return 0, err
	}
	c.base = func(context.Context) (session.Base, error) { return base, nil }
	return base.At(), nil
}

// forks reports whether the session is a fork.
func (r *Running) forks() bool { return r.spec.Child != nil && r.spec.Child.Order.Fork }

// like is the spec of a fork.
func (c *Child) like(s Spec) Spec {
	of := c.Of.spec
	s.Tools, s.Schema, s.InPlan, s.Redirects = of.Tools, of.Schema, of.InPlan, of.Redirects
	return s
}

// like is the plan of a fork.
func (c *Child) plan(cfg *config.Config, now policy.Mode) agents.Plan {
	p := c.Of.plan(cfg)
	p.Mode, p.Turns, p.First, p.Note = now, childTurns, "", ""
	if n := c.Order.Turns; n > 0 {
		p.Turns = n
	}
	return p
}

// model is what a fork asks: what the other session asks now. One that goes on later has the
// model that it had, as any session.
func (r *Running) model() (models.Target, bool) {
	c := r.spec.Child
	if !r.forks() || c.base == nil {
		return models.Target{}, false
	}
	r.key, r.fallback = c.Of.key, c.Of.fallback
	return models.Target{Target: c.Of.Target()}, true
}

// inherit takes over what the session sends that started this fork, and knows.
func (r *Running) inherit() environment.Facts {
	of := r.spec.Child.Of
	r.parts, r.light, r.profile = of.parts, of.light, of.profile
	return of.known.Again()
}

// base is where a fork begins, nil for any other session.
func (r *Running) base() func(ctx context.Context) (session.Base, error) {
	c := r.spec.Child
	switch {
	case !r.forks():
		return nil
	case c.base != nil:
		return c.base
	}
	return func(ctx context.Context) (session.Base, error) {
		b, err := r.log.Began(ctx)
		if err != nil {
			return session.Base{}, err
		}
		return session.Forked(c.Of.log.After(ctx, 0), b.At, b.Child.Call, r.kit.Facts)
	}
}
