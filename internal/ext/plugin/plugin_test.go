package plugin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ext/plugin"
)

// folder makes a file system of paths and texts.
func folder(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return out
}

// full is a plugin that brings everything.
func full() fstest.MapFS {
	return folder(
		".claude-plugin/plugin.json", `{
  "name": "fmt", "version": "1.2.3", "description": "Formats\u001b[31m code", "author": {"name": "A. Person"},
  "homepage": "https://example.com", "license": "MIT", "keywords": ["x"],
  "skills": "./more/",
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh"}]}]},
  "mcpServers": {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/db", "env": {"KEY": "${user_config.token}", "URL": "${user_config.url}"}}},
  "outputStyles": ["./styles/short.md"],
  "userConfig": {
    "url": {"type": "string", "title": "URL", "description": "Where it is", "default": "http://localhost"},
    "token": {"type": "string", "title": "Token", "sensitive": true, "required": true},
    "count": {"type": "number", "default": 3, "min": 1, "max": 9}
  },
  "dependencies": ["base", {"name": "core", "version": "^1.2", "marketplace": "other"}],
  "channels": [{"server": "db"}]
}`,
		"hooks/hooks.json", `{"description": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
		".mcp.json", `{"mcpServers": {"web": {"type": "http", "url": "https://example.com/mcp"}}}`,
		".lsp.json", `{"go": {"command": "gopls"}}`,
		"skills/fix/SKILL.md", "---\nname: fix\n---\n", "more/x/SKILL.md", "",
		"commands/lint.md", "x", "agents/helper.md", "x", "styles/short.md", "x", "output-styles/unused.md", "x", "themes/night.json", "{}",
		"monitors/monitors.json", `[{"name": "log", "command": "tail -f ${CLAUDE_PLUGIN_DATA}/log", "description": "The log"}, {"name": "late", "command": "x", "when": "on-skill-invoke:fix"}]`,
		"settings.json", `{"agent": "helper", "statusLine": {"type": "command", "command": "status"}, "permissions": {"deny": ["Read(./.env)"], "ask": ["Bash(git push *)"], "allow": ["Bash"]}, "env": {"A": "b"}}`,
		"bin/tool", "#!/bin/sh\n",
	)
}

func told(list []plugin.Problem) (out []string) {
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}

func TestFull(t *testing.T) {
	p, problems, err := plugin.Read(full(), plugin.Source{})
	if err != nil {
		t.Fatal(err)
	}
	raw := func(s string) json.RawMessage {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(s)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one, nine := 1.0, 9.0
	want := plugin.Plugin{
		Name: "fmt", Version: "1.2.3", About: `Formats\x1b[31m code`, Author: "A. Person", Homepage: "https://example.com", License: "MIT",
		Format: plugin.Claude, Manifest: ".claude-plugin/plugin.json",
		Skills: []string{"skills", "more"}, Commands: []string{"commands"}, Agents: []string{"agents"}, Styles: []string{"styles/short.md"}, Themes: []string{"themes"},
		Hooks: []plugin.HookGroup{
			{Event: "Stop", JSON: raw(`{"hooks": [{"type": "command", "command": "true"}]}`), From: "hooks/hooks.json:1"},
			{Event: "PreToolUse", JSON: raw(`{"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh"}]}`), From: ".claude-plugin/plugin.json:5"},
		},
		Servers: []plugin.Server{
			{Name: "web", JSON: raw(`{"type": "http", "url": "https://example.com/mcp"}`), From: ".mcp.json:1"},
			{Name: "db", JSON: raw(`{"command": "${CLAUDE_PLUGIN_ROOT}/db", "env": {"KEY": "${user_config.token}", "URL": "${user_config.url}"}}`), From: ".claude-plugin/plugin.json:6"},
		},
		LSP: []plugin.Server{{Name: "go", JSON: raw(`{"command": "gopls"}`), From: ".lsp.json:1"}},
		Monitors: []plugin.Monitor{
			{Name: "log", Command: "tail -f ${CLAUDE_PLUGIN_DATA}/log", About: "The log", From: "monitors/monitors.json"},
			{Name: "late", Command: "x", Skill: "fix", From: "monitors/monitors.json"},
		},
		Bin: "bin", Programs: []string{"tool"},
		Agent: "helper", StatusLine: raw(`{"type": "command", "command": "status"}`), Deny: []string{"Read(./.env)"}, Ask: []string{"Bash(git push *)"},
		Options: []plugin.Option{
			{Key: "url", Type: "string", Title: "URL", About: "Where it is", Default: "http://localhost"},
			{Key: "token", Type: "string", Title: "Token", Required: true, Secret: true},
			{Key: "count", Type: "number", Default: "3", Min: &one, Max: &nine},
		},
		Depends: []plugin.Dependency{{Name: "base"}, {Name: "core", Market: "other", Range: "^1.2"}},
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"settings.json:1: permissions.allow is not used: a plugin may only forbid, or have people asked",
		"settings.json:1: the setting env is not used: a plugin may set agent, statusLine, permissions.deny and permissions.ask",
		".claude-plugin/plugin.json:14: channels: nothing in this version uses channels",
		".lsp.json:1: language servers have no effect yet",
	}, told(problems)); d != "" {
		t.Error(d)
	}

	// What is kept as JSON is the same plugin.
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back plugin.Plugin
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Error(d)
	}

	p.Market, p.Root, p.Data, p.Values = "market", "/r", "/d", map[string]string{"url": "http://x", "token": "never from here"}
	if p.ID() != "fmt@market" || p.Path("a/b") != filepath.FromSlash("/r/a/b") {
		t.Error(p.ID())
	}
	got, err := p.Expand(p.Servers[1].JSON, map[string]string{"token": `s"e`})
	if want := `{"command":"/r/db","env":{"KEY":"s\"e","URL":"http://x"}}`; string(got) != want || err != nil {
		t.Errorf("%s %v", got, err)
	}
	if got, _ := p.Expand(p.Servers[1].JSON, nil); !strings.Contains(string(got), "${user_config.token}") {
		t.Errorf("%s", got)
	}
	if got := p.ExpandShell(p.Monitors[0].Command); got != "tail -f /d/log" {
		t.Error(got)
	}
	if d := cmp.Diff([]string{"CLAUDE_PLUGIN_ROOT=/r", "CLAUDE_PLUGIN_DATA=/d", "CLAUDE_PLUGIN_OPTION_URL=http://x", "CLAUDE_PLUGIN_OPTION_TOKEN=t"}, p.Environ(map[string]string{"token": "t"})); d != "" {
		t.Error(d)
	}
	if !slices.Equal(p.Secrets(), []string{"token"}) || !slices.Equal(p.Missing(nil), []string{"token"}) {
		t.Error(p.Secrets(), p.Missing(nil))
	}
}

func TestOthers(t *testing.T) {
	t.Run("codex", func(t *testing.T) {
		p, problems, err := plugin.Read(folder(
			".codex-plugin/plugin.json", `{"name": "c", "version": "1.0.0", "skills": "./skills/", "mcpServers": "./servers.json", "hooks": "./h.json", "interface": {"displayName": "C"}, "apps": "./.app.json"}`,
			"skills/a/SKILL.md", "", "servers.json", `{"s": {"command": "${PLUGIN_ROOT}/s"}}`, "h.json", `{"hooks": {"preToolUse": [{"hooks": []}]}}`,
		), plugin.Source{})
		if err != nil || p.Format != plugin.Codex || len(p.Servers) != 1 || len(p.Hooks) != 1 || p.Hooks[0].Event != "PreToolUse" || !slices.Equal(p.Skills, []string{"skills"}) {
			t.Fatalf("%+v %v", p, err)
		}
		p.Root = "/r"
		if got, _ := p.Expand(p.Servers[0].JSON, nil); string(got) != `{"command":"/r/s"}` {
			t.Errorf("%s", got)
		}
		if d := cmp.Diff([]string{".codex-plugin/plugin.json:1: apps: apps of Codex are not used"}, told(problems)); d != "" {
			t.Error(d)
		}
	})
	t.Run("gemini", func(t *testing.T) {
		p, problems, err := plugin.Read(folder(
			"gemini-extension.json", `{"name": "g", "version": "1.0.0", "mcpServers": {"s": {"command": "node", "args": ["${extensionPath}${/}s.js"], "cwd": "${workspacePath}"}},
 "settings": [{"name": "Key", "description": "d", "envVar": "G_KEY", "sensitive": true}], "excludeTools": ["x"], "themes": [{"name": "t"}, {"type": "custom"}]}`,
			"GEMINI.md", "hello", "commands/a/b.toml", `prompt = "x"`, "hooks/hooks.json", `{"hooks": {"BeforeTool": [{}]}}`,
		), plugin.Source{})
		if err != nil || p.Format != plugin.Gemini || len(p.Hooks) != 1 || p.Hooks[0].Event != "BeforeTool" || len(p.Palettes) != 1 || p.Palettes[0].Name != "t" || !slices.Equal(p.Context, []string{"GEMINI.md"}) || !slices.Equal(p.Commands, []string{"commands"}) {
			t.Fatalf("%+v %v", p, err)
		}
		p.Root = "/r"
		if got, _ := p.Expand(p.Servers[0].JSON, nil); string(got) != `{"command":"node","args":["/r`+string(filepath.Separator)+`s.js"],"cwd":"${CLAUDE_PROJECT_DIR}"}` {
			t.Errorf("%s", got)
		}
		if got := p.Environ(map[string]string{"G_KEY": "v"}); !slices.Contains(got, "G_KEY=v") {
			t.Error(got)
		}
		if d := cmp.Diff([]string{`gemini-extension.json:2: themes: expected {"name": …}, found {"type": "custom"}`, "gemini-extension.json:2: excludeTools: is not used; people forbid tools with permissions.deny"}, told(problems)); d != "" {
			t.Error(d)
		}
	})
	t.Run("ours first", func(t *testing.T) {
		p, _, err := plugin.Read(folder(".adze-plugin/plugin.json", `{"name": "a"}`, ".claude-plugin/plugin.json", `{"name": "b"}`), plugin.Source{})
		if err != nil || p.Name != "a" || p.Format != plugin.Adze {
			t.Errorf("%+v %v", p, err)
		}
	})
	t.Run("no manifest", func(t *testing.T) {
		p, _, err := plugin.Read(folder("SKILL.md", "x"), plugin.Source{Name: "dir"})
		if err != nil || p.Name != "dir" || p.Format != plugin.Bare || !slices.Equal(p.Skills, []string{"."}) {
			t.Errorf("%+v %v", p, err)
		}
		if _, _, err := plugin.Read(folder("README.md", "x"), plugin.Source{Name: "dir"}); !errors.Is(err, plugin.ErrNone) {
			t.Error(err)
		}
	})
	t.Run("entry of a marketplace", func(t *testing.T) {
		fsys := folder(".claude-plugin/plugin.json", `{"name": "a", "version": "1.0.0"}`, "c/x.md", "")
		p, problems, err := plugin.Read(fsys, plugin.Source{Entry: json.RawMessage(`{"name": "z", "source": "./a", "version": "9.0.0", "commands": ["./c/x.md", "./gone.md"], "category": "k"}`)})
		if err != nil || p.Name != "a" || p.Version != "1.0.0" || !slices.Equal(p.Commands, []string{"c/x.md"}) {
			t.Errorf("%+v %v", p, err)
		}
		if d := cmp.Diff([]string{`the marketplace's entry: commands: "./gone.md" is not there`}, told(problems)); d != "" {
			t.Error(d)
		}
	})
}

// Each thing that cannot be used is one line, and the rest works.
func TestHostile(t *testing.T) {
	const name = ".claude-plugin/plugin.json"
	many := func(n int, each string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strings.ReplaceAll(each, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for _, c := range []struct {
		about, manifest string
		files           []string
		want            []string
	}{
		{"out", `{"name": "p", "skills": ["../x", "/etc", "./a/../../b", "a\\b", "", "./ok"]}`, []string{"ok/SKILL.md", ""}, []string{
			`skills: "../x" leads out of its folder`, `skills: "/etc" is an absolute path; expected one in the plugin, such as ./skills`,
			`skills: "./a/../../b" leads out of its folder`, `skills: "a\\b" has a backslash; expected /`, `skills: "" is empty`}},
		{"kinds", `{"name": "p", "skills": 3, "commands": {"a": 1}, "hooks": [4], "mcpServers": {"a b": {}, "s": 3, "ok": {}}, "description": 7, "author": 4}`, nil, []string{
			"description: expected a text, found 7", `author: expected {"name": …}`, "skills: expected a path, found 3", `commands: expected a path, found {"a": 1}`,
			"hooks: expected a path or an object, found 4", `mcpServers: the name "a b" cannot be used`, "mcpServers: s: expected an object"}},
		{"hooks", `{"name": "p", "hooks": {"Stop": {}, "Pre": []}}`, nil, []string{"hooks of Stop: expected a list"}},
		{"a file that names itself", `{"name": "p", "hooks": ["./hooks/hooks.json", "./hooks/hooks.json"]}`, []string{"hooks/hooks.json", `{"hooks": {"Stop": [{}]}}`}, nil},
		{"broken files", `{"name": "p", "mcpServers": "./.mcp.json"}`, []string{".mcp.json", `{"a": {"x": 1, "x": 2}}`, "hooks/hooks.json", "{\n\"hooks\": {", "settings.json", "[]", "monitors/monitors.json", "{}"}, []string{
			"hooks/hooks.json: the JSON ends too early", `.mcp.json: line 1: the name "x" comes twice`, "monitors/monitors.json: expected a list", "settings.json: expected an object: {…}"}},
		{"many", `{"name": "p", "skills": [` + many(10000, `"./s"`) + `], "mcpServers": {` + many(10000, `"s#": {}`) + `}, "hooks": {"Stop": [` + many(10000, `{}`) + `]}, "dependencies": [` + many(10000, `"d#"`) + `]}`,
			[]string{"s/SKILL.md", ""}, []string{
				"skills: has 10000 entries; only the first 500 are used", "more than 500 groups of hooks; the rest is left out",
				"mcpServers: more than 100; the rest is left out", "dependencies: has 10000 entries; only the first 100 are used"}},
		{"monitors", `{"name": "p"}`, []string{"monitors/monitors.json", `[{"name": "a"}, {"name": "b", "command": "x", "when": "never"}, {"name": "c", "command": "x", "command": "y"}, 3, {"name": "d", "command": "x"}, {"name": "d", "command": "x"}]`}, []string{
			`monitor 1: "command" is missing`, `monitor 2: when: expected "always" or "on-skill-invoke:SKILL", found "never"`, `monitor 3: the name "command" comes twice`,
			`monitor 4: expected {"name": …, "command": …}`, "monitor 6: there are two of the name d"}},
		{"options", `{"name": "p", "userConfig": {"a-b": {}, "t": {"type": "date"}, "n": {"type": "number", "default": "x"}, "N": {}, "q": 3}}`, nil, []string{
			`userConfig: the key "a-b" cannot be used: expected letters, digits and _`, `userConfig: t: there is no type "date": string, number, boolean, directory, file`,
			`userConfig: n: the default: expected a number, found "x"`, "userConfig: N: there are two of that name", "userConfig: q: expected an object, found a number"}},
		{"dependencies", `{"name": "p", "dependencies": ["../x", {"name": "a", "version": "one"}, 3]}`, nil, []string{
			`dependencies: the name "../x" cannot be used`, `dependencies: a: "one" is no version`, `dependencies: expected a name or {"name": …, "version": …}, found 3`}},
	} {
		t.Run(c.about, func(t *testing.T) {
			p, problems, err := plugin.Read(folder(append(c.files, name, c.manifest)...), plugin.Source{})
			if err != nil || p.Name != "p" {
				t.Fatal(p, err)
			}
			got := told(problems)
			if len(got) != len(c.want) {
				t.Errorf("%q", got)
			}
			for i := range min(len(got), len(c.want)) {
				if s := strings.TrimPrefix(strings.TrimPrefix(got[i], name+":1: "), "monitors/monitors.json: "); got[i] != c.want[i] && !strings.HasPrefix(s, c.want[i]) {
					t.Errorf("got  %s\nwant %s", s, c.want[i])
				}
			}
		})
	}
	for text, want := range map[string]string{
		`{"name": "p", "name": "q"}`:  `line 1: the name "name" comes twice`,
		"{\n\n\"name\": }":            "line 3: invalid character",
		`{"name": "../p"}`:            `the name "../p" cannot be used`,
		`{"name": "a\u202eb"}`:        `cannot be used`,
		`{}`:                          `the name "" cannot be used`,
		`[]`:                          "expected an object",
		`{"name": "p"} x`:             "line 1: ",
		strings.Repeat(`{"a":`, 5000): "deep",
		`{"name":"p","x":"` + strings.Repeat("y", 2<<20) + `"}`: "larger than 1.0 MB",
		"": "ends too early",
	} {
		if _, _, err := plugin.Read(folder(name, text), plugin.Source{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// Links that lead out, pipes and folders in the place of files are not read.
func TestStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(t.TempDir(), "secret")
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude-plugin/plugin.json", `{"name": "p", "skills": ["./link"], "commands": ["./loop"], "mcpServers": "./pipe"}`)
	write("hooks/hooks.json/x", "")
	for from, to := range map[string]string{"link": filepath.Dir(out), "loop": "loop", ".mcp.json": out} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.WriteFile(out, []byte(`{"mcpServers": {"stolen": {}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe(t, filepath.Join(dir, "pipe"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p, problems, err := plugin.Read(root.FS(), plugin.Source{})
	if err != nil || len(p.Skills)+len(p.Commands)+len(p.Servers)+len(p.Hooks) != 0 {
		t.Errorf("%+v %v", p, err)
	}
	if len(problems) != 5 {
		t.Errorf("%q", told(problems))
	}
}

func TestLocal(t *testing.T) {
	for in, want := range map[string]string{"./a/": "a", "a//b": "a/b", ".": ".", "./": ".", "${CLAUDE_PLUGIN_ROOT}/x": "x", "a..b": "a..b"} {
		if got, err := plugin.Local(in); got != want || err != nil {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	for _, in := range []string{"", "..", "../a", "a/..", "/a", `C:\a`, "C:/a", "a\x00b", "a\nb", strings.Repeat("a", 2000)} {
		if got, err := plugin.Local(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range full() {
		f.Add(file.Data, file.Data)
	}
	f.Add([]byte(`{"name": "p", "mcpServers": ["./x", {"a": {}}], "experimental": {"monitors": "./x"}}`), []byte(`{"a": {"b": [1, {"c": 2}]}}`))
	f.Fuzz(func(t *testing.T, manifest, other []byte) {
		for _, m := range []string{".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json"} {
			fsys := folder(m, string(manifest), "hooks/hooks.json", string(other), ".mcp.json", string(other), "settings.json", string(other), "monitors/monitors.json", string(other), "x", string(other))
			p, problems, err := plugin.Read(fsys, plugin.Source{Name: "x", Entry: json.RawMessage(other)})
			if err != nil {
				continue
			}
			for _, list := range [][]string{p.Skills, p.Commands, p.Agents, p.Styles, p.Themes, p.Context} {
				for _, s := range list {
					if !fs.ValidPath(s) {
						t.Errorf("path %q", s)
					}
				}
			}
			for _, x := range problems {
				if strings.ContainsAny(x.Text, "\x1b\n\x00") {
					t.Errorf("%q", x.Text)
				}
			}
			if !plugin.NameOK(p.Name) || len(problems) > 101 {
				t.Errorf("%q, %d problems", p.Name, len(problems))
			}
			if _, err := json.Marshal(p); err != nil {
				t.Error(err)
			}
		}
	})
}
