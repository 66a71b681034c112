package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/importer"
)

// settings are what is read of files, in lines.
func settings(t *testing.T, files map[string]string) ([]string, int) {
	t.Helper()
	r := newRig(t)
	for name, text := range files {
		r.write(name, text)
	}
	s := r.Settings()
	return lines(s), len(s.Errors)
}

// lines are what settings hold, without what could not be read.
func lines(s importer.Settings) (lines []string) {
	for _, x := range s.Servers {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", x.From, x.Name, x.Config, x.Why)))
	}
	for _, x := range s.Rules {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", x.From, x.Effect, x.Ours, x.Why)))
	}
	for _, x := range s.Notes {
		lines = append(lines, fmt.Sprintf("%s %d", x.From, x.Size))
	}
	return lines
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string // beginnings
	}{
		"servers of claude": {".claude.json", `{"mcpServers":{"a":{"type":"stdio","command":"x","args":["${HOME}/y"],"env":{"K":"v"}}},"projects":{"/p":{"mcpServers":{"b":{"type":"http","url":"http://h"}}}}}`, []string{
			`claude-code a {"command":"x","args":["${HOME}/y"],"env":{"K":"v"}} it is used where it is`, `claude-code b {"type":"http","url":"http://h"} it is of one project, /p, and is used there`}},
		"servers of codex": {".codex/config.toml", "approval_policy = \"never\"\n[mcp_servers.a]\ncommand = \"x\"\nargs = [\"1\"]\n[mcp_servers.b]\nurl = \"http://h\"\nbearer_token_env_var = \"TOKEN\"\ntool_timeout_sec = 1.5\n[mcp_servers.c]\ncommand = \"x${y}\"\n[mcp_servers.d]\ncommand = \"x\"\nenabled = false\n", []string{
			`codex a {"command":"x","args":["1"]}`, `codex b {"type":"http","url":"http://h","headers":{"Authorization":"Bearer ${TOKEN}"},"timeout":1500}`,
			`codex c {"command":"x${y}"} a value has ${…}, which`, `codex d {"command":"x"} it is switched off`, "codex ask  it says when Codex asks"}},
		"gemini": {".gemini/settings.json", `{// a comment
			"mcpServers":{"a":{"command":"x","env":{"K":"$KEY"},"excludeTools":["rm"],"trust":true},"b":{"httpUrl":"http://h"},"c":{"url":"http://h/sse"},"c2":{"url":"http://h","type":"http"},"d.e":{"command":"x"},"f":{"command":"x","includeTools":["y"]}},
			"tools":{"allowed":["run_shell_command(git status)","run_shell_command","save_memory"],"exclude":["run_shell_command(rm -rf)","write_file"]}}`, []string{
			`gemini a {"command":"x","env":{"K":"${KEY}"}}`, `gemini b {"type":"http","url":"http://h"}`, `gemini c {"type":"sse","url":"http://h/sse"}`, `gemini c2 {"type":"http","url":"http://h"}`, `gemini d.e {"command":"x"} its name`, `gemini f {"command":"x"} it offers some`,
			"gemini deny mcp__a__rm", "gemini allow mcp__a", "gemini deny Bash(rm -rf:*)", "gemini deny Edit", "gemini allow Bash(git status:*)", "gemini allow Bash", "gemini allow  adze has no tool that does what save_memory does"}},
		"opencode": {".config/opencode/opencode.json", `{"mcp":{"a":{"type":"local","command":["x","y"],"environment":{"K":"{env:KEY}"}},"b":{"type":"remote","url":"http://h","headers":{"A":"{file:~/t}"}}},
			"permission":{"edit":"deny","webfetch":"allow","bash":{"*":"ask","git *":"allow","rm ?":"deny","git push *":"ask"},"task":"allow","read":{"*.env":"deny","secrets/*":"ask","a*/b":"deny","x.md":"allow"},"glob":{"*":"allow"},"todowrite":"deny","question":"allow","skill":{"in-*":"deny"}}}`, []string{
			`opencode a {"command":"x","args":["y"],"env":{"K":"${KEY}"}}`, `opencode b {"type":"http","url":"http://h","headers":{"A":"{file:~/t}"}} a value comes from a file`,
			"opencode ask  beside other patterns", "opencode allow Bash(git *)", "opencode ask Bash(git push *)", "opencode deny  patterns of bash", "opencode deny Edit", "opencode allow  rules for Read are also for glob", "opencode allow  AskUserQuestion needs no permission",
			"opencode deny Read(*.env)", "opencode deny  patterns of read", "opencode ask Read(**/secrets/**)", "opencode allow  patterns of read", "opencode deny Skill(in-*)", "opencode allow Agent", "opencode deny TodoWrite", "opencode allow WebFetch"}},
		"opencode, all allowed": {".config/opencode/opencode.jsonc", `{"permission":"allow"}`, []string{"opencode ask  it is for all tools at once"}},
		"opencode, edits":       {".config/opencode/opencode.json", `{"permission":{"edit":"allow","bash":{"*":"deny","ls *":"allow"}}}`, []string{"opencode deny  beside other patterns", "opencode allow Bash(ls *)", "opencode allow Edit(./**)"}},
		"crush": {".config/crush/crush.json", `{"mcp":{"a":{"type":"stdio","command":"x","env":{"K":"$KEY"},"timeout":3},"b":{"type":"http","url":"http://h","headers":{"A":"$(pass show x)"}},"c":{"command":"x","disabled":true}},"permissions":{"allowed_tools":["bash","view","edit:write","edit:rename","mcp_a_b"]}}`, []string{
			`crush a {"command":"x","env":{"K":"${KEY}"},"timeout":3000}`, `crush b {"type":"http","url":"http://h","headers":{"A":"$(pass show x)"}} a value is what a command prints`, `crush c {"command":"x"} it is switched off`,
			"crush allow Bash", "crush allow Read(./**)", "crush allow Edit(./**)", "crush allow Edit(./**) adze's rules do not tell", "crush allow  where the server's name ends"}},
		"memory":    {".codex/AGENTS.md", "be brief", []string{"codex 8"}},
		"no memory": {".gemini/GEMINI.md", "", nil},
	} {
		got, errs := settings(t, map[string]string{c.file: c.text})
		if errs > 0 || len(got) != len(c.want) {
			t.Errorf("%s: %d errors, got %s", name, errs, strings.Join(got, "\n"))
			continue
		}
		slices.Sort(got)
		slices.Sort(c.want)
		for i, w := range c.want {
			if !strings.HasPrefix(got[i], w) || strings.HasSuffix(w, "}") && got[i] != w {
				t.Errorf("%s: got %q, want %q", name, got[i], w)
			}
		}
	}
}

func TestBadSettingsHideNoOthers(t *testing.T) {
	got, errs := settings(t, map[string]string{
		".gemini/settings.json":          `{"mcpServers":`,
		".codex/config.toml":             "= 3",
		".config/opencode/opencode.json": `{"permission":[1]}`,
		".claude.json":                   strings.Repeat(" ", 9<<20),
		".config/crush/crush.json":       `{"permissions":{"allowed_tools":["bash"]}}`,
	})
	if errs != 4 || !slices.Equal(got, []string{"crush allow Bash"}) {
		t.Errorf("%d errors, %q", errs, got)
	}
	if len(importer.Names()) != 5 {
		t.Error("the agents are others")
	}
}
