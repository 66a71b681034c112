package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	effects "github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// hostileName is a file name that would like to say something else.
const hostileName = "/home/u/src/calc/a\x1b[2J\u202egpj.exe\nb"

// spoken is a session of three prompts; the second changed two files.
func spoken(r *rig) *rig {
	r.open().event(event.SessionStarted{ID: "0199c5a2", Dir: "/home/u/src/calc"})
	for i, text := range []string{"Look around.", "Repair the sum,\nand its test.", "Tidy up."} {
		id := fmt.Sprint("p", i)
		r.event(event.InputAccepted{ID: id, Text: text}, event.TurnStarted{ID: "t" + id})
		if i == 1 {
			for _, path := range []string{"/home/u/src/calc/calc.go", hostileName, "/home/u/src/calc/calc.go"} {
				r.event(event.ToolFinished{Call: path, Name: "Edit", Effects: []effects.Effect{effects.Changed{Files: []effects.Change{{Path: path}}}}})
			}
		}
		r.event(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: fmt.Sprint("Answer ", i, ".")}}}}, event.TurnEnded{ID: "t" + id})
		r.pass(5 * time.Minute)
	}
	return r
}

// seqOf is the event that told of a prompt.
func (r *rig) seqOf(id string) event.Seq {
	for _, it := range r.m.story.Items {
		if it.ID == id {
			return it.Seq
		}
	}
	r.t.Fatalf("no prompt %s", id)
	return 0
}

func planOf(id string) event.RewindPlan {
	return event.RewindPlan{ID: id, Files: []event.FileChange{
		{Path: "/home/u/src/calc/calc.go", Kind: "changed", Added: 3, Removed: 1}, {Path: hostileName, Kind: "removed", Removed: 12, Foreign: true},
		{Path: "/etc/motd", Kind: "mode"},
	}, Lost: []string{"/home/u/src/calc/big.bin: it was too large to keep"}}
}

func TestRewindGoesBack(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want op.Rewind
		text string
	}{
		{"both", []string{"enter"}, op.Rewind{To: "p1", Conversation: true, Code: true}, "Repair the sum,\nand its test."},
		{"conversation", []string{"down", "enter"}, op.Rewind{To: "p1", Conversation: true}, "Repair the sum,\nand its test."},
		{"code", []string{"3", "enter"}, op.Rewind{To: "p1", Code: true}, ""},
		{"cancel", []string{"6", "enter"}, op.Rewind{To: "p1", Conversation: true, Code: true, Preview: true}, ""},
		{"escape", []string{"esc"}, op.Rewind{To: "p1", Conversation: true, Code: true, Preview: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := spoken(newRig(t, 80, 30)).keys("esc", "esc")
			if s := r.live(); !strings.Contains(s, "❯ Tidy up.") || !strings.Contains(s, "2 files changed · 10 min") {
				t.Fatalf("the prompts:\n%s", s)
			}
			r.keys("up", "enter")
			if s := r.live(); !strings.Contains(s, "looking") {
				t.Errorf("nothing says that it looks:\n%s", s)
			}
			r.keys("enter") // nothing can be chosen yet
			r.event(planOf("p9"), planOf("p1"))
			r.keys(c.keys...)
			if got, _ := last[op.Rewind](r); got != c.want {
				t.Errorf("asked for %+v", got)
			}
			if got := r.m.box.Text(); got != c.text {
				t.Errorf("the prompt box has %q", got)
			}
			if len(r.m.shown) != 0 {
				t.Error("the dialog is still there")
			}
		})
	}
}

// The dialog shows file names as they are and in one line each.
func TestRewindShowsWhatWouldChange(t *testing.T) {
	r := spoken(newRig(t, 100, 30)).keys("'/rewind", "enter", "up", "enter").event(planOf("p1"))
	s := r.live()
	for _, want := range []string{"3 files would change on disk", "+3 −13", `a\x1b[2J\u202egpj.exe\nb`, "changed since by something else", "/etc/motd", "cannot be put back: /home/u/src/calc/big.bin"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
}

// What was taken back is a line for each prompt, and all of it, quietly, in the
// transcript. Undo brings it back and takes back what came meanwhile.
func TestRewoundIsMarked(t *testing.T) {
	r := spoken(newRig(t, 80, 40))
	to := r.seqOf("p1")
	r.event(event.Rewound{To: to, ID: "p1", Text: "Repair the sum", Conversation: true, Problems: []string{"x: gone"}})
	rewind := r.seq
	r.event(event.InputAccepted{ID: "p3", Text: "Another way."}, event.TurnEnded{})
	back := func() (out string) {
		for _, it := range r.m.story.Items {
			if it.Kind == story.Said && it.Back != 0 {
				out += " " + it.ID
			}
		}
		return out
	}
	if got := back(); got != " p1 p2" {
		t.Errorf("taken back:%s", got)
	}
	r.has("Not put back: x: gone")
	r.keys("ctrl+o", "g")
	full := draw.TextOf(r.frame())
	if !strings.Contains(full, "Answer 1.") || strings.Count(full, "taken back") < 2 {
		t.Errorf("the transcript:\n%s", full)
	}
	r.keys("q", "'/copy", "enter")
	if c, ok := r.effects[len(r.effects)-1].(clipping); !ok || c.text != "Answer 0." {
		t.Errorf("copied %+v", r.effects[len(r.effects)-1])
	}
	r.keys("'/rewind", "enter")
	if s := r.live(); strings.Contains(s, "Tidy up") || !strings.Contains(s, "Take the last rewind back") {
		t.Errorf("the prompts:\n%s", s)
	}
	r.keys("esc", "'/rewind --undo", "enter").event(event.RewindPlan{Dropped: 1}).has("What was said since goes: 1 prompt. Another undo brings it back.").keys("enter")
	if got, _ := last[op.Rewind](r); got != (op.Rewind{Undo: true, Conversation: true}) {
		t.Errorf("undo asks for %+v", got)
	}
	r.event(event.Rewound{To: rewind, Undo: true, Conversation: true, Dropped: 1})
	if got := back(); got != " p3" {
		t.Errorf("taken back after undo:%s", got)
	}
	r.keys("'/rewind", "enter")
	if s := r.live(); strings.Contains(s, "Another way") || !strings.Contains(s, "Tidy up") || !strings.Contains(s, "Take the last rewind back") {
		t.Errorf("the prompts after undo:\n%s", s)
	}
}

// What a rewind puts into the box steps aside for a command that is typed at once, and
// comes back behind it; the rewind's undo takes it out again.
func TestCommandBehindWhatWasTakenBack(t *testing.T) {
	taken := "Repair the sum,\nand its test."
	back := func(t *testing.T) *rig {
		r := spoken(newRig(t, 80, 30)).keys("esc", "esc", "up", "enter").event(planOf("p1"))
		return r.keys("enter")
	}
	box := func(r *rig, want string) {
		t.Helper()
		if got := r.m.box.Text(); got != want {
			t.Errorf("the prompt box has %q, want %q", got, want)
		}
	}
	r := back(t)
	r.keys("'/rewind undo")
	box(r, "/rewind undo")
	r.has("stashed (Ctrl+S)")
	r.keys("enter").event(event.RewindPlan{Dropped: 1})
	box(r, taken)
	r.keys("enter")
	if got, _ := last[op.Rewind](r); got != (op.Rewind{Undo: true, Conversation: true, Code: true}) {
		t.Errorf("asked for %+v", got)
	}
	box(r, "")

	r = back(t)
	r.keys("'/mode", "enter", "esc") // one command, and another
	box(r, taken)
	r.keys("'/", "'mode", "enter", "esc")
	box(r, taken)
	r.keys("'/", "backspace") // it is meant as text
	box(r, taken)
	r.keys("'/x")
	box(r, taken+"/x")

	r = back(t)
	r.keys("'.", "'/x") // no command at once
	box(r, taken+"./x")

	r = back(t)
	r.keys("'/foo/bar is a path", "enter") // nor one that is sent
	if got, _ := last[op.Prompt](r); got.Text != "/foo/bar is a path" {
		t.Errorf("sent %+v", got)
	}
	r.has("stashed").keys("ctrl+s")
	box(r, taken)
}

// A session without a record of files goes back in its conversation.
func TestRewindWithoutFiles(t *testing.T) {
	r := spoken(newRig(t, 80, 30)).keys("esc", "esc", "enter")
	r.m.planned(event.RewindPlan{ID: "p2"})
	if s := r.live(); !strings.Contains(s, "No file would change.") || strings.Contains(s, "Code") {
		t.Errorf("\n%s", s)
	}
}

func TestRewindWaitsForTheTurn(t *testing.T) {
	r := spoken(newRig(t, 80, 30)).event(event.InputAccepted{ID: "x", Text: "y"}, event.TurnStarted{ID: "t"})
	r.keys("'/rewind", "enter")
	r.has("interrupt it first")
	if len(r.m.shown) != 0 {
		t.Error("a dialog opened")
	}
	r.keys("esc", "esc")
	if len(r.m.shown) != 0 {
		t.Error("a dialog opened by Esc Esc")
	}
}

// A part of the conversation is compacted from a prompt of a list on, or up to it.
func TestCompactAPart(t *testing.T) {
	for _, c := range []struct {
		line string
		keys []string
		want op.Compact
	}{
		{"/compact --from", []string{"enter"}, op.Compact{From: "p2"}},
		{"/compact --from the sums, mostly", []string{"up", "enter"}, op.Compact{From: "p1", Focus: "the sums, mostly"}},
		{"/compact --up-to", []string{"up", "up", "enter"}, op.Compact{UpTo: "p1"}}, // nothing is before the first one
		{"/compact --up-to 2", nil, op.Compact{UpTo: "2"}},
		{"/compact --from 0", nil, op.Compact{}},
	} {
		r := spoken(newRig(t, 80, 30)).keys("'"+c.line, "enter")
		if c.keys != nil {
			r.has("❯ Tidy up.", "Repair the sum,")
		}
		r.keys(c.keys...)
		if got, _ := last[op.Compact](r); got != c.want {
			t.Errorf("%s asked for %+v", c.line, got)
		}
	}
	newRig(t, 80, 30).open().keys("'/compact --from", "enter").has("there is no prompt to choose")

	for choice, want := range map[string]op.Compact{"4": {From: "p1"}, "5": {UpTo: "p1"}} {
		r := spoken(newRig(t, 80, 30)).keys("esc", "esc", "up", "enter").event(planOf("p1")).has("Compact from here on", "Compact what came before")
		n := len(r.ops)
		r.keys(choice, "enter")
		if got, _ := last[op.Compact](r); got != want || len(r.ops) != n+1 {
			t.Errorf("asked for %+v", r.ops[n:])
		}
	}
}

// A rewind of many files is seen to run and how far it is; Esc and Ctrl+C stop it, once.
func TestARewindIsSeenToRun(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+c"} {
		r := spoken(newRig(t, 80, 24)).keys("'/rewind", "enter", "up", "enter").event(planOf("p1"))
		var end func(*Model, error) []effect
		for _, e := range r.m.first().(*menu).chosen(r.m, Choice{ID: "both"}) {
			end = e.(submit).then // the session takes its time
		}
		r.m.close(r.m.first())
		r.has("Going back · Esc stops it").event(event.Rewinding{Done: 1200, Of: 6001}).has("Going back · 1,200 of 6001 files · Esc stops it")
		if at := r.m.wake(); at.Sub(r.now) > spinEvery {
			t.Error("the spinner stands still")
		}
		n := len(r.ops)
		r.keys("'/rewind", "enter").has("something runs").keys(key).has("Stopping: files become what they were")
		if r.keys("esc"); len(r.ops) != n+1 || r.ops[n] != (op.Interrupt{}) || r.m.left {
			t.Errorf("%s: %+v", key, r.ops[n:])
		}
		r.event(event.Rewound{To: r.seqOf("p1"), ID: "p1", Text: "Repair the sum", Code: true, Cut: "interrupted"})
		r.carry(end(r.m, errors.New("cut off")))
		r.hasNot("Stopping: ").has("was cut off (interrupted). Files are as")
		if strings.Count(r.text(), "cut off") != 1 {
			t.Errorf("it is said twice:\n%s", r.text())
		}
	}
}
