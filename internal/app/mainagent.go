package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/agents"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// main is the definition of the agent that a session is, nil for the usual one.
func (at *Place) main(cfg *config.Config, s Spec) (*ext.Agent, error) {
	if s.Child != nil {
		return s.Child.main, nil
	}
	if at.process.sources.Bare && cfg.Agent == "" {
		return nil, nil
	}
	a, note, err := at.ext.Main(cfg.Agent)
	if note != "" {
		at.process.Notef("%s; sessions begin as usual", note)
	}
	return a, err
}

// compose says what a session that begins in a mode becomes by the definition. What a
// person asked for at this start goes before it.
func (at *Place) compose(cfg *config.Config, main *ext.Agent, s Spec, now policy.Mode) agents.Plan {
	if c := s.Child; c != nil && c.Order.Fork {
		return c.plan(cfg, now)
	} else if c != nil {
		return agents.Compose(main, agents.Facts{
			Child: true, Mode: now, Turns: cmp.Or(c.Order.Turns, childTurns), Model: c.Order.Model, Effort: c.Order.Effort,
			Last: c.Order.Depth >= bounds(cfg).Depth,
		})
	}
	return agents.Compose(main, agents.Facts{
		Mode: now, Turns: cfg.MaxTurns, Model: s.Model, NoAuto: bool(cfg.Permissions.DisableAuto),
		KeepsMode: s.Skip || asked(cfg, "permissions.defaultMode"), KeepsEffort: asked(cfg, "effort"), KeepsSystem: cfg.SystemPrompt != "" && asked(cfg, "system_prompt"),
	})
}

// childTurns bounds the requests of an agent where nothing else does.
const childTurns = 200

// plan is what the session is by its definition, with these settings.
func (r *Running) plan(cfg *config.Config) agents.Plan {
	return r.place.compose(cfg, r.main, r.spec, r.started)
}

// named is a model by name, as the definition of an agent of the session has it.
func (r *Running) named(ctx context.Context, name string) (agent.Target, error) {
	own := r.Target()
	meant := r.place.models.Load().Meant(ctx, name, own.ID())
	if meant == own.ID() {
		return own, nil
	}
	return r.place.resolve(ctx, meant)
}

// strive has a model think as hard as the definition says, unless a person asked for
// something else, and its window be no larger than that says.
func (r *Running) strive(cfg *config.Config, t *agent.Target) {
	p := r.plan(cfg)
	if p.Effort != "" || p.Thinking > 0 {
		t.Effort, t.Thinking = p.Effort, p.Thinking
	}
	if p.Window > 0 && (t.Window == 0 || p.Window < t.Window) {
		t.Window = p.Window
	}
}

// budget bounds each turn, also by what the definition says.
func (r *Running) budget(cfg *config.Config) agent.Budget {
	b := budget(cfg)
	b.Turns = r.plan(cfg).Turns
	if c := r.spec.Child; c != nil {
		b.Tokens = 0
		if c.Order.Turns > 0 {
			b.Turns = min(b.Turns, c.Order.Turns)
		}
		return c.budget(b)
	}
	return b
}

// first is the prompt that the definition has a new session begin with, "" for none.
func (r *Running) first() string {
	if r.main == nil || r.State().Turns > 0 {
		return ""
	}
	return r.plan(r.place.Config()).First
}

// initial submits that prompt, where the front end waits for a person's. In print mode
// it stands before the first one that comes: see Submit.
func (r *Running) initial() {
	text := r.first()
	if text == "" || r.spec.dry || r.place.process.front.Print || r.spec.Child != nil {
		return
	}
	_ = r.Session.Submit(context.Background(), r.opening(text, op.Prompt{})) // a session that cannot take it says so
}

// begun is an op for a child: its first prompt has that of the definition before it, as text.
func (r *Running) begun(o op.Op) op.Op {
	p, ok := o.(op.Prompt)
	if !ok || r.spec.Child == nil {
		return o
	}
	text := r.first()
	if text == "" || !r.opened.CompareAndSwap(false, true) {
		return o
	}
	p = r.opening(text, p)
	p.Command = false
	return p
}

// opening is a prompt that begins with the text of a definition, which nobody typed.
func (r *Running) opening(text string, p op.Prompt) op.Prompt {
	before := text
	if p.Text != "" {
		before += "\n\n"
	}
	p.Text, p.Typed, p.Command = before+p.Text, p.Typed.Behind(len(before)), false
	p.ImagesAt = slices.Clone(p.ImagesAt)
	for i := range p.ImagesAt {
		p.ImagesAt[i] += len(before)
	}
	if name, ok := strings.CutPrefix(text, "/"); ok {
		name, _, _ = strings.Cut(name, " ")
		p.Command = slices.ContainsFunc(r.Extended().Commands, func(o event.Offer) bool { return o.Name == name })
	}
	return p
}

// Submit hands an op to the session. The first prompt of one that begins as an agent
// has that agent's own before it.
func (r *Running) Submit(ctx context.Context, o op.Op) error {
	p, ok := o.(op.Prompt)
	if !ok || r.main == nil || !r.place.process.front.Print {
		return r.Session.Submit(ctx, o)
	}
	text := r.first()
	if text == "" || !r.opened.CompareAndSwap(false, true) {
		return r.Session.Submit(ctx, o)
	}
	if !p.Command {
		return r.Session.Submit(ctx, r.opening(text, p))
	}
	if err := r.Session.Submit(ctx, r.opening(text, op.Prompt{})); err != nil {
		return err
	}
	return r.Session.Submit(ctx, p)
}
