package window_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// However a conversation goes on: who looked at it before finds what one finds
// who looks at all of it.
func TestALookIsAsGoodAsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, look := fold(transcript.State{}, event.InputAccepted{Text: "p"}), window.Look{}
		effective := rapid.SampledFrom([]int{8_000, 40_000, 200_000}).Draw(t, "effective")
		size := rapid.SampledFrom([]int{0, 10, 1000, 5000, 30_000, 90_000})
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := func() string { return fmt.Sprint("c", n-rapid.SampledFrom([]int{0, 0, 0, 1, 7}).Draw(t, "again")) }
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				s = fold(s, event.InputAccepted{Text: strings.Repeat("w", size.Draw(t, "words"))})
			case 1:
				s = fold(s, event.Compacted{Text: "the summary"})
			case 2:
				s = fold(s, event.InputAccepted{Images: []llm.Image{{Data: []byte("1")}}}, event.Stripped{})
			case 3:
				s = cutAll(s, 20_000)
			case 4:
				s = fold(s, event.TurnEnded{})
			default:
				one, two := id(), id()+"b"
				s = fold(s, calls(rapid.SampledFrom([]string{"Read", "Grep", "TodoWrite"}).Draw(t, "tool"), one, two), result(one, size.Draw(t, "size")), result(two, size.Draw(t, "size")))
			}
			want := window.ToClear(s, effective, again)
			var got []string
			if got, look = look.ToClear(s, effective, again); !slices.Equal(got, want) {
				t.Fatalf("step %d: a look finds %v, there is %v", n, got, want)
			}
			if len(got) > 0 {
				s = fold(s, event.Cleared{Calls: got})
			}
		}
	})
}

// Of a conversation that grows slowly little is gone through.
func TestALookCostsLittle(t *testing.T) {
	s, look := fold(transcript.State{}, event.InputAccepted{Text: "p"}), window.Look{}
	asked, cleared := 0, 0
	counted := func(string) bool { asked++; return true }
	for n := range 1000 {
		id := fmt.Sprint("c", n)
		s = fold(s, calls("Read", id), result(id, 1500))
		var got []string
		if got, look = look.ToClear(s, 180_000, counted); len(got) > 0 {
			s = fold(s, event.Cleared{Calls: got})
			cleared++
		}
	}
	if cleared < 10 || asked > 120_000 { // each time all of it: 500,000
		t.Errorf("results were looked at %d times, and cleared %d times", asked, cleared)
	}
}
