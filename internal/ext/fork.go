package ext

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/agents"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/miniagent"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// A ForkConfig is what a skill that wants an agent of its own is done with.
type ForkConfig struct {
	Session func() *session.Session // whose skill it is
	// Parts are the instructions of that session.
	Parts func() []prompt.Part
	// Resolve finds a model by name.
	Resolve func(ctx context.Context, name string) (agent.Target, error)
	Rules   func() policy.Rules // of that session, without what was lent
	// Budget is that of the session.
	Budget func() agent.Budget
	// Tools are all that the session could have, also those that were left out for its
	// model: a check of a person's has what it needs.
	Tools func() tool.Set
	// Transcript is the file of an agent's session, which is made when it is asked for, and
	// what waits for its end. nil: there is none.
	Transcript func(s *session.Session, agent, model string) (file func() string, wait func())
	// Leave has an agent leave the list of what is to be done; nil: there is none.
	Leave func(agent string)
	// Loop is what turns of that session have in common now.
	Loop func() *agent.Loop
	// library, values and folder serve what a definition of an agent names; nil: it has
	// none of that.
	library func() skill.Library
	values  skill.Use
	folder  *Folder
	gate    *hooks.Gate // nil: hooks are told nothing
	// hooks are those of an agent; set with gate.
	hooks func(skill.Agent) []hook.Hook
}

// forkSteps bounds an agent whose definition does not.
const forkSteps = 100

// forks has skills done by an agent of their own: a helper, in whose stead the
// session that has the skill rules on every call, by its rules, its hooks and its
// people. It has no skills and asks no questions itself. What it costs is the
// session's.
func forks(c ForkConfig) func(ctx context.Context, f skills.Fork) (string, effect.Changed, error) {
	var lacking sync.Map // what was told of tools that agents lack
	return func(ctx context.Context, f skills.Fork) (string, effect.Changed, error) {
		s := c.Session()
		if f.Agent != nil && c.folder != nil {
			var err error
			if f.Agent, err = c.folder.settled(*f.Agent); err != nil {
				return "", effect.Changed{}, err
			}
		}
		if of(f.Agent).Isolation != "" { // it would work in the files of the session instead
			return "", effect.Changed{}, fmt.Errorf("the agent %s has isolation: worktree, and an agent that does a skill cannot have a worktree of its own: name another agent in the skill, or start this one with the tool Agent", f.Agent.Name)
		}
		who := hooks.Who{ID: fmt.Sprintf("a%08x", rand.Uint32()), Type: AgentType(f.Agent)}
		ctx = hooks.As(ctx, who)
		plan := agents.Compose(f.Agent, agents.Facts{Child: true, Mode: s.Mode(), Turns: forkSteps, Model: f.Model, Effort: llm.Effort(f.Effort)})
		target, err := c.target(ctx, plan)
		if err != nil && f.Model == "" && ctx.Err() == nil {
			text := agents.Without(who.Type, err)
			plan.Model = ""
			if target, err = c.target(ctx, plan); err == nil {
				err = s.Report(event.Noted{Level: "warning", Text: text})
			}
		}
		if err != nil {
			return "", effect.Changed{}, err
		}
		budget, err := c.share(plan.Turns)
		if all := c.Budget().Turns; err == nil && all > 0 {
			budget.Turns = min(budget.Turns, all-s.Requests())
			if budget.Turns <= 0 {
				err = fmt.Errorf("the turn has made its %s (max_turns)", clip.Count(all, "request"))
			}
		}
		if err != nil {
			return "", effect.Changed{}, err
		}
		rules := c.Rules()
		rules.List = slices.Concat(rules.List, f.Lent)
		l := c.Loop()
		env := l.Env
		env.Dir, env.Exports, env.Agent = f.Env.Dir, f.Env.Exports, who.ID
		if c.Leave != nil {
			defer c.Leave(who.ID)
		}
		task := f.Prompt
		text := plan.Lacks(s.Tools())
		if _, told := lacking.LoadOrStore(text, true); !told && text != "" {
			if err := s.Report(event.Noted{Level: "warning", Text: text}); err != nil {
				return "", effect.Changed{}, err
			}
		}
		system, tools, back, err := c.brings(ctx, f.Agent, plan, &rules, plan.Tools(s.Tools().Anew()))
		if err != nil {
			return "", effect.Changed{}, err
		}
		defer back()
		if c.gate != nil {
			if f.Agent != nil {
				defer c.gate.LendTo(who, c.hooks(*f.Agent))()
			}
			task = strings.Join(append([]string{task}, c.gate.Begins(ctx, who)...), "\n\n")
		}
		by := &through{s: s, lent: f.Lent, mode: policy.Mode(of(f.Agent).Mode), gate: c.gate, who: who, transcript: func() string { return "" }}
		written := func() {}
		defer func() { written() }()
		out, err := miniagent.Run(ctx, miniagent.Spec{
			For: event.ForSkill, Target: target, System: system, Tools: tools, DeferAbove: s.DeferAbove, Prompt: task,
			Rules: rules, Mode: plan.Mode, Hooks: by, Still: by.still, Budget: budget, Env: env, Mask: l.Mask, Aliases: l.Aliases, Redirects: l.Redirects, Record: l.Record,
			Spent: func(e event.Spent) error { return s.Report(e) },
			Began: func(own *session.Session) {
				if c.Transcript != nil {
					by.transcript, written = c.Transcript(own, who.ID, target.ID())
				}
			},
		})
		switch {
		case ctx.Err() != nil:
			return "", out.Disk, ctx.Err()
		case err != nil && strings.TrimSpace(out.Text) == "":
			return "", out.Disk, fmt.Errorf("its agent did not come to an end: %w", err)
		case err != nil:
			return fmt.Sprintf("[its agent did not come to an end: %v; the last it said:]\n%s", err, out.Text), out.Disk, nil
		case strings.TrimSpace(out.Text) == "":
			return "[its agent said nothing]", out.Disk, nil
		}
		return out.Text, out.Disk, nil
	}
}

// checkSteps bounds an agent that answers for a hook.
const checkSteps = 50

// checkText is what such an agent is told.
const checkText = "You check something for a person who works with a coding agent. You can read files and search them, and change nothing. " +
	"Look as far as the check needs it, then answer in the form that is asked for, and with nothing else."

// checker has questions of hooks answered by an agent that reads: the files that the
// session may read without a question, and its transcript.
func checker(c ForkConfig, transcript func() string) func(ctx context.Context, model, question string) (string, error) {
	return func(ctx context.Context, model, question string) (string, error) {
		s := c.Session()
		plan := agents.Compose(&agents.Def{Tools: []string{"Read", "Grep", "Glob"}, MaxTurns: checkSteps}, agents.Facts{Child: true, Model: model})
		target, err := c.target(ctx, plan)
		if err != nil {
			return "", err
		}
		budget, err := c.share(plan.Turns)
		if err != nil {
			return "", err
		}
		rules := c.Rules()
		if transcript != nil && transcript() != "" {
			file := transcript()
			rules.Readable = append(slices.Clip(rules.Readable), file)
			question += "\n\nThe transcript of the session is in " + file + "."
		}
		l := c.Loop()
		out, err := miniagent.Run(ctx, miniagent.Spec{
			For: event.ForHook, Target: target, System: []string{checkText}, Prompt: question, Rules: rules, Budget: budget, Env: l.Env, Mask: l.Mask,
			Tools: plan.Tools(c.Tools().Anew()),
			Spent: func(e event.Spent) error { return s.Report(e) },
		})
		return out.Text, err
	}
}

// target is the model of an agent: the one that its plan names, or the session's.
func (c ForkConfig) target(ctx context.Context, plan agents.Plan) (t agent.Target, err error) {
	t = c.Session().Target()
	if plan.Model != "" {
		if t, err = c.Resolve(ctx, plan.Model); err != nil {
			return t, err
		}
	}
	if plan.Effort != "" || plan.Thinking > 0 {
		t.Effort, t.Thinking = plan.Effort, plan.Thinking
	}
	if plan.Window > 0 && (t.Window == 0 || plan.Window < t.Window) {
		t.Window = plan.Window
	}
	return t, nil
}

// share is the session's budget, for an agent with so many steps: before each of its
// requests it is looked at what all have cost.
func (c ForkConfig) share(steps int) (agent.Budget, error) {
	b := c.Session().Bounded(c.Budget())
	b.Turns, b.Tokens, b.Made = steps, 0, nil
	if why, _ := b.Over(b.Account()); why != "" {
		return b, errors.New(why)
	}
	return b, nil
}

// AgentType is what hooks are told of an agent's definition.
func AgentType(a *skill.Agent) string {
	switch {
	case a == nil:
		return "general-purpose"
	case a.BuiltIn:
		return policy.PublicAgent(a.Name)
	}
	return a.Name
}

func of(a *skill.Agent) skill.Agent {
	if a == nil {
		return skill.Agent{}
	}
	return *a
}

// brings is what the definition of an agent brings for its work: instructions with
// the skills and the notes that it names, and the tools of servers of its own, which
// end with back. rules get the folder of its notes.
func (c ForkConfig) brings(ctx context.Context, a *skill.Agent, plan agents.Plan, rules *policy.Rules, set tool.Set) (system []string, tools tool.Set, back func(), err error) {
	system, back = instructions(c.Parts(), plan.System, of(a).NoMemory), func() {}
	if a == nil || c.folder == nil {
		return system, set, back, nil
	}
	notes, bad := preloaded(c.library(), *a, c.values)
	for _, n := range notes {
		system = append(system, n.Text)
	}
	if dir := AgentMemory(c.folder.conf.Live.Paths, *a); dir != "" {
		rules.Notes = []string{dir}
		if set.Files() == tool.KeepsFiles {
			index, _ := memory.Index(dir)
			system = append(system, prompt.OwnNotes(prompt.Own{Dir: dir, Index: index}))
		}
	}
	list, _, wrong := c.folder.agentServers(*a)
	if bad = append(bad, wrong...); len(bad) > 0 {
		return nil, set, back, errors.New(strings.Join(bad, "; "))
	}
	if len(list) == 0 {
		return system, set, back, nil
	}
	brings, back, err := c.folder.lend(ctx, list)
	if err != nil {
		return nil, set, back, err
	}
	var more []tool.Tool
	own := map[string]bool{}
	for _, b := range brings {
		for _, t := range b.Tools {
			more, own[t.Spec().Name] = append(more, t), true
		}
	}
	for _, name := range set.Names() {
		if t, ok := set.Get(name); ok && !own[name] { // its own goes before one of the session's
			more = append(more, t)
		}
	}
	if tools, err = tool.NewSet(more...); err != nil {
		back()
		return nil, set, func() {}, err
	}
	return system, tools, back, nil
}

// instructions are those of the session, with an agent's own prompt in the place
// of what is said to everybody.
func instructions(parts []prompt.Part, own string, noMemory bool) []string {
	var out []string
	if own != "" {
		out = append(out, own)
	}
	for _, p := range parts {
		if p.Lent || p.Stable && own != "" && p.Name != prompt.Safety || noMemory && prompt.OfMemory(p) {
			continue
		}
		out = append(out, p.Text)
	}
	return out
}

// through has a session rule on the calls of an agent that works for it.
type through struct {
	s    *session.Session
	lent []policy.Rule
	mode policy.Mode // of its definition
	gate *hooks.Gate
	who  hooks.Who
	// transcript is the file of the agent's session.
	transcript func() string
}

// Rule implements session.Hooks.
func (t *through) Rule(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if ownNotes(v) {
		return v, nil
	}
	q.Lent, q.Mode = t.lent, t.mode
	ctx = hooks.As(ctx, t.who)
	ruled, err := t.s.RuleOn(ctx, q)
	v.By, v.Ends, v.Yes = ruled.By, ruled.Ends, ruled.Yes
	if ruled.Effect != policy.Allow || err != nil {
		v.Verdict = v.Denied(ruled.Check, ruled.Reason)
		v.Rule, v.Source = ruled.Rule, ruled.Source
		return v, nil
	}
	v.Effect, v.Reason = policy.Allow, ruled.Reason
	if a := ruled.Answer; a != nil && len(a.Input) > 0 { // planned and ruled on anew
		v.Answer = &op.Answer{Call: q.Call.ID, Allow: true, Input: a.Input, By: a.By}
	}
	return v, nil
}

// ownNotes reports whether an agent is allowed to write what it keeps for itself.
func ownNotes(v agent.Verdict) bool {
	return v.Effect == policy.Allow && v.Check == policy.CheckScratch
}

// still has the session look once more at a call that is to start.
func (t *through) still(q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if ownNotes(v) {
		return v, nil
	}
	q.Lent, q.Mode = t.lent, t.mode
	return t.s.Still(q, v)
}

// Prompt implements session.Hooks.
func (*through) Prompt(context.Context, event.InputQueued) (session.Admission, error) {
	return session.Admission{}, nil
}

// Asks implements session.Hooks.
func (*through) Asks(context.Context, agent.Question, agent.Verdict) (a op.Answer, ok bool) {
	return a, false
}

// Refused implements session.Hooks.
func (*through) Refused(context.Context, agent.Question, agent.Verdict) bool { return false }

// Hooked implements session.Hooks.
func (t *through) Hooked(e hook.Event) bool {
	switch {
	case t.gate == nil:
		return false
	case e == hook.Stop:
		return t.gate.Hooked(hook.SubagentStop)
	}
	return slices.Contains([]hook.Event{hook.PostToolUse, hook.PostToolUseFailure, hook.PostToolBatch}, e) && t.gate.Hooked(e)
}

// Hook implements session.Hooks.
func (t *through) Hook(ctx context.Context, in hook.Input, actions []policy.Action) hook.Answer {
	if stop, ok := in.(hook.StopInput); ok {
		return t.gate.Ends(ctx, t.who, stop, t.transcript())
	}
	return t.gate.Hook(hooks.As(ctx, t.who), in, actions)
}
