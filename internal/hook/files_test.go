package hook_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/hook"
)

// The files of other agents are read as their programs read them, and what has no hooks
// is nobody's business.
func TestParseFile(t *testing.T) {
	const group = `{"hooks":[{"type":"command","command":"a"}]}`
	deep := strings.Repeat("x.", 30) + "x"
	for name, c := range map[string]struct {
		path, text string
		want       string // the events and commands
		problem    string // a part of the problems
	}{
		"codex":                  {".codex/hooks.json", `{"hooks":{"Stop":[` + group + `]}}`, "Stop a", ""},
		"codex takes no comment": {".codex/hooks.json", `{/* x */"hooks":{"Stop":[` + group + `]}}`, "", "no JSON"},
		"codex, TOML":            {".codex/config.toml", "model = \"x\"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"a\"\n", "Stop a", ""},
		"TOML without hooks":     {".codex/config.toml", "[mcp_servers.x]\ncommand = \"y\"\n", "", ""},
		"broken, without hooks":  {".codex/config.toml", "[[[", "", ""},
		"broken, with hooks":     {".codex/config.toml", "[[[hooks", "", "cannot be read for its hooks"},
		"gemini":                 {".gemini/settings.json", `{"hooks":{"AfterAgent":[` + group + `]}}`, "Stop a", ""},
		"gemini, with comments":  {".gemini/settings.json", "// x\n{\"hooks\":{/* y */\"AfterAgent\":[" + group + ",\n]}}\n", "Stop a", ""},
		"gemini, no hooks":       {".gemini/settings.json", `{"ui":{"theme":"x"}}`, "", ""},
		"gemini, off":            {".gemini/settings.json", `{"hooksConfig":{"enabled":false},"hooks":{"AfterAgent":[` + group + `]}}`, "", ""},
		"gemini, an escaped key": {".gemini/settings.json", `{"\u0068ooks":{"AfterAgent":[` + group + `]}}`, "Stop a", ""},
		"gemini, broken":         {".gemini/settings.json", `{"hooks":`, "", "cannot be read for its hooks: line 1"},
		"gemini, deep":           {".gemini/settings.json", `{"hooks":` + strings.Repeat("[", 1<<20), "", "nested more than 100 deep"},
		"TOML, deep arrays":      {".codex/config.toml", "hooks = " + strings.Repeat("[", 1<<17), "", "line 1: nested more than 20 deep"},
		"TOML, deep tables":      {".codex/config.toml", "\nhooks = " + strings.Repeat("{a=", 1<<15), "", "line 2: nested more than 20 deep"},
		"TOML, deep names":       {".codex/config.toml", "[hooks]\n" + deep + " = 1", "", "line 2: nested more than 20 deep"},
		"TOML, deep header":      {".codex/config.toml", "[hooks." + deep + "]", "", "nested more than 20 deep"},
		"TOML, deep behind text": {".codex/config.toml", "[hooks]\nx = [\"\"\"a\"\"\"\", " + strings.Repeat("[", 30), "", "nested more than 20 deep"},
		"TOML, large":            {".codex/config.toml", "hooks = 1 #" + strings.Repeat("x", 1<<20), "", "larger than 256 KiB"},
		"TOML, dots in texts": {".codex/config.toml", "# " + strings.Repeat("...", 30) + "\nlist = [" + strings.Repeat("1.5, ", 30) + "]\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'a" +
			strings.Repeat(".", 30) + strings.Repeat("[", 27) + "'\nstatusMessage = \"\"\"\n\\\"" + strings.Repeat("{.", 30) + "\"\"\"\n", "Stop a" + strings.Repeat(".", 30) + strings.Repeat("[", 27), ""},
	} {
		hooks, problems := hook.ParseFile([]byte(c.text), hook.Place{From: "/r/" + c.path})
		var got []string
		for _, h := range hooks {
			got = append(got, string(h.Event)+" "+h.Handler.Command)
		}
		problem := ""
		if err := errors.Join(problems...); err != nil {
			problem = err.Error()
		}
		if strings.Join(got, ", ") != c.want || (c.problem == "") != (problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s: %q, %.300q", name, got, problem)
		}
	}
}

// Reading changes nothing of what was looked at, which is what was trusted.
func TestParseFileLeavesTheText(t *testing.T) {
	const text = `{/* x */"hooks":{}}`
	b := []byte(text)
	hook.ParseFile(b, hook.Place{From: "/r/.gemini/settings.json"})
	if string(b) != text {
		t.Errorf("%s", b)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = '''a'''\n")
	f.Add(`{/* x */"hooks":{"BeforeTool":[{"matcher":"x","hooks":[{"type":"command","command":"a"}]}]}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		for _, path := range hook.Files() {
			hook.ParseFile([]byte(text), hook.Place{From: "/r/" + path})
		}
	})
}
