package tui

import (
	"context"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
)

// What is typed is on disk a second later, and nothing is written, and nothing
// wakes the UI, while nothing is typed.
func TestDraftIsKept(t *testing.T) {
	r := newRig(t, 80, 24)
	var kept []string
	r.m.host.Keep = func(session string, p edit.Prompt) error {
		kept = append(kept, session+": "+p.Shown)
		return nil
	}
	r.open()
	r.keys("'half a").pass(draftWait / 2)
	if kept != nil {
		t.Errorf("at once: %q", kept)
	}
	r.keys("' thought").pass(draftWait / 2)
	if len(kept) != 1 || kept[0] != "0199c5a2: half a thought" {
		t.Fatalf("%q", kept)
	}
	if at := r.m.wake(); !at.IsZero() {
		t.Errorf("it wants to be woken at %s", at)
	}
	r.keys("left").pass(draftWait)
	if len(kept) != 1 {
		t.Errorf("written without a change: %q", kept)
	}
	r.keys("enter").pass(draftWait)
	if len(kept) != 2 || kept[1] != "0199c5a2: " {
		t.Errorf("after it was sent: %q", kept)
	}
}

func TestLostSessionIsNamed(t *testing.T) {
	lost := func(s Start, l Lost, taken *int) *rig {
		r := newRig(t, 80, 24)
		r.m.start = s
		l.Taken = func() error { *taken++; return nil }
		r.m.host.Lost = func(context.Context, string) (*Lost, error) { return &l, nil }
		return r.open()
	}
	l := Lost{Killed: true, Session: "0199aaaa", Title: "Mend the parser", Ago: "3m", Entry: history.Entry{Text: "and then test"}}
	n := 0
	r := lost(Start{}, l, &n).has("cut off 3m ago: Mend the parser", "/resume 0199aaaa", "and then test", "is in the prompt again")
	if n != 1 || r.m.box.Text() != "and then test" {
		t.Errorf("taken %d times; the box has %q", n, r.m.box.Text())
	}
	n = 0
	if lost(Start{Continue: true}, l, &n).hasNot("cut off"); n != 0 {
		t.Error("another session took what this one left")
	}
	l.Session = "0199c5a2" // the one that is opened
	if r := lost(Start{Continue: true}, l, &n).hasNot("cut off"); r.m.box.Text() != "and then test" || n != 1 {
		t.Errorf("the box has %q", r.m.box.Text())
	}
	// What is typed next is not one text with what another session left.
	r = newRig(t, 80, 24)
	r.m.host.Remember = func(history.Entry) {}
	r.m.host.Lost = func(context.Context, string) (*Lost, error) { return &Lost{Entry: history.Entry{Text: "old"}}, nil }
	if r.open().has("in the history").keys("'new"); r.m.box.Text() != "new" {
		t.Errorf("box %q", r.m.box.Text())
	}
	// Somebody writes already: nothing is mixed into it.
	r = newRig(t, 80, 24)
	var remembered string
	r.m.host.Remember = func(e history.Entry) { remembered = e.Text }
	r.m.host.Lost = func(context.Context, string) (*Lost, error) { return &Lost{Entry: history.Entry{Text: "old"}}, nil }
	r.keys("'new")
	if r.open().has("in the history"); r.m.box.Text() != "new" || remembered != "old" {
		t.Errorf("box %q, history %q", r.m.box.Text(), remembered)
	}
	r.event(event.TurnStarted{ID: "t"}, event.TurnEnded{}).pass(time.Minute)
}

// Pictures of a prompt that was not sent are in it again.
func TestLostPictures(t *testing.T) {
	r := newRig(t, 80, 24)
	l := Lost{Session: "0199c5a2", Entry: history.Entry{Text: "see [Image 1] and [Image 2]!"}, Images: []edit.Image{{MediaType: "image/png", Data: []byte("one")}, {MediaType: "image/png", Data: []byte("two")}}}
	r.m.host.Lost = func(context.Context, string) (*Lost, error) { return &l, nil }
	r.open().keys("enter")
	if p, _ := last[op.Prompt](r); p.Text != "see [Image 1] and [Image 2]!" || len(p.Images) != 2 || string(p.Images[1].Data) != "two" {
		t.Errorf("sent %+v", p)
	}

	r = newRig(t, 80, 24)
	l.Session = "another"
	r.m.host.Remember = func(history.Entry) {}
	r.m.host.Lost = func(context.Context, string) (*Lost, error) { return &l, nil }
	r.open().has("in the history", "without its 2 images")
}
