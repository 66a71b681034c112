package ext

import (
	"cmp"
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hook"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/ext/skill"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/helper"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
)

// What an agent that has no definition of its own may do at most.
const agentTurns = 100

// notForAgents are tools of the session's own: its person, its plan, its list,
// and further agents.
var notForAgents = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TodoWrite", skills.Name}

// fork runs a skill in an agent of its own, and returns its last words. The agent
// has the session's rules, mode and hooks; what it asks, the session's person is
// asked.
func (x *Session) fork(ctx context.Context, f skills.Fork) (string, error) {
	def := skill.Agent{}
	if f.Agent != nil {
		def = *f.Agent
	}
	target, err := x.forkTarget(ctx, f, def)
	if err != nil {
		return "", err
	}
	l := x.conf.Loop()
	env := l.Env
	env.Dir, env.Exports = f.Env.Dir, f.Env.Exports
	rules := x.s.InForce()
	rules.List = slices.Concat(rules.List, f.Lent)
	mode := x.s.Mode()
	if m, ok := policy.ParseMode(def.Mode); ok && m.Stricter(mode) {
		mode = m
	}
	turns := def.MaxTurns
	if turns == 0 {
		turns = agentTurns
	}
	budget := x.conf.Budget()
	budget.Turns = turns
	res, err := helper.Run(ctx, helper.Spec{
		For: event.ForAgent, Target: target, System: x.conf.System(def.Prompt), Prompt: f.Prompt, Rules: rules, Mode: mode, Hooks: under{x.gate, x.s}, Budget: budget,
		Tools: x.s.Tools().Only(func(name string) bool {
			return !slices.Contains(notForAgents, name) && !slices.Contains(def.Denied, name) && (def.Tools == nil || slices.Contains(def.Tools, name))
		}),
		Env: env, Mask: l.Mask, Aliases: l.Aliases, Record: l.Record,
		Spent: func(s event.Spent) error { return x.s.Report(s) },
	})
	return res.Text, err
}

// forkTarget is the model of an agent.
func (x *Session) forkTarget(ctx context.Context, f skills.Fork, def skill.Agent) (agent.Target, error) {
	t := x.s.Target()
	if name := cmp.Or(f.Model, def.Model); name != "" {
		var err error
		if t, err = x.conf.Resolve(ctx, name); err != nil {
			return t, err
		}
	}
	if e := cmp.Or(f.Effort, def.Effort); e != "" {
		t.Effort, t.Thinking = llm.Effort(e), 0
	}
	return t, nil
}

// under are the hooks of an agent: those of its session that look at calls. What
// it asks, the session's person is asked.
type under struct {
	*hooks.Gate
	s *session.Session
}

// Prompt implements session.Hooks: what an agent is told to do is no prompt of a
// person's.
func (under) Prompt(context.Context, event.InputQueued) (session.Admission, error) {
	return session.Admission{}, nil
}

// Asks implements session.Hooks.
func (u under) Asks(ctx context.Context, q agent.Question, _ agent.Verdict) (op.Answer, bool) {
	v, err := u.s.Ask(ctx, q)
	if err != nil {
		return op.Answer{}, false
	}
	if v.Answer != nil {
		return *v.Answer, true
	}
	return op.Answer{Allow: v.Effect == policy.Allow, Comment: v.Reason, By: "the session"}, true
}

// Hooked implements session.Hooks.
func (u under) Hooked(e hook.Event) bool {
	switch e {
	case hook.PermissionRequest: // Asks answers it
		return true
	case hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, hook.PostToolBatch, hook.PermissionDenied:
		return u.Gate.Hooked(e)
	default: // about the session, not about what its agents do
		return false
	}
}
