package tui

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
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

// Who leaves while tasks run in the background is told before that they end.
func TestLeavingEndsTasks(t *testing.T) {
	begin := func() *rig {
		return newRig(t, 80, 24).open().event(event.TaskStarted{ID: "b1", Text: "make watch"})
	}
	if r := begin().keys("ctrl+c").has("Press Ctrl+C again to quit and end 1 task").keys("ctrl+c"); !r.m.left {
		t.Error("a second Ctrl+C does not quit")
	}
	did := func(r *rig) bool {
		return slices.ContainsFunc(r.effects, func(e effect) bool {
			switch e.(type) {
			case quit, open:
				return true
			}
			return false
		})
	}
	for command, what := range map[string]string{"/exit": "Quit", "quit": "Quit", "/clear": "Leave this session"} {
		r := begin().keys("'"+command, "enter").has("1 task runs in the background", what+" and end it")
		if did(r) {
			t.Errorf("%s does not ask", command)
		}
		if r.keys("2", "enter"); did(r) || len(r.m.shown) > 0 {
			t.Errorf("%s does not stay", command)
		}
		if r.keys("'"+command, "enter", "1", "enter"); !did(r) {
			t.Errorf("%s does not happen", command)
		}
		r = begin().event(event.TaskEnded{ID: "b1"}).keys("'"+command, "enter")
		if !did(r) {
			t.Errorf("%s asks when nothing runs any more", command)
		}
	}
	r := begin()
	r.m.s.Elsewhere = true
	if r.keys("'/exit", "enter"); !did(r) {
		t.Error("it asks where nothing ends")
	}
}

// A person's own command is seen to run; Ctrl+B says that it stays, and the Ctrl+C that
// stops it does not count as the first of two that quit.
func TestOwnCommandsAreSeenToRun(t *testing.T) {
	r := newRig(t, 80, 24).open().keys("'!sleep 25", "enter").pass(3 * time.Second)
	r.has("sleep 25 · 3 s · Esc stops it").keys("ctrl+b").has("a ! command cannot go to the background")
	r.keys("ctrl+c").hasNot("again to quit")
	if _, ok := last[op.Interrupt](r); !ok {
		t.Error("Ctrl+C does not stop it")
	}
	if r.keys("ctrl+c").has("again to quit"); r.m.left { // it did not end
		t.Error("the second one quits")
	}
	o, _ := last[op.Shell](r)
	r.pass(again + time.Second).event(event.Ran{ID: o.ID, Command: o.Command}).hasNot("stops it")
	r = newRig(t, 80, 24).open().keys("'!sleep 25", "enter").event(event.TurnStarted{ID: "t"}, event.ToolStarted{Call: "c", Name: "Bash", Title: "Bash: make", Shell: true})
	r.keys("'!ls", "enter", "ctrl+b")
	if o, ok := last[op.Background](r); !ok || o.Call != "c" {
		t.Errorf("the model's command stays: %+v", o)
	}
}

// What streams is printed once, in order, whatever the pieces are; a resumed
// session shows the same.
func TestStoryIsTheSameLiveAndResumed(t *testing.T) {
	const one, two = "First **part**.\n\n- a\n- b\n\n", "Second part, after the calls."
	reply := event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		llm.Text{S: one}, llm.ToolUse{ID: "1", Name: "Read"}, llm.ToolUse{ID: "2", Name: "Read"}, llm.ToolUse{ID: "3", Name: "Bash"}, llm.Text{S: two}}}}
	durable := []event.Body{
		event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t", Model: "anthropic/sonnet-4.6"},
		event.ToolStarted{Call: "1", Name: "Read", Title: "Read a", Fold: "file"}, event.ToolStarted{Call: "2", Name: "Read", Title: "Read b", Fold: "file"},
		event.ToolFinished{Call: "1", View: view.Code{S: "x\n"}}, event.ToolFinished{Call: "2", View: view.Code{S: "y\n"}},
		event.ToolStarted{Call: "3", Name: "Bash", Title: "Bash: ls"}, event.ToolFinished{Call: "3", View: view.Terminal{Command: "ls", Output: "out\n"}},
		reply, event.TurnEnded{How: event.Done},
	}
	resumed := newRig(t, 80, 24)
	resumed.do(openedMsg{&Session{Facts: ask.Facts{Dir: "~/src/calc", Branch: "main", Model: "anthropic/sonnet-4.6"}, After: event.Seq(len(durable))}, nil})
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
		r.m.turn.over = 0 // of a turn that was not watched, nobody waits for its end
		if d := cmp.Diff(want, r.text()); d != "" {
			t.Fatalf("seed %d (-resumed +live):\n%s", seed, d)
		}
	}
}

// A reply that is longer than the screen has one bullet, at its first line, while it
// streams as well as in what is printed.
func TestLongParagraphHasOneBullet(t *testing.T) {
	for _, z := range []term.Size{{Cols: 20, Rows: 6}, {Cols: 33, Rows: 12}, {Cols: 80, Rows: 24}} {
		r := newRig(t, z.Cols, z.Rows).open().event(event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t"}, event.ReplyStarted{})
		text := words("word", 400)
		for at := 0; at < len(text); {
			n := min(7, len(text)-at)
			r.event(event.TextDelta{At: at, S: text[at : at+n]})
			at += n
			for i, l := range r.frame() {
				if begin, has := strings.CutPrefix(l.String(), "● "); has && !strings.HasPrefix(text, strings.TrimSpace(begin)) {
					t.Fatalf("%dx%d: line %d of the screen has a bullet before %q after %d bytes", z.Cols, z.Rows, i, begin, at)
				}
			}
		}
		r.event(event.PartDone{Part: llm.Text{S: text}}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: text}}}}, event.TurnEnded{How: event.Done})
		if all := r.text(); strings.Count(all, "●") != 1 || !strings.Contains(all, "● word1 ") {
			t.Errorf("%dx%d: %d bullets:\n%s", z.Cols, z.Rows, strings.Count(all, "●"), all)
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

// The prompt box stands still when a turn ends: what the turn took stands where
// the spinner was, until something else is said.
func TestPromptBoxStandsStillWhenATurnEnds(t *testing.T) {
	box := func(r *rig) int { return len(strings.Split(strings.Split(r.text(), "╭")[0], "\n")) }
	for text, took := range map[string]string{"Plain.": "3 s", "Code:\n\n```\nls\n```\n": "3 s", "Soon.": ""} {
		r := newRig(t, 80, 24).open().event(event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t", Model: "anthropic/sonnet-4.6"}, event.ReplyStarted{}, event.TextDelta{S: text})
		if took != "" {
			r.pass(3 * time.Second)
		}
		r.has("interrupts")
		was := box(r)
		r.event(event.PartDone{Part: llm.Text{S: text}}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: text}}}}, event.TurnEnded{ID: "t"})
		r.has(took).hasNot("interrupts")
		if is := box(r); is != was {
			t.Errorf("%q: it went from row %d to %d:\n%s", text, was, is, r.text())
		}
		if r.m.note("info", "Something else.", ""); took != "" {
			r.hasNot(took)
		}
	}
}

// What is said about a second Ctrl+C goes when it is not so any more: with any other key.
func TestOtherKeysDisarmQuit(t *testing.T) {
	for _, key := range []string{"shift+tab", "ctrl+x", "ctrl+l", "left"} {
		r := newRig(t, 80, 24).open().keys("ctrl+c").has("Ctrl+C again to quit").keys(key).hasNot("again to quit")
		if r.keys("ctrl+c"); r.m.left {
			t.Errorf("it was left, with %s between", key)
		}
	}
	newRig(t, 80, 24).open().keys("ctrl+d").keys("ctrl+c").has("Ctrl+C again to quit").keys("ctrl+x").has("Ctrl+X …")
	r := newRig(t, 80, 24).open().keys("ctrl+c").has("Ctrl+C again to quit").keys("'a").hasNot("again to quit")
	if r.keys("ctrl+c"); r.m.left {
		t.Error("it was left")
	}
	newRig(t, 80, 24).open().keys("'/todos ", "enter").has("there is no todo list")
}

// TestTaskThatEnded: the end of a background task is told for good, and what it wrote
// can be looked at.
func TestTaskThatEnded(t *testing.T) {
	r := newRig(t, 80, 24)
	r.desk.Output = func(id string) string { return map[string]string{"b1": "forty-two\n"}[id] }
	r.m.host.ReadFile = func(string) (string, error) { return "", errors.New("another file") }
	r.open().event(event.TaskStarted{ID: "b1", Call: "1", Text: "make watch"}).event(event.TaskStarted{ID: "b2", Call: "2", Text: "sleep 9"})
	r.event(event.TaskEnded{ID: "b1", Exit: 3, Took: 15 * time.Second, Output: "/out"})
	r.has("The background task b1 (make watch) ended after 15 s with exit code 3.", "/tasks shows what it wrote")
	r.keys("'/tasks", "enter").has("b2  sleep 9", "b1  make watch", "ended", "Enter shows what it wrote, x stops it")
	r.keys("down", "enter").has("forty-two")
	r.event(event.TaskEnded{ID: "b2", Killed: "stopped"})
	r.has("The background task b2 (sleep 9) was stopped.")
}

// Where there is no session, Enter asks again what to do about that.
func TestNoSessionIsNoDeadEnd(t *testing.T) {
	r := newRig(t, 80, 24)
	r.do(openedMsg{nil, errors.New("the session is damaged")})
	r.has("╭ There is no session").pass(time.Second).keys("esc").hasNot("╭ There is no session").has("Enter says how to go on")
	r.keys("enter").has("╭ There is no session")
}

// A line for a memory file is told to the model that runs, too.
func TestALineToRememberCountsAtOnce(t *testing.T) {
	r := newRig(t, 80, 24)
	r.desk.Memory = func() []Choice { return []Choice{{ID: "/w/AGENTS.md", Name: "this project"}} }
	r.desk.Note = func(string, string) error { return nil }
	r.open().keys("'#always use tabs", "enter", "1", "enter").has("added to this project: always use tabs", "this session is told, too")
	if o, ok := last[op.Notify](r); !ok || !strings.HasSuffix(o.Text, "\nalways use tabs") || o.Wake != "" {
		t.Errorf("%+v", o)
	}
}

// What is told while a reply streams does not change what the model does.
func TestNotesDoNotEndTheWriting(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.TextDelta{S: "Once upon"}).has("Writing")
	r.m.report("btw", "An answer.")
	r.has("An answer.", "Writing").hasNot("Thinking")
}

// Why a request is sent again counts more than what was spent.
func TestWhyItWaitsIsSeen(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.TextDelta{S: strings.Repeat("word ", 200)},
		event.Waiting{Attempt: 3, Max: 3, For: 4 * time.Second, Err: "the connection was closed"})
	r.pass(2 * time.Second).has("Again in 2 s (3 of 3): the connection was closed · 2 s · Esc interrupts")
}

// A todo list that is done goes with the turn in which it was.
func TestDoneListsLeave(t *testing.T) {
	list := func(call string, s view.TaskStatus) event.Body {
		return event.ToolFinished{Call: call, Name: "TodoWrite", View: view.Tasks{Items: []view.Task{{Text: "fix the bug", Status: s}}}}
	}
	r := newRig(t, 80, 24).open()
	r.event(event.TurnStarted{ID: "t"}, list("1", view.InProgress)).has("◐ fix the bug")
	r.event(list("2", view.Completed)).has("☑ fix the bug")
	r.event(event.TurnEnded{ID: "t", How: event.Done}).hasNot("fix the bug")
	r.event(event.TurnStarted{ID: "u"}).hasNot("fix the bug")
	r.event(list("3", view.Pending)).has("☐ fix the bug")
	r.event(event.TurnEnded{ID: "u", How: event.Done}, event.TurnStarted{ID: "v"}).has("☐ fix the bug")
}
