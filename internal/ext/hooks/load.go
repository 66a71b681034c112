package hooks

import (
	"fmt"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
)

// Load is what brings hooks that count with these settings: the settings themselves,
// and behind them what others bring, where hooks of more than the administrator count. Problems
// name the place of what cannot be used; the rest is. Settings of a repository that
// is not trusted hold none.
func Load(c *config.Config, others ...extension.Contribution) (list []extension.Contribution, problems []error) {
	own := extension.Contribution{From: extension.OfPlace("the settings")}
	for _, g := range c.HookGroups() {
		if !c.HooksCount(g.Scope) {
			continue
		}
		at := hook.Place{From: g.Origin.String(), Scope: string(g.Scope)}
		hooks, bad := hook.Parse(g.Event, g.JSON, at)
		own.Hooks = append(own.Hooks, hooks...)
		for _, err := range bad {
			problems = append(problems, fmt.Errorf("%s: %w", at.From, err))
		}
	}
	if !c.HooksCount(config.User) {
		others = nil
	}
	return append([]extension.Contribution{own}, others...), problems
}
