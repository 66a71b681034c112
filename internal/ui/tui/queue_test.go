package tui

import (
	"errors"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

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
