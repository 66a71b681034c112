package window_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// Each bound to the token.
func TestBounds(t *testing.T) {
	for effective, want := range map[int]int{0: 200_000, -1: 200_000, 1: 2, 5000: 10_000, 100_000: 200_000, 100_001: 200_000} {
		if got := window.MessageBound(effective); got != want {
			t.Errorf("MessageBound(%d) = %d, want %d", effective, got, want)
		}
	}
	for _, c := range []struct{ window, cap, want int }{
		{-5, 100, 0}, {1, 0, 1}, {80_000, 20_001, 60_000}, {80_000, 19_999, 60_001}, {79_996, 40_000, 59_997}, {1000, -1, 1000},
	} {
		if got := window.Effective(c.window, c.cap); got != c.want {
			t.Errorf("Effective(%d, %d) = %d, want %d", c.window, c.cap, got, c.want)
		}
	}
	for _, c := range []struct{ most, window, used, want int }{
		{8000, 0, 5000, 8000}, {8000, 1, 5000, 0}, {0, 32_000, 5000, 0}, {-1, 32_000, 31_999, -1}, {1, 32_000, 0, 1},
		{8000, 32_000, 23_000, 8000}, {8000, 32_000, 23_001, 7999}, {8000, 32_000, 28_999, 2001}, {8000, 32_000, 29_001, 2000}, {8000, 32_000, 99_000, 2000}, {1000, 32_000, 99_000, 1000},
	} {
		if got := window.Reply(c.most, c.window, c.used); got != c.want {
			t.Errorf("Reply(%d, %d, %d) = %d, want %d", c.most, c.window, c.used, got, c.want)
		}
	}
	for _, c := range []struct {
		tokens, effective int
		want              bool
	}{
		{9000, 10_000, false}, {9001, 10_000, true}, {27_000, 30_000, false}, {27_001, 30_000, true}, {97_000, 100_000, false}, {97_001, 100_000, true}, {5, -1, false}, {2, 1, true}, {1, 1, false},
	} {
		if got := window.Blocking(c.tokens, c.effective); got != c.want {
			t.Errorf("Blocking(%d, %d) = %t", c.tokens, c.effective, got)
		}
	}
	for _, c := range []struct {
		tokens, effective int
		want              bool
	}{
		{1, 0, false}, {1, -1, false},
		// a small window is full when it is nearly time to compact
		{5_000, 6_000, true}, {4_999, 6_000, false}, {20_000, 24_000, true}, {19_999, 24_000, false}, {146_999, 159_999, true}, {146_998, 159_999, false},
		// a large one with more than 60 %
		{96_000, 160_000, false}, {96_001, 160_000, true}, {108_000, 180_000, false}, {108_001, 180_000, true},
	} {
		if got := window.Full(c.tokens, c.effective); got != c.want {
			t.Errorf("Full(%d, %d) = %t", c.tokens, c.effective, got)
		}
	}
}

// sized is a state of one reply with calls whose results have these sizes.
func sized(tool string, sizes ...int) transcript.State {
	var ids []string
	for i := range sizes {
		ids = append(ids, string(rune('a'+i)))
	}
	s := fold(transcript.State{}, event.InputAccepted{Text: "p"}, calls(tool, ids...))
	for i, n := range sizes {
		s = fold(s, result(ids[i], n))
	}
	return s
}

// The largest results give way, all to one level, and only so far as they must.
func TestResultsShareTheirBound(t *testing.T) {
	for _, c := range []struct{ max, a, b, c, wantA, wantB, wantC int }{
		{6000, 2000, 2000, 2000, 2000, 2000, 2000},
		{5999, 1000, 1000, 4000, 1000, 1000, 3999},
		{5999, 4000, 1000, 4000, 2499, 1000, 2499},
		{3000, 4000, 4000, 4000, 1000, 1000, 1000},
		{3000, 1000, 4000, 1000, 1000, 1000, 1000},
	} {
		got := texts(window.Build(cutAll(sized("Read", c.a, c.b, c.c), c.max))[2])
		for i, want := range []int{c.wantA, c.wantB, c.wantC} {
			was := []int{c.a, c.b, c.c}[i]
			n := utf8.RuneCountInString(got[i])
			if whole := n == was; whole != (was == want) || n > max(want, 0) || !whole && n < want-500 {
				t.Errorf("of %+v result %d has %d characters, want at most %d", c, i, n, want)
			}
		}
	}
	wide := fold(transcript.State{}, event.InputAccepted{Text: "p"}, calls("Read", "1"), event.ToolFinished{Call: "1", Text: strings.Repeat("é", 5000)})
	if got := texts(window.Build(cutAll(wide, 4000))[2])[0]; utf8.RuneCountInString(got) > 4000 || utf8.RuneCountInString(got) < 3400 {
		t.Errorf("%d characters of wide text are left", utf8.RuneCountInString(got))
	}
	said := fold(sized("Read", 2000), event.InputAccepted{Text: strings.Repeat("w", 9000)})
	if m := window.Build(cutAll(said, 3000))[2]; len(m.Parts) != 2 || len(m.Parts[1].(llm.Text).S) != 9000 || len(texts(m)[0]) != 2000 {
		t.Error("a prompt counts as a result")
	}
}

// How much must come free depends on the window, and media count with what
// they cost.
func TestWhatIsWorthClearing(t *testing.T) {
	all := func(string) bool { return true }
	turn := func(n int, sizes ...int) transcript.State { // so many small results behind those
		s := sized("Read", sizes...)
		for i := range n {
			id := "new" + string(rune('a'+i))
			s = fold(s, calls("Read", id), result(id, 10))
		}
		return s
	}
	for _, c := range []struct {
		name      string
		s         transcript.State
		effective int
		want      string
	}{
		{"an eighth of a small window", turn(5, 4100), 8000, "a"},
		{"less than that", turn(5, 4095), 8000, ""},
		{"20,000 tokens of a large one", turn(5, 80_100), 1_000_000, "a"},
		{"less than that", turn(5, 80_095), 1_000_000, ""},
		{"20,000 tokens where the window is not known", turn(5, 80_100), 0, "a"},
		{"less than that", turn(5, 80_000), 0, ""},
		{"several together", turn(5, 2100, 2100), 8000, "a b"},
		{"but the newest five", turn(4, 9000, 9000), 8000, "a"},
		{"of five none", turn(4, 9000), 8000, ""},
	} {
		if got := strings.Join(window.ToClear(c.s, c.effective, all), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	img := fold(transcript.State{}, event.InputAccepted{Text: "p"}, calls("Read", "a"), event.ToolFinished{Call: "a", Text: "an image", Images: []llm.Image{{Media: "image/png"}, {Media: "image/png"}}})
	img = fold(img, calls("Read", "b"), result("b", 10))
	if got := window.Drain(img, all); !slices.Equal(got, []string{"a"}) {
		t.Errorf("of images: %v", got)
	}
}

// What the model has not seen yet is never cleared, nor what takes no room, nor
// anything twice.
func TestDrain(t *testing.T) {
	all := func(string) bool { return true }
	if got := window.Drain(transcript.State{}, all); got != nil {
		t.Errorf("of nothing: %v", got)
	}
	s := sized("Read", 500, 500)
	if got := window.Drain(s, all); got != nil {
		t.Errorf("of what was not seen: %v", got)
	}
	s = fold(s, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "seen"}}}})
	if got := window.Drain(s, all); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("of what was seen: %v", got)
	}
	s = fold(s, event.InputAccepted{Text: "on"}, calls("Read", "c"), result("c", 500))
	if got := window.Drain(s, all); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("behind another call: %v", got)
	}
	s = fold(s, event.Cleared{Calls: []string{"a"}})
	if got := window.Drain(s, all); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after the first was cleared: %v", got)
	}
	s = fold(s, event.Cleared{Calls: []string{"b"}})
	if got := window.Drain(s, all); got != nil {
		t.Errorf("after all were: %v", got)
	}
	small := fold(sized("Read", 100), event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "seen"}}}})
	if got := window.Drain(small, all); got != nil {
		t.Errorf("of what a line would not be shorter than: %v", got)
	}
	if got := window.Drain(fold(sized("Read", 101), event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "seen"}}}}), all); len(got) != 1 {
		t.Errorf("of one byte more: %v", got)
	}
	if got := window.Drain(s, func(string) bool { return false }); got != nil {
		t.Errorf("of what cannot be had again: %v", got)
	}
}

// The measured ratio of tokens to bytes holds from 4,000 bytes on, and within
// its bounds.
func TestRatio(t *testing.T) {
	reply := func(in int) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "ok"}}}, Usage: llm.Usage{In: in, Out: 1}}
	}
	for _, c := range []struct {
		bytes, tokens int
		want          float64
	}{{3997, 3000, 1}, {3998, 1500, 1.5}, {7998, 3000, 1.5}, {7998, 100, 0.5}, {7998, 99_000, 3}} {
		s := fold(transcript.State{}, event.InputAccepted{Text: "x"}, reply(1000), event.InputAccepted{Text: strings.Repeat("x", c.bytes)}, reply(1000+c.tokens))
		if got := window.Ratio(s); got != c.want {
			t.Errorf("%d bytes of %d tokens: %v, want %v", c.bytes, c.tokens, got, c.want)
		}
	}
}

// However little a message may have, results of 500 characters stay whole.
func TestShortResultsStayWhole(t *testing.T) {
	for size, want := range map[int]int{499: 0, 500: 0, 501: 2} {
		if got := window.Over(sized("Read", size, size), 1, 0); len(got) != want {
			t.Errorf("of %d characters %d results are to be cut", size, len(got))
		}
	}
}
