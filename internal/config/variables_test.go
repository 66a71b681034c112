package config

import (
	"strings"
	"testing"
)

// A variable that stands for a setting counts where its place in the order is: flags,
// --settings, our files, the process, .claude files. A project's file sets none.
func TestForeignVariables(t *testing.T) {
	const claude = `{"model":"opus","env":{"ANTHROPIC_MODEL":"glm","ANTHROPIC_BASE_URL":"http://g","MAX_THINKING_TOKENS":"0"}}`
	for _, tt := range []struct {
		name     string
		d        disk
		env      map[string]string
		settings string
		flags    []Given
		key      string
		want     string
	}{
		{name: "the process", env: map[string]string{"ANTHROPIC_MODEL": "x/y[1m]"}, key: "model", want: `"anthropic/x/y[1m]"`},
		{name: "over a .claude file", d: disk{userCC: `{"model":"opus"}`}, env: map[string]string{"ANTHROPIC_MODEL": "x"}, key: "model", want: `"anthropic/x"`},
		{name: "below our file", d: disk{userFile: `{"model":"opus"}`}, env: map[string]string{"ANTHROPIC_MODEL": "x"}, key: "model", want: `"opus"`},
		{name: "of the settings over the process", d: disk{userCC: claude}, env: map[string]string{"ANTHROPIC_MODEL": "x"}, key: "model", want: `"anthropic/glm"`},
		{name: "over the key of its own file", d: disk{userFile: `{"env":{"ANTHROPIC_MODEL":"v"},"model":"opus"}`}, key: "model", want: `"anthropic/v"`},
		{name: "--settings over our file", d: disk{userFile: `{"model":"opus"}`}, settings: `{"env":{"ANTHROPIC_MODEL":"s"}}`, key: "model", want: `"anthropic/s"`},
		{name: "a flag over --settings", settings: `{"env":{"ANTHROPIC_MODEL":"s"}}`, flags: []Given{{Key: "model", Value: "f", From: "--model"}}, key: "model", want: `"f"`},
		{name: "no reasoning", d: disk{userCC: claude}, key: "effort", want: `"none"`},
		{name: "tokens of reasoning", env: map[string]string{"MAX_THINKING_TOKENS": "4096"}, key: "effort", want: `"4096"`},
		{name: "a level goes first", env: map[string]string{"MAX_THINKING_TOKENS": "4096", "CLAUDE_CODE_EFFORT_LEVEL": "High"}, key: "effort", want: `"high"`},
		{name: "auto", env: map[string]string{"CLAUDE_CODE_EFFORT_LEVEL": "auto"}, key: "effort", want: `null`},
		{name: "milliseconds", env: map[string]string{"API_TIMEOUT_MS": "3000001"}, key: "stream_idle_timeout", want: `3001`},
		{name: "of a group", env: map[string]string{"MCP_TIMEOUT": "60000"}, key: "mcp.wait", want: `60`},
		{name: "of a group, set by the person", d: disk{userFile: `{"mcp":{"wait":1}}`}, env: map[string]string{"MCP_TIMEOUT": "60000"}, key: "mcp.wait", want: `1`},
		{name: "output", env: map[string]string{"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "16000"}, key: "max_output_tokens", want: `16000`},
		{name: "nonsense", env: map[string]string{"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "many"}, key: "max_output_tokens", want: `0`},
		{name: "a project's", d: disk{projectFile: `{"env":{"ANTHROPIC_MODEL":"p","API_TIMEOUT_MS":"1"}}`}, key: "model", want: `null`},
		{name: "a server's own name", d: disk{userCC: `{"model":"glm-4.6","env":{"ANTHROPIC_BASE_URL":"http://g"}}`}, key: "model", want: `"anthropic/glm-4.6"`},
		{name: "a name that nobody has", d: disk{userCC: `{"model":"glm-4.6"}`}, key: "model", want: `null`},
	} {
		o := options(tt.d)
		o.Env = func(name string) string { return tt.env[name] }
		o.Settings, o.Flags, o.Trusted = tt.settings, tt.flags, true
		c := load(t, o)
		s, _ := c.Setting(tt.key)
		if string(s.Value) != tt.want {
			t.Errorf("%s: %s, want %s (%s)", tt.name, s.Value, tt.want, problems(c))
		}
	}
}

// What a provider's variables say, a project's file does not, and --settings says it firmly.
func TestVariable(t *testing.T) {
	o := options(disk{
		userCC:      `{"env":{"ANTHROPIC_BASE_URL":"http://mine","EMPTY":""}}`,
		projectFile: `{"env":{"ANTHROPIC_BASE_URL":"http://theirs","OTHER":"theirs"}}`,
	})
	o.Trusted = true
	c := load(t, o)
	if v, firm, ok := c.Variable("ANTHROPIC_BASE_URL"); v != "http://mine" || firm || !ok {
		t.Error(v, firm, ok)
	}
	if v, _, ok := c.Variable("OTHER"); ok {
		t.Error(v)
	}
	if _, _, ok := c.Variable("EMPTY"); !ok || c.Over(func(string) string { return "process" })("EMPTY") != "" {
		t.Error("an empty variable hides the process's")
	}
	o.Settings = `{"env":{"ANTHROPIC_BASE_URL":"http://router"}}`
	if v, firm, ok := load(t, o).Variable("ANTHROPIC_BASE_URL"); v != "http://router" || !firm || !ok {
		t.Error(v, firm, ok)
	}
	if !strings.Contains(problems(c), "a project's file may not set this variable") {
		t.Error(problems(c))
	}
}
