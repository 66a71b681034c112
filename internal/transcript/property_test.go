package transcript_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/transcript"
)

// A script draws a log as a session writes it: turns, steps, calls that start
// while the reply streams, drops, questions, prompts at any time, crashes.
type script struct {
	t     *rapid.T
	out   []event.Body
	calls int
	turns int
}

func (s *script) add(b event.Body) { s.out = append(s.out, b) }
func (s *script) chance(n int, what string) bool {
	return rapid.IntRange(0, n).Draw(s.t, what) == 0
}

func (s *script) prompts() {
	for range rapid.IntRange(0, 2).Draw(s.t, "prompts") {
		s.add(event.InputAccepted{ID: fmt.Sprint("p", len(s.out)), Text: fmt.Sprint("say ", len(s.out)), Hidden: s.chance(3, "hidden")})
	}
}

func (s *script) results(ids []string) {
	ids = rapid.Permutation(ids).Draw(s.t, "order")
	for _, id := range ids {
		if s.chance(4, "prompt between") {
			s.prompts()
		}
		s.add(event.ToolFinished{Call: id, Name: "Read", Text: "out " + id, Denied: s.chance(9, "denied")})
	}
}

// step is one reply and its calls; it reports whether the turn goes on.
func (s *script) step() bool {
	n := rapid.IntRange(0, 4).Draw(s.t, "calls")
	var ids []string
	parts := []llm.Part{llm.Text{S: rapid.SampledFrom([]string{"", " ", "ok", "fine"}).Draw(s.t, "text")}}
	for range n {
		s.calls++
		id := fmt.Sprint("c", s.calls)
		ids = append(ids, id)
		parts = append(parts, llm.ToolUse{ID: id, Name: "Read", Input: json.RawMessage(`{}`)})
	}
	early := rapid.IntRange(0, n).Draw(s.t, "early")
	for _, id := range ids[:early] {
		s.add(event.ToolStarted{Call: id, Name: "Read"})
	}
	done := rapid.IntRange(0, early).Draw(s.t, "done early")
	s.results(ids[:done])
	if s.chance(5, "drop") {
		s.add(event.Dropped{Calls: ids[:early]})
		s.results(ids[done:early])
		return true
	}
	if s.chance(9, "die in the stream") {
		return false
	}
	stop := rapid.SampledFrom([]llm.Stop{llm.EndTurn, llm.MaxTokens, llm.Paused, llm.EndTurn, llm.Refused}).Draw(s.t, "stop")
	s.add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: stop, Usage: llm.Usage{In: len(s.out) * 10, Out: 5}})
	if stop == llm.Refused {
		return false
	}
	if s.chance(9, "die with open calls") {
		left := ids[done:]
		s.results(left[:rapid.IntRange(0, len(left)).Draw(s.t, "some")])
		return false
	}
	s.results(ids[done:])
	return n > 0 || s.chance(1, "go on")
}

func (s *script) turn() {
	s.turns++
	s.prompts()
	id := fmt.Sprint("t", s.turns)
	s.add(event.TurnStarted{ID: id})
	for range rapid.IntRange(0, 5).Draw(s.t, "steps") {
		more := s.step()
		s.prompts()
		if s.calls > 0 && s.chance(9, "clear") {
			s.add(event.Cleared{Calls: []string{fmt.Sprint("c", rapid.IntRange(1, s.calls).Draw(s.t, "which"))}})
		}
		if s.chance(9, "begin anew") {
			s.add(event.Compacted{Trigger: "plan", Text: "the plan"})
		}
		s.shorten()
		if !more {
			break
		}
	}
	s.add(event.TurnEnded{ID: id})
	s.shorten()
	if s.chance(9, "go back") {
		s.add(event.Rewound{To: s.place("to"), Conversation: true})
	}
}

// shorten compacts at any place, also one that no summary would choose.
func (s *script) shorten() {
	switch {
	case s.chance(9, "keep the end"):
		s.add(event.Compacted{Trigger: event.CauseFull, Text: "the summary", From: s.place("from"), Tokens: 100, Left: 10})
	case s.chance(9, "keep the beginning"):
		s.add(event.Compacted{Trigger: event.CauseAsked, Text: "the summary", Before: s.place("before"), From: event.Seq(len(s.out) + 1), Tokens: 100, Left: 10})
	case s.chance(9, "bring all back"):
		var was transcript.State
		for i, b := range s.out {
			if _, boundary := b.(event.Compacted); !boundary {
				was = was.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
			}
		}
		s.add(event.Compacted{Trigger: event.CauseAsked, Undo: 1, Messages: was.Messages()})
	}
}

// place is any event so far, or the next.
func (s *script) place(what string) event.Seq {
	return event.Seq(rapid.IntRange(1, len(s.out)+1).Draw(s.t, what))
}

func draw(t *rapid.T) []event.Event {
	s := &script{t: t}
	for range rapid.IntRange(1, 5).Draw(t, "turns") {
		s.turn()
	}
	es := make([]event.Event, len(s.out))
	for i, b := range s.out {
		es[i] = event.Event{Seq: event.Seq(i + 1), Time: time.Unix(int64(i), 0), Body: b}
	}
	return es
}

// valid checks what every provider asks of a history.
func valid(ms []llm.Message) error {
	for i, m := range ms {
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		if (m.Role == llm.User) != (i%2 == 0) {
			return fmt.Errorf("message %d is the %s's", i, m.Role)
		}
		var uses, results []string
		for _, p := range m.Parts {
			if u, ok := p.(llm.ToolUse); ok {
				uses = append(uses, u.ID)
			}
		}
		if m.Role == llm.User {
			continue
		}
		if i+1 < len(ms) {
			texts := false
			for _, p := range ms[i+1].Parts {
				r, ok := p.(llm.ToolResult)
				if ok && texts {
					return fmt.Errorf("message %d: a result after a prompt", i+1)
				}
				if ok {
					results = append(results, r.ID)
				}
				texts = texts || !ok
			}
		}
		if !slices.Equal(uses, results) {
			return fmt.Errorf("message %d calls %v, the results are %v", i, uses, results)
		}
	}
	return nil
}

func TestFault52_EveryHistoryIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s transcript.State
		for i, e := range draw(t) {
			s = s.Apply(e)
			if err := valid(s.Messages()); err != nil {
				t.Fatalf("after event %d: %v", i+1, err)
			}
			for _, e := range s.Entries() {
				if len(e.From) != len(e.Parts) {
					t.Fatalf("%d parts come from %d events", len(e.Parts), len(e.From))
				}
			}
			if g := s.Gauge(); g.Bytes != bytesOf(s) {
				t.Fatalf("after event %d the gauge says %d bytes, there are %d", i+1, g.Bytes, bytesOf(s))
			}
		}
	})
}

// bytesOf adds up the conversation without the results that are not there yet.
func bytesOf(s transcript.State) (n int) {
	ms := s.Messages()
	if len(s.Open()) > 0 {
		ms = ms[:len(ms)-1]
	}
	for _, m := range ms {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += len(p.S)
			case llm.ToolUse:
				n += len(p.ID) + len(p.Name) + len(p.Input)
			case llm.ToolResult:
				n += len(p.ID) + len(p.Text)
			case llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	return n
}

// Lines that are lost never make a history that a provider refuses.
func TestFault04_HistoryWithLostLinesIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		es := draw(t)
		var s transcript.State
		for _, e := range es {
			if rapid.IntRange(0, 5).Draw(t, "lose") > 0 {
				s = s.Apply(e)
			}
		}
		s = s.Apply(event.Event{Body: event.TurnEnded{}})
		if err := valid(s.Messages()); err != nil {
			t.Fatal(err)
		}
	})
}

// States share memory; none may see what another one added.
func TestApplyChangesNoEarlierState(t *testing.T) {
	slowtest.Alone(t)
	rapid.Check(t, func(t *rapid.T) {
		es := draw(t)
		var states []transcript.State
		var s transcript.State
		var seen [][]transcript.Entry
		for _, e := range es {
			s = s.Apply(e)
			states, seen = append(states, s), append(seen, clone(s.Entries()))
		}
		at := rapid.IntRange(0, len(es)-1).Draw(t, "branch")
		branch := states[at]
		for i := range 6 {
			branch = branch.Apply(event.Event{Seq: 1000, Body: event.InputAccepted{Text: fmt.Sprint("branch ", i)}})
			branch = branch.Apply(event.Event{Seq: 1001, Body: event.Replied{Message: model(text("b"))}})
		}
		for i, s := range states {
			if d := cmp.Diff(seen[i], s.Entries()); d != "" {
				t.Fatalf("state %d changed:\n%s", i, d)
			}
		}
	})
}

func clone(es []transcript.Entry) []transcript.Entry {
	out := slices.Clone(es)
	for i := range out {
		out[i].Parts, out[i].From = slices.Clone(out[i].Parts), slices.Clone(out[i].From)
	}
	return out
}

// The trie is a map.
func TestFilesAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]effect.File{}
		var s transcript.State
		for i := range rapid.IntRange(0, 300).Draw(t, "n") {
			f := effect.File{Path: fmt.Sprint("/", rapid.IntRange(0, 90).Draw(t, "path")), Size: int64(i)}
			if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
				s = s.Apply(event.Event{Body: event.ToolFinished{Call: "x", Effects: []effect.Effect{effect.Saw{Files: []effect.File{f}}}}})
				s = s.Apply(event.Event{Body: event.Dropped{Calls: []string{"x"}}})
				delete(want, f.Path)
				continue
			}
			s = s.Apply(event.Event{Body: event.Replied{Message: model(use("x"))}})
			s = s.Apply(event.Event{Body: event.ToolFinished{Call: "x", Effects: []effect.Effect{effect.Saw{Files: []effect.File{f}}}}})
			want[f.Path] = f
		}
		if d := cmp.Diff(want, maps.Collect(s.Files())); d != "" {
			t.Fatal(d)
		}
		for path, f := range want {
			if got, ok := s.File(path); !ok || got != f {
				t.Fatalf("%s: %+v", path, got)
			}
		}
	})
}
