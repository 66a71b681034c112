package transcript

import (
	"testing"

	"github.com/adze-agent/adze/internal/event"
)

// Notes count until a person goes back to before what they tell of; going back in
// files alone, or to later, leaves them.
func TestNotesAfterARewind(t *testing.T) {
	begun := State{}.Apply(event.Event{Seq: 1, Body: event.SessionStarted{ID: "s"}}).
		Apply(event.Event{Seq: 2, Body: event.InputAccepted{ID: "p1", Text: "one"}}).
		Apply(event.Event{Seq: 3, Body: event.InputAccepted{ID: "p2", Text: "two"}}).
		Apply(event.Event{Seq: 4, Body: event.NotesKept{Through: 3}})
	for _, c := range []struct {
		back event.Rewound
		want event.Seq
	}{
		{event.Rewound{To: 2, Conversation: true}, 0},
		{event.Rewound{To: 3, Conversation: true}, 0},
		{event.Rewound{To: 4, Conversation: true}, 3},
		{event.Rewound{To: 2, Code: true}, 3},
	} {
		if got := begun.Apply(event.Event{Seq: 5, Body: c.back}).Noted; got != c.want {
			t.Errorf("back to %d: the notes tell up to %d, want %d", c.back.To, got, c.want)
		}
	}
}
