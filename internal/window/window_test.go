package window_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

func fold(s transcript.State, bs ...event.Body) transcript.State {
	for _, b := range bs {
		s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b})
	}
	return s
}

func calls(tool string, ids ...string) event.Body {
	m := llm.Message{Role: llm.Assistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, llm.ToolUse{ID: id, Name: tool, Input: json.RawMessage(`{"file_path":"/f"}`)})
	}
	return event.Replied{Message: m}
}

func result(id string, n int) event.Body {
	return event.ToolFinished{Call: id, Text: strings.Repeat("x", n)}
}

func texts(m llm.Message) (out []string) {
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			out = append(out, r.Text)
		}
	}
	return out
}

// cutAll carries out what Over says.
func cutAll(s transcript.State, bound int) transcript.State {
	var b event.Bounded
	for _, l := range window.Over(s, bound, 0) {
		b.Results = append(b.Results, event.Cut{Call: l.Call, Text: l.Cut("all of it is in /spill")})
	}
	return fold(s, b)
}

// However small the bound is, what was cut once is not cut again, and each cut
// makes a result shorter.
func TestCutsComeToAnEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ids []string
		sizes := rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 30).Draw(t, "sizes")
		for i := range sizes {
			ids = append(ids, fmt.Sprint("c", i))
		}
		s := fold(transcript.State{}, event.InputAccepted{Text: "p"}, calls("Read", ids...))
		for i, n := range sizes {
			s = fold(s, event.ToolFinished{Call: ids[i], Text: strings.Repeat("line é\n", n/7)})
		}
		bound := rapid.IntRange(1, 100_000).Draw(t, "bound")
		now := cutAll(s, bound)
		total := 0
		for i, text := range texts(now.Messages()[2]) {
			was := texts(s.Messages()[2])[i]
			if text != was && utf8.RuneCountInString(text) >= utf8.RuneCountInString(was) {
				t.Fatalf("%d characters became %d", len(was), len(text))
			}
			total += utf8.RuneCountInString(text)
		}
		if bound > 500*len(sizes) && total > bound {
			t.Fatalf("%d characters for %d", total, bound)
		}
		if more := window.Over(now, bound, 0); more != nil {
			t.Fatalf("%d results are to be cut again", len(more))
		}
	})
}

func TestOneMessageIsBounded(t *testing.T) {
	s := fold(transcript.State{}, event.InputAccepted{Text: "p"}, calls("Read", "1", "2", "3"), result("1", 150_000), result("2", 30_000), result("3", 90_000))
	over := window.Over(s, window.MessageBound(0), 0)
	s = cutAll(s, window.MessageBound(0))
	got := texts(window.Build(s)[2])
	total := 0
	for _, g := range got {
		total += utf8.RuneCountInString(g)
	}
	if total > window.MessageChars || total < 170_000 {
		t.Errorf("%d characters", total)
	}
	if len(over) != 2 || len(over[0].Text) != 150_000 || len(over[1].Text) != 90_000 {
		t.Errorf("of %d results something is to go", len(over))
	}
	if len(got[1]) != 30_000 || len(got[2]) > 90_000 || !strings.Contains(got[0], "left out") || strings.Contains(got[1], "left out") {
		t.Errorf("cut to %d, %d, %d", len(got[0]), len(got[1]), len(got[2]))
	}
	if more := window.Over(s, window.MessageBound(0), 0); more != nil {
		t.Errorf("of %d results something is to go after that", len(more))
	}
	after := s.Seq
	s = fold(s, calls("Read", "4", "5"), result("4", 150_000), result("5", 150_000))
	if more := window.Over(s, window.MessageBound(0), after); len(more) != 2 || more[0].Call != "4" {
		t.Errorf("of %d new results something is to go", len(more))
	}
	if more := window.Over(s, window.MessageBound(0), s.Seq); more != nil {
		t.Errorf("of %d results from before something is to go", len(more))
	}
	if s.Whole() {
		t.Error("the conversation is said to have every result whole")
	}
	wide := fold(transcript.State{}, event.InputAccepted{Text: "p"}, calls("Read", "1"), event.ToolFinished{Call: "1", Text: strings.Repeat("é", 150_000)})
	if over := window.Over(wide, window.MessageChars, 0); over != nil {
		t.Errorf("characters were counted as bytes: at most %d", over[0].Chars)
	}
}

func TestEffectiveAndBlocking(t *testing.T) {
	for _, c := range []struct{ window, cap, want int }{
		{200_000, 64_000, 180_000}, {200_000, 8_000, 192_000}, {10_000, 64_000, 7_500}, {0, 8_000, 0}, {200_000, 0, 200_000},
	} {
		if got := window.Effective(c.window, c.cap); got != c.want {
			t.Errorf("Effective(%d, %d) = %d", c.window, c.cap, got)
		}
	}
	for _, c := range []struct {
		tokens, effective int
		want              bool
	}{{177_000, 180_000, false}, {177_001, 180_000, true}, {1_000_000, 0, false}} {
		if got := window.Blocking(c.tokens, c.effective); got != c.want {
			t.Errorf("Blocking(%d, %d) = %t", c.tokens, c.effective, got)
		}
	}
}

func TestEstimate(t *testing.T) {
	say := func(n int) event.Body { return event.InputAccepted{Text: strings.Repeat("x", n)} }
	reply := func(in, out int) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "ok"}}}, Usage: llm.Usage{In: in / 2, CacheRead: in - in/2, Out: out}}
	}
	s := fold(transcript.State{}, say(4000))
	if got := window.Estimate(s); got != 1000 {
		t.Errorf("before any report: %d", got)
	}
	s = fold(s, reply(9000, 10))
	if got := window.Estimate(s); got != 9010 {
		t.Errorf("after a report: %d", got)
	}
	s = fold(s, say(7998))
	if got := window.Estimate(s); got < 9010+1999 || got > 9010+2000 {
		t.Errorf("what came after counts four bytes a token: %d", got)
	}
	s = fold(s, reply(9000+3000, 10), say(4000)) // 8,000 bytes were 3,000 tokens: 1.5 times
	if got := window.Ratio(s); got != 1.5 {
		t.Errorf("ratio %v", got)
	}
	if got := window.Estimate(s); got != 12010+1500 {
		t.Errorf("corrected: %d", got)
	}
}

// again is what tools say of their results.
func again(tool string) bool { return tool != "TodoWrite" }

func TestToClear(t *testing.T) {
	s := fold(transcript.State{}, event.InputAccepted{Text: "p"})
	add := func(tool, id string, n int) { s = fold(s, calls(tool, id), result(id, n)) }
	add("Read", "1", 60_000)
	add("TodoWrite", "todo", 90_000)
	add("Bash", "2", 10_000)
	for i := range window.KeepResults {
		add("Grep", fmt.Sprint("new", i), 90_000)
	}
	if got := window.ToClear(s, 180_000, again); got != nil {
		t.Errorf("17,500 tokens are too few: %v", got)
	}
	add("Write", "3", 1)
	want := []string{"1", "2", "new0"}
	got := window.ToClear(s, 180_000, again)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	before := window.Estimate(s)
	s = fold(s, event.Cleared{Calls: got})
	if after := window.Estimate(s); before-after < window.ClearAtLeast {
		t.Errorf("%d tokens came free", before-after)
	}
	if got := window.ToClear(s, 180_000, again); got != nil {
		t.Errorf("cleared twice: %v", got)
	}
	if got := texts(window.Build(s)[2])[0]; !strings.Contains(got, "Read /f") || len(got) > 200 {
		t.Errorf("got %q", got)
	}
}

// Every provider bills a changed prefix: what was sent stays the same, byte
// for byte, until an event says that it changes.
func TestPrefixIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := fold(transcript.State{}, event.InputAccepted{Text: "start"}, event.TurnStarted{ID: "t"})
		var sent [][]byte
		n, may := 0, true
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			if bounded := cutAll(s, 500); bounded.Gauge() != s.Gauge() { // it is only the newest message that is cut
				s = bounded
			}
			now := encode(t, window.Build(s))
			if again := encode(t, window.Build(s)); !slices.EqualFunc(now, again, bytes.Equal) {
				t.Fatal("the same state gave other bytes")
			}
			if may {
				if len(now) < len(sent) || !slices.EqualFunc(now[:len(sent)], sent, bytes.Equal) {
					t.Fatalf("the prefix changed from\n%s\nto\n%s", sent, now)
				}
			}
			sent, may = now, true
			var ids []string
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				n++
				ids = append(ids, fmt.Sprint(n))
			}
			s = fold(s, calls("Read", ids...))
			for _, id := range rapid.Permutation(ids).Draw(t, "order") {
				s = fold(s, result(id, rapid.IntRange(0, 900).Draw(t, "size")))
				if rapid.IntRange(0, 3).Draw(t, "steer") == 0 {
					s = fold(s, event.InputQueued{ID: "q", Text: "later"}, event.InputAccepted{ID: "s", Text: "steer"})
				}
			}
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0:
				s, may = fold(s, event.Cleared{Calls: ids}), false
			case 1:
				s, may = fold(s, event.Stripped{}), false
			case 2:
				s = fold(s, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "done"}}}},
					event.TurnEnded{ID: "t"}, event.InputAccepted{Text: "again"}, event.TurnStarted{ID: "t"})
			case 3:
				s = fold(s, event.Dropped{Calls: []string{"x"}}, event.Noted{Text: "n"}, event.ModelChanged{Model: "m"})
			}
		}
	})
}

func encode(t *rapid.T, ms []llm.Message) (out [][]byte) {
	for _, m := range ms {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}

// What a provider counted tells instructions in English from a conversation whose
// tokens have few bytes.
func TestStanding(t *testing.T) {
	say := func(n int) event.Body {
		return event.InputAccepted{Text: strings.Repeat("y", n)}
	}
	reply := func(in int) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "ok"}}}, Usage: llm.Usage{In: in}}
	}
	plain := fold(transcript.State{}, say(4000), reply(5000+1000))
	dense := fold(plain, say(7998), reply(5000+1000+3*2000))
	for _, c := range []struct {
		name      string
		of        transcript.State
		estimated int
		least, at int
	}{
		{"nothing is counted yet", transcript.State{}, 4500, 4500, 4500},
		{"as it was estimated", plain, 5000, 4990, 5010},
		{"each token of the conversation has 1.3 bytes, not those of the instructions", dense, 4500, 4500, 6000},
		{"never less than the estimate", dense, 9000, 9000, 9000},
	} {
		if got := window.Standing(c.of, c.estimated); got < c.least || got > c.at {
			t.Errorf("%s: %d (ratio %.2f), want %d to %d", c.name, got, window.Ratio(c.of), c.least, c.at)
		}
	}
}
