package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// Whatever a command, a path, a model or a tool's name says, a dialog shows
// what would run, and nothing of it reaches the terminal as a control.
func TestHostileText(t *testing.T) {
	slowtest.Alone(t)
	evil := []string{
		"\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]52;c;AAAA\x07", "\r", "\x9b2J", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\x00", "\x7f",
		"e" + strings.Repeat("\u0301", 300), "👩\u200d👩\u200d👧\u200d👦", "界", "\t", "\u2028", "\u115f", strings.Repeat("A", 1<<18),
	}
	for i, bad := range evil {
		for _, z := range []term.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}} {
			r := newRig(t, z.Cols, z.Rows).open()
			cmd := "echo safe " + bad + " ; rm -rf " + bad + "x"
			v := verdict()
			v.Reason, v.Rule, v.Source, v.Part = "because "+bad, "Bash("+bad+")", bad, "rm -rf "+bad+"x"
			v.Suggest, v.Parts[0].Text, v.Parts[0].Path = []string{"Bash(" + bad + ")"}, bad, bad
			r.event(
				event.InputAccepted{ID: "p", Text: bad}, event.TurnStarted{ID: "t", Model: "a/" + bad}, event.ReplyStarted{},
				event.TextDelta{S: "text " + bad}, event.ThinkingDelta{S: bad},
				event.ToolStarted{Call: "1", Name: "mcp__" + bad, Title: bad, Input: json.RawMessage(`{}`)}, event.ToolOutput{Call: "1", S: bad + "\n" + bad},
			)
			r.frame()
			r.event(
				event.ToolFinished{Call: "1", View: view.Terminal{Command: bad, Output: bad, Note: bad}},
				event.ToolFinished{Call: "2", Name: bad, View: view.Table{Head: []string{bad}, Rows: [][]string{{bad}}}},
				event.ToolFinished{Call: "3", Name: bad, View: view.Diff{Path: bad, Unified: "@@ -1 +1 @@\n-" + bad + "\n+" + bad + "\n"}},
				event.ToolFinished{Call: "4", Name: bad, Denied: true, Verdict: v},
				event.Noted{Level: "warning", Text: bad}, event.Titled{Title: bad}, event.ModelChanged{Model: bad},
				event.TaskStarted{ID: bad, Text: bad},
			)
			r.frame()
			r.event(asked("c", cmd, v)).pass(time.Second)
			r.frame()
			r.keys("?", "down")
			live := draw.TextOf(r.frame())
			if i < 12 && !strings.Contains(live, `\`) {
				t.Errorf("the dialog hides %q:\n%s", bad, live)
			}
			r.keys("esc")
			r.event(event.Asked{Call: "d", Tool: bad, View: view.Questions{Items: []view.Question{{Header: bad, Text: bad, Options: []view.Option{{Label: bad, About: bad}, {Label: "b"}}}}}}).pass(time.Second)
			r.frame()
			r.keys("esc")
			for _, f := range []view.Form{{Server: bad, Message: bad, URL: "https://a/" + bad}, {Server: bad, Message: bad, Fields: []view.Field{
				{Name: bad, Title: bad, About: bad, Kind: view.StringField}, {Name: "b", Kind: view.ChoiceField, Options: []view.FieldOption{{Value: bad, Title: bad}}}}}} {
				formAsked(r, f)
				r.keys("'x", "tab")
				r.frame()
				r.keys("esc")
			}
			r.keys("ctrl+o")
			r.frame()
		}
	}
}

// Names that servers, tools, skills, plugins, hooks, sessions, models and folders
// give themselves are harmless wherever dialogs and lists show them.
func TestHostileNames(t *testing.T) {
	slowtest.Alone(t)
	for _, bad := range []string{
		"\x1b[2J\x1b]0;x\x07", "\r\n", "\x9b2J\x00\x7f", "\u202egpj\u2066", "\u200b\ufeff\u200e", "\U000e0041\u2028\u115f", "e" + strings.Repeat("\u0301", 300), strings.Repeat("界", 200), strings.Repeat("A", 1<<14),
	} {
		for _, z := range []term.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}} {
			r := newRig(t, z.Cols, z.Rows)
			one := func(context.Context) ([]Choice, error) {
				return []Choice{{ID: bad, Name: bad, About: bad, Right: bad, Lead: bad}, {ID: "b", Name: "b"}}, nil
			}
			h := &r.m.host
			r.desk.Models, r.desk.Memory, h.Themes = one, func() []Choice { c, _ := one(nil); return c }, func() []string { return []string{bad, "light"} }
			h.EditFile, h.ReadFile = func(context.Context, string) error { return nil }, func(string) (string, error) { return bad, nil }
			h.Theme = func(string, bool) (*draw.Theme, error) { return nil, errors.New(bad) }
			h.Reports = map[string]Report{"login": {About: bad, Args: bad, Picks: true}}
			r.desk.Pick = func(string) []Choice { c, _ := one(nil); return c }
			r.desk.Hooks = func() string { return "* " + bad }
			r.desk.Resources = func(context.Context, string, int) []Choice { c, _ := one(nil); return c }
			r.desk.Arguments = func(context.Context, string, string) []Choice { c, _ := one(nil); return c }
			r.desk.Sessions = func(context.Context, bool) ([]Saved, string, error) {
				c, _ := one(nil)
				return []Saved{{Choice: c[0], Title: bad, Branch: bad}}, bad, nil
			}
			r.desk.Preview = func(context.Context, string) (string, error) { return bad, nil }
			r.desk.Trust = func() ask.Claims {
				return ask.Claims{Folder: bad, List: []string{bad}, Changed: "+" + bad + "\n", Refused: bad}
			}
			r.open().pass(time.Second)
			r.frame()
			r.keys("pgdown", "esc")
			r.event(
				event.ServerChanged{Name: bad, State: event.ServerFailed, Why: bad}, event.ServerChanged{Name: bad + "2", State: event.ServerNeedsAuth}, event.ServerChanged{Name: bad, State: event.ServerConnected},
				event.Extended{Commands: []event.Offer{{Name: bad, Args: bad, About: bad, From: bad}, {Name: "known", Args: bad, About: bad, From: bad}}},
				event.TurnStarted{ID: "t"}, event.HookStarted{ID: 1, Event: bad, Name: bad, Status: bad}, event.TaskStarted{ID: bad, Text: bad},
			).pass(3 * time.Second)
			r.frame()
			ask := func(e event.Asked) {
				r.event(e).pass(time.Second)
				r.frame()
				r.keys("?")
				r.frame()
				r.keys("down", "e")
				r.frame()
				r.keys("esc", "esc", "esc")
				r.event(event.Answered{Answer: op.Answer{Call: e.Call}})
			}
			v := policy.Verdict{Effect: policy.Ask, Reason: bad, Part: bad, Rule: bad, Source: bad, Suggest: []string{"mcp__" + bad}, Parts: []policy.Piece{{Kind: "connect", Text: bad, Path: bad, Effect: policy.Ask, Reason: bad}}}
			ask(event.Asked{Call: "1", Tool: "mcp__" + bad + "__" + bad, Title: bad, Input: json.RawMessage(`{"a":"` + "\u202e" + `"}`), Verdict: v,
				View: view.Group{Blocks: []view.Block{view.Text{S: "The tool " + bad}, view.Code{S: bad}}}})
			ask(event.Asked{Call: "2", Tool: bad, Title: bad, Verdict: v})
			ask(event.Asked{Call: "3", Title: bad, About: event.AboutCost})
			ask(event.Asked{Call: "4", Tool: bad, View: view.Group{Blocks: []view.Block{view.Text{S: bad, File: bad}, view.Questions{Items: []view.Question{{Text: bad, Options: []view.Option{{Label: bad}}}}}}}})
			r.event(event.TurnEnded{How: event.Done})
			for _, line := range []string{"/", "/known ", "@", "/zz" + bad} {
				r.do(pasteMsg{line})
				r.frame()
				r.keys("down", "tab")
				r.frame()
				r.keys("ctrl+u", "ctrl+c").pass(3 * time.Second)
			}
			for _, line := range []string{"/model", "/memory", "/theme", "/login", "/hooks", "/resume", "/tasks", "/rewind", "/status", "/cost"} {
				r.keys("'"+line, "enter")
				r.frame()
				r.keys("down", "ctrl+v", "ctrl+r")
				r.frame()
				r.keys("esc", "esc", "ctrl+c").pass(3 * time.Second)
			}
			r.m.screen.plain = true
			r.keys("'/model", "enter")
			r.m.announce()
		}
	}
}

// A dialog and a list about a file name that file, and not the one that is read
// when what cannot be seen in its name is left out.
func TestNamesAreWhole(t *testing.T) {
	const name, shown = "b\u202egnp\u200b.exe", `b\u202egnp\u200b.exe`
	r := newRig(t, 80, 24)
	r.desk.Files = func(context.Context) ([]string, error) { return []string{name, "main.go"}, nil }
	r.open().keys("'@gnp").has(shown).keys("tab").has("characters that a prompt cannot hold")
	if got := r.m.box.Text(); got != "@gnp" {
		t.Errorf("the prompt names %q", got)
	}
	r.keys("ctrl+u")
	r.event(event.Asked{Call: "1", Tool: "Write", Title: "Write " + name, View: view.Diff{Path: name, Created: true, Unified: "@@ -0,0 +1,1 @@\n+x\n"}}).pass(time.Second)
	if n := strings.Count(r.text(), shown); n < 2 {
		t.Errorf("named %d times, not in the line of the call and in the dialog:\n%s", n, r.text())
	}
	r.event(event.Answered{Answer: op.Answer{Call: "1"}})
	r.event(event.Asked{Call: "2", Tool: "mcp__a__b", Title: "b", Input: json.RawMessage(`{"path":"` + name + `"}`),
		View: view.Group{Blocks: []view.Block{view.Text{S: "b of " + name}, view.Code{S: `{"path":"` + name + `"}`}}}}).pass(time.Second)
	r.has("b of "+shown, `"path":"`+shown)
}
