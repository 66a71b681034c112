package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// A wait counts down, and what it waits for comes behind that: the end is cut.
func TestRetryCountsDown(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.Waiting{Err: "the connection was closed before the reply was complete", For: 8 * time.Second, Attempt: 2, Max: 10})
	r.has("Again in 8 s (2 of 10): the connection was closed").pass(6*time.Second).has("Again in 2 s (2 of 10)", "Esc interrupts").pass(2 * time.Second).has("Trying again (2 of 10)")
}

// A key that was refused is mended here.
func TestRefusedKeyNamesLogin(t *testing.T) {
	failed := event.TurnEnded{ID: "t", How: event.Failed, Err: "bad-key (401)", Kind: "authentication_failed", Hint: "set X"}
	r := newRig(t, 80, 24)
	r.open().event(event.TurnStarted{ID: "t"}, failed).has("set X").hasNot("/login")
	r = newRig(t, 80, 24)
	r.m.host.Reports = map[string]Report{"login": {}}
	r.open().event(event.TurnStarted{ID: "t"}, failed).has("/login saves a key; set X")
}

// A status line that is switched off and on again tells the session's duration.
func TestStatusLineOffAndOn(t *testing.T) {
	r := newRig(t, 80, 24).open()
	var in map[string]any
	on := Settings{Status: StatusLine{Run: func(_ context.Context, stdin []byte) (string, error) {
		in = nil
		return "mine", json.Unmarshal(stdin, &in)
	}}}
	for _, s := range []Settings{on, {}, on} {
		r.now = r.now.Add(2 * time.Second)
		r.m.now = r.now
		r.carry(r.m.readopt(s))
	}
	if got := fmt.Sprint(in["cost"].(map[string]any)["total_duration_ms"]); got != "6000" {
		t.Errorf("after 6 s it is told %s ms", got)
	}
}

// Between two sessions there is none whose status line could be drawn.
func TestNoStatusLineBetweenSessions(t *testing.T) {
	r := newRig(t, 80, 24)
	ui := Settings{Status: StatusLine{Run: func(context.Context, []byte) (string, error) { return "my line", nil }}}
	for _, id := range []string{"one", "two"} {
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: id}, UI: ui}, nil})
		r.has("my line")
		r.m.leaves(Start{Fresh: true})
		r.hasNot("my line")
	}
}

// The status line's command runs when something changed, after a pause, and
// never twice at once.
func TestStatusLine(t *testing.T) {
	r := newRig(t, 80, 24)
	runs, model := 0, "a/b"
	var in map[string]any
	r.desk.Status = func() ask.Facts { return ask.Facts{Transcript: "/s/log.jsonl", Model: model, Called: "Best 4.6"} }
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "/h/x/sub", Root: "/h/x", Home: "/h", Model: "a/b"}, UI: Settings{Vim: true, Status: StatusLine{Run: func(_ context.Context, stdin []byte) (string, error) {
		runs++
		in = nil
		return "my \x1b[31mline\x1b[0m\n", json.Unmarshal(stdin, &in)
	}}}}, nil})
	r.has("my line")
	got := fmt.Sprintln(in["cwd"], in["workspace"], in["transcript_path"], in["vim"], in["exceeds_200k_tokens"], in["thinking"], in["model"]) // before the log begins
	if got != "/h/x/sub map[current_dir:/h/x/sub project_dir:/h/x] /s/log.jsonl map[mode:INSERT] false map[enabled:true] map[display_name:Best 4.6 id:a/b]\n" {
		t.Errorf("it reads %s", got)
	}
	model = "another" // it is switched at this moment
	r.now = r.now.Add(3 * time.Second)
	r.event(event.Extended{Style: "terse"}, event.ToolFinished{Call: "1", View: view.Diff{Added: 3, Removed: 1}}, event.ToolFinished{Call: "2", View: view.Diff{Added: 5}, IsErr: true}).pass(statusWait)
	r.do(tickMsg{})
	if got := fmt.Sprintln(in["cost"], in["output_style"], in["model"]); got != "map[total_api_duration_ms:0 total_cost_usd:0 total_duration_ms:3300 total_lines_added:3 total_lines_removed:1] map[name:terse] map[display_name:b id:a/b]\n" {
		t.Errorf("it reads %s", got)
	}
	r.event(event.ReplyStarted{Limits: []llm.Limit{{Name: "tokens", Used: 0.2512, Most: 1000, Left: 749, Resets: time.Unix(1_800_000_000, 0)}, {Name: "five_hour", Used: 0.5}}}, event.ReplyStarted{}, event.Replied{}).pass(statusWait)
	r.do(tickMsg{})
	if got := fmt.Sprintln(in["rate_limits"]); got != "map[five_hour:map[used_percentage:50] tokens:map[limit:1000 remaining:749 resets_at:1.8e+09 used_percentage:25.1]]\n" {
		t.Errorf("it reads %s", got)
	}
	runs = 1
	for range 5 {
		r.event(event.Replied{}, event.ModeChanged{Mode: policy.PlanMode})
		r.now = r.now.Add(10 * time.Millisecond)
		r.do(tickMsg{})
	}
	if runs != 1 {
		t.Errorf("it ran %d times before the pause was over", runs)
	}
	r.now = r.now.Add(statusWait)
	r.do(tickMsg{})
	if runs != 2 || in["session_id"] != "s" {
		t.Errorf("it ran %d times, last with %v", runs, in)
	}
	if !r.m.wake().IsZero() {
		t.Error("it is to run again though nothing changed")
	}
}

// Of a session that is gone on with, what changed and how long it lasted before
// counts as well.
func TestStatusLineOfAResumedSession(t *testing.T) {
	r := newRig(t, 80, 24)
	var in map[string]any
	es := []event.Body{
		event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t"}, event.ToolFinished{Call: "1", View: view.Diff{Added: 3, Removed: 1}},
		event.TurnEnded{ID: "t", Took: time.Minute},
	}
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Model: "a/b"}, After: event.Seq(len(es)), UI: Settings{Status: StatusLine{Run: func(_ context.Context, stdin []byte) (string, error) {
		in = nil
		return "line", json.Unmarshal(stdin, &in)
	}}}}, nil})
	r.event(es...).event(event.InputAccepted{ID: "q", Text: "on"}, event.TurnStarted{ID: "u"}, event.ToolFinished{Call: "2", View: view.Diff{Added: 1}}).pass(statusWait)
	r.do(tickMsg{})
	if got := fmt.Sprintln(in["cost"]); got != "map[total_api_duration_ms:0 total_cost_usd:0 total_duration_ms:60300 total_lines_added:4 total_lines_removed:1]\n" {
		t.Errorf("it reads %s", got)
	}
}
