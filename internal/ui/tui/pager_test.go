package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// A reply that streams is drawn with the whole screen as it is in the end, and
// for each piece only its last block is drawn anew.
func TestGrowingReply(t *testing.T) {
	r := newRig(t, 80, 24)
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Model: "m"}, UI: Settings{Fullscreen: true}}, nil})
	r.event(event.TurnStarted{ID: "t"}, event.ReplyStarted{})
	g := r.m.scroll
	last := func() (int, *story.Item) {
		i := len(r.m.story.Items) - 1
		return i, r.m.story.Items[i]
	}
	said := 0
	for i := range 400 {
		piece := fmt.Sprintf("Paragraph %d has some **words** and `code`.\n\n* one\n* two\n\n```go\nfor range %d {\n}\n```\n\n", i, i)
		r.event(event.TextDelta{At: said, S: piece[:20]}, event.TextDelta{At: said + 20, S: piece[20:]})
		said += len(piece)
		if i%40 == 0 {
			at, it := last()
			if got, want := draw.TextOf(g.lines(r.m.leaf(), at)), draw.TextOf(r.m.paper().Item(it)); got != want {
				t.Fatalf("after %d pieces:\n%s\nwant\n%s", i, got, want)
			}
		}
	}
	at, it := last()
	p := r.m.paper()
	p.Whole = true
	whole := testing.AllocsPerRun(3, func() { p.Item(it) })
	grown := testing.AllocsPerRun(3, func() {
		it.Text += "."
		g.lines(r.m.leaf(), at)
	})
	if grown > whole/4 {
		t.Errorf("a piece costs %.0f allocations, all of it %.0f", grown, whole)
	}
	r.do(sizeMsg{r.m.screen.size})
	it.Text = it.Text[:len(it.Text)-10] // it was taken back in part
	if got, want := draw.TextOf(g.lines(r.m.leaf(), at)), draw.TextOf(r.m.paper().Item(it)); got != want {
		t.Errorf("after the end was taken back:\n%s\nwant\n%s", got, want)
	}
	it.Text = it.Text[:len(it.Text)-400]
	if got, want := draw.TextOf(g.lines(r.m.leaf(), at)), draw.TextOf(r.m.paper().Item(it)); got != want {
		t.Error("what was taken back is drawn")
	}
}

// The transcript has what is kept of a long output to its end, and says where the gap is
// and which file has all of it.
func TestTheEndOfALongOutput(t *testing.T) {
	var out strings.Builder
	for i := range 5600 {
		if i == 3400 {
			out.WriteString("[80.9 KB left out; all of it is in /s/tool-results/b1.txt]\n")
		}
		fmt.Fprintln(&out, i)
	}
	r := newRig(t, 80, 24).open()
	r.event(event.TurnStarted{ID: "t"}, event.ToolStarted{Call: "c", Name: "Bash", Title: "Bash"},
		event.ToolFinished{Call: "c", Name: "Bash", View: view.Terminal{Command: "seq", Output: out.String(), Dropped: 80_900}})
	r.has("left out in the middle; Ctrl+O names the file").keys("ctrl+o")
	if got := r.live(); !strings.Contains(got, "5598\n") {
		t.Errorf("the end is not there:\n%s", got)
	}
	r.keys("/", "'3399", "enter")
	if got := r.live(); !strings.Contains(got, "left out; all of it is in /s/tool-results/b1.txt]") || !strings.Contains(got, " 3400\n") {
		t.Errorf("the gap is not where it is:\n%s", got)
	}
}
