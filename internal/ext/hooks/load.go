package hooks

import (
	"fmt"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext/hook"
)

// Load reads the hooks of the settings. Problems name the place of what cannot be
// used; the rest is. Settings of a repository that is not trusted hold none. further
// are those of the session itself.
func Load(c *config.Config, further ...Hook) (hook.Set, []error) {
	if c.DisableAllHooks {
		return hook.Set{}, nil
	}
	var list []hook.Hook
	var problems []error
	for _, g := range c.HookGroups() {
		if c.ManagedHooksOnly && g.Scope != config.Managed {
			continue
		}
		at := hook.Place{From: g.Origin.String(), Scope: string(g.Scope)}
		hooks, bad := hook.Parse(g.Event, g.JSON, at)
		list = append(list, hooks...)
		for _, err := range bad {
			problems = append(problems, fmt.Errorf("%s: %w", at.From, err))
		}
	}
	if !c.ManagedHooksOnly {
		list = append(list, further...)
	}
	return hook.NewSet(list...), problems
}

// A Hook is one that the session itself has.
type Hook = hook.Hook

// An Ending is why a session ends.
type Ending = hook.Ending
