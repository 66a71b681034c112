package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/tool"
)

type object = map[string]any

// carried are the members of the requests that a desk carries out.
type carried struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Check     bool            `json:"check_permissions"`
	Inputs    json.RawMessage `json:"input_files"`
	Outputs   json.RawMessage `json:"output_files"`
	Server    string          `json:"serverName"`
	URI       string          `json:"uri"`
	Directory string          `json:"directory"`
	Skills    bool            `json:"reload_skills"`
	Plugins   bool            `json:"reload_plugins"`
	Source    string          `json:"source"`
	Settings  map[string]any  `json:"settings"`
	Path      string          `json:"path"`
	MTime     float64         `json:"mtime"` // in milliseconds
}

// Carry implements print.Desk.
func (d hostDesk) Carry(subtype string, request json.RawMessage) (func(context.Context) (any, error), bool) {
	do, ok := map[string]func(context.Context, carried) (any, error){
		"get_hooks_listing": func(context.Context, carried) (any, error) { return d.hooksListed(), nil },
		"list_permission_rules": func(context.Context, carried) (any, error) {
			return object{"state": d.rulesListed()}, nil
		},
		"mcp_call": d.callTool, "mcp_read_resource": d.readResource, "register_repo_root": d.registerRoot, "update_settings": d.updateSettings,
		"seed_read_state": d.seed,
	}[subtype]
	if !ok {
		return nil, false
	}
	return func(ctx context.Context) (any, error) {
		var in carried
		if err := json.Unmarshal(request, &in); err != nil {
			return nil, fmt.Errorf("the request %q cannot be read: %s", subtype, fastjson.InWords(err))
		}
		return do(ctx, in)
	}, true
}

// callTool calls a tool of an MCP server. The host is trusted with that, so only what
// a rule denies does not run, unless the host asks for a judgement as of the model's calls.
func (d hostDesk) callTool(ctx context.Context, in carried) (any, error) {
	if in.Inputs != nil || in.Outputs != nil {
		return nil, errors.New("files are not staged here: leave input_files and output_files out")
	}
	if in.Arguments == nil {
		in.Arguments = json.RawMessage("{}")
	}
	res, err := d.CallTool(ctx, "", in.Tool, in.Arguments, in.Check)
	if err == nil && res.IsErr {
		err = errors.New(res.Text)
	}
	if err != nil {
		return nil, err
	}
	content := []any{object{"type": "text", "text": res.Text}}
	for _, im := range res.Images {
		content = append(content, object{"type": "image", "source": object{"type": "base64", "media_type": im.Media, "data": im.Data}})
	}
	return object{"content": content}, nil
}

// seed takes over that the model saw a file in a Read that the conversation has no more.
// A file that changed since stays one that has to be read.
func (d hostDesk) seed(_ context.Context, in carried) (any, error) {
	_, real, err := d.readable(in.Path)
	if err != nil {
		return nil, err
	}
	return object{"seeded": d.Seed(real, int64(in.MTime))}, nil
}

// readResource reads a resource that a host shows.
func (d hostDesk) readResource(ctx context.Context, in carried) (any, error) {
	raw, err := json.Marshal(map[string]string{"server": in.Server, "uri": in.URI})
	if err != nil {
		return nil, err
	}
	var res tool.Result
	if res, err = d.CallTool(ctx, in.Server, mcp.ReadResource, raw, false); err == nil && res.IsErr {
		err = errors.New(res.Text)
	}
	if err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(res.Text, "[Resource "+in.URI+"]\n") // which the model is told
	contents := []any{object{"uri": in.URI, "text": text}}
	for _, im := range res.Images {
		contents = append(contents, object{"uri": in.URI, "mimeType": im.Media, "blob": im.Data})
	}
	return object{"contents": contents}, nil
}

// registerRoot takes a folder below those that the session works in: it is worked in
// already, so it is looked at anew where the host wants that.
func (d hostDesk) registerRoot(ctx context.Context, in carried) (any, error) {
	dir := in.Directory
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(d.Place().Paths.Dir, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", dir, cause(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	dirs := d.Session.Rules().Dirs
	switch {
	case slices.Contains(dirs, real):
		return nil, fmt.Errorf("%s is a folder of this session already", dir)
	case !slices.ContainsFunc(dirs, func(root string) bool {
		rel, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(rel)
	}):
		return nil, fmt.Errorf("%s is in none of the folders that the session works in; further ones are added with updatedPermissions (addDirectories) or --add-dir", dir)
	}
	if in.Skills || in.Plugins {
		d.Reload(ctx)
	}
	return object{}, nil
}

// updatable are the settings that a host may write, by the file.
var updatable = map[string]struct{ scope, key, to string }{
	"localSettings": {"local", "outputStyle", "output_style"}, "userSettings": {"user", "effortLevel", "effort"},
}

// updateSettings writes a setting into a file.
func (d hostDesk) updateSettings(ctx context.Context, in carried) (any, error) {
	may, ok := updatable[in.Source]
	if !ok {
		return nil, fmt.Errorf("source cannot be %q; localSettings and userSettings can be written", in.Source)
	}
	for key, v := range in.Settings {
		if _, text := v.(string); key != may.key || !text {
			return nil, fmt.Errorf("in %s only %s can be written, as a text; adze config set writes all others", in.Source, may.key)
		}
	}
	t, ok := d.Place().Paths.File(may.scope)
	v, given := in.Settings[may.key].(string)
	if !ok || !given {
		return object{}, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	edit := confedit.Edit{Op: confedit.Set, Key: may.to, Value: raw}
	if may.to == "effort" && !slices.Contains([]string{"none", "low", "medium", "high", "xhigh"}, v) {
		return nil, fmt.Errorf("effortLevel cannot be %q; none, low, medium, high and xhigh can be written", v)
	}
	return object{}, d.Place().Write(t.Path, func() error {
		_, err := settings.Write(ctx, d.Place().Paths, t, edit)
		return err
	})
}

// ruleSources are the names of scopes of rules on the wire of hosts.
var ruleSources = map[policy.Scope]string{
	policy.Managed: "policySettings", policy.CLI: "cliArg", policy.Session: "session", policy.Command: "command",
	policy.Local: "localSettings", policy.Project: "projectSettings", policy.User: "userSettings",
}

// rulesListed are the rules in force, and the folders.
func (d hostDesk) rulesListed() any {
	rules, list := d.Session.Rules(), []object{}
	for _, r := range rules.List {
		source := cmp.Or(ruleSources[r.Scope], "session")
		edit := map[string]string{"userSettings": "persistent", "projectSettings": "persistent", "localSettings": "persistent", "session": "session"}[source]
		list = append(list, object{"behavior": r.Effect.String(), "source": source, "rule": r.Text(), "editability": cmp.Or(edit, "readonly")})
	}
	dirs := []object{}
	for _, dir := range rules.Dirs {
		if dir != rules.Dir {
			dirs = append(dirs, object{"path": dir, "source": "session"})
		}
	}
	return object{"rules": list, "workspaceDirectories": dirs, "originalCwd": d.Place().Paths.Dir, "managedOnly": false}
}

// hooksListed are the hooks that count, for a menu.
func (d hostDesk) hooksListed() any {
	hide := secret.New() // a command may hold a key
	count, list := map[hook.Event]int{}, []object{}
	var order []hook.Event
	for _, h := range d.Hooks() {
		if count[h.Event]++; count[h.Event] == 1 {
			order = append(order, h.Event)
		}
		name := hide.String(h.Name())
		row := object{
			"event": h.Event, "matcher": h.Matcher, "source": hookSource(h.Scope), "sourceLabel": h.From, "type": h.Type, "displayText": name,
			"commandText": name, "contentLabel": "Command", "timeout": h.Timeout().Seconds(),
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
	off := d.Place().Config().DisableAllHooks
	return object{"events": events, "hooks": list, "eventCatalog": all, "policy": object{
		"disabledByPolicy": false, "managedOnly": false, "pluginOnly": false, "allDisabled": off, "policyHookCount": 0,
	}}
}

func hookSource(scope string) string {
	for _, x := range scopes {
		if string(x.scope) == scope {
			return x.name
		}
	}
	if scope == "session" {
		return "sessionHook"
	}
	return "pluginHook"
}
