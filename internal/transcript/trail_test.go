package transcript

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/slowtest"
)

// Of the rewinds only the newest are kept. Which prompts they left in the
// conversation stays true all the same, as all of them tell it.
func TestTheTrailIsBounded(t *testing.T) {
	slowtest.Alone(t)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s State
		var all event.Trail
		add := func(b event.Body) {
			e := event.Event{Seq: s.Seq + 1, Body: b}
			s, all = s.Apply(e), all.With(e)
		}
		add(event.SessionStarted{ID: "s"})
		for i := range maxTrail + 40 {
			add(event.InputAccepted{ID: fmt.Sprint("p", i), Text: "x"})
			var there []Said
			for _, p := range s.Said {
				if p.Gone == 0 {
					there = append(there, p)
				}
			}
			last := there[max(0, len(there)-4):]
			add(event.Rewound{To: last[r.IntN(len(last))].Seq, Conversation: true})
			if step, ok := s.Trail.Undoable(); ok && r.IntN(4) == 0 {
				add(event.Rewound{To: step.Seq, Undo: true, Conversation: true})
			}
			add(event.InputAccepted{ID: fmt.Sprint("q", i), Text: "y"})
		}
		if len(s.Trail) > maxTrail {
			t.Fatalf("%d rewinds are kept", len(s.Trail))
		}
		for _, p := range s.Said {
			if there := all.There(p.Seq); there != (p.Gone == 0) {
				t.Fatalf("seed %d: that prompt %s is there: %t, and all rewinds say %t", seed, p.ID, p.Gone == 0, there)
			}
		}
	}
}
