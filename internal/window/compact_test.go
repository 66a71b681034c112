package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
)

// When results are cleared and what has to come free, for windows of all sizes: always
// before the conversation would be compacted, and a request that is sent has room.
func TestClearingScales(t *testing.T) {
	for _, c := range []struct{ window, cap, fullAt, least, bound int }{
		{4096, 1024, 2559, 384, 6144},
		{8192, 4096, 5119, 768, 12_288},
		{16_000, 2000, 11_666, 1750, 28_000},
		{32_000, 8192, 19_999, 3000, 48_000},
		{128_000, 16_384, 98_615, 13_952, 200_000},
		{200_000, 64_000, 108_000, 20_000, 200_000},
		{1_000_000, 64_000, 588_000, 20_000, 200_000},
	} {
		e := Effective(c.window, c.cap)
		if FullAt(e) != c.fullAt || Least(e) != c.least || MessageBound(e) != c.bound {
			t.Errorf("%d: full at %d, at least %d, results of %d; want %+v", c.window, FullAt(e), Least(e), MessageBound(e), c)
		}
		if !Full(c.fullAt+1, e) || Full(c.fullAt, e) || c.fullAt >= Threshold(e) || Warning(e) >= Threshold(e) || Warning(e) < e/2 {
			t.Errorf("%d: full, %d warned and %d compacted are in no order", c.window, Warning(e), Threshold(e))
		}
		if left := Threshold(e) - c.least; left <= 0 || Blocking(left, e) || Reply(c.cap, c.window, Threshold(e)) < c.window/16 {
			t.Errorf("%d: after clearing %d tokens are used, of a reply %d are left", c.window, left, Reply(c.cap, c.window, Threshold(e)))
		}
	}
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct{ window, cap, threshold, warning int }{
		{200_000, 64_000, 167_000, 147_000},
		{32_000, 8000, 20_000, 17_000},
		{8192, 4096, 5120, 4352},
	} {
		e := Effective(c.window, c.cap)
		if got := Threshold(e); got != c.threshold {
			t.Errorf("%d: compacted at %d, want %d", c.window, got, c.threshold)
		}
		if got := Warning(e); got != c.warning {
			t.Errorf("%d: warned at %d, want %d", c.window, got, c.warning)
		}
		if Nearly(c.threshold-1, e) || !Nearly(c.threshold, e) || Blocking(c.threshold, e) {
			t.Errorf("%d: the threshold is not where it should be", c.window)
		}
		s := SharesOf(e, e/4)
		if all := s.Summary + s.Said + s.Tail + RecentFiles*s.File + 3*s.Other; all+e/4 >= c.threshold*9/10 || s.Summary < 100 {
			t.Errorf("%d: %d tokens stay: %+v", c.window, all, s)
		}
	}
	if Nearly(1<<40, 0) {
		t.Error("a window that is not known is full")
	}
}

// How a window is shared among what takes a conversation's place, to the token.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		effective, overhead int
		want                Shares
	}{
		{0, 5000, Shares{20_000, 20_000, 10_000, 5000, 5000}},
		{1_000_000, 0, Shares{20_000, 20_000, 10_000, 5000, 9870}},
		{180_000, 17_000, Shares{18_750, 18_750, 9375, 4500, 1500}},
		{24_000, 3332, Shares{2083, 2083, 1041, 500, 166}}, {24_000, 3300, Shares{2087, 2087, 1043, 501, 167}}, {24_000, 3334, Shares{2083, 2083, 1041, 0, 166}}, {24_000, 3333, Shares{2083, 2083, 1041, 0, 166}},
		{8000, 7000, Shares{}},
	} {
		if got := SharesOf(c.effective, c.overhead); got != c.want {
			t.Errorf("%d, %d: %+v, want %+v", c.effective, c.overhead, got, c.want)
		}
	}
	if got := Overhead([]string{"four", "more"}, []llm.Spec{{Name: "ab", Description: "cd", Schema: []byte("{\"a\":1}")}}); got != 5 {
		t.Errorf("%d tokens of instructions and tools", got)
	}
}

// The oldest rounds go as far as they must. What the conversation begins with
// stays when it is short.
func TestWithoutOldestOfShortAndLong(t *testing.T) {
	user := func(s string) llm.Message {
		return llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: s}}}
	}
	said := func(s string) llm.Message {
		return llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: s}}}
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		ms     []llm.Message
		tokens int
		ratio  float64
		begins string // with the first text, "" with the note
		rest   int
	}{
		"nothing":                       {nil, 0, 1, "", 0},
		"a short beginning":             {[]llm.Message{user(x(100)), said(x(100)), user(x(100)), said(x(100))}, 25, 1, x(100), 1},
		"a beginning of a fourth":       {[]llm.Message{user(x(100)), said(x(100)), user(x(100)), said(x(100))}, 1, 1, x(100), 1},
		"one of more":                   {[]llm.Message{user(x(101)), said(x(100)), user(x(100)), said(x(100))}, 1, 1, "", 3},
		"so much as its tokens say":     {[]llm.Message{user(x(10)), said(x(100)), user(x(10)), said(x(100)), user(x(10)), said(x(100))}, 110, 4, x(10), 3},
		"a little more":                 {[]llm.Message{user(x(10)), said(x(100)), user(x(10)), said(x(100)), user(x(10)), said(x(100))}, 112, 4, x(10), 1},
		"a fifth where nobody says":     {[]llm.Message{user(x(10)), said(x(100)), user(x(10)), said(x(100)), user(x(10)), said(x(320))}, 0, 1, x(10), 3},
		"more than a fifth of it":       {[]llm.Message{user(x(10)), said(x(99)), user(x(10)), said(x(100)), user(x(10)), said(x(340))}, 0, 1, x(10), 1},
		"never the newest":              {[]llm.Message{user(x(100)), said(x(100))}, 1000, 1, "", 1},
		"not behind a beginning either": {[]llm.Message{user(x(10)), said(x(100))}, 1000, 1, x(10), 1},
	} {
		got := WithoutOldest(c.ms, c.tokens, c.ratio)
		rest := got[min(1, len(got)):]
		if len(rest) != c.rest {
			t.Errorf("%s: %d messages after the beginning, want %d", name, len(rest), c.rest)
		}
		if len(got) == 0 {
			continue
		}
		if first := got[0].Parts[0].(llm.Text).S; c.begins != "" && first != c.begins || c.begins == "" && !strings.HasPrefix(first, "[the oldest part") {
			t.Errorf("%s: begins with %.30q", name, first)
		}
	}
}

// talk is a conversation of so many rounds with calls.
func talk(rounds, chars int) (s transcript.State) {
	add := func(b event.Body) { s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b}) }
	add(event.InputAccepted{ID: "p1", Text: "the task"})
	for i := range rounds {
		id := fmt.Sprint("c", i)
		add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: id, Name: "Read"}}}, Stop: llm.WantTools})
		add(event.ToolFinished{Call: id, Name: "Read", Text: strings.Repeat("x", chars)})
	}
	return s
}

func TestTailKeepsWholeRounds(t *testing.T) {
	for _, c := range []struct{ rounds, tokens, kept int }{{10, 0, 0}, {10, 300, 1}, {10, 800, 3}, {10, 1 << 30, 5}, {1, 1 << 30, 0}} {
		s := talk(c.rounds, 1000)
		kept := transcript.Keep(s.Entries(), func(seq event.Seq) bool { return seq >= Tail(s, c.tokens) })
		if len(kept) != 2*c.kept {
			t.Errorf("%+v: %d messages are kept", c, len(kept))
		}
	}
	s := talk(3, 1000)
	s = s.Apply(event.Event{Seq: s.Seq + 1, Body: event.InputAccepted{ID: "p2", Text: strings.Repeat("y", 9000)}})
	if at := Tail(s, 0); at != s.Seq {
		t.Errorf("a prompt without a reply is not kept: from %d of %d", at, s.Seq)
	}
}

func TestBehindNotes(t *testing.T) {
	s := talk(40, 1000) // prompt 1, replies 2, 4 ... 80, results 3, 5 ... 81
	add := func(b event.Body) { s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b}) }
	for i := range 6 {
		add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "so"}}}}) // 82, 84 ... 92
		add(event.InputAccepted{ID: fmt.Sprint("q", i), Text: "and?"})                                      // 83, 85 ... 93
	}
	for _, c := range []struct {
		name            string
		through         event.Seq
		effective, over int
		from            event.Seq
		no              bool
	}{
		{name: "a large window keeps more than there is", through: 60, no: true},
		{name: "between a call and its result", through: 70, effective: 12_000, from: 70},
		{name: "before the call", through: 69, effective: 12_000, from: 70},
		{name: "behind its result", through: 71, effective: 12_000, from: 72},
		{name: "the notes know all: 625 tokens and the open prompt stay", through: 93, effective: 12_000, from: 76},
		{name: "too much came after", through: 2, effective: 12_000, no: true},
		{name: "nothing is left of the window", through: 90, effective: 12_000, over: 11_000, no: true},
	} {
		from, ok := Behind(s, c.through, c.effective, c.over)
		if ok == c.no || ok && from != c.from {
			t.Errorf("%s: from %d, %v; want %d, %v", c.name, from, ok, c.from, !c.no)
		}
	}
}

func TestSaidKeepsTheFirstAndTheNewest(t *testing.T) {
	var s transcript.State
	for i := range 100 {
		s.Said = append(s.Said, transcript.Said{Seq: event.Seq(i + 1), Text: fmt.Sprintf("fact %d: %s", i, strings.Repeat("z", 190))})
	}
	s.Said[98].Gone = 200
	got := Said(s, 1000, func(seq event.Seq) bool { return seq == 100 })
	for want, is := range map[string]bool{"fact 0:": true, "fact 97:": true, "fact 98:": false, "fact 99:": false, "fact 50:": false, "messages left out here": true} {
		if strings.Contains(got, want) != is {
			t.Errorf("%q: %v, want %v", want, !is, is)
		}
	}
	if len(got) > 4200 || Said(transcript.State{}, 1000, nil) != "" {
		t.Errorf("%d bytes", len(got))
	}
	if all := Said(s, 100_000, func(event.Seq) bool { return false }); strings.Count(all, "- fact") != 99 {
		t.Errorf("%d of 99 prompts", strings.Count(all, "- fact"))
	}
}

func TestWithoutOldest(t *testing.T) {
	ms := talk(10, 1000).Messages()
	for _, c := range []struct{ tokens, left int }{{1, 19}, {0, 15}, {1000, 13}, {1 << 20, 3}} {
		got := WithoutOldest(ms, c.tokens, 1)
		if len(got) != c.left || got[0].Role != llm.User || got[1].Role != llm.Assistant {
			t.Errorf("%d tokens less: %d messages, want %d", c.tokens, len(got), c.left)
		}
		if got := Ask(got, "why?"); len(got) != c.left || len(got[c.left-1].Parts) != 2 {
			t.Errorf("the question is not in the last message: %+v", got[len(got)-1])
		}
	}
	if got := WithoutOldest(ms[:3], 1<<20, 1); len(got) != 3 {
		t.Errorf("the only reply went: %d messages", len(got))
	}
	if n := len(talk(10, 1000).Messages()); len(ms) != n || len(ms[n-1].Parts) != 1 {
		t.Error("the conversation was changed")
	}
}

// What a conversation begins with stays alone only when something behind it can go: a
// reply that is the only one cannot.
func TestWithoutOldestOfOneRound(t *testing.T) {
	ms := []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "go"}}}, {Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: strings.Repeat("x", 100)}}}}
	if got := WithoutOldest(ms, 1000, 1); len(got) != 2 || len(got[0].Parts) != 1 {
		t.Errorf("%+v", got)
	}
}

// A summary is no prompt that waits for a reply, and of two prompts that wait both stay.
func TestWhatWaitsForAReply(t *testing.T) {
	s := talk(3, 1000).Apply(event.Event{Seq: 8, Body: event.Compacted{Text: "what was"}})
	if at := Tail(s, 0); at != s.Seq+1 {
		t.Errorf("the summary is kept as a prompt: from %d of %d", at, s.Seq)
	}
	s = talk(40, 1000)
	for _, text := range []string{"first", "second"} {
		s = s.Apply(event.Event{Seq: s.Seq + 1, Body: event.InputAccepted{ID: text, Text: text}})
	}
	if from, ok := Behind(s, s.Seq-1, 0, 0); ok && from > s.Seq-1 {
		t.Errorf("from %d, %v", from, ok)
	}
	if from, ok := Behind(s, s.Seq-1, 6000, 0); !ok || from > s.Seq-1 {
		t.Errorf("of a small window from %d, %v; the first prompt is %d", from, ok, s.Seq-1)
	}
}

// Prompts have as much room as they are given: the first one, then the newest; those
// without words are none.
func TestSaidFillsItsRoom(t *testing.T) {
	var s transcript.State
	for i := range 10 {
		s.Said = append(s.Said, transcript.Said{Seq: event.Seq(i + 1), Text: fmt.Sprintf("%d", i) + strings.Repeat("z", 97)}, transcript.Said{Seq: event.Seq(100 + i), Text: " \n"})
	}
	none := func(event.Seq) bool { return false }
	for tokens, want := range map[int]string{100: "0789", 99: "089", 125: "06789", 25: "0", 1: "0", 250: "0123456789"} {
		got := ""
		for _, l := range strings.Split(Said(s, tokens, none), "\n") {
			if !strings.HasPrefix(l, "- [") {
				got += l[2:3]
			}
		}
		if got != want {
			t.Errorf("%d tokens: %s, want %s", tokens, got, want)
		}
	}
}

// Of a large window notes leave what came after them when it has at most 40,000 tokens,
// and of what came before until five messages with words stay.
func TestBehindNotesInALargeWindow(t *testing.T) {
	build := func(bs ...event.Body) (s transcript.State) {
		for _, b := range bs {
			s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b})
		}
		return s
	}
	says := func(n int) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: strings.Repeat("a", n)}}}}
	}
	asks := func(n int) event.Body { return event.InputAccepted{Text: strings.Repeat("q", n)} }
	for bytes, want := range map[int]bool{160_000: true, 160_004: false} {
		s := build(asks(100_000), says(100_000), asks(100), says(bytes-100))
		if from, ok := Behind(s, 2, 0, 0); ok != want || ok && from != 3 {
			t.Errorf("of %d bytes: from %d, %v", bytes, from, ok)
		}
	}
	call := event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c", Name: "Read"}}}}
	s := build(asks(100_000), says(10), asks(10), call, event.ToolFinished{Call: "c", Text: "x"}, asks(10), says(10), asks(10), says(10), asks(40_000))
	if from, ok := Behind(s, 9, 0, 0); !ok || from != 4 {
		t.Errorf("with words: from %d, %v", from, ok)
	}
	s = build(asks(100_000), says(10), asks(10), says(10), asks(10), says(10), asks(10), says(10), asks(40_000))
	if from, ok := Behind(s, 8, 0, 0); !ok || from != 4 {
		t.Errorf("from %d, %v", from, ok)
	}
}
