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

// A look at a conversation that was replaced, or of which pictures were taken out, says
// nothing of what is there now, however long that is.
func TestALookAtWhatIsGone(t *testing.T) {
	for name, gone := range map[string]event.Body{"compacted": event.Compacted{Text: "what was"}, "stripped": event.Stripped{}} {
		var many []llm.Image
		for range 400_000 / transcript.ImageBytes {
			many = append(many, llm.Image{Data: []byte("x")})
		}
		s := fold(transcript.State{}, event.InputAccepted{Text: "p", Images: many})
		none, look := window.Look{}.ToClear(s, 200_000, again)
		s = fold(s, gone)
		for i := range 8 {
			id := fmt.Sprint("c", i)
			s = fold(s, calls("Read", id), result(id, 55_000))
		}
		if got, _ := look.ToClear(s, 200_000, again); len(none) != 0 || !slices.Equal(got, []string{"c0", "c1", "c2"}) {
			t.Errorf("%s: %v is found", name, got)
		}
	}
}

// A result whose call has the same name as another one is listed once, and not at all
// when the newer one stays.
func TestResultsOfOneName(t *testing.T) {
	s := fold(transcript.State{}, event.InputAccepted{Text: "p"})
	for _, id := range []string{"a", "a", "b", "c", "d", "e", "f", "g"} {
		s = fold(s, calls("Read", id), result(id, 90_000))
	}
	if got := window.ToClear(s, 200_000, again); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v", got)
	}
	s = fold(s, calls("Read", "a"), result("a", 90_000))
	if got := window.ToClear(s, 200_000, again); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("%v", got)
	}
}
