package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// A hook that takes its time is named, in the words of the settings; the newest
// runs of each event are kept for who asks what hooks did.
func TestHooksAreShown(t *testing.T) {
	m := &Model{now: time.Unix(100, 0)}
	at := func(s int64, b event.Body) { m.hooked(event.Event{Time: time.Unix(s, 0), Body: b}) }
	at(98, event.HookStarted{ID: 1, Event: "Stop", Name: "lint \x1b[31mall", Status: "Linting", Input: `{"stop_hook_active":false}`})
	if got := m.slowHook(m.now); got != "Linting" {
		t.Errorf("it shows %q", got)
	}
	at(99, event.HookEnded{ID: 1, Event: "Stop", Name: "lint", Code: 2, Stderr: "three faults\nin\nfour\nfiles\x1b[2J\n!", Stdout: "{}\n", Took: time.Second})
	at(99, event.HookStarted{ID: 2, Event: "Stop", Name: "other"})
	m.now = time.Unix(99, 0)
	if got := m.slowHook(m.now); got != "" {
		t.Errorf("it shows %q before a second has passed", got)
	}
	want := `, code 2, after 1.0 s
          input: {"stop_hook_active":false}
          stderr: three faults
                  in
                  four
                  [2 lines more]
          stdout: {}
`
	if r := m.hookReport(m.now); !strings.Contains(r, want[2:]) || strings.ContainsRune(r, 0x1b) {
		t.Errorf("%s", r)
	}
	at(99, event.HookEnded{ID: 2, Event: "Stop", Name: "other", Err: "did not answer within 2.0 s", Took: 2 * time.Second})
	if r := m.hookReport(m.now); !strings.Contains(r, "other  did not answer within 2.0 s, after 2.0 s\n") {
		t.Errorf("%s", r)
	}
	for i := range 50 {
		at(99, event.HookStarted{ID: 10 + i, Event: "PreToolUse", Name: fmt.Sprint(i)})
		at(99, event.HookEnded{ID: 10 + i, Event: "PreToolUse", Name: fmt.Sprint(i)})
	}
	if n := len(m.hooks); n < hookRuns+2 || n > hookRuns+3 {
		t.Errorf("%d runs are kept", n)
	}
	if r := m.hookReport(m.now); !strings.Contains(r, "three faults") || strings.Contains(r, " 3  code") {
		t.Errorf("the wrong ones were let go: %s", r)
	}
}

// While hooks look at a prompt that is seen, and Esc ends them and gives the
// prompt back.
func TestPromptThatHooksLookAt(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'deploy it", "enter").event(event.InputQueued{ID: "id1", Text: "deploy it"}, event.HookStarted{ID: 1, Event: "UserPromptSubmit", Name: "guard", Status: "Asking the guard"})
	if at := r.m.wake(); !at.Equal(r.now.Add(slowHook)) {
		t.Errorf("woken at %s", at)
	}
	r.hasNot("Asking the guard")
	r.pass(1200*time.Millisecond).has("Asking the guard", "1 s", "Esc takes the prompt back", "› deploy it")
	r.keys("esc")
	if u, ok := last[op.Unqueue](r); !ok || u.ID != "id1" {
		t.Errorf("%+v", u)
	}
	if _, ok := last[op.Interrupt](r); !ok {
		t.Error("the hook goes on")
	}
	r.event(event.InputRemoved{ID: "id1"}, event.HookEnded{ID: 1, Event: "UserPromptSubmit"}).pass(time.Second)
	if r.hasNot("Asking the guard"); r.m.box.Text() != "deploy it" || !r.m.wake().IsZero() && r.m.flash.text == "" {
		t.Errorf("the box has %q", r.m.box.Text())
	}
	r.keys("enter", "up").hasNot("takes it back")
	if got := r.m.box.Text(); !strings.Contains(got, "deploy it") {
		t.Errorf("taken back: %q", got)
	}
	r.keys("ctrl+c", "'slow", "enter").pass(2 * time.Second).has("Preparing the prompt")
	r.event(event.TurnStarted{ID: "t"}).hasNot("takes the prompt back")
}
