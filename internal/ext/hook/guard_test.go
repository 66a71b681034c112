package hook

import (
	"strings"
	"testing"
)

// TestBrokenGuards: a hook that is set to block when it cannot answer does so when what
// it is cannot be understood; any other that is broken is left out.
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
		"no such way": `{"hooks": [{"type": "comand", "command": "guard.sh" GUARD}]}`,
	} {
		hooks, problems := Parse("PreToolUse", []byte(strings.Replace(group, "GUARD", "", 1)), Place{})
		if len(hooks) != 0 || len(problems) != 1 {
			t.Errorf("%s, no guard: %v, %v", what, hooks, problems)
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
	if hooks, _ := Parse("PostToolUse", []byte(`{"hooks": [{"type": "command", "command": "x", "timeout": -1, "onError": null}]}`), Place{}); len(hooks) != 0 {
		t.Errorf("%v", hooks)
	}
}
