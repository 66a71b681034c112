package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/transcript"
)

// What a state keeps beside the conversation is bounded: of prompts the first
// one and the newest stay, of the rest the newest, and of changed files the
// first.
func TestBoundsOfAState(t *testing.T) {
	slowtest.Alone(t)
	var s transcript.State
	apply := func(b event.Body) { s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b}) }
	for i := range 2001 {
		apply(event.InputAccepted{ID: fmt.Sprint("p", i), Text: "x"})
	}
	if n := len(s.Said); n != 2000 || s.Said[0].ID != "p0" || s.Said[1].ID != "p2" || s.Said[n-1].ID != "p2000" {
		t.Errorf("%d prompts, from %s and %s to %s", n, s.Said[0].ID, s.Said[1].ID, s.Said[n-1].ID)
	}
	var changes, saw []string
	for i := range 1001 {
		p := fmt.Sprintf("/w/%04d", i)
		changes = append(changes, p)
		apply(event.ToolFinished{Call: "c", Effects: []effect.Effect{effect.Changed{Files: []effect.Change{{Path: p}}}}})
	}
	for i := range 21 {
		p := fmt.Sprint("/r/", i)
		saw = append(saw, p)
		apply(event.ToolFinished{Call: "c", Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: p}, {Path: p}}}}})
	}
	if !slices.Equal(s.Changed, changes[:1000]) || !slices.Equal(s.Recent, saw[1:]) {
		t.Errorf("%d changed, recent %v", len(s.Changed), s.Recent)
	}
	apply(event.ToolFinished{Call: "c", Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: "/r/5"}}}}})
	if want := append(slices.DeleteFunc(slices.Clone(saw[1:]), func(p string) bool { return p == "/r/5" }), "/r/5"); !slices.Equal(s.Recent, want) {
		t.Errorf("recent %v", s.Recent)
	}
	for i := range 51 {
		apply(event.Compacted{Text: "x", Record: fmt.Sprint(i)})
	}
	if n := len(s.Records); n != 50 || s.Records[0] != "1" || s.Records[49] != "50" {
		t.Errorf("%d records from %s", n, s.Records[0])
	}
}

// Prompts are kept as far as there is room for them: the first one and the
// newest always.
func TestPromptsThatAreKept(t *testing.T) {
	const all = 256 << 10
	for _, c := range []struct {
		sizes []int
		want  []string
	}{
		{[]int{1, all/2 - 1, all / 2}, []string{"p0", "p1", "p2"}}, {[]int{1, all / 2, all / 2}, []string{"p0", "p2"}}, {[]int{all, all}, []string{"p0", "p1"}},
		{[]int{all, 1, 1, 1}, []string{"p0", "p3"}}, {[]int{1, all, 1, 1}, []string{"p0", "p2", "p3"}},
	} {
		var log []event.Body
		for i, n := range c.sizes {
			log = append(log, event.InputAccepted{ID: fmt.Sprint("p", i), Text: strings.Repeat("x", n)})
		}
		before := fold(log[:len(log)-1]...)
		was := slices.Clone(before.Said)
		var got []string
		for _, p := range before.Apply(event.Event{Seq: 99, Body: log[len(log)-1]}).Said {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(was, before.Said) {
			t.Errorf("%v: %v, want %v", c.sizes, got, c.want)
		}
	}
}

// A compaction that brings less than a tenth counts as failed, one that brings
// it as done; one that is taken back as neither.
func TestCompactionsThatBringNothing(t *testing.T) {
	for _, c := range []struct {
		b    event.Compacted
		want int
	}{
		{event.Compacted{Tokens: 100, Left: 90}, 0}, {event.Compacted{Tokens: 100, Left: 91}, 2}, {event.Compacted{Tokens: 100, Left: 10}, 0}, {event.Compacted{Tokens: 100, Left: 200, Undo: 1}, 0}, {event.Compacted{}, 0},
	} {
		if s := fold(event.CompactFailed{}, c.b); s.Failed != c.want {
			t.Errorf("%+v: %d", c.b, s.Failed)
		}
	}
}

// How large parts are in a request.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		p    llm.Part
		want int
	}{
		{llm.Text{S: "abc", Opaque: []byte("de")}, 5}, {llm.Thinking{S: "abc", Opaque: []byte("de")}, 5}, {llm.ToolUse{ID: "1", Name: "ab", Input: []byte("{}"), Opaque: []byte("x")}, 6},
		{llm.ToolResult{ID: "1", Text: "abc"}, 4}, {llm.ToolResult{ID: "1", Images: make([]llm.Image, 2)}, 1 + 2*transcript.ImageBytes}, {llm.Image{}, transcript.ImageBytes},
		{llm.Document{Data: make([]byte, 8)}, transcript.ImageBytes}, {llm.Document{Data: make([]byte, 16*transcript.ImageBytes)}, 2 * transcript.ImageBytes},
	} {
		if got := transcript.Size(c.p); got != c.want {
			t.Errorf("%T: %d, want %d", c.p, got, c.want)
		}
	}
}

// The line that takes the place of a cleared result says what the call was
// about.
func TestWhatAClearedResultWasAbout(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"/a","command":"x"}`: " /a", `{"command":"make","path":""}`: " make", `{"query":"q"}`: " q", `{"other":"x"}`: "", `{`: "", `{"path":7,"url":"u"}`: " u",
		`{"command":"` + strings.Repeat("x", 300) + `"}`: " " + strings.Repeat("x", 199) + "…",
	} {
		s := fold(in("go"), begin, event.Replied{Message: model(llm.ToolUse{ID: "1", Name: "Tool", Input: []byte(input)})}, finished("1", "long"), event.Cleared{Calls: []string{"1"}})
		ms := s.Messages()
		if got := ms[2].Parts[0].(llm.ToolResult).Text; got != "[the result of Tool"+want+" was cleared to save room; Read result:1 has it as it was]" {
			t.Errorf("%s: %q", input, got)
		}
		if !s.Cleared("1") || s.Cleared("2") || s.Whole() {
			t.Errorf("cleared: %t", s.Cleared("1"))
		}
	}
}

// How many tokens new text takes is learned from two requests of which the later
// has all of the earlier: not where the provider cleared something of it.
func TestGrowthIsMeasuredBetweenWholeRequests(t *testing.T) {
	said := func(prompt, cleared int) event.Body {
		return event.Replied{Message: model(text("some words")), Usage: llm.Usage{In: prompt, Out: 3, Cleared: cleared}}
	}
	for name, c := range map[string]struct {
		first, second event.Body
		tokens        int
	}{
		"whole":                       {said(100, 0), said(150, 0), 50},
		"cleared by the provider":     {said(100, 0), said(150, 20), 0},
		"the first without a request": {said(0, 0), said(150, 0), 0},
		"fewer than before":           {said(100, 0), said(90, 0), 0},
	} {
		g := fold(in("a"), begin, c.first, in("b"), c.second).Gauge()
		if g.GrownTokens != c.tokens || (g.GrownBytes > 0) != (c.tokens > 0) {
			t.Errorf("%s: %+v", name, g)
		}
	}
}
