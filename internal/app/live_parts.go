package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

type disk = confedit.Disk

// variables are what commands inherit, and the names that pass to them.
type variables struct{ environ, allow []string }

func (l *live) setVars(cfg *config.Config) {
	l.vars.Store(&variables{environ(l.o, cfg, l.a.temp.outside), allowEnv(cfg)})
}

func (l *live) environment() (environ, allow []string) {
	v := l.vars.Load()
	return v.environ, v.allow
}

// confine returns what puts a sandbox of these settings in force.
func (l *live) confine(ctx context.Context, cfg *config.Config, dirs []string) func() {
	l.dirs = dirs
	var box *confinement
	if cfg.Sandbox.Enabled {
		box = confine(ctx, l.o, cfg, l.a.Paths, dirs, l.a.temp.inside, attended{l.a.connect, l.a.lenient})
	}
	return func() { l.a.boxes.swap(box) }
}

// loop is what turns have in common with these settings.
func (l *live) loop(cfg *config.Config, rules policy.Rules) *agent.Loop {
	t := l.turn
	t.Fallback, t.MaxCalls, t.Env.Roots, t.Env.Covers = l.fallback, cfg.Tools.MaxParallel, rules.Dirs, policy.Covers(rules)
	t.Patient = !l.o.Print
	return &t
}

// budget is what bounds each turn.
func budget(cfg *config.Config) agent.Budget {
	return agent.Budget{
		Turns: cfg.MaxTurns, USD: cfg.MaxBudgetUSD, Unpriced: cfg.Cost.UnknownPriceOK, Tokens: int(cfg.TokenBudget),
	}
}

// resolve finds a model by name, for a person who switches.
func (l *live) resolve(ctx context.Context, name string) (agent.Target, error) {
	t, err := l.models.Load().named(ctx, name)
	return t.Target, err
}

// Keys that models are made from. The model itself is none of them: a session
// keeps the one it has.
var (
	modelKeys  = []string{"providers", "models", "model_aliases", "apiKeyHelper", "network.proxy", "network.ca_file", "effort", "fallback_model", "small_model"}
	targetKeys = []string{"providers", "models", "apiKeyHelper", "network.proxy", "network.ca_file", "effort"}
	autoKeys   = []string{"autoMode.allow", "autoMode.soft_deny", "autoMode.hard_deny", "autoMode.environment", "small_model", "providers", "model_aliases"}
)

// choose makes models anew when settings that they depend on changed. The
// target is nil when the session's model stays as it is.
func (l *live) choose(was, now *config.Config, bad []string) (*agent.Target, []string) {
	changed := map[string]bool{}
	for _, c := range config.Diff(was, now) {
		changed[c.Key] = true
	}
	any := func(keys []string) bool { return slices.ContainsFunc(keys, func(k string) bool { return changed[k] }) }
	if any(autoKeys) || any(modelKeys) {
		chooser, err := Models(l.o, now)
		if err != nil {
			return nil, append(bad, err.Error())
		}
		l.models.Store(&models{Chooser: chooser, o: l.o, cfg: now, begun: l.models.Load().begun})
	}
	ctx := context.Background()
	m := l.models.Load()
	if any(autoKeys) {
		l.auto = m.classifier(ctx, l.started)
	}
	if any(modelKeys) {
		if f, err := m.fallback(ctx); err != nil {
			bad = append(bad, err.Error())
		} else {
			l.fallback = f
		}
	}
	if !any(targetKeys) || l.o.Target != nil {
		return nil, bad
	}
	name := l.a.Session.State().Model
	if name == "" {
		name = l.a.Target.ID()
	}
	t, err := m.named(ctx, name)
	if err != nil {
		return nil, append(bad, fmt.Sprintf("the model %s goes on as it was: %v", name, err))
	}
	return &t.Target, bad
}

// later are settings that were used up when the session started; one that
// ends in a dot stands for all below it.
var later = []string{
	"model", "permissions.defaultMode", "profile", "output_style", "language", "agent", "system_prompt", "append_system_prompt",
	"memory.", "cleanup_days", "ui.", "hooks", "disableAllHooks", "statusLine.", "mcpServers", "enableAllProjectMcpServers",
	"enabledMcpjsonServers", "disabledMcpjsonServers", "allowedMcpServers", "deniedMcpServers", "enabledPlugins",
	"extraKnownMarketplaces", "strictKnownMarketplaces", "lsp", "worktree", "web.", "cost.warn_usd", "tools.defer_above", "bash.",
}

func countsLater(key string) bool {
	return slices.ContainsFunc(later, func(p string) bool { return key == p || strings.HasSuffix(p, ".") && strings.HasPrefix(key, p) })
}

// Bounds of what an event says of a change.
const (
	maxValue   = 500 // characters of one value
	maxEntries = 20  // of a list
)

// changes describes what differs, without secrets.
func (l *live) changes(was, now *config.Config) []event.SettingChange {
	var out []event.SettingChange
	for _, c := range config.Diff(was, now) {
		e := event.SettingChange{Key: c.Key, From: c.From.String(), Later: countsLater(c.Key)}
		before, isList := entries(c.Old)
		after, isList2 := entries(c.New)
		if isList && isList2 && (before != nil || after != nil) {
			e.Added, e.Removed = l.less(after, before), l.less(before, after)
		} else {
			e.Old, e.New = l.value(c.Old), l.value(c.New)
		}
		out = append(out, e)
	}
	return out
}

// entries reads a list, or a map of scalars, as texts; ok is also true for null.
func entries(raw json.RawMessage) (out []string, ok bool) {
	if string(raw) == "null" {
		return nil, true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			out = append(out, text(e))
		}
		return out, true
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil, false
	}
	for k, v := range entries {
		out = append(out, k+"="+text(v))
	}
	slices.Sort(out)
	return out, true
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// less are the entries of a that b lacks, bounded.
func (l *live) less(a, b []string) []string {
	var out []string
	more := 0
	for _, s := range a {
		switch {
		case slices.Contains(b, s):
		case len(out) == maxEntries:
			more++
		default:
			out = append(out, clip.Line(l.a.hide.String(s), maxValue))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

func (l *live) value(raw json.RawMessage) json.RawMessage {
	clean := l.a.hide.Bytes(raw)
	if len(clean) <= maxValue && json.Valid(clean) {
		return clean
	}
	b, _ := json.Marshal("[" + clip.Size(int64(len(raw))) + "]") // a string always can
	return b
}

// waiting are the project's files that changed and want more than counts.
func waiting(was, now *config.Config) []string {
	var out []string
	before, after := sums(was), sums(now)
	for _, path := range now.Ignored {
		if before[path] != after[path] {
			out = append(out, path)
		}
	}
	return out
}

// problems are what is wrong with settings, in words.
func problems(c *config.Config, bad []string) []string {
	var out []string
	for _, p := range c.Problems {
		if p.Severity == config.Error || p.Severity == config.Warning && p.Key == "" {
			out = append(out, p.String())
		}
	}
	out = append(out, bad...)
	if c.Permissions.Unsafe != "" {
		out = append(out, "nothing passes without a question until this is mended: "+c.Permissions.Unsafe)
	}
	return out
}

// news are the problems that were not told yet.
func (l *live) news(c *config.Config, bad []string) []string {
	all := problems(c, bad)
	var out []string
	for _, p := range all {
		if !slices.Contains(l.said, p) {
			out = append(out, clip.Line(l.a.hide.String(p), 2*maxValue))
		}
	}
	l.said = all
	return out
}
