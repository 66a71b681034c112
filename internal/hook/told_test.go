package hook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/hook"
)

// TestToldAs: a program that knows a tool by another tool's name reads that one's arguments,
// and may change them. What comes back are the arguments of the tool that runs.
func TestToldAs(t *testing.T) {
	one := `{"file_path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true}]}`
	two := `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"v","new_string":"w"}]}`
	for name, c := range map[string]struct {
		matcher, tool, args string
		told                string // members of what it reads; "" for the arguments alone
		wants               string // of the hook; %s is what it was told
		runs                string
	}{
		"one edit":              {"Edit", "MultiEdit", one, `"new_string":"y","old_string":"x","replace_all":true`, `%s`, one},
		"several edits":         {"Edit|Write", "MultiEdit", two, `"new_string":"y\nw","old_string":"x\nv","replace_all":false`, `%s`, two},
		"its own name":          {"Edit|MultiEdit", "MultiEdit", two, "", `%s`, two},
		"every tool":            {"*", "MultiEdit", two, "", `%s`, two},
		"another text":          {"Edit", "MultiEdit", one, `"new_string":"y"`, `{"file_path":"a","old_string":"x","new_string":"z"}`, `{"edits":[{"new_string":"z","old_string":"x"}],"file_path":"a"}`},
		"another, all given":    {"Edit", "MultiEdit", two, `"new_string":"y\nw"`, strings.Replace(two, "{", `{"new_string":"z","old_string":"x\nv","replace_all":false,`, 1), `{"edits":[{"new_string":"z","old_string":"x\nv","replace_all":false}],"file_path":"a"}`},
		"its own edits":         {"Edit", "MultiEdit", two, `"new_string":"y\nw"`, `{"file_path":"a","edits":[],"new_string":"z"}`, `{"edits":[],"file_path":"a"}`},
		"nothing changed there": {"Edit", "MultiEdit", one, `"new_string":"y"`, `{"file_path":"b","old_string":"x","new_string":"y"}`, strings.Replace(one, `"a"`, `"b"`, 1)},
		"a task":                {"BashOutput", "TaskOutput", `{"task_id":"b1","block":true}`, `"bash_id":"b1"`, `{"bash_id":"b2"}`, `{"task_id":"b2"}`},
		"a task, as it is":      {"KillShell", "TaskStop", `{"task_id":"b1"}`, `"shell_id":"b1"`, `%s`, `{"task_id":"b1"}`},
		"a shell":               {"KillBash", "TaskStop", `{"task_id":"b1"}`, `"shell_id":"b1"`, `{"shell_id":"b2"}`, `{"task_id":"b2"}`},
	} {
		group, _ := json.Marshal(map[string]any{"matcher": c.matcher, "hooks": []any{map[string]any{"type": "command", "command": "x"}}})
		list, bad := hook.Parse("PreToolUse", group, hook.Place{From: "settings.json"})
		if len(bad) > 0 || len(list) != 1 {
			t.Fatal(bad)
		}
		var told struct {
			Input json.RawMessage `json:"tool_input"`
		}
		_ = json.Unmarshal(list[0].Spoken(fmt.Appendf(nil, `{"tool_name":%q,"tool_input":%s}`, c.tool, c.args), time.Time{}), &told)
		if text := string(told.Input); c.told == "" && text != c.args || !strings.Contains(text, c.told) {
			t.Errorf("%s: it reads %s", name, text)
		}
		wants := strings.Replace(c.wants, "%s", string(told.Input), 1)
		got := list[0].Fit(hook.Answer{Input: json.RawMessage(wants)}, c.tool, json.RawMessage(c.args))
		if !same(t, string(got.Input), c.runs) {
			t.Errorf("%s: what runs is %s, want %s", name, got.Input, c.runs)
		}
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(b, err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}
