package hook_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/hook"
)

// Hooks of other agents are found under our events, and what means something else
// is told.
func TestParseOther(t *testing.T) {
	for name, c := range map[string]struct {
		dialect hook.Dialect
		doc     string
		want    []string // event, seconds and command
		problem string   // a part of the problems
	}{
		"codex":           {hook.Codex, `{"hooks":{"preToolUse":[{"matcher":"^Bash$","hooks":[{"type":"command","command":"a"}]}],"Stop":[{"hooks":[{"type":"command","command":"b","timeout":5}]}]}}`, []string{"Stop 5 b", "PreToolUse 600 a"}, ""},
		"codex, others":   {hook.Codex, `{"hooks":{"interrupt":[{"hooks":[{"type":"command","command":"a"}]}]}}`, nil, "no event of adze means the same"},
		"codex, skipped":  {hook.Codex, `{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"a"},{"type":"command","command":"b","async":true}]}]}}`, []string{"Stop 600 b"}, `a hook of type "prompt" is left out, as Codex does it`},
		"codex, a tool":   {hook.Codex, `{"hooks":{"PreToolUse":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{"a":"${tool_input.x}"}},{"type":"mcp_tool","server":"s"}]}]}}`, []string{"PreToolUse 600 s/t", "PreToolUse 600 of the type \"mcp_tool\""}, `a hook of type "mcp_tool" needs "tool"`},
		"codex, state":    {hook.Codex, `{"hooks":{"state":{"x":{"enabled":false}}}}`, nil, ""},
		"gemini":          {hook.Gemini, `{"hooks":{"BeforeTool":[{"matcher":"run_.*","hooks":[{"type":"command","name":"n","command":"a","timeout":5000}]}],"AfterAgent":[{"hooks":[{"type":"command","command":"b"}]}]}}`, []string{"Stop 60 b", "PreToolUse 5 a"}, ""},
		"gemini, models":  {hook.Gemini, `{"hooks":{"BeforeModel":[{"hooks":[{"type":"command","command":"a"}]}]}}`, nil, "no event of adze means the same"},
		"gemini, off":     {hook.Gemini, `{"hooksConfig":{"enabled":false},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"a"}]}]}}`, nil, ""},
		"gemini, one off": {hook.Gemini, `{"hooksConfig":{"disabled":["n"]},"hooks":{"BeforeTool":[{"hooks":[{"type":"command","name":"n","command":"a"}]}]}}`, nil, ""},
		"in order":        {hook.Gemini, `{"hooks":{"BeforeTool":[{"sequential":true,"hooks":[{"type":"command","command":"a"},{"type":"command","command":"b"}]}]}}`, []string{"PreToolUse 60 a", "PreToolUse 60 b"}, "sequential"},
		"at the end":      {hook.Gemini, `{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"b","timeout":9000}]}]}}`, []string{"SessionEnd 1.5 a", "SessionEnd 9 b"}, ""},
		"at Codex's end":  {hook.Codex, `{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"a"}]}]}}`, []string{"SessionEnd 1.5 a"}, ""},
		"no JSON":         {hook.Gemini, `{`, nil, "no JSON"},
	} {
		hooks, problems := hook.ParseOther(c.dialect, []byte(c.doc), hook.Place{From: "f"})
		var got, bad []string
		for _, h := range hooks {
			got = append(got, string(h.Event)+" "+json.Number(strings.TrimSuffix(h.Timeout().String(), "s")).String()+" "+h.Name())
		}
		for i := range got {
			got[i] = strings.NewReplacer(" 10m0 ", " 600 ", " 1m0 ", " 60 ").Replace(got[i])
		}
		for _, err := range problems {
			bad = append(bad, err.Error())
		}
		text := strings.Join(bad, "\n")
		if !slices.Equal(got, c.want) || (c.problem == "") != (text == "") || !strings.Contains(text, c.problem) {
			t.Errorf("%s: %q, %q", name, got, text)
		}
	}
}

func other(t *testing.T, d hook.Dialect, event, matcher string) hook.Hook {
	t.Helper()
	doc, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{map[string]any{"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": "x"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	hooks, problems := hook.ParseOther(d, doc, hook.Place{})
	if len(hooks) != 1 || len(problems) > 0 {
		t.Fatal(hooks, problems)
	}
	return hooks[0]
}

// A hook of another agent is asked about tools whose arguments it knows, by its own
// names for them.
func TestMatchingOfOthers(t *testing.T) {
	for _, c := range []struct {
		dialect        hook.Dialect
		event, matcher string
		tool           string
		want           bool
	}{
		{hook.Codex, "PreToolUse", "Bash", "Bash", true}, {hook.Codex, "PreToolUse", "", "Bash", true}, {hook.Codex, "PreToolUse", "apply_patch|Edit", "Edit", false},
		{hook.Codex, "PreToolUse", "^mcp__x__.*", "mcp__x__y", true}, {hook.Codex, "PreToolUse", "", "Write", false},
		{hook.Gemini, "BeforeTool", "run_shell_command", "Bash", true}, {hook.Gemini, "BeforeTool", "write_file|replace", "Edit", true}, {hook.Gemini, "BeforeTool", "grep_.*", "Grep", true},
		{hook.Gemini, "BeforeTool", "Bash", "Bash", false}, {hook.Gemini, "BeforeTool", "", "TodoWrite", false}, {hook.Gemini, "BeforeTool", "*", "Read", true},
	} {
		h := other(t, c.dialect, c.event, c.matcher)
		got := len(hook.NewSet(h).Matching(hook.PreToolInput{Call: hook.Call{Tool: c.tool}}, hook.Scene{})) == 1
		if got != c.want {
			t.Errorf("%s %q matches %s: %v", c.dialect, c.matcher, c.tool, got)
		}
	}
	n := other(t, hook.Gemini, "Notification", "ToolPermission")
	if len(hook.NewSet(n).Matching(hook.NotificationInput{Type: "permission_prompt"}, hook.Scene{})) != 1 || len(hook.NewSet(n).Matching(hook.NotificationInput{Type: "idle_prompt"}, hook.Scene{})) != 0 {
		t.Error("notifications")
	}
}

// What another agent's hook says has the meaning that it has there.
func TestReadOthers(t *testing.T) {
	for name, c := range map[string]struct {
		dialect hook.Dialect
		event   string
		ran     hook.Ran
		check   func(hook.Answer) bool
	}{
		"gemini, no":           {hook.Gemini, "BeforeTool", out(`{"decision":"deny","reason":"r"}`), func(a hook.Answer) bool { return a.Permission == hook.Deny && a.PermissionReason == "r" }},
		"gemini, yes":          {hook.Gemini, "BeforeTool", out(`{"decision":"allow"}`), func(a hook.Answer) bool { return a.Permission == "" }},
		"gemini, code 2":       {hook.Gemini, "BeforeTool", hook.Ran{Code: 2, Stderr: "r"}, func(a hook.Answer) bool { return a.Permission == hook.Deny }},
		"gemini, arguments":    {hook.Gemini, "BeforeTool", out(`{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"b"}}}`), func(a hook.Answer) bool { return string(a.Input) == `{"command":"b","timeout":1}` }},
		"gemini, result":       {hook.Gemini, "AfterTool", out(`{"decision":"deny","reason":"hidden"}`), func(a hook.Answer) bool { return string(a.Output) == `"hidden"` && !a.Block }},
		"gemini, result, 2":    {hook.Gemini, "AfterTool", hook.Ran{Code: 2, Stderr: "hidden"}, func(a hook.Answer) bool { return string(a.Output) == `"hidden"` && !a.Block }},
		"gemini, the end":      {hook.Gemini, "AfterAgent", out(`{"decision":"deny","reason":"more"}`), func(a hook.Answer) bool { return a.Block && a.Reason == "more" }},
		"gemini, only looks":   {hook.Gemini, "PreCompress", hook.Ran{Code: 2, Stderr: "no"}, func(a hook.Answer) bool { return !a.Block && len(a.System) == 1 }},
		"codex, no":            {hook.Codex, "PreToolUse", out(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}`), func(a hook.Answer) bool { return a.Permission == hook.Deny }},
		"codex, yes":           {hook.Codex, "PreToolUse", out(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`), func(a hook.Answer) bool { return a.Permission == "" && len(a.Failed) == 0 }},
		"codex, goes on":       {hook.Codex, "Stop", out(`{"decision":"block","reason":"r"}`), func(a hook.Answer) bool { return a.Block }},
		"codex, instead of me": {hook.Codex, "PermissionRequest", out(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`), func(a hook.Answer) bool { return a.Decision == hook.Allow }},
	} {
		h := other(t, c.dialect, c.event, "")
		if a := h.Fit(h.Read(c.ran), "Bash", json.RawMessage(`{"command":"a","timeout":1}`)); !c.check(a) || len(a.Failed) > 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Such a hook reads the words that it knows.
func TestSpoken(t *testing.T) {
	h := other(t, hook.Gemini, "AfterTool", "")
	in := hook.PostToolInput{Call: hook.Call{Tool: "Bash", Input: json.RawMessage(`{"command":"a"}`)}, Response: json.RawMessage(`{"text":"t"}`)}
	text, err := hook.Encode(hook.Common{Session: "s"}, in)
	if err != nil {
		t.Fatal(err)
	}
	got := string(h.Spoken(text, time.Unix(0, 0)))
	for _, want := range []string{`"hook_event_name":"AfterTool"`, `"tool_name":"run_shell_command"`, `"llmContent":"t"`, `"timestamp":"1970-01-01T00:00:00Z"`, `"session_id":"s"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if got := hook.Hook.Spoken(hook.Hook{}, text, time.Unix(0, 0)); string(got) != string(text) {
		t.Errorf("of its own it reads %s", got)
	}
}
