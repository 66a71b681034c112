package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/tool"
)

// Commands are the slash commands that extensions of a session bring.
type Commands interface {
	// Find says why there is no such command, or nil. It returns at once.
	Find(name string) error
	// Expand makes what the model reads of a command. It is called on the turn's
	// goroutine, may take its time and ask (Permit), and ends with ctx. An error
	// refuses the prompt with its words.
	Expand(ctx context.Context, name, args string) (Expansion, error)
}

// An Expansion is what a slash command comes to.
type Expansion struct {
	Text   string // that the model reads
	Images []llm.Image
	Skill  *effect.Skill // what it brings for the turn, nil for nothing
	// Changed is what making it changed on disk.
	Changed effect.Changed
}

// A lending is what a skill brings until the turn ends.
type lending struct {
	rules  []policy.Rule
	target *agent.Target // nil: the session's model stays
	effort op.SetEffort
}

// word splits a slash command: its name without the slash, and its arguments.
func word(text string) (name, args string) {
	head, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	if name, more, split := strings.Cut(head, "\n"); split {
		head, args = name, more+" "+args
	}
	return strings.TrimPrefix(head, "/"), strings.TrimSpace(args)
}

// command says whether the session has the slash command of a prompt.
func (s *Session) command(text string) error {
	name, _ := word(text)
	if s.cfg.Commands == nil {
		return &op.Refusal{Code: op.NoCommand, Text: "there is no command /" + name}
	}
	if err := s.cfg.Commands.Find(name); err != nil {
		return &op.Refusal{Code: op.NoCommand, Text: err.Error(), Err: err}
	}
	return nil
}

// expand makes what the model reads of a prompt that is a command. It runs on
// the turn's goroutine.
func (s *Session) expand(ctx context.Context, q event.InputQueued, a *Admission) {
	if !q.Command || a.Refused != "" {
		return
	}
	const lists = "/help lists the commands with what they take"
	if err := s.command(q.Text); err != nil { // it went away while the prompt waited
		a.Refused, a.hint, a.mistake = err.Error(), lists, true
		return
	}
	name, args := word(q.Text)
	x, err := s.cfg.Commands.Expand(ctx, name, args)
	switch {
	case ctx.Err() != nil:
		a.Refused = "interrupted"
	case err != nil:
		var wrong *hint.Mistake
		a.Refused, a.hint, a.mistake = err.Error(), cmp.Or(hint.Of(err), lists), errors.As(err, &wrong)
	default:
		a.read = x
		if x.Skill != nil {
			a.lent = s.lends(ctx, *x.Skill)
		}
	}
}

// lends is what a skill brings. What of it cannot be used is told, and left out.
func (s *Session) lends(ctx context.Context, k effect.Skill) (l lending) {
	var errs []error
	from := "the skill " + k.Name
	if k.From != "" {
		from += " (" + k.From + ")"
	}
	for _, list := range []struct {
		texts  []string
		effect policy.Effect
	}{{k.Rules, policy.Allow}, {k.Deny, policy.Deny}} {
		for _, text := range list.texts {
			r, err := policy.ParseRule(text, list.effect, policy.Command, from, s.cfg.Rules.Dir)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			l.rules = append(l.rules, r)
		}
	}
	if k.Model != "" && s.cfg.Resolve != nil {
		t, err := s.cfg.Resolve(ctx, k.Model)
		if err == nil {
			l.target = &t
		}
		errs = append(errs, err)
	}
	switch {
	case k.Effort == "":
	case slices.Contains(levels, k.Effort):
		l.effort = op.SetEffort{Level: k.Effort}
	default:
		errs = append(errs, errors.New("there is no effort "+k.Effort))
	}
	if err := errors.Join(errs...); err != nil {
		_ = s.Report(event.Noted{Level: "warning", Text: from + ": " + err.Error()}) // a session that cannot write says so itself
	}
	return l
}

// inForce are the rules that hold now, with those lent for the turn and more.
func (st *state) inForce(more ...policy.Rule) policy.Rules {
	r := st.rules
	r.List = slices.Concat(r.List, more)
	for _, l := range st.lent {
		r.List = slices.Concat(r.List, l.rules)
	}
	return r
}

// asked is the model that is asked now, with the effort that was asked for.
func (st *state) asked() agent.Target {
	out, effort := st.target, st.effort
	if st.mode == policy.PlanMode && out.Plan != nil {
		out = *out.Plan
	}
	for _, l := range st.lent {
		if l.target != nil {
			out = *l.target
		}
		if l.effort != (op.SetEffort{}) {
			effort = l.effort
		}
	}
	if effort != (op.SetEffort{}) {
		out.Effort, out.Thinking = llm.Effort(effort.Level), effort.Tokens
	}
	return out
}

// Offer has the session offer these tools from the next step on.
func (s *Session) Offer(set tool.Set) error {
	return s.do(func(st *state) { st.wanted = &set })
}
