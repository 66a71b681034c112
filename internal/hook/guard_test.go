package hook

import (
	"strings"
	"testing"
)

// TestBrokenGuards: a hook that is set to block when it cannot answer does so when what
// it is cannot be understood; without that a person is asked before a call, and any
// other that is broken is left out.
func TestBrokenGuards(t *testing.T) {
	for what, group := range map[string]string{
		"matcher":     `{"matcher": "Bash(", "hooks": [{"type": "command", "command": "guard.sh" GUARD}]}`,
		"timeout":     `{"hooks": [{"type": "command", "command": "guard.sh", "timeout": -1 GUARD}]}`,
		"timeout, 2":  `{"hooks": [{"type": "command", "command": "guard.sh", "timeout": "x" GUARD}]}`,
		"if":          `{"hooks": [{"type": "command", "command": "guard.sh", "if": "touch" GUARD}]}`,
		"no command":  `{"hooks": [{"type": "command" GUARD}]}`,
		"command":     `{"hooks": [{"type": "command", "command": ["guard.sh"] GUARD}]}`,
		"command, 2":  `{"hooks": [{"type": "command", "command": 5 GUARD}]}`,
		"type":        `{"hooks": [{"type": 5, "command": "guard.sh" GUARD}]}`,
		"matcher, 2":  `{"matcher": 5, "hooks": [{"type": "command", "command": "guard.sh" GUARD}]}`,
		"no list":     `{"hooks": {"type": "command", "command": "guard.sh" GUARD}}`,
		"flat":        `{"matcher": "Bash", "type": "command", "command": "guard.sh" GUARD}`,
		"no such way": `{"hooks": [{"type": "comand", "command": "guard.sh" GUARD}]}`,
	} {
		hooks, problems := Parse("PreToolUse", []byte(strings.Replace(group, "GUARD", "", 1)), Place{From: "settings.json:3"})
		if len(hooks) != 1 || len(problems) != 1 || hooks[0].Broken() == nil {
			t.Fatalf("%s, no guard: %v, %v", what, hooks, problems)
		}
		if a := hooks[0].Read(Ran{Err: hooks[0].Broken()}); a.Permission != Ask || a.Block || !strings.Contains(a.PermissionReason, "cannot be used") || !strings.Contains(a.PermissionReason, "settings.json:3") {
			t.Errorf("%s: %+v", what, a)
		}
		if m := NewSet(hooks...).Matching(PreToolInput{Call: Call{Tool: "Write"}}, Scene{}); len(m) != 1 && what == "matcher" {
			t.Errorf("%s: it is not about all calls", what)
		}
		for event, more := range map[string]string{"PostToolUse": "", "UserPromptSubmit": "", "PreToolUse": `, "onError": "continue"`} {
			if what == "if" && event == "UserPromptSubmit" || strings.HasPrefix(what, "matcher") && event == "UserPromptSubmit" {
				continue // which has no calls
			}
			if hooks, problems := Parse(event, []byte(strings.Replace(group, "GUARD", more, 1)), Place{}); len(hooks) != 0 || len(problems) != 1 {
				t.Errorf("%s, %s: %v, %v", what, event, hooks, problems)
			}
		}
		if hooks, _ := Parse("PreToolUse", []byte(strings.Replace(group, "GUARD", `, "async": true`, 1)), Place{}); len(hooks) != 0 {
			t.Errorf("%s, nobody waits for it: %v", what, hooks)
		}
		for _, guard := range []string{`, "onError": "block"`, `, "onError": "deny"`} {
			hooks, problems = Parse("PreToolUse", []byte(strings.Replace(group, "GUARD", guard, 1)), Place{})
			if len(hooks) != 1 || len(problems) != 1 || hooks[0].Broken() == nil {
				t.Fatalf("%s: %v, %v", what, hooks, problems)
			}
			a := hooks[0].Read(Ran{Err: hooks[0].Broken()})
			if !a.refuses() || !strings.Contains(a.Failed[0], "cannot be used") {
				t.Errorf("%s: %+v", what, a)
			}
		}
	}
	group := []byte(`{"hooks": [{"type": "command", "command": "guard.sh"}]}`)
	if hooks, problems := Parse("preToolUse", group, Place{}); len(hooks) != 1 || hooks[0].Broken() == nil || len(problems) != 1 || !strings.Contains(problems[0].Error(), "PreToolUse") {
		t.Errorf("an event that is spelt otherwise: %v, %v", hooks, problems)
	}
	for _, name := range []string{"postToolUse", "BeforeLunch"} {
		if hooks, problems := Parse(name, group, Place{}); len(hooks) != 0 || len(problems) != 1 {
			t.Errorf("%s: %v, %v", name, hooks, problems)
		}
	}
	if hooks, _ := Parse("PostToolUse", []byte(`{"hooks": [{"type": "command", "command": "x", "timeout": -1, "onError": null}]}`), Place{}); len(hooks) != 0 {
		t.Errorf("%v", hooks)
	}
}

// A hook before a call whose program is not there, or may not be run, has the call asked
// about, unless it says that it may be done without; one that runs and fails does not.
func TestMissingGuards(t *testing.T) {
	for _, c := range []struct {
		event, more string
		ran         Ran
		want        Permission
	}{
		{"PreToolUse", "", Ran{Code: 127, Stderr: "sh: guard.sh: not found"}, Ask},
		{"PreToolUse", "", Ran{Code: 126, Stderr: "sh: guard.sh: Permission denied"}, Ask},
		{"PreToolUse", `, "onError": "continue"`, Ran{Code: 127}, ""},
		{"PreToolUse", "", Ran{Code: 1}, ""},
		{"PreToolUse", `, "onError": "ask"`, Ran{Code: 1}, Ask},
		{"PreToolUse", `, "onError": "block"`, Ran{Code: 127}, Deny},
		{"PostToolUse", "", Ran{Code: 127}, ""},
	} {
		hooks, problems := Parse(c.event, []byte(`{"hooks": [{"type": "command", "command": "guard.sh"`+c.more+`}]}`), Place{From: "settings.json:3"})
		if len(hooks) != 1 || len(problems) != 0 {
			t.Fatalf("%+v: %v, %v", c, hooks, problems)
		}
		a := hooks[0].Read(c.ran)
		if a.Permission != c.want || len(a.Failed) != 1 || c.want == Ask && !strings.Contains(a.PermissionReason, "settings.json:3") {
			t.Errorf("%+v: %+v", c, a)
		}
	}
	for _, more := range []string{`"onError": "ask"`, `"onError": "maybe"`} {
		if _, problems := Parse("PostToolUse", []byte(`{"hooks": [{"type": "command", "command": "x", `+more+`}]}`), Place{}); len(problems) != 1 {
			t.Errorf("%s: %v", more, problems)
		}
	}
}

// A file with hooks that cannot be read at all stands for hooks before a call.
func TestLostFiles(t *testing.T) {
	for path, text := range map[string]string{
		"/h/.codex/hooks.json": `{"hooks": {"PreToolUse": [}`, "/h/.codex/config.toml": "[hooks\nPreToolUse = 1", "/h/.gemini/settings.json": `{"hooks": {"BeforeTool": `,
	} {
		hooks, problems := ParseFile([]byte(text), Place{From: path})
		if len(hooks) != 1 || len(problems) != 1 || hooks[0].Broken() == nil {
			t.Fatalf("%s: %v, %v", path, hooks, problems)
		}
		if a := hooks[0].Read(Ran{Err: hooks[0].Broken()}); a.Permission != Ask || !strings.Contains(a.PermissionReason, path) {
			t.Errorf("%s: %+v", path, a)
		}
	}
	if hooks, _ := ParseFile([]byte(`{"hooks": {"AfterTool": `), Place{From: "/h/.gemini/settings.json"}); len(hooks) != 0 {
		t.Error(hooks)
	}
}

// A matcher that means tools of MCP servers and is the whole name of none is told.
func TestNever(t *testing.T) {
	for m, want := range map[string]string{
		"mcp__": "mcp__.*", "mcp__db": "mcp__db__.*", "mcp__db__": "mcp__db__.*", "Write|mcp__db": "mcp__db__.*", "mcp__db__query": "", "mcp__.*": "", "mcp__db__.*": "", "Bash": "",
	} {
		hooks, _ := Parse("PreToolUse", []byte(`{"matcher": "`+m+`", "hooks": [{"type": "command", "command": "x"}]}`), Place{})
		if s := hooks[0].Never(); (want == "") != (s == "") || !strings.Contains(s, want) {
			t.Errorf("%s: %q", m, s)
		}
	}
}
