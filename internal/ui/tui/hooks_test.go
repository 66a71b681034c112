package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

// A hook that takes its time is named, in the words of the settings; the newest
// runs of each event are kept for who asks what hooks did.
func TestHooksAreShown(t *testing.T) {
	m := &Model{now: time.Unix(100, 0)}
	at := func(s int64, b event.Body) { m.hooked(event.Event{Time: time.Unix(s, 0), Body: b}) }
	at(98, event.HookStarted{ID: 1, Event: "Stop", Name: "lint \x1b[31mall", Status: "Linting"})
	if got := m.slowHook(); got != "Linting" {
		t.Errorf("it shows %q", got)
	}
	at(99, event.HookEnded{ID: 1, Event: "Stop", Name: "lint", Code: 2, Stderr: "three faults", Took: time.Second})
	at(99, event.HookStarted{ID: 2, Event: "Stop", Name: "other"})
	m.now = time.Unix(99, 0)
	if got := m.slowHook(); got != "" {
		t.Errorf("it shows %q before a second has passed", got)
	}
	if r := m.hookReport(); !strings.Contains(r, "code 2 after 1.0 s") || !strings.Contains(r, "three faults") || strings.ContainsRune(r, 0x1b) {
		t.Errorf("%q", r)
	}
	for i := range 50 {
		at(99, event.HookStarted{ID: 10 + i, Event: "PreToolUse", Name: fmt.Sprint(i)})
		at(99, event.HookEnded{ID: 10 + i, Event: "PreToolUse", Name: fmt.Sprint(i)})
	}
	if n := len(m.hooks); n < hookRuns+2 || n > hookRuns+3 {
		t.Errorf("%d runs are kept", n)
	}
	if r := m.hookReport(); !strings.Contains(r, "three faults") || strings.Contains(r, " 3  code") {
		t.Errorf("the wrong ones were let go: %s", r)
	}
}
