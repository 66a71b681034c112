package tui

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// What may be said next stands in grey in the empty prompt box. Tab takes it, typing hides it,
// and the next turn takes it away.
func TestSuggestion(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.event(event.Suggested{Text: "run the tests again"})
	shown := func(want bool) {
		t.Helper()
		if got := strings.Contains(r.text(), "run the tests again  Tab"); got != want {
			t.Errorf("it is shown: %v\n%s", got, r.text())
		}
	}
	shown(true)
	r.keys("'x")
	shown(false)
	r.keys("backspace")
	shown(true)
	r.keys("enter")
	if _, sent := last[op.Prompt](r); sent {
		t.Error("Enter sends what nobody typed")
	}
	r.keys("tab")
	if r.m.box.Text() != "run the tests again" {
		t.Errorf("Tab gives %q", r.m.box.Text())
	}
	r.keys("ctrl+c")
	busy(r)
	shown(false)
	r.event(event.Suggested{Text: "run the tests again"}, event.TurnEnded{ID: "t1", How: event.Done})
	shown(false)
}
