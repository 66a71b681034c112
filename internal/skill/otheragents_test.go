package skill

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Definitions of other programs are read where they mean the same, and say what has no effect.
func TestOtherAgents(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{
			".codex/agents/rev.toml", "name = \"reviewer\"\ndescription = \"Reviews.\"\nmodel = \"gpt-6\"\nmodel_reasoning_effort = \"high\"\nsandbox_mode = \"read-only\"\nnickname_candidates = [\"Ann\"]\ndeveloper_instructions = \"\"\"\nYou review.\n\"\"\"\n[mcp_servers.db]\ncommand = \"dbmcp\"\nargs = [\"-x\"]\nstartup_timeout_sec = 3\n[mcp_servers.web]\nurl = \"https://x.test/mcp\"\nbearer_token_env_var = \"T\"\n",
			`reviewer "Reviews." "You review." [all] gpt-6 high plan {"db":{"args":["-x"],"command":"dbmcp"},"web":{"headers":{"Authorization":"Bearer ${T}"},"type":"http","url":"https://x.test/mcp"}}` +
				`|10 startup_timeout_sec of the server db has no effect: it is Codex's own|6 nickname_candidates has no effect: it is for lists of that program`,
		},
		{".codex/agents/x.toml", "name = \"x\"\ndescription = \"d\"\nsandbox_mode = \"danger-full-access\"\ndeveloper_instructions = \"p\"\n", `x "d" "p" [all]   |3 sandbox_mode has no effect: adze's sandbox has settings of its own, and a definition loosens nothing`},
		{".codex/agents/x.toml", "name = \"x\"\ndescription =\n", "2 it is no TOML: expected value but found '\\n' instead"},
		{".codex/agents/x.toml", "description = \"d\"\ndeveloper_instructions = [1]\n", "2 developer_instructions is not a text"},
		{".codex/agents/x.toml", "description = \"d\"\nname = 3.5\nmodel_reasoning_effort = [1]\n", "3 effort is not a text"},
		{
			".github/agents/api-expert.agent.md", "---\nname: 'API Expert'\ndescription: Designs APIs.\ntools: ['edit/editFiles', 'search', 'read', 'runCommands', 'github/*', 'context7/resolve', 'vscodeAPI']\nmodel: Claude Sonnet 4.6 (copilot)\nuser-invocable: false\ninfer: false\nmcp-servers:\n  own:\n    type: local\n    command: x\n    tools: ['*']\ntarget: vscode\n---\nYou design.",
			`api-expert "Designs APIs." "You design." [Edit MultiEdit Write Grep Glob Read Bash BashOutput KillShell mcp__github mcp__context7__resolve] claude-sonnet-4.6   {"own":{"command":"x","type":"stdio"}} not for models` +
				`|13 target has no effect: adze is neither|4 adze has no tool like vscodeAPI|6 user-invocable has no effect: a person can always begin a session as an agent (adze --agent)`,
		},
		{".github/agents/x.agent.md", "---\ndescription: d\ntools: []\nmodel: ['GPT-5', 'b']\n---\np", `x "d" "p" [] gpt-5  `},
		{".github/agents/notes.md", "---\ndescription: d\n---\np", ""},
		{
			".gemini/agents/sec.md", "---\nname: sec_audit\ndescription: d\nkind: local\ntools:\n  - read_file\n  - grep_search\n  - mcp_db_*\n  - mcp_web_get\n  - ask_user\nmodel: inherit\ntemperature: 0.2\nmax_turns: 10\n---\np",
			`sec_audit "d" "p" [Read Grep mcp__db mcp__web__get]    turns 10|12 temperature has no effect: adze leaves the temperature to the provider|5 adze has no tool like ask_user`,
		},
		{".gemini/agents/far.md", "---\nname: far\nkind: remote\nagent_card_url: https://x.test\n---\n", "3 it is an agent of another machine (kind: remote), which adze cannot ask"},
		{
			".agents/agents/a.md", "---\nname: a\ndescription: d\ntools: [run_command, view_file]\nsubagent: false\nmodel: inherit\ncommandExecutionPolicy: sandbox\nskills: [s]\n---\np",
			`a "d" "p" [Bash BashOutput KillShell Read]    not for models|7 commandExecutionPolicy has no effect: the sandbox of the session holds for its agents`,
		},
		{".cursor/agents/v.md", "---\nname: v\nmodel: fast\nreadonly: true\nis_background: true\n---\nVerifies work.\nMore.", `v "Verifies work." "Verifies work.\nMore." [all] small  plan background`},
		{".factory/droids/d.md", "---\nname: d\ndescription: x\nmodel: inherit\nreasoningEffort: off\ntools: read-only\n---\np", `d "x" "p" [Read Grep Glob]  none `},
		{".factory/droids/d.md", "---\nname: d\ndescription: x\ntools: [Read, Edit, Execute]\nowner: me\n---\np", `d "x" "p" [Read Edit MultiEdit Bash BashOutput KillShell TodoWrite]   |5 owner has no effect: adze knows no such field of Droid`},
		{".factory/droids/d.md", "---\nname: d\ndescription: x\ntools: {a: b}\n---\np", "4 tools is not a list"},
	} {
		dir := write(t, map[string]string{c.file: c.text})
		g := Ground{Root: dir, Dir: dir, Trusted: func(string, []byte) bool { return true }}
		lib, bad := load(g.Places(Agents))
		var got []string
		for _, a := range lib.Agents() {
			tools := fmt.Sprint(a.Tools)
			if a.Tools == nil {
				tools = "[all]"
			}
			s := fmt.Sprintf("%s %q %q %s %s %s %s", a.Name, a.Description, a.Prompt, tools, a.Model, a.Effort, a.Mode)
			if a.Servers != nil {
				s += " " + string(a.Servers)
			}
			if a.MaxTurns > 0 {
				s += fmt.Sprint(" turns ", a.MaxTurns)
			}
			for what, is := range map[string]bool{" not for models": a.NoModel, " background": a.Background} {
				if is {
					s += what
				}
			}
			got = append(got, s)
		}
		var said []string
		for _, p := range bad {
			said = append(said, fmt.Sprintf("%d %s", p.Line, p.Text))
			if !p.Used || p.File != filepath.Join(dir, filepath.FromSlash(c.file)) {
				t.Errorf("%s: %+v", c.file, p)
			}
		}
		slices.Sort(said)
		if s := strings.Join(append(got, said...), "|"); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.file, s, c.want)
		}
		fields, runs, wrong := Matter(c.file, []byte(c.text))
		if len(runs) > 0 || (wrong == nil) != (len(got) > 0) && wrong != nil || len(got) > 0 && len(fields["description"]) == 0 {
			t.Errorf("%s is shown as %s, %v, %v", c.file, fields, runs, wrong)
		}
	}
}

func FuzzOtherAgents(f *testing.F) {
	f.Add("name = \"x\"\n[mcp_servers.db]\ncommand = \"x\"\n", 0)
	f.Add("---\nname: x\ntools: ['a/b', mcp_x_y]\nmcp-servers: {a: {type: local}}\nmodel: [x]\n---\np", 1)
	dialects := []Dialect{Codex, Copilot, Gemini, Antigravity, Cursor, Droid}
	f.Fuzz(func(t *testing.T, text string, n int) {
		of := dialects[uint(n)%uint(len(dialects))]
		out, _, bad := parseAgent(Place{Kind: Agents, Of: of, Text: map[string]string{}}, named("x"+agentEnding(of)), []byte(text))
		if a, ok := out.(Agent); bad == nil && (!ok || a.Name == "" || len(a.Prompt) > maxBody) {
			t.Errorf("%+v", out)
		}
	})
}
