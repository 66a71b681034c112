package app

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// main is the definition of the agent that sessions begin as, nil for the usual one.
func (at *Place) main(cfg *config.Config) (*ext.Agent, error) {
	if at.process.sources.Bare && cfg.Agent == "" {
		return nil, nil
	}
	a, note, err := at.ext.Main(cfg.Agent)
	if note != "" {
		at.process.Notef("%s; sessions begin as usual", note)
	}
	return a, err
}

// mainMode is the mode that a session begins in as an agent. What a person asked for
// goes before the definition, and one that others wrote only tightens.
func (at *Place) mainMode(cfg *config.Config, main *ext.Agent, s Spec, now policy.Mode) policy.Mode {
	if main == nil || main.Mode == "" || s.Skip || asked(cfg, "permissions.defaultMode") {
		return now
	}
	wants, _ := policy.ParseMode(main.Mode) // it was read before
	own := slices.Contains([]string{"user", "managed", "flag"}, main.Scope)
	switch {
	case policy.Stricter(wants, now) == wants:
		return wants
	case wants == policy.Bypass, wants == policy.Auto && bool(cfg.Permissions.DisableAuto), !own:
		at.process.Notef("the agent %s does not begin in the mode %s, which it wants: --permission-mode %s chooses it", clip.Visible(main.Name), wants, wants)
		return now
	}
	return wants
}

// mainName is the name of the agent that the session is, "" for the usual one.
func (r *Running) mainName() string {
	if r.main == nil {
		return ""
	}
	return r.main.Name
}

// mainModel is the model that its definition names, "" for none.
func (r *Running) mainModel() string {
	if r.main == nil {
		return ""
	}
	return r.main.Model
}

// mainEffort has a model think as hard as the definition says, unless a person asked
// for something else.
func (r *Running) mainEffort(cfg *config.Config, t *agent.Target) {
	if r.main != nil && r.main.Effort != "" && !asked(cfg, "effort") {
		t.Effort, t.Thinking = ext.Effort(*r.main), 0
	}
}

// mainTools are the tools that the definition leaves.
func (r *Running) mainTools(set tool.Set) tool.Set {
	if r.main == nil {
		return set
	}
	return ext.Offered(set, *r.main, r.kit.Always()...)
}

// replace is what stands in the place of adze's own instructions: the text of a
// flag, that of the agent, or that of the settings.
func (r *Running) replace(cfg *config.Config) string {
	if r.main == nil || r.main.Prompt == "" || cfg.SystemPrompt != "" && asked(cfg, "system_prompt") {
		return cfg.SystemPrompt
	}
	return r.main.Prompt
}

// budget bounds each turn, also by what the definition says.
func (r *Running) budget(cfg *config.Config) agent.Budget {
	b := budget(cfg)
	if r.main != nil && r.main.MaxTurns > 0 && (b.Turns == 0 || r.main.MaxTurns < b.Turns) {
		b.Turns = r.main.MaxTurns
	}
	return b
}

// first is the prompt that the definition has a new session begin with, "" for none.
func (r *Running) first() string {
	if r.main == nil || r.State().Turns > 0 {
		return ""
	}
	return strings.TrimSpace(r.main.Initial)
}

// initial submits that prompt, where the front end waits for a person's. In print mode
// it stands before the first one that comes: see Submit.
func (r *Running) initial() {
	text := r.first()
	if text == "" || r.spec.dry || r.place.process.front.Print {
		return
	}
	_ = r.Session.Submit(context.Background(), r.opening(text, op.Prompt{})) // a session that cannot take it says so
}

// opening is a prompt that begins with the text of a definition, which nobody typed.
func (r *Running) opening(text string, p op.Prompt) op.Prompt {
	before := text
	if p.Text != "" {
		before += "\n\n"
	}
	p.Text, p.Typed, p.Command = before+p.Text, p.Typed.Behind(len(before)), false
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
