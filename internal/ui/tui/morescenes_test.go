package tui

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// withRules is a session with rules of every kind.
func withRules(r *rig) *rig {
	r.open()
	r.m.host.Reports = map[string]Report{"permissions": {About: "the rules", Args: "[check COMMAND]"}}
	r.desk.Forget = func(ask.Rule) error { return nil }
	r.desk.Rules = func() ask.RuleSet {
		rule := func(text string, e policy.Effect, s policy.Scope, from string) ask.Rule {
			return ask.Rule{Text: text, Effect: e, Scope: s, Source: from}
		}
		all := rule("Bash", policy.Allow, policy.Session, "this session")
		all.Doubt = "this rule allows every command"
		return ask.RuleSet{Dirs: []string{"/home/u/src/calc", "/home/u/src/lib"}, List: []ask.Rule{
			rule("Bash(pytest:*)", policy.Allow, policy.Local, "~/src/calc/.adze/settings.local.json:4:7"), rule("WebFetch", policy.Ask, policy.User, "~/.adze/settings.json:3:1"),
			rule("Bash(git push --force:*)", policy.Deny, policy.Managed, "/etc/adze/settings.json:9:3"), all,
		}}
	}
	return r
}

// Scenes of what is seen less often.
var rareScenes = []scene{
	{"permissions", func(r *rig) { withRules(r).keys("'/permissions", "enter") }},
	{"permissions-file", func(r *rig) { withRules(r).keys("'/permissions", "enter", "'pytest", "enter") }},
	{"agents", func(r *rig) { withAgents(r); r.keys("'/agents", "enter") }},
	{"agents-one", func(r *rig) { withAgents(r); r.keys("'/agents", "enter", "enter", "enter") }},
	{"agents-new", func(r *rig) { withAgents(r); r.keys("'/agents", "enter", "'new agent", "enter") }},
	{"compact", func(r *rig) { spoken(r).keys("'/compact --from", "enter") }},
	{"compacting", func(r *rig) {
		spoken(r).keys("'/compact", "enter").event(event.TurnStarted{ID: "c"}).pass(2 * time.Second)
	}},
	{"compacted", func(r *rig) {
		spoken(r).event(event.Compacted{Trigger: event.CauseAsked, Text: "They asked to **repair** the sum.", Tokens: 150_000, Left: 12_000}).keys("ctrl+o")
	}},
	{"resume-taken", func(r *rig) {
		r.open().desk.Find = func(context.Context, string) (Saved, error) {
			return Saved{Choice: Choice{ID: "a"}, Holder: "another process has this session open: process 7 on desk, since 2026-03-14 09:26"}, nil
		}
		r.keys("'/resume first", "enter")
	}},
	{"sessionless", func(r *rig) {
		r.m.start = Start{Continue: true}
		r.do(openedMsg{nil, &op.Refusal{Code: op.Taken, Text: "another adze (process 4711) writes to this session"}})
	}},
	{"gone", func(r *rig) {
		r.do(openedMsg{nil, errors.New("the session is damaged")})
		r.pass(time.Second).keys("esc")
	}},
	{"opening", func(r *rig) { r.keys("'typed ahead").pass(time.Second) }},
	{"cut-off", func(r *rig) {
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~/src/calc", Model: "a/sonnet-4.6"}, After: 3}, nil})
		r.event(event.InputAccepted{ID: "i", Text: "Mend the parser"}, event.TurnStarted{ID: "t"}, event.TurnEnded{ID: "t", How: event.Interrupted})
	}},
	{"thinking", func(r *rig) {
		r.open().event(event.InputAccepted{ID: "p", Text: "Why?"}, event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.ThinkingDelta{S: "It may be the *index*."}).pass(4 * time.Second)
	}},
	{"thought", func(r *rig) {
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~/src/calc", Model: "a/sonnet-4.6"}, UI: Settings{Thinking: true}}, nil})
		r.event(event.InputAccepted{ID: "p", Text: "Why?"}, event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.ThinkingDelta{S: "It may be the *index*."},
			event.PartDone{Part: llm.Thinking{S: "It may be the *index*."}}, event.TextDelta{S: "The index begins at 1."})
	}},
	{"reading", func(r *rig) { // calls that only look, while they run
		r.open().event(event.InputAccepted{ID: "p", Text: "Look around."}, event.TurnStarted{ID: "t"},
			event.ToolStarted{Call: "1", Name: "Read", Title: "Read calc.go", Fold: "file"}, event.ToolStarted{Call: "2", Name: "Grep", Title: `Grep Sum\(`, Fold: "search"},
			event.ToolFinished{Call: "1", Name: "Read", View: view.Code{S: "package calc\n"}}).pass(2 * time.Second)
	}},
	{"progress", func(r *rig) {
		r.open().event(event.TurnStarted{}, event.ToolStarted{Call: "c", Name: "x", Title: "docs index (Index all of it)"}, event.ToolOutput{Call: "c", S: "\rreading (1 of 3)"}).pass(11 * time.Second)
	}},
	{"picture", func(r *rig) {
		r.m.screen.canvas = canvas{on: true}
		r.open().event(event.InputAccepted{ID: "i", Text: "What is this? [Image 1]", Images: []op.Image{{Media: "image/png", Data: stripes()}}})
	}},
	{"aside", func(r *rig) {
		r.desk.Aside = func(string) string { return "`Sum` returns **0** for none." }
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~/src/calc", Model: "a/sonnet-4.6"}}, nil})
		r.keys("'/btw what does Sum return?", "enter")
	}},
	{"task-ended", func(r *rig) {
		r.open().event(event.TaskStarted{ID: "b1", Call: "1", Text: "make watch"}, event.TaskStarted{ID: "b2", Call: "2", Text: "sleep 9"},
			event.TaskEnded{ID: "b1", Exit: 3, Took: 15 * time.Second, Output: "/out"})
	}},
	{"servers", func(r *rig) {
		r.open().event(event.ServerChanged{Name: "docs", State: event.ServerFailed, Why: "exit code 1: no such file"})
	}},
	{"statusline", func(r *rig) {
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~/src/calc", Model: "a/sonnet-4.6"}, UI: Settings{Status: StatusLine{Padding: 1, Run: func(context.Context, []byte) (string, error) { return "\x1b[32mmine\x1b[0m main\nand more\n", nil }}}}, nil})
		r.pass(statusWait)
	}},
	{"unasked", func(r *rig) { // a mode that asks nothing, a stash, and a chord that waits
		r.open().event(event.ModeChanged{Mode: policy.Bypass}).keys("'later", "ctrl+s")
	}},
	{"chord", func(r *rig) { r.open().keys("'half", "ctrl+x") }},
	{"hooks", func(r *rig) {
		r.desk.Hooks = func() string { return "| event | hook |\n|---|---|\n| Stop | `make check` |\n" }
		r.open().keys("'/hooks", "enter")
	}},
	{"away", func(r *rig) { r.open().keys("'/resume", "enter", "ctrl+a", "'elsewhere", "enter") }},
	{"menu-plain", func(r *rig) {
		r.m.screen.plain = true
		r.open().keys("'/mode", "enter")
	}},
	{"question-plain", func(r *rig) {
		r.m.screen.plain = true
		r.open().event(event.Asked{Call: "q", Tool: "AskUserQuestion", View: survey2}).pass(time.Second)
	}},
	{"form-plain", func(r *rig) {
		r.m.screen.plain = true
		formAsked(r.open(), wanted)
	}},
	{"plan-change", func(r *rig) {
		r.open().event(event.Asked{Call: "q", Tool: "ExitPlanMode", View: plan}).pass(time.Second)
		r.keys("down", "down", "enter", "'also the tests")
	}},
}

// stripes is a small picture.
func stripes() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 24, 12))
	for i := range 24 * 12 {
		m.Set(i%24, i/24, color.RGBA{R: uint8(i % 24 * 10), G: 80, B: 160, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}
