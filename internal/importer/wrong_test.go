package importer_test

import (
	"slices"
	"strings"
	"testing"
)

// TestWrongValuesLoseThemselves has one value of a wrong kind after another beside a
// server and rules that are right. These have to come over, and the wrong one has
// to be named.
func TestWrongValuesLoseThemselves(t *testing.T) {
	type agent struct {
		from, file, text string
		wrong            [][3]string // what it stands in place of in the text, what it is, what is said of it
		want             []string
	}
	for _, a := range []agent{
		{"claude-code", "elsewhere/.claude.json", `{"mcpServers":{"good":{"command":"x"}/*servers*/}/*top*/}`, servers([][3]string{
			{"/*top*/", `,"projects":{"/p":[1]}`, "projects./p: expected an object, found a list"},
			{"/*top*/", `,"projects":{"/p":{"mcpServers":"no"}}`, "projects./p: mcpServers: expected an object, found a text"},
			{"/*top*/", `,"projects":{"/p":{"mcpServers":{"bad":3}}}`, "expected an object, found a number"},
			{"/*top*/", `,"projects":"no"`, "projects: expected an object, found a text"},
		}), []string{`claude-code good {"command":"x"}`}},
		{"gemini", ".gemini/settings.json", `{"mcpServers":{"good":{"command":"x","excludeTools":["rm"]}/*servers*/},
			"tools":{"exclude":["write_file"/*exclude*/],"allowed":["web_fetch"/*allowed*/]/*core*/}}`, servers([][3]string{
			{"/*servers*/", `,"bad":{"command":"x","cwd":1}`, "cwd: expected a text, found a number"},
			{"/*servers*/", `,"bad":{"httpUrl":{}}`, "httpUrl: expected a text, found an object"},
			{"/*servers*/", `,"bad":{"command":"x","includeTools":"y"}`, "includeTools: expected a list of texts, found a text"},
			{"/*servers*/", `,"bad":{"command":"x","excludeTools":"y"}`, "excludeTools: expected a list of texts, found a text"},
			{"/*servers*/", `,"bad":{"command":"x","trust":"yes"}`, "trust: expected true or false, found a text"},
			{"/*servers*/", `,"bad":{"command":5,"trust":true}`, "gemini allow mcp__bad the server is not taken"},
			{"/*exclude*/", `,null`, "gemini deny  expected a text, found null"},
			{"/*allowed*/", `,{}`, "gemini allow  expected a text, found an object"},
			{"/*core*/", `,"core":1`, "gemini deny  expected a list of texts, found a number"},
		}), []string{`gemini good {"command":"x"}`, "gemini deny mcp__good__rm", "gemini deny Edit", "gemini allow WebFetch"}},
		{"gemini, denials that cannot be read", ".gemini/settings.json", `{"mcpServers":{"good":{"command":"x"},"half":{"command":"x","trust":true,"excludeTools":["rm"/*not*/]}},
			"tools":{}}`, [][3]string{
			{"/*not*/", `,5`, "gemini deny mcp__half__ expected a text, found a number"},
			{"/*not*/", `,5`, `gemini half {"command":"x"} excludeTools[1]: expected a text, found a number`},
			{"/*not*/", `,5`, "gemini allow mcp__half excludeTools[1]: expected a text"},
			{"/*not*/", `,5`, "gemini deny mcp__half__rm"},
			{"{}", `{"exclude":"write_file"}`, "gemini deny  expected a list of texts, found a text"},
			{"{}", `"none"`, "tools: expected an object, found a text"},
		}, []string{`gemini good {"command":"x"}`}},
		{"crush", ".config/crush/crush.json", `{"mcp":{"good":{"command":"x","disabled_tools":["rm"]}/*servers*/},"permissions":{}}`, servers([][3]string{
			{"/*servers*/", `,"bad":{"command":"x","disabled":0}`, "disabled: expected true or false, found a number"},
			{"/*servers*/", `,"bad":{"command":"x","oauth":{}}`, "oauth: expected true or false, found an object"},
			{"/*servers*/", `,"bad":{"command":"x","enabled_tools":5}`, "enabled_tools: expected a list of texts, found a number"},
			{"/*servers*/", `,"bad":{"command":"x","disabled_tools":[5]}`, "crush deny mcp__bad__ expected a text, found a number"},
			{"/*servers*/", `,"bad":{"command":"x","disabled_tools":["rm",5]}`, "crush deny mcp__bad__rm"},
			{"{}", `{"allowed_tools":[1,"bash"]}`, "crush allow  expected a text, found a number"},
			{"{}", `{"allowed_tools":[1,"bash"]}`, "crush allow Bash"},
			{"{}", `[]`, "permissions: expected an object, found a list"},
		}), []string{`crush good {"command":"x"}`, "crush deny mcp__good__rm"}},
		{"opencode", ".config/opencode/opencode.json", `{"mcp":{"good":{"command":["x"]}/*servers*/},"permission":{"edit":"deny"/*more*/,"webfetch":"allow"}}`, [][3]string{
			{"/*servers*/", `,"bad":[]`, "expected an object, found a list"},
			{"/*servers*/", `,"bad":{"command":"x"}`, "command: expected a list of texts, found a text"},
			{"/*servers*/", `,"bad":{"command":["x",1]}`, "command[1]: expected a text, found a number"},
			{"/*servers*/", `,"bad":{"command":["x"],"environment":[]}`, "environment: expected an object, found a list"},
			{"/*servers*/", `,"bad":{"command":["x"],"cwd":[]}`, "cwd: expected a text, found a list"},
			{"/*servers*/", `,"bad":{"url":5}`, "url: expected a text, found a number"},
			{"/*servers*/", `,"bad":{"url":"http://h","headers":{"A":null}}`, "headers.A: expected a text, found null"},
			{"/*servers*/", `,"bad":{"command":["x"],"enabled":"no"}`, "enabled: expected true or false, found a text"},
			{"/*servers*/", `,"bad":{"command":["x"],"timeout":1e99}`, "timeout: expected a number of a usual size"},
			{"/*more*/", `,"bash":5`, "opencode ask  expected a word, or patterns with a word each, found a number"},
			{"/*more*/", `,"bash":{"git *":5,"rm *":"deny"}`, "opencode ask  expected a word, found a number"},
			{"/*more*/", `,"bash":{"git *":5,"rm *":"deny"}`, "opencode deny Bash(rm *)"},
		}, []string{`opencode good {"command":"x"}`, "opencode deny Edit", "opencode allow WebFetch"}},
		{"codex", ".codex/config.toml", "sandbox_mode = \"read-only\"\napproval_policy = \"never\"\n[mcp_servers.good]\ncommand = \"x\"\n# servers\n", [][3]string{
			{"# servers", "[mcp_servers]\nbad = 3", "expected an object, found a number"},
			{"# servers", "[mcp_servers.bad]\ncommand = [\"x\"]", "command: expected a text, found a list"},
			{"# servers", "[mcp_servers.bad]\ncommand = \"x\"\nargs = \"y\"", "args: expected a list of texts, found a text"},
			{"# servers", "[mcp_servers.bad]\ncommand = \"x\"\nargs = [1]", "args[0]: expected a text, found a number"},
			{"# servers", "[mcp_servers.bad]\ncommand = \"x\"\nenv = { A = 1979-05-27 }", "env.A: expected a text, found a date"},
			{"# servers", "[mcp_servers.bad]\ncommand = \"x\"\nenv_vars = \"A\"", "env_vars: expected a list of texts, found a text"},
			{"# servers", "[mcp_servers.bad]\ncommand = \"x\"\nenabled = \"no\"", "enabled: expected true or false, found a text"},
			{"# servers", "[mcp_servers.bad]\ncommand = \"x\"\ntool_timeout_sec = nan", "tool_timeout_sec: expected a number of a usual size"},
			{"# servers", "[mcp_servers.bad]\nurl = \"http://h\"\nhttp_headers = 5", "http_headers: expected an object, found a number"},
			{"# servers", "[mcp_servers.bad]\nurl = \"http://h\"\nenv_http_headers = 5", "env_http_headers: expected an object, found a number"},
			{"# servers", "[mcp_servers.bad]\nurl = \"http://h\"\nbearer_token_env_var = true", "bearer_token_env_var: expected a text, found true or false"},
			{`"read-only"`, "3", "sandbox_mode: expected a text, found a number"},
		}, []string{`codex good {"command":"x"}`, "codex ask  it says when Codex asks"}},
	} {
		for _, w := range a.wrong {
			r := newRigWith(t, map[string]string{"CLAUDE_CONFIG_DIR": "elsewhere"})
			text := strings.Replace(a.text, w[0], w[1], 1)
			if text == a.text {
				t.Errorf("%s: nowhere is %s", a.from, w[0])
			}
			r.write(a.file, text)
			s := r.Settings()
			got := lines(s)
			for _, err := range s.Errors {
				got = append(got, err.Error())
			}
			for _, want := range append([]string{w[2]}, a.want...) {
				if !slices.ContainsFunc(got, func(line string) bool {
					return strings.HasPrefix(line, want) || want == w[2] && strings.Contains(line, want)
				}) {
					t.Errorf("%s, %s: no line is %q in\n%s", a.from, w[1], want, strings.Join(got, "\n"))
				}
			}
		}
	}
}

// servers are wrong values that stand in a server as most agents write one.
func servers(more [][3]string) [][3]string {
	return append([][3]string{
		{"/*servers*/", `,"bad":"x"`, "expected an object, found a text"},
		{"/*servers*/", `,"bad":null`, "expected an object, found null"},
		{"/*servers*/", `,"bad":{"command":["x"]}`, "command: expected a text, found a list"},
		{"/*servers*/", `,"bad":{"command":"x","type":1}`, "type: expected a text, found a number"},
		{"/*servers*/", `,"bad":{"command":"x","args":"y"}`, "args: expected a list of texts, found a text"},
		{"/*servers*/", `,"bad":{"command":"x","args":["y",null]}`, "args[1]: expected a text, found null"},
		{"/*servers*/", `,"bad":{"command":"x","env":["A=b"]}`, "env: expected an object, found a list"},
		{"/*servers*/", `,"bad":{"command":"x","env":{"A":{}}}`, "env.A: expected a text, found an object"},
		{"/*servers*/", `,"bad":{"url":true}`, "url: expected a text, found true or false"},
		{"/*servers*/", `,"bad":{"url":"http://h","headers":"A: b"}`, "headers: expected an object, found a text"},
		{"/*servers*/", `,"bad":{"command":"x","timeout":"5"}`, "timeout: expected a number, found a text"},
		{"/*servers*/", `,"bad":{"command":"x","timeout":1e400}`, "timeout: expected a number of a usual size, found a number"},
	}, more...)
}

// TestOddValuesThatAreRight are of no wrong kind, though they are not what is usual.
func TestOddValuesThatAreRight(t *testing.T) {
	got, errs := settings(t, map[string]string{
		".gemini/settings.json": "\xef\xbb\xbf" + `{"mcpServers":{"a":{"command":"x","env":{"PORT":8080,"ON":true},"timeout":1.5,"cwd":null,"args":null}}}`,
		".codex/config.toml":    "[mcp_servers.b]\ncommand = \"x\"\nenv = { PORT = 8080, RATE = 0.5 }\n",
	})
	want := []string{`codex b {"command":"x","env":{"PORT":"8080","RATE":"0.5"}}`, `gemini a {"command":"x","env":{"ON":"true","PORT":"8080"},"timeout":1}`}
	if errs != 0 || !slices.Equal(got, want) {
		t.Errorf("%d errors, %q", errs, got)
	}
}
