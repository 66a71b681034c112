package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// last is the newest op of a type.
func last[O op.Op](r *rig) (O, bool) {
	for _, o := range slices.Backward(r.ops) {
		if o, ok := o.(O); ok {
			return o, true
		}
	}
	var zero O
	return zero, false
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want op.Answer
	}{
		"yes":             {[]string{"enter"}, op.Answer{Allow: true}},
		"y":               {[]string{"down", "down", "'y"}, op.Answer{Allow: true}},
		"no":              {[]string{"esc"}, op.Answer{}},
		"n":               {[]string{"'n"}, op.Answer{}},
		"no, in words":    {[]string{"down", "down", "enter", "'use main", "enter"}, op.Answer{Comment: "use main"}},
		"yes, in words":   {[]string{"tab", "'mind it", "enter", "enter"}, op.Answer{Allow: true, Comment: "mind it"}},
		"session":         {[]string{"down", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"local":           {[]string{"down", "right", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForLocal}},
		"project":         {[]string{"down", "right", "right", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForProject}},
		"everywhere":      {[]string{"down", "left", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForUser}},
		"by number":       {[]string{"'2"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"edited rule":     {[]string{"down", "e", "ctrl+u", "'Bash(git push origin *)", "enter", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push origin *)"}}},
		"rule left as is": {[]string{"down", "e", "'xx", "esc", "enter"}, op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}}},
		"accept edits":    {[]string{"shift+tab"}, op.Answer{Allow: true, Mode: "acceptEdits"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 80, 24).open()
			r.event(asked("c", "git push origin main", verdict())).pass(time.Second)
			r.keys(c.keys...)
			got, ok := last[op.Answer](r)
			c.want.Call, c.want.By = "c", clientName
			if d := cmp.Diff(c.want, got); !ok || d != "" {
				t.Errorf("answered %t (-want +got):\n%s", ok, d)
			}
			if len(r.m.dialogs) != 0 {
				t.Error("the dialog stays")
			}
		})
	}
}

func TestSurveys(t *testing.T) {
	for name, c := range map[string]struct {
		view view.Block
		keys []string
		want op.Answer
	}{
		"choices":     {survey2, []string{"down", "enter", "space", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Postgres"}, {"lint"}}}},
		"own words":   {survey2, []string{"tab", "'DuckDB", "enter", "down", "space", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"DuckDB"}, {"race"}}}},
		"declined":    {survey2, []string{"esc"}, op.Answer{Comment: "closed without an answer"}},
		"plan":        {plan, []string{"down", "enter"}, op.Answer{Allow: true, Choices: [][]string{{"Yes, and ask before each edit"}}}},
		"plan change": {plan, []string{"up", "down", "down", "enter", "'smaller steps", "enter"}, op.Answer{Comment: "smaller steps"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 80, 24).open()
			r.event(event.Asked{Call: "c", Tool: "X", View: c.view}).pass(time.Second)
			r.keys(c.keys...)
			got, ok := last[op.Answer](r)
			c.want.Call, c.want.By = "c", clientName
			if d := cmp.Diff(c.want, got); !ok || d != "" {
				t.Errorf("answered %t (-want +got):\n%s", ok, d)
			}
		})
	}
}

// A key counts for a dialog only when a person could have seen it: after it
// was painted, a quarter of a second later, and not in the middle of typing.
func TestStrayKeysAnswerNothing(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'I was typ")
	r.event(asked("c", "rm -r /", verdict()))
	r.keys("'ing y", "enter") // before it is painted
	r.frame()
	r.m.painted(r.m.unseen())
	for range 5 { // and on, faster than a person decides
		r.now = r.now.Add(guard - time.Millisecond)
		r.keys("'y", "enter", "shift+tab")
	}
	if a, ok := last[op.Answer](r); ok {
		t.Fatalf("it was answered: %+v", a)
	}
	if got := r.m.box.Text(); got != "I was typing yyyyyy" {
		t.Errorf("what was typed became %q", got)
	}
	r.now = r.now.Add(guard)
	r.keys("enter")
	if a, ok := last[op.Answer](r); !ok || !a.Allow {
		t.Error("it cannot be answered any more")
	}
}

// To stop is never a mistake, however early.
func TestEscapeStopsWhatADialogInterrupts(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, asked("c", "rm -r /", verdict()))
	r.keys("esc")
	if _, ok := last[op.Interrupt](r); !ok {
		t.Error("the turn goes on")
	}
}

func TestDialogsByRank(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'/mode", "enter")
	r.event(event.Asked{Call: "q", View: survey2}, asked("c", "ls", verdict())).pass(time.Second)
	r.has("Run this command?")
	r.keys("enter").pass(time.Second)
	r.has("Which database?")
	r.event(event.Answered{Answer: op.Answer{Call: "q"}}) // another client was faster
	r.has("Permission mode")
	r.keys("esc")
	r.hasNot("Permission mode")
}

func TestQueue(t *testing.T) {
	r := newRig(t, 80, 24)
	r.keys("'typed early", "enter") // there is no session yet
	r.open()
	if p, ok := last[op.Prompt](r); !ok || p.Text != "typed early" || p.ID == "" {
		t.Fatalf("%+v", p)
	}
	r.event(event.InputAccepted{ID: "id1", Text: "typed early"}, event.TurnStarted{ID: "t"})
	r.keys("'second", "enter", "'third", "enter")
	r.event(event.InputQueued{ID: "id2", Text: "second"}, event.InputQueued{ID: "id3", Text: "third"})
	r.has("› second", "› third", "takes it back")
	r.keys("up")
	if u, ok := last[op.Unqueue](r); !ok || u.ID != "id3" || r.m.box.Text() != "third" {
		t.Errorf("%+v, box %q", u, r.m.box.Text())
	}
	r.event(event.InputRemoved{ID: "id3"}, event.InputAccepted{ID: "id2", Text: "second", Steer: true})
	if len(r.m.queue) != 0 {
		t.Errorf("%d still wait", len(r.m.queue))
	}
}

// Tab has a prompt wait for the end of the turn; Enter then sends it at once.
func TestQueueForLater(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"})
	r.keys("'afterwards", "tab")
	if p, ok := last[op.Prompt](r); !ok || p.Text != "afterwards" || !p.Later {
		t.Fatalf("%+v", p)
	}
	r.has("› afterwards", "when the turn is over, Enter: now")
	r.keys("enter")
	if u, ok := last[op.Unqueue](r); !ok || u.ID != "id1" {
		t.Errorf("not taken back: %+v", u)
	}
	if p, _ := last[op.Prompt](r); p.Text != "afterwards" || p.Later || p.ID == "id1" {
		t.Errorf("sent as %+v", p)
	}
	r.has("with the next step").hasNot("when the turn is over")
	n := len(r.ops)
	if r.keys("enter"); len(r.ops) != n {
		t.Errorf("sent twice: %+v", r.ops[n:])
	}
	r.event(event.TurnEnded{ID: "t"})
	if r.keys("'now", "tab"); len(r.ops) != n || r.m.box.Text() == "" {
		t.Error("without a turn there is nothing to wait for")
	}
}

// There is nothing yet that "&" could run in the background, and that is said.
func TestBackgroundPromptsAreRefused(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'& build it", "enter").has("no prompt can run in the background", "& build it")
	if p, sent := last[op.Prompt](r); sent {
		t.Errorf("it was sent: %+v", p)
	}
}

// A prompt that the session refuses is in the box again.
func TestRefusedPromptIsNotLost(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.box.Set("precious")
	for _, e := range r.m.enter() {
		r.carry(e.(submit).then(r.m, errors.New("disk full")))
	}
	if r.m.box.Text() != "precious" || len(r.m.queue) != 0 {
		t.Errorf("box %q, %d wait", r.m.box.Text(), len(r.m.queue))
	}
	r.has("disk full")
}

func TestLeaving(t *testing.T) {
	quits := func(r *rig) bool {
		return slices.ContainsFunc(r.effects, func(e effect) bool { _, ok := e.(quit); return ok })
	}
	for _, key := range []string{"ctrl+c", "ctrl+d"} {
		r := newRig(t, 80, 24).open()
		r.keys(key)
		r.has("again to quit")
		r.now = r.now.Add(again + time.Millisecond)
		r.do(tickMsg{})
		r.keys(key)
		if quits(r) {
			t.Errorf("%s once, and again much later, quits", key)
		}
		r.keys(key)
		if !quits(r) {
			t.Errorf("%s twice does not quit", key)
		}
	}
	r := newRig(t, 80, 24).open()
	r.keys("'text", "ctrl+c")
	if !r.m.box.Empty() || quits(r) {
		t.Error("Ctrl+C does not clear the prompt")
	}
}

// What streams is printed once, in order, whatever the pieces are; a resumed
// session shows the same.
func TestStoryIsTheSameLiveAndResumed(t *testing.T) {
	const one, two = "First **part**.\n\n- a\n- b\n\n", "Second part, after the calls."
	reply := event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		llm.Text{S: one}, llm.ToolUse{ID: "1", Name: "Read"}, llm.ToolUse{ID: "2", Name: "Read"}, llm.ToolUse{ID: "3", Name: "Bash"}, llm.Text{S: two}}}}
	durable := []event.Body{
		event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t"},
		event.ToolStarted{Call: "1", Name: "Read", Title: "Read a", Fold: "file"}, event.ToolStarted{Call: "2", Name: "Read", Title: "Read b", Fold: "file"},
		event.ToolFinished{Call: "1", View: view.Code{S: "x\n"}}, event.ToolFinished{Call: "2", View: view.Code{S: "y\n"}},
		event.ToolStarted{Call: "3", Name: "Bash", Title: "Bash: ls"}, event.ToolFinished{Call: "3", View: view.Terminal{Command: "ls", Output: "out\n"}},
		reply, event.TurnEnded{How: event.Done},
	}
	resumed := newRig(t, 80, 24)
	resumed.do(openedMsg{&Session{Client: nobody{}, Dir: "~/src/calc", Branch: "main", Model: "anthropic/sonnet-4.6", After: event.Seq(len(durable))}, nil})
	resumed.event(durable...)
	want := resumed.text()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := newRig(t, 80, 24).open()
		r.event(durable[:2]...).event(event.ReplyStarted{})
		stream := func(s string, at int) {
			for i := 0; i < len(s); {
				n := min(1+rnd.IntN(9), len(s)-i)
				r.event(event.TextDelta{At: at + i, S: s[i : i+n]})
				i += n
				if rnd.IntN(3) == 0 {
					r.frame()
				}
			}
			r.event(event.PartDone{Part: llm.Text{S: s}})
		}
		stream(one, 0)
		for _, id := range []string{"1", "2", "3"} {
			r.event(event.PartDone{Part: reply.Message.Parts[slices.Index([]string{"", "1", "2", "3"}, id)]})
		}
		early := rnd.IntN(2) == 0
		if early {
			r.event(durable[2:8]...)
		}
		stream(two, len(one))
		if early {
			r.event(reply)
		} else {
			r.event(reply).event(durable[2:8]...)
		}
		r.event(event.TurnEnded{How: event.Done})
		if d := cmp.Diff(want, r.text()); d != "" {
			t.Fatalf("seed %d (-resumed +live):\n%s", seed, d)
		}
	}
}

// Whatever a command, a path, a model or a tool's name says, a dialog shows
// what would run, and nothing of it reaches the terminal as a control.
func TestHostileText(t *testing.T) {
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
			for _, f := range []view.Form{{From: bad, Message: bad, URL: "https://a/" + bad}, {From: bad, Message: bad, Fields: []view.Field{
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
	for _, bad := range []string{
		"\x1b[2J\x1b]0;x\x07", "\r\n", "\x9b2J\x00\x7f", "\u202egpj\u2066", "\u200b\ufeff\u200e", "\U000e0041\u2028\u115f", "e" + strings.Repeat("\u0301", 300), strings.Repeat("界", 200), strings.Repeat("A", 1<<14),
	} {
		for _, z := range []term.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}} {
			r := newRig(t, z.Cols, z.Rows)
			one := func(context.Context) ([]Choice, error) {
				return []Choice{{ID: bad, Name: bad, About: bad, Right: bad, Lead: bad}, {ID: "b", Name: "b"}}, nil
			}
			h := &r.m.host
			h.Models, h.Memory, h.Themes = one, func() []Choice { c, _ := one(nil); return c }, func() []string { return []string{bad, "light"} }
			h.EditFile, h.ReadFile = func(context.Context, string) error { return nil }, func(string) (string, error) { return bad, nil }
			h.Theme = func(string, bool) (*draw.Theme, error) { return nil, errors.New(bad) }
			h.Reports = map[string]Report{"login": {About: bad, Args: bad, Choose: one}}
			h.Hooks = func(context.Context) (string, error) { return "* " + bad, nil }
			h.Resources = func(context.Context, string, int) []Choice { c, _ := one(nil); return c }
			h.Arguments = func(context.Context, string, string) []Choice { c, _ := one(nil); return c }
			h.Sessions = func(context.Context, bool) ([]Saved, string, error) {
				c, _ := one(nil)
				return []Saved{{Choice: c[0], Title: bad, Branch: bad}}, bad, nil
			}
			h.Preview = func(context.Context, string) (string, error) { return bad, nil }
			h.Trust = func(context.Context) (*Trust, error) {
				return &Trust{Folder: bad, Claims: []string{bad}, Changed: "+" + bad + "\n", Refused: bad}, nil
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

// Nothing wakes an idle UI.
func TestIdleWantsNoTicks(t *testing.T) {
	r := newRig(t, 80, 24).open()
	if at := r.m.wake(); !at.IsZero() {
		t.Errorf("it wants to be woken in %s", at.Sub(r.now))
	}
	r.event(event.TurnStarted{ID: "t"})
	if r.m.wake().IsZero() {
		t.Error("the spinner stands still")
	}
	r.event(asked("c", "ls", policy.Verdict{}))
	if at := r.m.wake(); !at.IsZero() {
		t.Error("a question that waits for a person wakes the UI")
	}
	r.event(event.TurnEnded{How: event.Done})
	if at := r.m.wake(); !at.IsZero() {
		t.Errorf("after the turn it wants to be woken in %s", at.Sub(r.now))
	}
}

func FuzzUI(f *testing.F) {
	for i := range uint64(20) {
		f.Add(i, uint8(80), uint8(24))
	}
	f.Add(uint64(99), uint8(1), uint8(1))
	f.Add(uint64(98), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, cols, rows uint8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, max(int(cols), 1), max(int(rows), 1))
		r.m.screen.canvas.on = rnd.IntN(2) == 0
		switch rnd.IntN(5) {
		case 0: // nothing is open yet
		case 1:
			r.do(openedMsg{&Session{Client: nobody{}, ID: "s", UI: Settings{Fullscreen: true}}, nil})
		default:
			r.open()
		}
		for range 150 {
			randomly(r, rnd)
			if rnd.IntN(2) == 0 {
				r.frame()
			}
			if t.Failed() {
				return
			}
		}
	})
}

var fuzzKeys = []string{
	"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "backspace", "delete", "ctrl+o", "ctrl+t", "ctrl+r", "ctrl+s", "ctrl+l", "ctrl+g", "ctrl+u",
	"ctrl+w", "ctrl+_", "ctrl+x", "ctrl+k", "alt+p", "alt+enter", "pgup", "pgdown", "home", "end", "?", "/", "@", "!", "#", "g", "G", "n", "N", "q", "y", "e", "1", "2", "space", "f1", "ctrl+b", "ctrl+a", "ctrl+v", "alt+t",
}

// dot is a picture of one pixel.
var dot = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

func randomly(r *rig, rnd *rand.Rand) {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	text := pick("x", "héllo wörld", "界界界", "\x1b[31mred", "- a\n- b\n\n", "```go\nfunc x() {}\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", strings.Repeat("long ", 60), "\n\n", "👩\u200d👧")
	id := pick("1", "2", "3")
	switch rnd.IntN(26) {
	case 0, 1, 2, 3, 4:
		r.keys(fuzzKeys[rnd.IntN(len(fuzzKeys))])
	case 5, 6:
		r.keys("'" + pick("hello", "/cl", "@ca", "/theme", "/mode", "/resume", "/help", "/cost", "/tasks", "/diff", "/nothing", "a b c"))
	case 7:
		r.do(pasteMsg{strings.Repeat(text, 1+rnd.IntN(30))})
		r.do(mouseMsg{rnd.IntN(9) - 4})
	case 8:
		r.do(sizeMsg{term.Size{Cols: 1 + rnd.IntN(120), Rows: 1 + rnd.IntN(50)}})
	case 9:
		r.pass(time.Duration(rnd.IntN(400)) * time.Millisecond)
	case 10:
		r.event(event.InputAccepted{ID: pick("id1", "id2", "x"), Text: text, Images: []op.Image{{Data: dot}}[rnd.IntN(2):], Attached: []event.Attached{{Name: text, About: text, Refused: rnd.IntN(2) == 0}}, Steer: rnd.IntN(2) == 0})
	case 11:
		r.event(event.TurnStarted{ID: "t"})
	case 12:
		r.event(event.ReplyStarted{})
	case 13, 14, 15:
		r.event(event.TextDelta{At: rnd.IntN(3) * 5, S: text})
	case 16:
		r.event(event.ThinkingDelta{S: text})
	case 17:
		r.event(event.PartDone{Part: []llm.Part{llm.Text{S: text}, llm.Thinking{S: text}, llm.ToolUse{ID: id, Name: "X"}}[rnd.IntN(3)]})
	case 18:
		r.event(event.ToolStarted{Call: id, Name: "X", Title: text, Fold: pick("", "file")})
	case 19:
		r.event(event.ToolOutput{Call: id, S: text})
	case 20:
		r.event(event.ToolFinished{Call: id, Name: "X", IsErr: rnd.IntN(3) == 0, View: []view.Block{nil, view.Text{S: text}, view.Diff{Path: "p", Unified: diffText}, view.Terminal{Command: text, Output: text}, view.Image{Data: dot}}[rnd.IntN(5)]})
	case 21:
		r.event(asked(id, text, verdict()))
	case 22:
		r.event(event.Asked{Call: id, View: []view.Block{survey2, plan, wanted, view.Form{URL: "https://a.b/c"}}[rnd.IntN(4)]})
	case 23:
		r.event([]event.Body{event.Retracted{Why: "w"}, event.Dropped{Calls: []string{id}}, event.Answered{Answer: op.Answer{Call: id}}, event.Noted{Level: "info", Text: text}}[rnd.IntN(4)])
	case 24:
		r.event(event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: text}, llm.ToolUse{ID: id, Name: "X"}}}})
	case 25:
		r.event(event.TurnEnded{How: []event.End{event.Done, event.Interrupted, event.Failed}[rnd.IntN(3)], Err: text})
	}
}

// prompts is a history.
type prompts []string

func (p prompts) Entry(i int) (history.Entry, bool) {
	if i >= len(p) {
		return history.Entry{}, false
	}
	return history.Entry{Text: p[i]}, true
}

func TestHistorySearch(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.host.Everyone, r.m.host.Past = prompts{"newest", "mend the parser", "oldest"}, prompts{"only here"}
	r.keys("ctrl+r", "'pars", "enter")
	if got := r.m.box.Text(); got != "mend the parser" {
		t.Errorf("the box has %q", got)
	}
	r.keys("ctrl+u", "ctrl+r", "ctrl+s", "enter")
	if got := r.m.box.Text(); got != "only here" {
		t.Errorf("the box has %q", got)
	}
}

func TestDroppedFilesAreNamed(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.do(pasteMsg{"'/home/u/a b.png'"})
	if got := r.m.box.Text(); got != `@"/home/u/a b.png" ` {
		t.Errorf("the box has %q", got)
	}
}

func TestDroppedPicturesAreAttached(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.host.Picture = func(_ context.Context, path string) (op.Image, error) {
		if path == "/home/u/bad.png" {
			return op.Image{}, errors.New("it is none")
		}
		return op.Image{Media: "image/png", Data: []byte(path)}, nil
	}
	r.keys("'see ")
	r.do(pasteMsg{"/home/u/a.PNG /home/u/bad.png /home/u/c.txt"})
	r.has("bad.png is not attached: it is none")
	r.keys("enter")
	got, _ := last[op.Prompt](r)
	if got.Text != "see @/home/u/c.txt [Image 1] @/home/u/bad.png" || len(got.Images) != 1 || string(got.Images[0].Data) != "/home/u/a.PNG" {
		t.Errorf("%q with %d images", got.Text, len(got.Images))
	}
	r.do(pasteMsg{"/help"})
	if got := r.m.box.Text(); got != "/help" {
		t.Errorf("a pasted command became %q", got)
	}
}

func TestWhatAPromptNamesIsSaidInALine(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.event(event.InputAccepted{ID: "i", Text: "see @a.go#L3-9 and @.env", Attached: []event.Attached{
		{Name: "a.go#L3-9", About: "7 lines", Text: "…"}, {Name: "b/", About: "folder"}, {Name: ".env", About: "it may hold secrets", Refused: true},
	}})
	r.has("with a.go#L3-9 (7 lines), b/ (folder)", "not attached: .env: it may hold secrets")
}

func TestVimShowsItsMode(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'/vim", "enter").pass(5 * time.Second) // until what was done is not told any more
	r.has("INSERT")
	r.keys("'abc", "esc")
	r.has("NORMAL")
	if _, ok := last[op.Interrupt](r); ok {
		t.Error("Esc that leaves vim's insert mode interrupts")
	}
}

// The status line's command runs when something changed, after a pause, and
// never twice at once.
func TestStatusLine(t *testing.T) {
	r := newRig(t, 80, 24)
	runs := 0
	var in map[string]any
	r.do(openedMsg{&Session{Client: nobody{}, ID: "s", Dir: "~/x", Cwd: "/h/x/sub", Root: "/h/x", Log: "/s/log.jsonl", Model: "a/b", UI: Settings{Vim: true, Status: StatusLine{Run: func(_ context.Context, stdin []byte) (string, error) {
		runs++
		in = nil
		return "my \x1b[31mline\x1b[0m\n", json.Unmarshal(stdin, &in)
	}}}}, nil})
	r.has("my line")
	got := fmt.Sprintln(in["cwd"], in["workspace"], in["transcript_path"], in["vim"], in["exceeds_200k_tokens"], in["thinking"]) // before the log begins
	if got != "/h/x/sub map[current_dir:/h/x/sub project_dir:/h/x] /s/log.jsonl map[mode:INSERT] false map[enabled:true]\n" {
		t.Errorf("it reads %s", got)
	}
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

// On a screen of a few rows a dialog shows what would happen beside its answers.
func TestDialogsOnTinyScreens(t *testing.T) {
	for _, z := range []term.Size{{Cols: 20, Rows: 5}, {Cols: 10, Rows: 3}, {Cols: 80, Rows: 6}} {
		r := newRig(t, z.Cols, z.Rows).open().event(event.TurnStarted{ID: "t"}, asked("7", "git push origin main", verdict())).pass(time.Second)
		r.has("git", "❯ Yes")
		if z.Cols == 20 {
			r.keys("pgdown").has("main", "▴")
			r.keys("down").has("Bash(git push", "❯ Yes, and")
		}
		r.keys("y")
		if a, ok := last[op.Answer](r); !ok || !a.Allow {
			t.Errorf("%v: %+v", z, a)
		}
	}
	r := newRig(t, 20, 5).open().event(asked("7", "rm -r build", verdict())).pass(time.Second)
	r.keys("3", "'use mv").has("rm -r build", "use mv")
	r.keys("enter")
	if a, _ := last[op.Answer](r); a.Allow || a.Comment != "use mv" {
		t.Errorf("%+v", a)
	}
	r = newRig(t, 20, 5).open().event(event.Asked{Call: "q", View: survey2}).pass(time.Second)
	r.has("Which database?", "❯ SQLite", "Postgres")
	r.keys("down", "enter", "space", "down", "down").has("Which checks?", "Something else")
}

// A turn that became dear waits until a person says whether it goes on; what is
// answered elsewhere, or too late, asks nobody any more.
func TestDearTurn(t *testing.T) {
	dear := event.Noted{Level: "warning", Text: "this session has cost $5.01", About: event.AboutCost}
	ask := event.Asked{Call: "x9.1", Title: dear.Text, About: event.AboutCost}
	begun := func() *rig { return newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, dear) }
	for name, c := range map[string]struct {
		keys []string
		want op.Op
	}{
		"enter": {[]string{"enter"}, op.Answer{Call: "x9.1", By: clientName, Allow: true}},
		"stop":  {[]string{"down", "enter"}, op.Interrupt{}},
		"esc":   {[]string{"esc"}, op.Interrupt{}},
	} {
		r := begun().hasNot("Go on?").event(ask).pass(time.Second)
		r.has("Go on?", "has cost $5.01", "Stop here").keys(c.keys...).hasNot("Stop here")
		if got := r.ops[len(r.ops)-1]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v", name, got)
		}
	}
	begun().event(ask).has("Stop here").event(event.TurnEnded{ID: "t"}).hasNot("Stop here").has("has cost $5.01")
	begun().event(ask).has("Stop here").event(event.Answered{Answer: op.Answer{Call: "x9.1", Allow: true}}).hasNot("Stop here")
	r := begun()
	r.keys("'what").event(ask).keys("enter").has("Stop here") // it was meant for the prompt
}

// A plan can be changed in the person's editor while it is asked about; what is
// approved is what is shown then.
func TestPlanIsEdited(t *testing.T) {
	asks := func(file string) event.Asked {
		return event.Asked{Call: "p", Tool: "ExitPlanMode", View: view.Group{Blocks: []view.Block{
			view.Text{S: "# Plan\n\n1. Look\n", File: file}, view.Questions{Items: []view.Question{{Header: "Plan", Text: "Carry out this plan?", Options: []view.Option{{Label: "Yes"}}}}},
		}}}
	}
	r := newRig(t, 80, 24)
	text, wrong := "", error(nil)
	r.m.host.EditFile = func(_ context.Context, path string) error { text = "1. Look at " + path; return wrong }
	r.m.host.ReadFile = func(string) (string, error) { return text, nil }
	edits := func() {
		t.Helper()
		r.keys("'e")
		e, ok := r.effects[len(r.effects)-1].(away)
		if !ok {
			t.Fatalf("%T", r.effects[len(r.effects)-1])
		}
		r.carry(e.run(t.Context())(r.m))
	}
	r.open().event(asks("/s/plan.md")).pass(time.Second).has("1. Look", "e edits it")
	edits()
	r.has("1. Look at /s/plan.md")
	wrong = errors.New("vi: exit status 1")
	edits()
	r.has("1. Look at /s/plan.md", "vi: exit status 1").keys("enter")
	if a, _ := last[op.Answer](r); !a.Allow || len(a.Choices) != 1 {
		t.Errorf("%+v", a)
	}
	r.event(event.Answered{Answer: op.Answer{Call: "p"}}, asks("")).pass(time.Second).hasNot("edits it").keys("'e")
	if _, ok := r.effects[len(r.effects)-1].(away); ok {
		t.Error("an editor without a file")
	}
}

// A rule that cannot be read says why, as a whole, and can be mended.
func TestRuleIsMended(t *testing.T) {
	r := newRig(t, 80, 24).open().event(asked("7", "git push origin main", verdict())).pass(time.Second)
	r.keys("down", "'e", "'(", "enter").has("the closing parenthesis is missing", "Enter takes the rule")
	r.keys("backspace", "enter").hasNot("parenthesis", "Enter takes the rule").keys("enter")
	if a, ok := last[op.Answer](r); !ok || !slices.Equal(a.Rules, []string{"Bash(git push:*)"}) {
		t.Errorf("%+v", a)
	}
	r = newRig(t, 80, 24).open().event(asked("7", "git push origin main", verdict())).pass(time.Second)
	r.keys("down", "'e", "'(", "enter", "esc").hasNot("parenthesis", "Enter takes the rule").has("Bash(git push:*)")
}

// All of what a folder brings can be read before it is trusted: long lines are
// wrapped, and what does not fit is scrolled to.
func TestTrustShowsAll(t *testing.T) {
	for _, rows := range []int{24, 10} {
		r := newRig(t, 40, rows)
		r.m.host.Trust = func(context.Context) (*Trust, error) {
			return &Trust{Folder: "~/src/calc", Claims: []string{".adze/settings.json: hooks: " + longHook}, Changed: "-{}\n+{\"hooks\": 1}\n"}, nil
		}
		r.open().pass(time.Second).has("It changed since you trusted it", "No, use none of it", "Yes, I know what it does")
		all := ""
		for range 40 {
			all += r.text()
			r.keys("pgdown")
		}
		for _, want := range []string{"-{}", `+{"hooks": 1}`, "collect", "and that is at", "the end"} {
			if !strings.Contains(all, want) {
				t.Errorf("%d rows: %q is never seen:\n%s", rows, want, r.text())
			}
		}
		r.keys("enter")
		if len(r.m.dialogs) > 0 {
			t.Error("Enter did not answer")
		}
	}
}
