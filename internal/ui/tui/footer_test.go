package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/view"
)

// The branch stands in the footer wherever there is room for it.
func TestFooterHasTheBranchWhereItFits(t *testing.T) {
	for cols, want := range map[int]bool{100: true, 80: true, 62: true, 50: false} {
		r := newRig(t, cols, 24).open()
		lines := r.frame()
		if got := strings.Contains(lines[len(lines)-1].String(), "· main"); got != want {
			t.Errorf("at %d columns: %t\n%s", cols, got, draw.TextOf(lines))
		}
	}
}

// The footer has the folder that commands run in, where it is not the session's.
func TestFooterHasTheFolderOfCommands(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.SessionStarted{ID: "s", Dir: "/home/u/src/calc"})
	r.m.s.Home = "/home/u"
	for dir, want := range map[string]string{"/home/u/src/calc/a/b": " in a/b ", "/home/u/other": " in ~/other ", "/home/u/src/calc": ""} {
		lines := r.event(event.Ran{ID: "x", Command: "cd", View: view.Text{}, Dir: dir}).frame()
		if got := lines[len(lines)-1].String(); !strings.Contains(got, want) || (want == "") == strings.Contains(got, " in ") {
			t.Errorf("%s: %q", dir, got)
		}
	}
}

// What is said for a while covers no mode, and goes when something opens.
func TestFlashCoversNoMode(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.ModeChanged{Mode: policy.AcceptEdits})
	r.m.say("the editor: not found", draw.Wrong)
	last := func() string { l := r.frame(); return l[len(l)-1].String() }
	if s := last(); !strings.Contains(s, "the editor") || !strings.Contains(s, "accepts edits") {
		t.Errorf("%q", s)
	}
	r.event(asked("c", "ls", verdict())).pass(time.Millisecond)
	if s := r.live(); strings.Contains(s, "the editor") {
		t.Errorf("it stays below what opened:\n%s", s)
	}
	r = newRig(t, 80, 24)
	r.m.say("there is no session to send it to", draw.Wrong)
	if r.open(); strings.Contains(r.live(), "no session") {
		t.Error("it stays when there is a session")
	}
}

// The words with which other programs are left end adze, and are no prompt.
func TestWordsThatLeave(t *testing.T) {
	for words, want := range map[string]bool{"exit": true, " quit ": true, ":q": true, "exit now": false} {
		r := newRig(t, 80, 24).open().keys("'"+words, "enter")
		if r.m.left != want {
			t.Errorf("%q leaves: %t", words, r.m.left)
		}
	}
}

// On the whole screen what a command prints is seen, however far up one was.
func TestCommandGoesToTheEnd(t *testing.T) {
	r := newRig(t, 80, 24)
	s := &Session{Facts: ask.Facts{ID: "s", Dir: "~", Model: "a/b"}, UI: Settings{Fullscreen: true}}
	r.do(openedMsg{s, nil})
	for range 40 {
		r.event(event.InputAccepted{ID: "p", Text: "a question"})
	}
	r.frame()
	r.keys("pgup")
	r.frame()
	if r.m.scroll.follow {
		t.Fatal("PgUp stays at the end")
	}
	r.keys("'/cost", "enter")
	if !r.m.scroll.follow {
		t.Error("what it prints is below the screen")
	}
}

// A prompt that another process left comes back when its session is taken up later,
// too.
func TestLostPromptComesBackWithItsSession(t *testing.T) {
	r := lostRig(t)
	r.has("is in the history")
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "old", Dir: "~", Model: "a/b"}}, nil})
	if got := r.m.box.Text(); got != "half a prompt" {
		t.Errorf("the box has %q", got)
	}
	r.has("in the prompt again")
}

func lostRig(t *testing.T) *rig {
	r := newRig(t, 100, 24)
	r.m.host.Remember = func(history.Entry) {}
	r.m.host.Keep = func(string, edit.Prompt) error { return nil }
	r.m.host.Lost = func(context.Context, string) (*Lost, error) {
		return &Lost{Killed: true, Session: "old", Title: "It", Ago: "1m", Entry: history.Entry{Text: "half a prompt"}}, nil
	}
	return r.open()
}
