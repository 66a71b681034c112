package print

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Setup is what a host decides before the session begins.
type Setup struct {
	System string          // replaces the instructions, "" leaves them
	Append string          // stands after them
	Schema json.RawMessage // of the structured answer, nil for none
	Hooks  []hook.Hook     // that the host answers
	// Inside are the names of MCP servers that the host serves, Servers others, and
	// Agents definitions of agents, as JSON by name.
	Inside  []string
	Servers map[string]json.RawMessage
	Agents  map[string]json.RawMessage
	// Plugins are folders, and Skills the names of the only skills there are; nil is
	// all.
	Plugins []string
	Skills  []string
	// Redirects are the names of tools that run in the place of others, and InPlan
	// says how the model is to work in plan mode.
	Redirects map[string]string
	InPlan    string
	// Timeouts are how long a call of a server of Inside may take, in milliseconds.
	Timeouts map[string]float64
	// Unused are the members that mean nothing here.
	Unused []string
}

// initialize is the request that holds a Setup. What this version has not and
// a host would rely on is refused.
type initialize struct {
	System  texts                      `json:"systemPrompt"`
	Append  string                     `json:"appendSystemPrompt"`
	Schema  json.RawMessage            `json:"jsonSchema"`
	Hooks   map[string]json.RawMessage `json:"hooks"`
	Agents  map[string]json.RawMessage `json:"agents"`
	Inside  []string                   `json:"sdkMcpServers"`
	Servers map[string]json.RawMessage `json:"mcpServers"`
	Plugins []localPlugin              `json:"plugins"`
	Aliases map[string]string          `json:"toolAliases"`
	Skills  json.RawMessage            `json:"skills"` // a list of names, or "all"
	InPlan  string                     `json:"planModeInstructions"`
	Title   string                     `json:"title"`
	Texts   bool                       `json:"forwardSubagentText"`
	Suggest bool                       `json:"promptSuggestions"`
	Tell    bool                       `json:"agentProgressSummaries"`
	Inner   map[string]struct {
		Timeout float64         `json:"timeout"`
		Tools   json.RawMessage `json:"tools"`
	} `json:"sdkMcpServerConfigs"`
}

// known are the members of initialize that count, and harmless those that mean
// nothing here and that a host can do without: dialogs that are never opened, caches, and how the
// instructions are split. Of those that count, later ones can come at any time.
var (
	known = append([]string{"subtype", "systemPrompt", "appendSystemPrompt", "jsonSchema", "hooks", "agents", "sdkMcpServers", "sdkMcpServerConfigs", "mcpServers",
		"plugins", "toolAliases", "skills", "planModeInstructions", "title"}, later...)
	later    = []string{"forwardSubagentText", "promptSuggestions", "agentProgressSummaries"}
	harmless = []string{"supportedDialogKinds", "perTaskStopAffordance",
		"excludeDynamicSections", "systemPromptSnapshot", "sdkMcpServerManifests", "sdkMcpServerManifestsOrigin"}
)

// unused are the members of a request that do not count. strange are those of them
// that nothing is known of.
func unused(raw json.RawMessage) (all, strange []string) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // it was read before
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch {
		case slices.Contains(known, name):
		case slices.Contains(harmless, name):
			all = append(all, name)
		default:
			all, strange = append(all, name), append(strange, name)
		}
	}
	return all, strange
}

// A localPlugin is a plugin in a folder of this machine.
type localPlugin struct {
	Type string `json:"type"`
	Path string `json:"path"`
}

// Setup is what the request decides, nothing for most. The caller carries it
// out, or the host is told that it is too late. An error says that the host
// relies on what there is not; hosts send their prompts before they read it,
// so nothing may run.
func (r *Request) Setup() (s Setup, err error) {
	if r == nil || r.subtype != "initialize" {
		return s, nil
	}
	in, err := r.initialize()
	if err != nil {
		return s, err
	}
	r.taken = true
	s = in.setup()
	s.Unused, _ = unused(r.raw)
	if s.Hooks, _, err = hostHooks(in.Hooks); err != nil {
		return s, err
	}
	return s, in.missing()
}

func (r *Request) initialize() (in initialize, err error) {
	if err := json.Unmarshal(r.raw, &in); err != nil {
		return in, fmt.Errorf("the request %q cannot be read: %s", r.subtype, fastjson.InWords(err))
	}
	return in, nil
}

// texts is a list of texts, or one.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = texts{""}
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

func (in initialize) setup() Setup {
	s := Setup{System: strings.Join(in.System, "\n\n"), Append: in.Append}
	if strings.TrimSpace(s.System) == "" { // how a host says that it has none of its own
		s.System = ""
	}
	if len(in.Schema) > 0 && string(in.Schema) != "null" {
		s.Schema = in.Schema
	}
	s.Inside, s.Servers, s.Agents = in.Inside, in.Servers, in.Agents
	s.Redirects, s.InPlan, s.Timeouts = in.Aliases, in.InPlan, map[string]float64{}
	for name, c := range in.Inner {
		if c.Timeout >= 1000 { // the SDK says that less does not count
			s.Timeouts[name] = c.Timeout
		}
	}
	for _, p := range in.Plugins {
		s.Plugins = append(s.Plugins, p.Path)
	}
	if len(in.Skills) > 0 && in.Skills[0] == '[' {
		s.Skills = []string{}
		_ = json.Unmarshal(in.Skills, &s.Skills) // missing has looked at it
	}
	return s
}

func (s Setup) any() bool {
	return s.System != "" || s.Append != "" || s.Schema != nil || s.InPlan != "" || len(s.Inside)+len(s.Servers)+len(s.Agents)+len(s.Plugins)+len(s.Redirects) > 0 || s.Skills != nil
}

// missing says which of the things the host wants this version does not have.
func (in initialize) missing() error {
	for _, x := range []struct {
		wanted bool
		what   string
	}{
		{slices.ContainsFunc(in.Plugins, func(p localPlugin) bool { return p.Type != "local" || p.Path == "" }), "plugins but those of folders (type local)"},
		{in.policies(), "rules for single tools of servers of the host (sdkMcpServerConfigs)"},
		{len(in.Skills) > 0 && in.Skills[0] == '[' && json.Unmarshal(in.Skills, new([]string)) != nil, "skills but by name"},
	} {
		if x.wanted {
			return fmt.Errorf("this version of adze has no %s yet", x.what)
		}
	}
	return nil
}

// policies reports whether a server of the host comes with rules for its tools.
func (in initialize) policies() bool {
	for _, c := range in.Inner {
		if len(c.Tools) > 0 && string(c.Tools) != "null" && string(c.Tools) != "[]" {
			return true
		}
	}
	return false
}

// since is what of an initialize decides: without what means nothing here, and without
// the servers once the host has set others.
func (r *runner) since(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	for _, name := range slices.Concat(later, harmless) {
		delete(members, name)
	}
	if r.reset {
		for _, name := range []string{"mcpServers", "sdkMcpServers", "sdkMcpServerConfigs"} {
			delete(members, name)
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return raw
	}
	return out
}

func (r *runner) initialize(ctx context.Context, q *Request) (any, error) {
	in, err := q.initialize()
	if err != nil {
		return nil, err
	}
	if err := in.missing(); err != nil {
		return nil, err
	}
	if q.taken {
		r.begun = q.raw
	}
	r.kids.texts = in.Texts
	// A host that comes back after a gap sends the same again.
	taken := q.taken || r.begun != nil && !rewritten(r.since(r.begun), r.since(q.raw))
	if (in.setup().any() || len(in.Hooks) > 0) && !taken {
		return nil, errors.New("instructions, schema, hooks, agents, servers, skills, plugins and aliases cannot change any more: initialize has to be the first line")
	}
	if _, strange := unused(q.raw); len(strange) > 0 {
		r.warn("initialize has members that this version of adze does not know, and that do nothing: " + clip.Line(clip.Visible(strings.Join(strange, ", ")), 500))
	}
	if _, silent, _ := hostHooks(in.Hooks); len(silent) > 0 {
		r.warn("initialize has hooks of events that this version of adze does not know, and that never come: " + clip.Line(clip.Visible(hook.Named(silent)), 500))
	}
	r.Suggests = r.Suggests || in.Suggest
	if in.Tell && r.TellProgress != nil {
		r.TellProgress()
	}
	if in.Title != "" {
		if err := r.c.Submit(ctx, op.Rename{Title: in.Title}); err != nil {
			return nil, err
		}
	}
	x := r.About.extended()
	provider, _, _ := strings.Cut(r.About.Model, "/")
	return object{
		"commands": offers(x.Commands), "agents": offers(x.Agents), "output_style": cmp.Or(x.Style, "default"), "available_output_styles": styles(x.Styles),
		"models": r.models(ctx), "account": object{"apiKeySource": r.About.KeySource, "provider": provider},
		"claude_code_version": r.About.Version, "hooks_applied": taken || len(in.Hooks) == 0,
		"plugins_applied": r.loaded(in.Plugins, x), "mcp_servers_applied": taken || len(in.Servers) == 0,
	}, nil
}

// styles are the names of output styles, with the one that is there always.
func styles(list []event.Offer) []string {
	names := offerNames(list)
	if !slices.Contains(names, "default") {
		names = append([]string{"default"}, names...)
	}
	return names
}

// loaded reports whether plugins that a host named are there.
func (r *runner) loaded(list []localPlugin, x event.Extended) bool {
	for _, p := range list {
		path := p.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.About.Cwd, path)
		}
		if !slices.ContainsFunc(x.Plugins, func(o event.Offer) bool { return o.Path == filepath.Clean(path) }) {
			return false
		}
	}
	return true
}
