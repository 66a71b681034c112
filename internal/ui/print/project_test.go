package print

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// about is a run whose ids are counted.
func about() About {
	n := 0
	return About{
		SessionID: "s1", Cwd: "/w", Tools: []string{"Bash", "Read"}, Model: "fake/m", Mode: "default", KeySource: "none", Version: "1.2.3",
		Facts: func(string) (int, int) { return 200_000, 32_000 },
		NewID: func() string { n++; return fmt.Sprintf("id%d", n) },
	}
}

func use(id, name, input string) llm.ToolUse {
	return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}
}

func replied(stop llm.Stop, parts ...llm.Part) event.Replied {
	return event.Replied{
		ID: "msg_1", Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: stop, Model: "fake/m",
		Usage: llm.Usage{In: 10, Out: 5, CacheRead: 3, CacheWrite: 2}, Cost: 0.25, Priced: true, First: 40 * time.Millisecond,
	}
}

func finished(call, text string) event.ToolFinished {
	return event.ToolFinished{Call: call, Name: "Bash", Text: text}
}

func denied(call string) event.ToolFinished {
	return event.ToolFinished{Call: call, Name: "Bash", Text: "refused: a rule says no", IsErr: true, Denied: true,
		Input: json.RawMessage(`{"command":"rm x"}`), Verdict: policy.Verdict{Effect: policy.Deny, Reason: "a rule says no"}}
}

func ended(how event.End, reason string, steps int) event.TurnEnded {
	return event.TurnEnded{ID: "t1", How: how, Reason: reason, Steps: steps, Took: 3 * time.Second, API: 2 * time.Second}
}

var (
	begun = event.TurnStarted{ID: "t1", Model: "fake/m"}
	ls    = use("c1", "Bash", `{"command":"ls"}`)
	pwd   = use("c2", "Bash", `{"command":"pwd"}`)
)

// cases are what can happen in a run, by the name of its golden file.
var cases = map[string]struct {
	partial bool
	events  []event.Body
}{
	"answer": {events: []event.Body{begun, replied(llm.EndTurn, llm.Thinking{S: "hm", Opaque: json.RawMessage(`"sig"`)}, llm.Text{S: "one <b>"}, llm.Text{S: " two"}), ended(event.Done, "completed", 1)}},
	"tools":  {events: []event.Body{begun, replied(llm.WantTools, llm.Text{S: "I look."}, ls, pwd), finished("c1", "a\nb"), finished("c2", "/w"), replied(llm.EndTurn, llm.Text{S: "done"}), ended(event.Done, "completed", 2)}},
	"results-before-their-reply": {events: []event.Body{begun, event.ToolStarted{Call: "c1", Name: "Bash"}, finished("c1", "early"),
		replied(llm.WantTools, ls, pwd), finished("c2", "late"), replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 2)}},
	"results-out-of-order": {events: []event.Body{begun, replied(llm.WantTools, ls, pwd), finished("c2", "second"), finished("c1", "first"), replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 2)}},
	"images": {events: []event.Body{begun, replied(llm.WantTools, ls), event.ToolFinished{Call: "c1", Name: "Read", Text: "a picture", Images: []llm.Image{{Media: "image/png", Data: []byte{1, 2}}}},
		replied(llm.EndTurn, llm.Text{S: "seen"}), ended(event.Done, "completed", 2)}},
	"denied": {events: []event.Body{begun, replied(llm.WantTools, ls, pwd), denied("c1"), finished("c2", "/w"), replied(llm.EndTurn, llm.Text{S: "I could not."}), ended(event.Done, "completed", 2)}},
	"dropped-reply": {events: []event.Body{begun, event.ToolStarted{Call: "c1", Name: "Bash"}, finished("c1", "of the reply that broke off"), denied("c2"),
		event.Retracted{Why: "the reply broke off"}, event.Dropped{Reason: "the reply broke off", Calls: []string{"c1"}, Model: "fake/m", Usage: llm.Usage{In: 7, Out: 1}, Cost: 0.5},
		replied(llm.WantTools, ls, pwd), finished("c1", "of the second try"), finished("c2", "allowed now"), replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 2)}},
	"partial": {partial: true, events: []event.Body{begun, event.ReplyStarted{Model: "fake/m", First: 40 * time.Millisecond},
		event.ThinkingDelta{S: "h"}, event.ThinkingDelta{At: 1, S: "m"}, event.PartDone{Part: llm.Thinking{S: "hm", Opaque: json.RawMessage(`{"signature":"sig"}`)}},
		event.TextDelta{S: "I "}, event.TextDelta{At: 2, S: "look."}, event.PartDone{Part: llm.Text{S: "I look."}},
		event.ToolInputDelta{Call: "c1", Name: "Bash", S: `{"comm`}, event.ToolInputDelta{Call: "c1", Name: "Bash", At: 6, S: `and":"ls"}`}, event.PartDone{Part: ls},
		event.PartDone{Part: pwd}, // came whole
		replied(llm.WantTools, llm.Text{S: "I look."}, ls, pwd), finished("c1", "a"), finished("c2", "b"),
		event.ReplyStarted{Model: "fake/m", First: time.Millisecond}, event.TextDelta{S: "ok"}, event.PartDone{Part: llm.Text{S: "ok"}},
		replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 2)}},
	"partial-retracted": {partial: true, events: []event.Body{begun, event.ReplyStarted{Model: "fake/m"}, event.TextDelta{S: "half a th"}, event.Retracted{Why: "the reply broke off"},
		event.Dropped{Reason: "the reply broke off", Model: "fake/m"}, event.Waiting{Attempt: 1, Max: 3, For: 500 * time.Millisecond, Err: "cut", Kind: "stream_cut"},
		event.ReplyStarted{Model: "fake/m"}, event.TextDelta{S: "whole"}, event.PartDone{Part: llm.Text{S: "whole"}}, replied(llm.EndTurn, llm.Text{S: "whole"}), ended(event.Done, "completed", 1)}},
	"partial-cut-short": {partial: true, events: []event.Body{begun, event.ReplyStarted{Model: "fake/m"}, ended(event.Interrupted, "interrupted_streaming", 0)}},
	"partial-with-gaps": {partial: true, events: []event.Body{begun, event.TextDelta{S: "of a message that was not seen to start"}, event.PartDone{Part: llm.Text{S: "x"}},
		event.ReplyStarted{Model: "fake/m"}, event.TextDelta{S: "one "}, event.TextDelta{At: 8, S: "three"}, event.PartDone{Part: llm.Text{S: "one two three"}},
		replied(llm.EndTurn, llm.Text{S: "one two three"}), ended(event.Done, "completed", 1)}},
	"structured": {events: []event.Body{begun, replied(llm.WantTools, use("c1", "StructuredOutput", `{"count":3}`)), event.ToolFinished{Call: "c1", Name: "StructuredOutput", Text: "ok", Effects: []effect.Effect{effect.Answer{JSON: json.RawMessage(`{"count":3}`)}}},
		event.TurnEnded{ID: "t1", How: event.Done, Reason: "completed", Steps: 1, Answer: json.RawMessage(`{"count":3}`)}}},
	"structured-never": {events: []event.Body{begun, replied(llm.EndTurn, llm.Text{S: "three"}), ended(event.Failed, "structured_output_retries", 6)}},
	"max-turns": {events: []event.Body{begun, replied(llm.WantTools, ls), finished("c1", "a"),
		event.TurnEnded{ID: "t1", How: event.Stopped, Reason: "max_turns", Err: "reached the limit of 1 turns", Hint: "raise it", Steps: 1}}},
	"max-budget":                  {events: []event.Body{begun, event.TurnEnded{ID: "t1", How: event.Stopped, Reason: "max_budget_usd", Err: "spent it all"}}},
	"interrupted-with-open-calls": {events: []event.Body{begun, replied(llm.WantTools, ls, pwd, use("c3", "Bash", `{}`)), finished("c2", "was done"), ended(event.Interrupted, "interrupted_tools", 1)}},
	"interrupted-reply":           {events: []event.Body{begun, replied("interrupted", llm.Text{S: "half"}), ended(event.Interrupted, "interrupted_streaming", 1)}},
	"spent-beside-replies": {events: []event.Body{begun, event.Spent{For: event.ForRuling, Model: "fake/small", Usage: llm.Usage{In: 7, Out: 1}, Cost: 0.5, Priced: true},
		replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 1)}},
	"failed": {events: []event.Body{begun, event.Waiting{Attempt: 1, Max: 10, For: 550 * time.Millisecond, Status: 429, Err: "slow down", Kind: "rate_limit"},
		event.Waiting{Attempt: 2, Max: 10, For: time.Second, Err: "reset", Kind: "network"},
		event.TurnEnded{ID: "t1", How: event.Failed, Reason: "model_error", Err: "fake: overloaded", Kind: "overloaded", Status: 529}}},
	"notes": {events: []event.Body{begun, event.ModelChanged{Model: "fake/other", Cause: event.CauseFallback}, event.Noted{Level: "warning", Text: "the disk is full"}, replied(llm.EndTurn, llm.Text{S: "x"}), ended(event.Done, "completed", 1)}},
	"changed-settings": {events: []event.Body{begun, event.SettingsChanged{
		Changes: []event.SettingChange{
			{Key: "permissions.deny", Added: []string{"Bash(rm *)", "Bash(mv *)"}, Removed: []string{"Bash(ls)"}, From: "/h/.adze/settings.json:3:5"},
			{Key: "model", Old: json.RawMessage("null"), New: json.RawMessage(`"fast"`), From: "/h/.adze/settings.json:1:1", Later: true},
		},
		Untrusted: []string{"/w/.adze/settings.json", "/w/.adze/settings.local.json"}, Problems: []string{"/h/.adze/settings.json:9:1: error: oops"},
	}, replied(llm.EndTurn, llm.Text{S: "x"}), ended(event.Done, "completed", 1)}},
	"background": {events: []event.Body{begun, replied(llm.WantTools, ls), event.TaskStarted{ID: "b1", Call: "c1", Kind: "shell", Text: "ls"}, finished("c1", "b1"),
		event.TaskStarted{ID: "b2", Kind: "shell", Text: "make"}, event.TaskEnded{ID: "b1", Output: "/o"}, event.TaskEnded{ID: "b2", Exit: 2}, event.TaskStarted{ID: "b3", Kind: "shell", Text: "sleep"},
		event.TaskEnded{ID: "b3", Killed: "killed on request"}, replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 2)}},
	"agent-moved": {events: []event.Body{begun, replied(llm.WantTools, ls), event.TaskStarted{ID: "a1", Call: "c1", Kind: "agent", Text: "look", Agent: &event.Agent{ID: "a1"}, Waits: true},
		event.TaskStarted{ID: "a1", Call: "c1", Kind: "agent", Text: "look", Agent: &event.Agent{ID: "a1"}}, finished("c1", "a1"), event.TaskEnded{ID: "a1", Status: event.TaskCompleted, Text: "done"},
		replied(llm.EndTurn, llm.Text{S: "ok"}), ended(event.Done, "completed", 2)}},
	"fresh-context": {events: []event.Body{begun, replied(llm.WantTools, ls), finished("c1", "the plan"), event.Compacted{Trigger: "plan", Text: "the plan", Tokens: 1234},
		replied(llm.EndTurn, llm.Text{S: "x"}), ended(event.Done, "completed", 1)}},
	"two-turns": {events: []event.Body{begun, replied(llm.WantTools, ls), denied("c1"), ended(event.Done, "completed", 1),
		event.ModeChanged{Mode: policy.AcceptEdits}, event.ModelChanged{Model: "fake/other"}, event.TurnStarted{ID: "t2", Model: "fake/other", Mode: policy.AcceptEdits}, replied(llm.EndTurn, llm.Text{S: "second"}), ended(event.Done, "completed", 1)}},
}

// stream is what --output-format stream-json writes for these events.
func stream(t *testing.T, partial bool, events []event.Body) []byte {
	t.Helper()
	p := newProjection(about(), partial, false)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var lines []any
	for i, e := range events {
		lines = append(lines, p.apply(event.Event{Seq: event.Seq(i + 1), Time: time.Unix(0, 0), Body: e})...)
	}
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestProjection(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := stream(t, c.partial, c.events)
			path := filepath.Join("testdata", name+".jsonl")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if c.partial {
				wellFormed(t, got)
			}
			answered(t, got)
		})
	}
}

// answered checks that every call that was printed has one result after it,
// and every result its call before it.
func answered(t *testing.T, out []byte) {
	t.Helper()
	open := map[string]bool{}
	for line := range bytes.Lines(out) {
		var l struct {
			Type    string
			Message struct {
				Content []struct{ Type, ID, Tool_use_id string }
			}
		}
		if err := json.Unmarshal(line, &l); err != nil {
			continue // not a message
		}
		for _, b := range l.Message.Content {
			switch {
			case l.Type == "assistant" && b.Type == "tool_use":
				open[b.ID] = true
			case l.Type == "user" && b.Type == "tool_result":
				if !open[b.Tool_use_id] {
					t.Errorf("a result without a call: %s", line)
				}
				delete(open, b.Tool_use_id)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
}

// fields are the names of compat.md 4.4: those that every such line has, and
// after a "|" those that it may have.
var fields = map[string]string{
	"system/init":              "type subtype uuid session_id cwd tools mcp_servers model permissionMode slash_commands agents skills plugins apiKeySource claude_code_version output_style capabilities | adze_version plugin_errors",
	"system/api_retry":         "type subtype attempt max_retries retry_delay_ms error_status error uuid session_id",
	"system/informational":     "type subtype content uuid session_id | level",
	"system/compact_boundary":  "type subtype compact_metadata uuid session_id",
	"system/permission_denied": "type subtype tool_name tool_use_id tool_input decision_reason message uuid session_id",
	"system/task_started":      "type subtype task_id description is_backgrounded task_type run_id uuid session_id | tool_use_id subagent_type spawn_depth parent_task_id",
	"system/task_notification": "type subtype task_id run_id status output_file summary uuid session_id | tool_use_id usage",

	"system/task_updated": "type subtype task_id run_id patch uuid session_id",

	"system/background_tasks_changed": "type subtype tasks uuid session_id",

	"system/status": "type subtype status permissionMode uuid session_id | compact_result",
	"assistant":     "type uuid session_id message parent_tool_use_id | error aborted timestamp agent_id subagent_type task_description",
	"user":          "type uuid session_id message parent_tool_use_id | isSynthetic tool_use_result timestamp isReplay agent_id subagent_type task_description",
	"stream_event":  "type event parent_tool_use_id uuid session_id | ttft_ms",
	"result": "type subtype duration_ms duration_api_ms is_error num_turns stop_reason total_cost_usd usage modelUsage permission_denials terminal_reason uuid session_id" +
		" | api_error_status result errors ttft_ms structured_output",
	"result.usage":                "input_tokens cache_creation_input_tokens cache_read_input_tokens output_tokens cache_creation server_tool_use",
	"result.modelUsage.*":         "inputTokens outputTokens cacheReadInputTokens cacheCreationInputTokens webSearchRequests costUSD contextWindow maxOutputTokens provider costBasis | thinkingTokens",
	"result.permission_denials.*": "tool_name tool_use_id tool_input",
	"assistant.message":           "id type role model content stop_reason stop_sequence usage container context_management stop_details",
	"user.message":                "role content",
}

func TestFieldNames(t *testing.T) {
	seen := map[string]bool{}
	check := func(kind string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			t.Errorf("%s is %v", kind, v)
			return
		}
		seen[kind] = true
		must, may, _ := strings.Cut(fields[kind], "|")
		for _, k := range strings.Fields(must) {
			if _, ok := m[k]; !ok {
				t.Errorf("%s has no %s: %v", kind, k, m)
			}
		}
		for k := range m {
			if !slices.Contains(strings.Fields(must+may), k) {
				t.Errorf("%s has a field %s", kind, k)
			}
		}
	}
	for _, c := range cases {
		for line := range bytes.Lines(stream(t, c.partial, c.events)) {
			var m map[string]any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
			kind, _ := m["type"].(string)
			if kind == "system" {
				kind += "/" + m["subtype"].(string)
			}
			check(kind, m)
			switch kind {
			case "assistant", "user":
				check(kind+".message", m["message"])
			case "result":
				check("result.usage", m["usage"])
				for _, u := range m["modelUsage"].(map[string]any) {
					check("result.modelUsage.*", u)
				}
				for _, d := range m["permission_denials"].([]any) {
					check("result.permission_denials.*", d)
				}
				_, good := m["result"]
				_, bad := m["errors"]
				if good == bad || good != (m["subtype"] == "success") || bad != m["is_error"].(bool) {
					t.Errorf("a result of both kinds or none: %s", line)
				}
			}
		}
	}
	if len(seen) != len(fields) {
		t.Errorf("no case has all of %v", fields)
	}
}
