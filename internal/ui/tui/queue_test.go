package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/history"
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
	r.has("› second", "› third", "takes it back").keys("'x").hasNot("takes it back").keys("backspace")
	r.keys("up")
	if u, ok := last[op.Unqueue](r); !ok || u.ID != "id3" || r.m.box.Text() != "third" {
		t.Errorf("%+v, box %q", u, r.m.box.Text())
	}
	r.event(event.InputRemoved{ID: "id3"}, event.InputAccepted{ID: "id2", Text: "second", Steer: true})
	if len(r.m.queue) != 0 {
		t.Errorf("%d still wait", len(r.m.queue))
	}
}

// A prompt that another terminal sent waits in the queue of this one, too: Esc takes it back
// before it stops the turn, or it would begin the next.
func TestQueueOfAnotherTerminal(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, event.InputQueued{ID: "other", Text: "queued from c"})
	r.has("› queued from c").event(event.InputRemoved{ID: "other"}).hasNot("queued from c")
	r.event(event.InputQueued{ID: "more", Text: "and more"}).keys("esc")
	if u, ok := last[op.Unqueue](r); !ok || u.ID != "more" || r.m.box.Text() != "and more" {
		t.Errorf("%+v, the box has %q", u, r.m.box.Text())
	}
	if _, ok := last[op.Interrupt](r); !ok {
		t.Error("the turn goes on")
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

// What an earlier process left waiting is in the list, is taken back and sent
// like what waits now, and begins nothing by itself.
func TestQueueOfAnEarlierProcess(t *testing.T) {
	begin := func() *rig {
		r := newRig(t, 80, 24)
		r.m.host.Remember = func(history.Entry) {}
		es := []event.Body{
			event.InputAccepted{ID: "p", Text: "build it"}, event.TurnStarted{ID: "t"},
			event.InputQueued{ID: "a", Text: "then test"}, event.InputQueued{ID: "b", Text: "then ship", Typed: op.All("then ship"), Later: true},
			event.TurnEnded{ID: "t", How: event.Interrupted},
		}
		r.do(openedMsg{&Session{Facts: ask.Facts{Dir: "~/src/calc", Model: "m/x"}, After: event.Seq(len(es))}, nil})
		return r.event(es...).has("› then test", "before the next prompt", "› then ship", "takes it back", "Enter sends what waits")
	}
	r := begin().hasNot("Enter with an empty prompt goes on with it")
	if u, sent := last[op.Unqueue](r); sent {
		t.Errorf("taken back by itself: %+v", u)
	}
	if at := r.m.wake(); !at.IsZero() {
		t.Errorf("it wants to be woken at %s", at)
	}
	r.keys("up")
	if u, _ := last[op.Unqueue](r); u.ID != "b" || r.m.box.Text() != "then ship" || len(r.m.queue) != 1 {
		t.Errorf("%+v, box %q, %d wait", u, r.m.box.Text(), len(r.m.queue))
	}
	r.keys("enter") // what waits goes before it
	if p, _ := last[op.Prompt](r); p.Text != "then ship" || len(r.m.queue) != 2 || r.m.queue[0].id != "a" || !r.m.awaited() {
		t.Errorf("%+v, %+v wait", p, r.m.queue)
	}

	r = begin().keys("enter")
	var sent []string
	for _, o := range r.ops {
		if p, ok := o.(op.Prompt); ok {
			sent = append(sent, p.Text)
			if whole := p.Typed == op.All(p.Text); whole != (p.Text == "then ship") { // nobody typed the other one
				t.Errorf("%+v", p)
			}
		}
	}
	if len(sent) != 2 || sent[0] != "then test" || sent[1] != "then ship" {
		t.Errorf("sent %q", sent)
	}
	r.hasNot("before the next prompt")

	r = begin()
	r.do(openedMsg{&Session{Facts: ask.Facts{Dir: "~/src/calc", Model: "m/x"}}, nil}) // another session
	if p, ok := last[op.Prompt](r); ok || len(r.m.queue) != 0 {
		t.Errorf("another session was sent %+v, and has %+v", p, r.m.queue)
	}
}

// Esc stops, whatever waits: that goes back into the prompt box, in its order and
// before what stands there, and is not sent.
func TestEscapeTakesTheQueueBack(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+c"} {
		r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"})
		r.keys("'first", "enter", "'later", "tab", "'third", "enter")
		if key == "esc" {
			r.keys("'half a")
		}
		sent := len(r.ops)
		r.keys(key)
		var did []string
		for _, o := range r.ops[sent:] {
			switch o := o.(type) {
			case op.Unqueue:
				did = append(did, o.ID)
			case op.Interrupt:
				did = append(did, "stop")
			default:
				t.Errorf("%T", o)
			}
		}
		if got := strings.Join(did, " "); got != "id3 id2 id1 stop" {
			t.Errorf("%s: %s", key, got)
		}
		want := "first\nlater\nthird"
		if key == "esc" {
			want += "\nhalf a"
		}
		if r.m.box.Text() != want || len(r.m.queue) != 0 {
			t.Errorf("%s: the box has %q, %d wait", key, r.m.box.Text(), len(r.m.queue))
		}
		r.event(event.InputRemoved{ID: "id1"}, event.TurnEnded{ID: "t", How: event.Interrupted}).keys(key)
		if r.m.box.Text() != want || len(r.ops) != sent+4 {
			t.Errorf("%s: a second one: box %q, %+v", key, r.m.box.Text(), r.ops[sent+4:])
		}
		if key == "ctrl+c" {
			continue // the second one left
		}
		r.pass(again).keys("esc", "esc")
		if r.m.box.Text() != "" {
			t.Errorf("%s: Esc Esc leaves %q", key, r.m.box.Text())
		}
	}
}

// What the model has by then is not in the box as well.
func TestEscapeLeavesWhatTheModelHas(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"})
	r.keys("'first", "enter", "'second", "enter")
	out := r.m.interrupt()
	out = out[0].(submit).then(r.m, nil)
	out = out[0].(submit).then(r.m, errors.New("the model has it"))
	if s, ok := out[0].(submit); !ok || s.op != (op.Interrupt{}) || r.m.box.Text() != "second" {
		t.Errorf("%+v, box %q", out, r.m.box.Text())
	}
}
