package story_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/story"
)

// The prompts that are not marked as taken back are those of the conversation.
func TestPromptsOfTheConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := story.New()
		var st transcript.State
		add := func(b event.Body) {
			e := event.Event{Seq: st.Seq + 1, Time: time.Unix(1, 0), Body: b}
			st = st.Apply(e)
			s.Apply(e)
		}
		add(event.SessionStarted{})
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			var there []transcript.Said
			for _, p := range st.Said {
				if p.Gone == 0 {
					there = append(there, p)
				}
			}
			switch last, ok := st.Trail.Undoable(); {
			case len(there) > 0 && rapid.IntRange(0, 2).Draw(t, "back") == 0:
				add(event.Rewound{To: rapid.SampledFrom(there).Draw(t, "to").Seq, Conversation: true, Code: true})
			case ok && rapid.IntRange(0, 2).Draw(t, "undo") == 0:
				add(event.Rewound{To: last.Seq, Undo: true, Conversation: true, Code: true, Dropped: rapid.IntRange(0, 1).Draw(t, "dropped")})
			default:
				add(event.InputAccepted{ID: fmt.Sprint(i), Text: fmt.Sprint(i)})
				s.Note(time.Unix(1, 0), "info", "said of "+fmt.Sprint(i), "")
			}
			var want, got []string
			for _, p := range st.Said {
				if p.Gone == 0 {
					want = append(want, p.ID, "said of "+p.ID)
				}
			}
			for _, it := range s.Items {
				if it.Back == 0 && (it.Kind == story.Said || it.Kind == story.Noted && it.Seq == 0) {
					got = append(got, it.Text)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q is shown as there, %q is", got, want)
			}
		}
	})
}
