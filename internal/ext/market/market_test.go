package market_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/text/hint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type files map[string]string

// write makes files below a folder.
func write(t testing.TB, dir string, list files) string {
	t.Helper()
	for name, text := range list {
		path := filepath.Join(dir, filepath.FromSlash(name))
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// plain is a plugin with a hook, a server and a program.
func plain(name, version string) files {
	return files{
		".claude-plugin/plugin.json": fmt.Sprintf(`{"name": %q, "version": %q, "description": "About %s", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh"}]}]}}`, name, version, name),
		"guard.sh":                   "#!/bin/sh\nexit 0\n",
		".mcp.json":                  `{"mcpServers": {"db": {"command": "db", "args": ["--stdio"], "env": {"A": "b"}}}}`,
		"bin/tool.sh":                "#!/bin/sh\n",
		"skills/fix/SKILL.md":        "---\nname: fix\ndescription: Fixes\nallowed-tools: Bash(make *)\n---\nUse !`make check`\n",
		"README.md":                  "hello",
	}
}

// place is a marketplace in a folder: plugins below plugins/.
func place(t testing.TB, dir, name string, plugins map[string]files) string {
	t.Helper()
	var entries []string
	for p, list := range plugins {
		write(t, filepath.Join(dir, "plugins", p), list)
		entries = append(entries, fmt.Sprintf(`{"name": %q, "source": "./plugins/%s"}`, p, p))
	}
	slices.Sort(entries)
	return write(t, dir, files{".claude-plugin/marketplace.json": fmt.Sprintf(`{"name": %q, "owner": {"name": "o"}, "plugins": [%s]}`, name, strings.Join(entries, ","))})
}

func open(t testing.TB) (*market.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugins")
	t.Cleanup(func() {
		if err := safe.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return market.Open(market.Config{Dir: dir, Environ: environ(t), Agent: "adze/test"}), dir
}

func environ(t testing.TB) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C"}
}

func add(t testing.TB, s *market.Store, dir string) market.Market {
	t.Helper()
	m, c, err := s.Add(t.Context(), market.Source{Kind: market.Folder, Path: dir}, market.Policy{})
	if err != nil || len(c.Problems) > 0 {
		t.Fatal(err, c.Problems)
	}
	return m
}

func install(t testing.TB, s *market.Store, id string) *market.Plan {
	t.Helper()
	p, err := s.Prepare(t.Context(), id, market.Policy{})
	if err != nil {
		t.Fatal(err, hint.Of(err))
	}
	if err := errors.Join(p.Commit(t.Context()), p.Close()); err != nil {
		t.Fatal(err)
	}
	return p
}

// memory are settings files.
type memory map[string]string

func (m memory) Read(path string, _ int64) ([]byte, error) {
	if s, ok := m[path]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}
func (memory) Names(string) ([]string, error) { return nil, nil }
func (memory) Owned(string) error             { return nil }

func settings(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Options{Files: memory{filepath.FromSlash("/h/settings.json"): text}, Home: "/h", Folders: config.Folders{Config: "/h"}, Dir: "/w", Root: "/w"})
	if err != nil || len(cfg.Problems) > 0 {
		t.Fatal(err, cfg.Problems)
	}
	return cfg
}

func enabled(t testing.TB, ids ...string) *config.Config {
	t.Helper()
	on := map[string]bool{}
	for _, id := range ids {
		on[id] = true
	}
	b, err := json.Marshal(map[string]any{"enabledPlugins": on})
	if err != nil {
		t.Fatal(err)
	}
	return settings(t, string(b))
}

func items(list []market.Item) (out []string) {
	for _, i := range list {
		s := i.Kind + " " + i.Name + ": " + i.Text
		if i.Runs {
			s = "! " + s
		}
		out = append(out, s)
	}
	return out
}

func TestInstall(t *testing.T) {
	s, dir := open(t)
	src := place(t, t.TempDir(), "shop", map[string]files{"fmt": plain("fmt", "1.0.0"), "other": plain("other", "1.0.0")})
	if _, err := s.Prepare(t.Context(), "fmt", market.Policy{}); err == nil || !strings.Contains(hint.Of(err), "marketplace add") {
		t.Error(err)
	}
	add(t, s, src)
	if _, err := s.Prepare(t.Context(), "fmtt", market.Policy{}); err == nil || !strings.Contains(err.Error(), "fmt") {
		t.Error(err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 0 || len(problems) != 1 || problems[0].Hint != "adze plugin install fmt@shop" || problems[0].From.Line != 1 {
		t.Errorf("%+v %+v", got, problems)
	}
	p := install(t, s, "fmt")
	if len(p.Steps) != 1 || p.Steps[0].Old != nil || !p.Steps[0].Asks() {
		t.Fatalf("%+v", p.Steps)
	}
	want := []string{
		"! MCP server db: runs db --stdio with the variables {\"A\":\"b\"}",
		"! code files: 1 file, 17 bytes, which the above may run",
		"! hook PreToolUse Bash: runs ${CLAUDE_PLUGIN_ROOT}/guard.sh",
		"! permission skill fix: allowed-tools (skills/fix/SKILL.md): \"Bash(make *)\"",
		"! permission skill fix: runs (skills/fix/SKILL.md): make check",
		"! program tool.sh: on the PATH of commands",
		"skill fix (skills/fix/SKILL.md): Fixes",
	}
	if got := items(p.Steps[0].Brings); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	in, err := s.Find("fmt")
	if err != nil || in.ID() != "fmt@shop" || !strings.HasPrefix(in.Sum, "sha256:") || in.Version != "1.0.0" {
		t.Fatalf("%+v %v", in, err)
	}
	if err := s.Verify(in); err != nil {
		t.Error(err)
	}
	got, problems := s.Active(enabled(t, "fmt@shop"))
	if len(got) != 1 || len(problems) != 0 || got[0].ID() != "fmt@shop" || !strings.HasPrefix(got[0].Root, dir) || !strings.HasPrefix(got[0].Data, dir) || len(got[0].Hooks) != 1 || len(got[0].Programs) != 1 {
		t.Fatalf("%+v %v", got, problems)
	}
	// Nobody writes there.
	if info, err := os.Stat(filepath.Join(got[0].Root, "guard.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o555 {
		t.Error(info.Mode(), err)
	}
	for _, d := range []string{".", "skills/fix"} {
		if info, err := os.Stat(filepath.Join(got[0].Root, d)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o555 {
			t.Error(info.Mode(), err)
		}
	}
	// Nothing is left of the fetch.
	if left, err := os.ReadDir(filepath.Join(dir, "staging")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	// The same again is the same.
	if p := install(t, s, "fmt@shop"); !p.Steps[0].Same() || p.Steps[0].Asks() || len(p.Steps[0].Changes) > 0 {
		t.Errorf("%+v", p.Steps[0].Changes)
	}
	// What is there without being agreed to is noticed, at each start, also when its
	// time is set back; what somebody only touched is not.
	guard := filepath.Join(got[0].Root, "guard.sh")
	if err := os.Chtimes(guard, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 1 || len(problems) != 0 {
		t.Errorf("%+v %v", got, problems)
	}
	info, err := os.Stat(guard)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(filepath.Join(got[0].Root, "guard.sh"), 0o755), os.WriteFile(filepath.Join(got[0].Root, "guard.sh"), []byte("evil"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(in); err == nil {
		t.Error("changed files are not noticed")
	}
	if err := os.Chtimes(guard, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 0 || len(problems) != 1 || problems[0].Text != "its files are not those that were installed" || problems[0].Hint != "adze plugin update fmt@shop" {
			t.Errorf("%+v %v", got, problems)
		}
	}
	install(t, s, "fmt@shop")
	if err := s.Verify(in); err != nil {
		t.Error("not mended:", err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 1 || len(problems) != 0 {
		t.Errorf("%+v %v", got, problems)
	}
	// What was put beside it is moved away and told, but for what Python compiles; what was
	// taken away is noticed.
	compiled := filepath.Join(got[0].Root, "__pycache__", "x.pyc")
	if err := errors.Join(os.Chmod(got[0].Root, 0o755), os.WriteFile(filepath.Join(got[0].Root, "new.sh"), nil, 0o600), os.Mkdir(filepath.Dir(compiled), 0o700), os.WriteFile(compiled, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 1 || len(problems) != 1 || !problems[0].Note || !strings.Contains(problems[0].Text, ": new.sh; moved to ") {
		t.Errorf("%+v %v", got, problems)
	}
	for _, gone := range []string{filepath.Join(got[0].Root, "new.sh"), filepath.Dir(compiled)} {
		if _, err := os.Lstat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	script := got[0].Path("tool.sh")
	if _, err := os.Stat(script); err != nil {
		script = filepath.Join(got[0].Root, "bin", "tool.sh")
	}
	text, err := os.ReadFile(script)
	if err = errors.Join(err, os.Chmod(filepath.Dir(script), 0o755), os.Remove(script)); err != nil {
		t.Fatal(err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 0 || len(problems) != 1 || !problems[0].Lost || problems[0].Dropped == nil {
		t.Errorf("%+v %v", got, problems)
	}
	if err := os.WriteFile(script, text, 0o755); err != nil { //nolint:gosec // it was one
		t.Fatal(err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 1 || len(problems) != 0 {
		t.Errorf("%+v %v", got, problems)
	}
	if err := s.Uninstall(t.Context(), "fmt", true, false); err != nil {
		t.Fatal(err)
	}
	if got, problems := s.Active(enabled(t, "fmt@shop")); len(got) != 0 || len(problems) != 1 {
		t.Errorf("%+v %+v", got, problems)
	}
	if err := s.Uninstall(t.Context(), "fmt", true, false); err == nil {
		t.Error("uninstalled twice")
	}
}

func TestUpdate(t *testing.T) {
	_, dir := open(t)
	now := time.Now()
	s := market.Open(market.Config{Dir: dir, Environ: environ(t), Now: func() time.Time { return now }})
	src := place(t, t.TempDir(), "shop", map[string]files{"fmt": plain("fmt", "1.0.0")})
	add(t, s, src)
	install(t, s, "fmt")
	first, _ := s.Active(enabled(t, "fmt@shop"))

	// A text alone asks nobody.
	write(t, src, files{"plugins/fmt/README.md": "other", "plugins/fmt/skills/fix/SKILL.md": "---\nname: fix\ndescription: Mends\nallowed-tools: Bash(make *)\n---\nThen !`make check`\n"})
	p := install(t, s, "fmt")
	if st := p.Steps[0]; st.Asks() || st.Same() || len(st.Changes) != 1 || st.Changes[0].Was != "Fixes" || st.Changes[0].Text != "Mends" {
		t.Errorf("%+v", st.Changes)
	}

	// What runs is shown, exactly.
	write(t, src, files{
		"plugins/fmt/.claude-plugin/plugin.json": `{"name": "fmt", "version": "1.1.0", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh --all"}]}]}, "monitors": [{"name": "m", "command": "tail -f x"}]}`,
		"plugins/fmt/guard.sh":                   "#!/bin/sh\nexit 2\n", "plugins/fmt/new.py": "x",
		"plugins/fmt/.mcp.json": "{}",
	})
	p = install(t, s, "fmt")
	if !p.Steps[0].Asks() {
		t.Error("nobody is asked")
	}
	var got []string
	for _, c := range p.Steps[0].Changes {
		got = append(got, fmt.Sprintf("%s %s %s: %s (was %s) %v", c.How, c.Kind, c.Name, c.Text, c.Was, c.Asks()))
	}
	want := []string{
		"changed code files: 2 files, 18 bytes, which the above may run: ~guard.sh +new.py (was ) true",
		"changed hook PreToolUse Bash: runs ${CLAUDE_PLUGIN_ROOT}/guard.sh --all (was runs ${CLAUDE_PLUGIN_ROOT}/guard.sh) true",
		"added monitor m: runs as long as a session: tail -f x (was ) true",
		`removed MCP server db: runs db --stdio with the variables {"A":"b"} (was ) false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	second, _ := s.Active(enabled(t, "fmt@shop"))
	if first[0].Root == second[0].Root || first[0].Data != second[0].Data {
		t.Errorf("%s %s", first[0].Root, second[0].Root)
	}
	// Sessions that run go on with what they have; later it is removed.
	if _, err := os.Stat(first[0].Root); err != nil {
		t.Error(err)
	}
	now = now.Add(8 * 24 * time.Hour)
	write(t, src, files{"plugins/fmt/x.txt": "x"})
	install(t, s, "fmt")
	if _, err := os.Stat(first[0].Root); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an old version stays:", err)
	}
	if _, err := os.Stat(second[0].Root); err != nil {
		t.Error(err)
	}
	// What the words leave out is shown as it is written.
	hooks := func(more string) files {
		return files{"plugins/fmt/.claude-plugin/plugin.json": `{"name": "fmt", "version": "1.2.0", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"` + more + `}]}]}}`}
	}
	write(t, src, hooks(""))
	install(t, s, "fmt")
	write(t, src, hooks(`, "onError": "block"`))
	p = install(t, s, "fmt")
	if c := p.Steps[0].Changes; len(c) != 1 || !c[0].Asks() || c[0].Text != `Stop  {"type":"command","command":"true","onError":"block"}` || c[0].Was != `Stop  {"type":"command","command":"true"}` {
		t.Errorf("%+v", c)
	}
}

func TestDependencies(t *testing.T) {
	with := func(name, version, deps string) files {
		return files{".claude-plugin/plugin.json": fmt.Sprintf(`{"name": %q, "version": %q, "dependencies": %s}`, name, version, deps), "skills/x/SKILL.md": ""}
	}
	s, _ := open(t)
	add(t, s, place(t, t.TempDir(), "shop", map[string]files{
		"app": with("app", "1.0.0", `["lib", {"name": "core", "version": "^2.0.0", "marketplace": "base"}]`), "lib": with("lib", "0.1.0", `[{"name": "core", "version": ">=2", "marketplace": "base"}]`),
		"old": with("old", "1.0.0", `[{"name": "core", "version": "^1", "marketplace": "base"}]`),
		"a":   with("a", "1.0.0", `["b"]`), "b": with("b", "1.0.0", `["c"]`), "c": with("c", "1.0.0", `["a"]`), "self": with("self", "1.0.0", `["self"]`),
		"gone": with("gone", "1.0.0", `["nowhere"]`),
	}))
	add(t, s, place(t, t.TempDir(), "base", map[string]files{"core": with("core", "2.3.0", "[]")}))
	for id, want := range map[string]string{
		"old": "old@shop needs core@base ^1: its version 2.3.0 is not one that is needed", "a": "circle: a@shop → b@shop → c@shop → a@shop", "self": "circle: self@shop → self@shop",
		"gone": `gone@shop needs nowhere@shop: no marketplace has a plugin "nowhere"`,
	} {
		if _, err := s.Prepare(t.Context(), id, market.Policy{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	p := install(t, s, "app")
	var got []string
	for _, st := range p.Steps {
		got = append(got, fmt.Sprint(st.Plugin.ID(), " ", st.Needed))
	}
	if !slices.Equal(got, []string{"core@base true", "lib@shop true", "app@shop false"}) {
		t.Error(got)
	}
	active, problems := s.Active(enabled(t, "app@shop", "lib@shop", "core@base"))
	if len(active) != 3 || len(problems) > 0 {
		t.Errorf("%v %v", active, problems)
	}
	active, problems = s.Active(enabled(t, "app@shop", "lib@shop"))
	if len(active) != 0 || len(problems) != 2 || problems[0].Hint == "" {
		t.Errorf("%v %v", active, problems)
	}
	if err := s.Uninstall(t.Context(), "core", false, false); err == nil || !strings.Contains(err.Error(), "app@shop, lib@shop") {
		t.Error(err)
	}
	if err := s.Uninstall(t.Context(), "core", false, true); err != nil {
		t.Error(err)
	}
}

// A circle in what is installed, which the lock file or another adze brought.
func TestActiveCircle(t *testing.T) {
	s, _ := open(t)
	src := place(t, t.TempDir(), "shop", map[string]files{"a": {"skills/x/SKILL.md": ""}, "b": {".claude-plugin/plugin.json": `{"name": "b", "dependencies": ["a"]}`}})
	add(t, s, src)
	install(t, s, "b")
	write(t, src, files{"plugins/a/.claude-plugin/plugin.json": `{"name": "a", "dependencies": ["b"]}`})
	install(t, s, "a") // what it needs is there
	active, problems := s.Active(enabled(t, "a@shop", "b@shop"))
	if len(active) != 0 || len(problems) != 2 || !strings.Contains(problems[0].Text, "circle: a@shop → b@shop → a@shop") {
		t.Errorf("%v %v", active, problems)
	}
}

func TestOptions(t *testing.T) {
	s, _ := open(t)
	add(t, s, place(t, t.TempDir(), "shop", map[string]files{"o": {".claude-plugin/plugin.json": `{"name": "o", "userConfig": {"url": {"required": true}, "n": {"type": "number", "default": 3}, "key": {"sensitive": true, "required": true}}}`}}))
	install(t, s, "o")
	if active, problems := s.Active(enabled(t, "o@shop")); len(active) != 0 || len(problems) != 1 || problems[0].Text != "it needs the option url" {
		t.Errorf("%v %v", active, problems)
	}
	active, problems := s.Active(settings(t, `{"enabledPlugins": {"o@shop": true}, "pluginConfigs": {"o@shop": {"options": {"url": "http://x", "n": 5, "key": "not from here", "other": 1}}}}`))
	if len(active) != 1 || len(problems) > 0 || len(active[0].Values) != 2 || active[0].Values["url"] != "http://x" || active[0].Values["n"] != "5" {
		t.Fatalf("%+v %v", active, problems)
	}
	if at, why, err := s.SaveSecret(t.Context(), "o@shop", "key", "s3cret-value"); err != nil || why != nil || !strings.HasSuffix(string(at), "credentials.json") {
		t.Fatal(at, why, err)
	}
	got, err := s.Secrets(t.Context(), active[0])
	if err != nil || got["key"] != "s3cret-value" || len(got) != 1 {
		t.Error(got, err)
	}
	if env := active[0].Environ(got); !slices.Contains(env, "CLAUDE_PLUGIN_OPTION_KEY=s3cret-value") || !slices.Contains(env, "CLAUDE_PLUGIN_OPTION_URL=http://x") {
		t.Error(env)
	}
	if has, err := s.HasSecrets("o@shop"); err != nil || len(has) != 1 {
		t.Error(has, err)
	}
	if err := s.Uninstall(t.Context(), "o", false, false); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Secrets(t.Context(), active[0]); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}

func TestPolicy(t *testing.T) {
	s, _ := open(t)
	src := place(t, t.TempDir(), "shop", map[string]files{"fmt": plain("fmt", "1.0.0")})
	from := market.Source{Kind: market.Folder, Path: src}
	none := market.ParsePolicy(json.RawMessage(`[]`), nil)
	if _, _, err := s.Add(t.Context(), from, none); err == nil || !strings.Contains(err.Error(), "strictKnownMarketplaces") {
		t.Error(err)
	}
	add(t, s, src)
	if _, err := s.Prepare(t.Context(), "fmt", none); err == nil {
		t.Error("installed from a marketplace that is not on the list")
	}
	install(t, s, "fmt")
	cfg := enabled(t, "fmt@shop")
	cfg.BlockedMarkets = json.RawMessage(fmt.Sprintf(`[{"source": "directory", "path": %q}]`, src))
	if active, problems := s.Active(cfg); len(active) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, "blockedMarketplaces") {
		t.Errorf("%v %v", active, problems)
	}
	// A managed file that cannot be read may have had such a list.
	cfg = enabled(t, "fmt@shop")
	cfg.Files = append(cfg.Files, config.File{Path: "/etc/adze/managed.json", Scope: config.Managed, State: config.Broken})
	if active, problems := s.Active(cfg); len(active) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, "/etc/adze/managed.json is broken") {
		t.Errorf("%v %v", active, problems)
	}
	git := func(url, ref string) market.Source { return market.Source{Kind: market.Git, URL: url, Ref: ref} }
	for _, c := range []struct {
		strict, blocked string
		src             market.Source
		ok              bool
	}{
		{"", "", git("https://github.com/a/b.git", ""), true},
		{`[{"source": "github", "repo": "a/b"}]`, "", git("https://github.com/A/B", ""), true},
		{`[{"source": "github", "repo": "a/b"}]`, "", git("git@github.com:a/b.git", ""), true},
		{`[{"source": "github", "repo": "a/b"}]`, "", git("https://github.com/a/b.git", "evil"), false},
		{`[{"source": "github", "repo": "a/b"}]`, "", git("https://evil.example/a/b.git", ""), false},
		{`[{"source": "hostPattern", "hostPattern": "^git\\.corp\\.example$"}]`, "", git("https://git.corp.example/x/y.git", "z"), true},
		{`[{"source": "hostPattern", "hostPattern": "^git\\.corp\\.example$"}]`, "", git("https://git.corp.example.evil.example/x/y.git", ""), false},
		{`[{"source": "hostPattern", "hostPattern": "^git\\.corp\\.example$"}]`, "", from, false},
		{`[{"source": "pathPattern", "pathPattern": "^/opt/"}]`, "", market.Source{Kind: market.Folder, Path: "/opt/x"}, true},
		{"", `[{"source": "github", "repo": "a/b"}]`, git("https://github.com/a/b.git", "any"), false},
		{"", `[{"source": "github", "repo": "a/b"}]`, git("https://github.com/a/c.git", ""), true},
		{"", `[{"source": "npm", "package": "p"}]`, market.Source{Kind: market.NPM, Package: "p"}, false},
		{"{}", "", from, false},
		{"", `[{"source": "hostPattern", "hostPattern": "("}]`, from, false},
	} {
		if err := market.ParsePolicy(json.RawMessage(c.strict), json.RawMessage(c.blocked)).Allows(c.src); (err == nil) != c.ok {
			t.Errorf("%s %s %v: %v", c.strict, c.blocked, c.src, err)
		}
	}
}

func TestGivenSource(t *testing.T) {
	for in, want := range map[string]market.Source{
		"a/b":                              {Kind: market.Git, URL: "https://github.com/a/b.git"},
		"a/b#v1":                           {Kind: market.Git, URL: "https://github.com/a/b.git", Ref: "v1"},
		"https://example.com/x.git#main":   {Kind: market.Git, URL: "https://example.com/x.git", Ref: "main"},
		"git@example.com:x/y":              {Kind: market.Git, URL: "git@example.com:x/y"},
		"ssh://git@example.com/x":          {Kind: market.Git, URL: "ssh://git@example.com/x"},
		"https://example.com/m.json":       {Kind: market.JSON, URL: "https://example.com/m.json"},
		"https://example.com/m.tar.gz?a=b": {Kind: market.Archive, URL: "https://example.com/m.tar.gz?a=b"},
		"./shop":                           {Kind: market.Folder, Path: "/w/shop"},
		"~/shop":                           {Kind: market.Folder, Path: "/h/shop"},
		"/shop":                            {Kind: market.Folder, Path: "/shop"},
		"shop.zip":                         {Kind: market.Archive, URL: "file:///w/shop.zip"},
		"npm:@a/b@^1":                      {Kind: market.NPM, Package: "@a/b", Version: "^1"},
		"file:///srv/x.git":                {Kind: market.Git, URL: "file:///srv/x.git"},
	} {
		if got, err := market.GivenSource(in, "/w", "/h"); got != want || err != nil {
			t.Errorf("%s: %+v %v", in, got, err)
		}
	}
	for _, in := range []string{"http://example.com/x.git", "ext::sh -c id", "git://example.com/x", "https://u:p@example.com/x", "--upload-pack=x/y", "npm:../x", "npm:a@file:x", "https://example.com/x.git#--x", "https://-x/y", "ftp://x/y"} {
		if got, err := market.GivenSource(in, "/w", "/h"); err == nil && got.Kind != market.Folder {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

func TestEntries(t *testing.T) {
	s, _ := open(t)
	dir := write(t, t.TempDir(), files{".agents/plugins/marketplace.json": `{"name": "codex", "interface": {"displayName": "C"}, "metadata": {"pluginRoot": "./p"}, "plugins": [
 {"name": "a", "source": {"source": "local", "path": "./x"}}, {"name": "b", "source": "bare"}, {"name": "c", "source": "../out"}, {"name": "d", "source": "/etc"},
 {"name": "e", "source": {"source": "command", "command": "id"}}, {"name": "f", "source": {"source": "git", "url": "file:///etc"}}, {"name": "g", "source": {"source": "github", "repo": "--x"}},
 {"name": "h", "source": {"source": "npm", "package": "x; id"}}, {"name": "a", "source": "./y"}, {"name": "../i", "source": "./y"}, 7, {"name": "j", "source": {"source": "git-subdir", "url": "o/r", "path": "./sub/", "sha": "0123456789012345678901234567890123456789"}},
 {"name": "k", "source": {"source": "git", "url": "https://example.com/x", "ref": "--upload-pack=id"}}, {"name": "l", "source": {"source": "archive", "url": "http://example.com/x.zip"}}
]}`})
	m, c, err := s.Add(t.Context(), market.Source{Kind: market.Folder, Path: dir}, market.Policy{})
	if err != nil || m.Name != "codex" {
		t.Fatal(m, err)
	}
	var got []string
	for _, e := range c.Plugins {
		got = append(got, fmt.Sprintf("%s %s %+v", e.Name, e.Source.Kind, e.Source.Path))
	}
	if !slices.Equal(got, []string{"a path x", "b path p/bare", "f git ", "j git sub"}) || len(c.Problems) != 10 {
		t.Errorf("%q\n%s", got, strings.Join(c.Problems, "\n"))
	}
}
