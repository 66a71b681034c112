package event_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
)

// trail is of rewinds at the events 10, 20 and so on.
func trail(steps ...event.Rewound) (t event.Trail) {
	for i, b := range steps {
		t = t.With(event.Event{Seq: event.Seq(10 * (i + 1)), Body: b})
	}
	return t
}

func TestTrail(t *testing.T) {
	both := event.Rewound{Conversation: true, Code: true}
	to := func(b event.Rewound, seq event.Seq, undo bool, dropped int) event.Rewound {
		b.To, b.Undo, b.Dropped = seq, undo, dropped
		return b
	}
	back := to(both, 5, false, 0)
	for name, c := range map[string]struct {
		steps []event.Rewound
		there map[event.Seq]bool
		undo  event.Seq
	}{
		"none":          {nil, map[event.Seq]bool{1: true}, 0},
		"one":           {[]event.Rewound{back}, map[event.Seq]bool{4: true, 5: false, 9: false, 11: true}, 10},
		"of files":      {[]event.Rewound{{To: 5, Code: true}}, map[event.Seq]bool{5: true, 9: true}, 10},
		"undone":        {[]event.Rewound{back, to(both, 10, true, 0)}, map[event.Seq]bool{4: true, 5: true, 9: true}, 0},
		"with a drop":   {[]event.Rewound{back, to(both, 10, true, 1)}, map[event.Seq]bool{5: true, 15: false}, 20},
		"drop undone":   {[]event.Rewound{back, to(both, 10, true, 1), to(both, 20, true, 0)}, map[event.Seq]bool{4: true, 5: false, 15: true, 25: false, 35: true}, 10},
		"half undone":   {[]event.Rewound{back, {To: 10, Undo: true, Code: true}}, map[event.Seq]bool{5: false, 15: true}, 10},
		"second undone": {[]event.Rewound{back, to(both, 15, false, 0), to(both, 20, true, 0)}, map[event.Seq]bool{5: false, 15: true, 4: true}, 10},
		"not possible":  {[]event.Rewound{to(both, 12, false, 0)}, map[event.Seq]bool{5: true, 13: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tr := trail(c.steps...)
			for s, want := range c.there {
				if tr.There(s) != want {
					t.Errorf("event %d is there: %t", s, !want)
				}
			}
			if got, ok := tr.Undoable(); got.Seq != c.undo || ok != (c.undo > 0) {
				t.Errorf("undo takes back %d", got.Seq)
			}
		})
	}
}

// What a person is told of a rewind is one line, however long the prompt is.
func TestRewoundIsOneLine(t *testing.T) {
	b := event.Rewound{Conversation: true, Text: strings.Repeat("a long line\n", 100)}
	if s := b.String(); len(s) > 150 || !strings.Contains(s, "a long line a long line") || !strings.Contains(s, "…") {
		t.Errorf("%q", s)
	}
}
