package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// values are what a key is set to where any value of its kind will not do.
var values = map[string]string{
	"permissions.allow": `["Bash(x)"]`, "permissions.ask": `["Bash(x)"]`, "permissions.deny": `["Bash(x)"]`, "permissions.additionalDirectories": `["/"]`,
	"permissions.managed_only": "", // only of managed files
	"strictKnownMarketplaces":  "", "tools.allowed": `["Bash"]`, "tools.disallowed": `["Bash"]`,
	"providers": `{"mine":{"wire":"compat","base_url":"http://127.0.0.1:9"}}`, "models": `{"compat/x":{"window":9000}}`, "model_aliases": `{"mine":"compat/x"}`,
	"network.proxy": `"http://127.0.0.1:9"`, "env": `{"GREETING":"x"}`, "child_env": `["MINE"]`, "network.ca_file": "", // needs a file
	"fallback_model": "", "small_model": "", // they need models, as below
	"sandbox.credentials": `{"envVars":[{"name":"X","mode":"deny"}]}`, "model": "", "statusLine.command": `"x"`, "bash.max_memory": `"4GB"`,
	"deniedMcpServers": `[{"serverName":"x"}]`,
}

// sample is another value than the default.
func sample(k config.Key) string {
	if v, ok := values[k.Name]; ok {
		return v
	}
	switch k.Kind {
	case config.String, config.Level:
		if len(k.Enum) > 0 {
			return fmt.Sprintf("%q", k.Enum[slices.IndexFunc(k.Enum, func(s string) bool { return s != "" && s != k.Default })])
		}
		return `"x"`
	case config.Int, config.Number, config.Tokens, config.Portion, config.Space:
		return "7777"[:1+3*btoi(k.Max == 0 || k.Max > 7777)]
	case config.Bool, config.Off:
		return fmt.Sprint(k.Default != true)
	case config.Strings, config.List:
		return `["x"]`
	case config.StringMap:
		return `{"x":"y"}`
	case config.Bools:
		return `{"x":true}`
	case config.Object, config.Objects:
		return `{"x":{}}`
	case config.Anything:
	}
	return ""
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A row of the table says when a change counts. It is true: what a running
// session is given at a change of a key that counts at once or with the next
// turn is something else than before, and at any other change it is the same.
func TestSettingsCountWhenTheTableSays(t *testing.T) {
	dir, home := scratch(t)
	_, other := scratch(t) // the session's own files stay as they are: they are watched
	file := filepath.Join(other, ".adze", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.txt"), []byte("> hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(key, value string) *config.Config {
		t.Helper()
		hooks := `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]},`
		if key == "hooks" {
			hooks = ""
		}
		for _, part := range slices.Backward(strings.Split(key, ".")) {
			value = fmt.Sprintf("{%q:%s}", part, value)
		}
		text := strings.Replace(value, "{", fmt.Sprintf(`{"model":%q,%s`, "script/"+filepath.Join(dir, "m.txt"), hooks), 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, cfg, err := settings.Load(here(dir, other).Environment, settings.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	was := put("ui.theme", `"auto"`)
	if err := os.MkdirAll(filepath.Join(home, ".adze"), 0o700); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".adze", "settings.json"), own, 0o600); err != nil {
		t.Fatal(err)
	}
	all, w, err := openAt(t, here(dir, home), settings.Sources{Flags: mode("auto")}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	r, err := w.Start(t.Context(), Spec{Log: sessions.Choice{None: true}})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, k := range config.Table() {
		if k.When == "" {
			t.Errorf("%s does not say when a change counts", k.Name)
		}
		value := sample(k)
		if strings.Contains(k.Name, "*") || value == "" || k.Guard == config.Admin { // a person's file cannot set it
			continue
		}
		now := put(k.Name, value)
		diff := config.Diff(was, now)
		if !slices.ContainsFunc(diff, func(c config.Change) bool { return c.Key == k.Name }) {
			t.Errorf("%s: %s changes nothing: %v", k.Name, value, now.Problems)
			continue
		}
		tried++
		old, fresh := handed(t.Context(), w, r, was, 0), handed(t.Context(), w, r, now, config.Makes(diff))
		if got, want := old != fresh, !k.When.Later(); got != want {
			t.Errorf("%s counts %s, and a session is given something else: %t\n%s\n%s", k.Name, k.When, got, old, fresh)
		}
	}
	if tried < 70 {
		t.Errorf("only %d keys were tried", tried)
	}
}

// handed is what a session is given with these settings, and what it makes.
func handed(ctx context.Context, w *Place, r *Running, cfg *config.Config, makes config.Parts) string {
	models, auto := w.models.Load(), r.auto
	var n session.Settings
	n, bad := r.apply(cfg, makes)
	environ, allow := w.inherited(cfg)
	_, unknown := w.resolve(ctx, "mine")
	next := "none"
	if _, want := r.sandboxes.Wants(); want != nil {
		next = fmt.Sprintf("%+v", *want)
	}
	var names []string
	if n.Tools != nil {
		names = n.Tools.Names()
	}
	screen := cfg.UI // the terminal UI reads it anew
	screen.Plain = false
	list, _ := hooks.Load(cfg)
	ours := extension.Hooks(list...)
	project := servers.File{Path: "/p/.mcp.json", Text: []byte(`{"mcpServers":{"x":{"command":"x"},"db":{"command":"y"}}}`)}
	set := servers.Load(servers.Sources{Config: cfg, Project: []servers.File{project}, Trusted: true})
	said := "" // what the hub is given
	for _, x := range set.Servers {
		said += fmt.Sprintln(x.Name, x.Scope, x.Approval, x.Why)
	}
	return fmt.Sprint(screen, cfg.StatusLine != nil, cfg.StatusLine, bad, n.Rules.List, n.Rules.Dirs, n.Rules.Unsafe, n.Rules.NoBypass, n.Forbidden, names, n.Budget, n.WarnUSD, n.Loop.MaxCalls, environ, allow, unknown,
		" made: ", makes&^config.MakesClassifier != 0 && models != w.models.Load(), n.Target != nil, makes&config.MakesClassifier != 0 && r.auto != auto, next, cfg.CleanupDays, cfg.Titles, cfg.Helpers, cfg.Memory.Session, cfg.Bash.Wake, bounds(cfg), cfg.Agents.Background, cfg.Agents.AskUSD, cfg.Agents.Verify, ours.All(), said,
		cfg.EnabledPlugins, cfg.PluginConfigs, cfg.Worktree) // the place looks at plugins anew
}
