package config

import "encoding/json"

// A HookGroup is the hooks of one matcher at an event, as a file has them.
type HookGroup struct {
	Event string
	JSON  json.RawMessage
	Origin
}

// HookGroups are the hooks of all layers, in their order: those of weaker
// layers first.
func (c *Config) HookGroups() (out []HookGroup) {
	at := c.tree.get("hooks")
	if at == nil {
		return nil
	}
	for _, event := range at.members {
		if event.value == nil || event.value.kind != '[' {
			out = append(out, HookGroup{event.name, event.value.json(), event.from})
			continue
		}
		for _, g := range event.value.elems {
			out = append(out, HookGroup{event.name, g.json(), g.from})
		}
	}
	return out
}

// HooksCount reports whether hooks that a scope brings run. The switch of an
// administrator's settings is for all; anybody else's leaves the administrator's
// own on.
func (c *Config) HooksCount(s Scope) bool {
	if c.DisableAllHooks {
		off := c.tree.at("disableAllHooks")
		return s == Managed && (off == nil || off.from.Scope != Managed)
	}
	return s == Managed || !c.ManagedHooksOnly
}
