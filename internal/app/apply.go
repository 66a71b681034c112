package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/toolkit"
)

// reload makes changed settings count, and tells of them unless adze wrote
// them itself. One runs at a time.
func (r *Running) reload(was, now *config.Config) {
	at, changed := r.place, config.Diff(was, now)
	n, bad := r.apply(now, config.Makes(changed))
	what := event.SettingsChanged{Changes: settings.Changes(at.process.hide, changed, now, at.Paths), Untrusted: settings.Waiting(was, now)}
	what.Problems, what.Mended = r.news(was, now, bad)
	if at.live.Own(was, now) {
		what = event.SettingsChanged{}
	}
	_ = r.Session.Apply(context.Background(), n, what) // a log that cannot be written ends the next turn, and says so there
}

// apply makes the parts that depend on settings anew. bad says which could
// not be made; those stay as they are.
func (r *Running) apply(now *config.Config, makes config.Parts) (n session.Settings, bad []string) {
	at := r.place
	rules, _ := settings.UsableRules(now, at.Paths, func(err error) { bad = append(bad, err.Error()) })
	rules = r.bounded(rules)
	if err := r.extendRules(now, &rules); err != nil {
		bad = append(bad, err.Error())
	}
	dirs := slices.Clone(rules.Dirs)
	readable(&rules, r)
	n.Target, bad = r.chooseAgain(now, makes, bad)
	if set, err := r.narrowed(now, rules); err != nil {
		bad = append(bad, err.Error())
	} else {
		n.Tools = &set
	}
	bad = append(bad, r.ext.Use(now)...)
	n.Rules, n.Forbidden, n.Auto = rules, r.forbidden(now), r.auto
	n.Loop, n.Budget, n.WarnUSD = r.turns(now, rules), r.budget(now), now.Cost.WarnUSD
	r.sandboxes.Prepare(context.Background(), now, dirs, makes&config.MakesSandbox != 0)
	// Not before the next turn: a call that was allowed because it would be
	// confined may not find itself outside.
	n.Begin = r.sandboxes.Advance
	return n, bad
}

// readable adds the session's own folders to those that may be read.
func readable(rules *policy.Rules, r *Running) {
	rules.Readable = append(rules.Readable, r.place.process.temp.all)
	if r.notes != "" && r.profile != prompt.Small {
		rules.Notes = []string{r.notes}
	}
	if dir := r.log.Scratch(); dir != "" {
		rules.Readable = append(rules.Readable, dir)
	}
	rules.Readable = append(rules.Readable, r.log.Kin...)
}

// turns is what turns have in common with these settings.
func (r *Running) turns(cfg *config.Config, rules policy.Rules) *agent.Loop {
	l := r.loop
	l.Fallbacks, l.MaxCalls, l.Env.Roots, l.Env.Covers = r.fallback, cfg.Tools.MaxParallel, rules.Dirs, policy.Covers(rules)
	return &l
}

// narrowed are the tools that the session has with these settings.
func (r *Running) narrowed(cfg *config.Config, rules policy.Rules) (tool.Set, error) {
	set, err := r.kit.Narrowed(r.profile, cfg.Tools, rules, r.ext.Contributions()...)
	if !r.flowing() {
		set = set.Meant(func(names ...string) bool { return names[0] != workflowTool })
	}
	if r.spec.Tools != nil {
		set = set.Meant(func(names ...string) bool {
			return names[0] == r.kit.Structured || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.spec.Tools, name) })
		})
	}
	plan := r.plan(cfg)
	set = toolkit.Todo(plan.Tools(set, r.kit.Always()...), r.todo)
	return toolkit.Asked(set, func(name string) bool {
		return slices.Contains(cfg.Tools.Allowed, name) || slices.Contains(r.spec.Tools, name) || plan.Names(name)
	}), err
}

// anyTools: nobody named the tools that the session has, so that others are expected:
// those of a server that is configured before a later run.
func (r *Running) anyTools(cfg *config.Config) bool {
	return (r.main == nil || r.main.Tools == nil) && r.spec.Tools == nil && (len(cfg.Tools.Allowed) == 0 || slices.Contains(cfg.Tools.Allowed, "default"))
}

// Offer has the session offer the tools that there are now, as extensions bring
// others, from the next step on.
func (r *Running) Offer() {
	at := r.place
	cfg := at.Config()
	set, err := r.narrowed(cfg, settings.ReadingRules(cfg, at.Paths)) // which tools are denied
	if err != nil {
		_ = r.Session.Report(event.Noted{Level: "warning", Text: err.Error()}) // a session that has ended needs none
		return
	}
	_ = r.Session.Offer(set)
}

// budget is what bounds each turn.
func budget(cfg *config.Config) agent.Budget {
	return agent.Budget{
		Turns: cfg.MaxTurns, USD: cfg.MaxBudgetUSD, Unpriced: cfg.Cost.UnknownPriceOK, Tokens: int(cfg.TokenBudget),
	}
}

// chooseAgain makes models anew. The target is nil when the session's model
// stays as it is: it is not another one because the settings name another.
func (r *Running) chooseAgain(now *config.Config, makes config.Parts, bad []string) (*agent.Target, []string) {
	if makes&(config.MakesModels|config.MakesTarget|config.MakesClassifier) == 0 {
		return nil, bad
	}
	m, err := r.place.modelsOf(now)
	if err != nil {
		return nil, append(bad, err.Error())
	}
	ctx := context.Background()
	if makes&config.MakesClassifier != 0 {
		r.auto = m.Classifier()
	}
	if makes&config.MakesModels != 0 && r.spec.Target == nil {
		if f, err := m.Fallbacks(ctx); err != nil {
			bad = append(bad, err.Error())
		} else {
			r.fallback = f
		}
	}
	if makes&config.MakesTarget == 0 || r.spec.Target != nil {
		return nil, bad
	}
	name := r.Session.Target().Wished()
	t, err := m.Named(ctx, name)
	if err != nil {
		return nil, append(bad, fmt.Sprintf("the model %s goes on as it was: %v", name, err))
	}
	r.strive(now, &t.Target)
	return &t.Target, bad
}

// Mistakes are what of the settings in force is not used because of a mistake, rules
// that match nothing among it, in words.
func (r *Running) Mistakes() (out []string) {
	all, _ := settings.Problems(r.place.Config(), r.place.Paths, nil)
	for _, p := range all {
		out = append(out, clip.Line(r.place.process.hide.String(p.Words), settings.MaxProblem))
	}
	return out
}

// news are the problems that the session was not told yet, and what was one of those
// that it was told and is none any more.
func (r *Running) news(was, now *config.Config, bad []string) (out, mended []string) {
	all, unsafe := settings.Problems(now, r.place.Paths, bad)
	for _, p := range all {
		same := func(q settings.Problem) bool { return q.Subject == p.Subject }
		if !slices.ContainsFunc(r.said, same) {
			out = append(out, clip.Line(r.place.process.hide.String(p.Words), settings.MaxProblem))
		}
	}
	for _, m := range settings.Mended(was, now) {
		mended = append(mended, clip.Line(m, settings.MaxProblem))
	}
	if r.unsafe != "" && unsafe == "" {
		mended = append(mended, "what rules and the mode allow passes without a question again")
	}
	r.said, r.unsafe = all, unsafe
	return out, mended
}
