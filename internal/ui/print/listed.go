package print

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
)

// settingsScopes are the names of scopes on the wire of hosts, the weakest first.
var settingsScopes = []struct{ scope, name string }{
	{"user", "userSettings"}, {"project", "projectSettings"}, {"local", "localSettings"}, {"env", "environment"},
	{"settings", "flagSettings"}, {"flag", "flagSettings"}, {"managed", "policySettings"},
}

// A sourced is where settings come from.
type sourced struct {
	Name     string                     `json:"source"`
	Settings map[string]json.RawMessage `json:"settings"`
}

// A settingsBody has the members of the answer in the order in which hosts know them.
type settingsBody struct {
	Effective map[string]json.RawMessage `json:"effective"`
	Sources   []sourced                  `json:"sources"` // those that say something, the weakest first
	Applied   struct {
		Model  string  `json:"model"`
		Effort *string `json:"effort"` // nil is the model's own
	} `json:"applied"`
}

// settingsNow are the settings in force, by the names of adze's own files.
func (r *runner) settingsNow(now ask.SettingsNow) any {
	out, by := settingsBody{Effective: map[string]json.RawMessage{}, Sources: []sourced{}}, map[string]map[string]json.RawMessage{}
	for _, s := range now.List {
		out.Effective[s.Key] = s.Value
		for _, x := range settingsScopes {
			if x.scope != s.Scope {
				continue
			}
			if by[x.name] == nil {
				by[x.name] = map[string]json.RawMessage{}
			}
			by[x.name][s.Key] = s.Value
		}
	}
	for i, x := range settingsScopes {
		if values := by[x.name]; len(values) > 0 && (i == 0 || settingsScopes[i-1].name != x.name) {
			out.Sources = append(out.Sources, sourced{x.name, values})
		}
	}
	if out.Applied.Model = r.About.name(now.Model); now.Effort != "" {
		out.Applied.Effort = &now.Effort
	}
	return out
}

// updatable are the settings that a host may write, by the file.
var updatable = map[string]struct {
	scope   policy.Scope
	key, to string
}{
	"localSettings": {policy.Local, "outputStyle", "output_style"}, "userSettings": {policy.User, "effortLevel", "effort"},
}

// updated is the change of a setting that a host wants; nil where it wants none.
func updated(in members) (ask.Query, error) {
	may, ok := updatable[in.Source]
	if !ok {
		return nil, fmt.Errorf("source cannot be %q; localSettings and userSettings can be written", in.Source)
	}
	for key, v := range in.Settings {
		if _, text := v.(string); key != may.key || !text {
			return nil, fmt.Errorf("in %s only %s can be written, as a text; adze config set writes all others", in.Source, may.key)
		}
	}
	v, given := in.Settings[may.key].(string)
	if !given {
		return nil, nil
	}
	if may.to == "effort" && !slices.Contains([]string{"none", "low", "medium", "high", "xhigh"}, v) {
		return nil, fmt.Errorf("effortLevel cannot be %q; none, low, medium, high and xhigh can be written", v)
	}
	raw, err := json.Marshal(v)
	return ask.Save{Scope: may.scope, Key: may.to, Value: raw}, err
}

// ruleSources are the names of scopes of rules on the wire of hosts.
var ruleSources = map[policy.Scope]string{
	policy.Managed: "policySettings", policy.CLI: "cliArg", policy.Session: "session", policy.Command: "command",
	policy.Local: "localSettings", policy.Project: "projectSettings", policy.User: "userSettings",
}

// rulesListed are the rules in force, and the folders.
func (r *runner) rulesListed(rules ask.RuleSet) any {
	list, dirs := []object{}, []object{}
	for _, x := range rules.List {
		source := cmp.Or(ruleSources[x.Scope], "session")
		edit := map[string]string{"userSettings": "persistent", "projectSettings": "persistent", "localSettings": "persistent", "session": "session"}[source]
		list = append(list, object{"behavior": x.Effect.String(), "source": source, "rule": x.Text, "editability": cmp.Or(edit, "readonly")})
	}
	for _, dir := range rules.Dirs {
		if dir != r.About.Cwd {
			dirs = append(dirs, object{"path": dir, "source": "session"})
		}
	}
	return object{"state": object{"rules": list, "workspaceDirectories": dirs, "originalCwd": r.About.Cwd, "managedOnly": false}}
}

// hooksListed are the hooks that count, for a menu.
func hooksListed(set ask.HookSet) any {
	count, list := map[string]int{}, []object{}
	var order []string
	for _, h := range set.List {
		if count[h.Event]++; count[h.Event] == 1 {
			order = append(order, h.Event)
		}
		row := object{
			"event": h.Event, "matcher": h.Matcher, "source": hookSource(h.Scope), "sourceLabel": h.From, "type": h.Type, "displayText": h.Name,
			"commandText": h.Name, "contentLabel": "Command", "timeout": h.Timeout,
		}
		if h.If != "" {
			row["condition"] = h.If
		}
		list = append(list, row)
	}
	events, all := []object{}, []object{}
	for _, e := range order {
		events = append(events, object{"name": e, "summary": "", "supportsMatcher": true, "hookCount": count[e]})
	}
	for _, e := range hook.Events() {
		all = append(all, object{"name": e, "summary": "", "supportsMatcher": true})
	}
	return object{"events": events, "hooks": list, "eventCatalog": all, "policy": object{
		"disabledByPolicy": false, "managedOnly": false, "pluginOnly": false, "allDisabled": set.Off, "policyHookCount": 0,
	}}
}

func hookSource(scope string) string {
	for _, x := range settingsScopes {
		if x.scope == scope {
			return x.name
		}
	}
	if scope == "session" {
		return "sessionHook"
	}
	return "pluginHook"
}
