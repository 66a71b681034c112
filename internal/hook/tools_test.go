package hook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
)

// TestToolMatchers: which calls a matcher is about, by which name its program knows the tool,
// and what is said of a matcher that is read otherwise than it is written.
func TestToolMatchers(t *testing.T) {
	exec := func(words ...string) []policy.Action { return []policy.Action{policy.Exec{Argv: words}} }
	const called, published = "mcp__plugin_compound-engineeri_512062__remove", "mcp__plugin_compound-engineering_context7__remove"
	long := []policy.Action{policy.Call{Server: "plugin_compound-engineeri_512062", Tool: "remove", RealServer: "plugin_compound-engineering_context7", RealTool: "remove"}}
	for _, c := range []struct {
		matcher, tool string
		does          []policy.Action
		want          string // the name in the input, "" for no match
		says          string // of the matcher, "" for nothing
	}{
		{"Edit|Write", "MultiEdit", nil, "Edit", ""},
		{"^(Edit|Write)$", "MultiEdit", nil, "Edit", ""},
		{"Edit", "MultiEdit", nil, "Edit", ""},
		{"Edit|MultiEdit", "MultiEdit", nil, "MultiEdit", ""},
		{".*Edit", "MultiEdit", nil, "MultiEdit", ""},
		{"Write", "MultiEdit", nil, "", ""},
		{"MultiEdit", "Edit", nil, "", ""},
		{"BashOutput", "TaskOutput", nil, "BashOutput", ""},
		{"KillBash|TaskStop", "TaskStop", nil, "TaskStop", ""},
		{"ReadMcpResourceTool", "ReadMcpResource", nil, "ReadMcpResourceTool", ""},
		{"Bash(git push:*)", "Bash", exec("git", "push", "origin"), "Bash", `read as Bash with "if": "Bash(git push:*)"`},
		{"Bash(git push:*)", "Bash", exec("git", "pull"), "", `"if"`},
		{"Bash(git push:*)|bash(rm:*)|Edit", "Bash", exec("rm", "x"), "Bash", `Bash with "if": "Bash(git push:*)", or Bash with "if": "Bash(rm:*)", or Edit`},
		{"Bash(git push:*)|Edit", "MultiEdit", nil, "Edit", `"if"`},
		{"Edit(*.env)", "MultiEdit", []policy.Action{policy.Write{Path: "/w/a.env"}}, "Edit", `"if"`},
		{"Bash(*)", "Bash", exec("ls"), "Bash", `"if"`},
		{"Bash(Output)?", "TaskOutput", nil, "BashOutput", ""},
		{"Bash(Output)", "TaskOutput", nil, "BashOutput", ""},
		{"(Edit|Write)", "Write", nil, "Write", ""},
		{"bash", "Bash", exec("ls"), "Bash", `the matcher "bash" is read as "Bash"`},
		{"^(edit|Write)$", "Edit", nil, "Edit", `is read as "^(Edit|Write)$"`},
		{"mcp__a__(b|c)", "mcp__a__c", nil, "mcp__a__c", ""},
		{published, called, long, published, ""},
		{"mcp__plugin_compound-engineering_.*__remove", called, long, published, ""},
		{"mcp__.*__remove", called, long, published, ""},
		{"*", called, long, published, ""},
		{called, called, long, called, ""},
		{"mcp__plugin_compound-engineering_context7__read", called, long, "", ""},
	} {
		group, _ := json.Marshal(map[string]any{"matcher": c.matcher, "hooks": []any{map[string]any{"type": "command", "command": "x"}}})
		list, bad := hook.Parse("PreToolUse", group, hook.Place{From: "settings.json"})
		if len(bad) > 0 || len(list) != 1 {
			t.Errorf("%s: %v, %d hooks", c.matcher, bad, len(list))
			continue
		}
		in, err := hook.Make("PreToolUse", c.tool, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		got := hook.NewSet(list...).Matching(in, hook.Scene{Actions: c.does, Rules: policy.Rules{Dir: "/w"}})
		name := ""
		if len(got) > 0 {
			var told struct {
				Tool string `json:"tool_name"`
			}
			_ = json.Unmarshal(got[0].Spoken(fmt.Appendf(nil, `{"tool_name":%q,"tool_input":{}}`, c.tool), time.Time{}), &told)
			name = told.Tool
		}
		if name != c.want {
			t.Errorf("%s for %s: %q, want %q", c.matcher, c.tool, name, c.want)
		}
		if said := list[0].Reading(); !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s: %q, want %q", c.matcher, said, c.says)
		}
	}
}

// TestNoTool: a guard whose matcher names no tool is named at every start, other hooks only
// where somebody looks.
func TestNoTool(t *testing.T) {
	for event, started := range map[string]bool{"PreToolUse": true, "PermissionRequest": true, "PostToolUse": false} {
		for _, matcher := range []string{"Update|Edit", "^(Edit|Update)$"} {
			list, _ := hook.Parse(event, fmt.Appendf(nil, `{"matcher":%q,"hooks":[{"type":"command","command":"x"}]}`, matcher), hook.Place{})
			if got := list[0].Never(); strings.Contains(got, `there is no tool "Update"`) != started {
				t.Errorf("%s %s at a start: %q", event, matcher, got)
			}
			if got := fmt.Sprint(list[0].Doubts()); strings.Count(got, `there is no tool "Update"`) != 1 {
				t.Errorf("%s %s: %s", event, matcher, got)
			}
		}
	}
}
