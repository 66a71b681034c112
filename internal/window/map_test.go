package window

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/draw"
)

func TestMap(t *testing.T) {
	var s transcript.State
	add := func(b event.Body) {
		s = s.Apply(event.Event{Seq: s.Seq + 1, Time: time.Unix(int64(s.Seq), 0), Body: b})
	}
	add(event.InputAccepted{ID: "p1", Text: strings.Repeat("p", 800)})
	add(event.InputAccepted{ID: "n1", Text: strings.Repeat("n", 400), Hidden: true})
	add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		llm.Thinking{S: strings.Repeat("t", 400)}, llm.Text{S: strings.Repeat("a", 400)},
		llm.ToolUse{ID: "c1", Name: "Read", Input: json.RawMessage(`{"file_path":"/w/big.go"}`)},
	}}, Stop: llm.WantTools, Usage: llm.Usage{In: 2000, Out: 300}})
	add(event.ToolFinished{Call: "c1", Name: "Read", Text: strings.Repeat("r", 8000)})
	m := MapOf(s, "x/y", 200_000, 64_000, []Piece{{"identity", 4000}, {"memory", 400}}, []Piece{{"Read", 800}})
	if m.Used != 2300+2000 || m.Free != 180_000-m.Used || m.Compacts != 167_000 || m.Warns != 147_000 {
		t.Errorf("%+v", m)
	}
	sum, kinds := 0, ""
	for _, x := range m.Shares {
		sum, kinds = sum+x.Tokens, kinds+x.Kind+" "
	}
	if kinds != "instructions memory tools prompts notes answers thinking calls results " {
		t.Errorf("the shares are %s", kinds)
	}
	if sum < m.Used-10 || sum > m.Used {
		t.Errorf("the shares have %d tokens of %d", sum, m.Used)
	}
	if b := m.Biggest[0]; b.Name != "result of Read /w/big.go" || b.Call != "c1" || b.Event != 4 || b.Kind != "results" {
		t.Errorf("the biggest is %+v", b)
	}
	add(event.Cleared{Calls: []string{"c1"}})
	add(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "so"}}}, Stop: llm.EndTurn, Usage: llm.Usage{In: 1500, CacheRead: 800, CacheWrite: 10, Out: 10}})
	m = MapOf(s, "x/y", 200_000, 64_000, nil, nil)
	if m.Cleared.Results != 1 || m.Cache != (Served{Prompt: 2310, Read: 800, Missed: 1200, Why: "old results were cleared"}) {
		t.Errorf("%+v, %+v", m.Cleared, m.Cache)
	}
	var text strings.Builder
	for _, l := range draw.Block(m.View(), draw.Options{Width: 80}) {
		for _, x := range l {
			text.WriteString(x.Text)
		}
		text.WriteString("\n")
	}
	for _, want := range []string{"x/y 2,318 of 180,000 tokens, 1 %", "free", "Cleared: 1 result; the log has all of it.", "Missed: 1,200 tokens, because old results were cleared."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

// What a provider left out by itself is said, until a request has all of it.
func TestMapOfWhatTheProviderCleared(t *testing.T) {
	var s transcript.State
	for i, cleared := range []int{30_000, 0} {
		s = s.Apply(event.Event{Seq: s.Seq + 1, Body: event.InputAccepted{ID: "p", Text: strings.Repeat("p", 8000)}})
		s = s.Apply(event.Event{Seq: s.Seq + 1, Body: event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "so"}}}, Usage: llm.Usage{In: 50_000 * (i + 1), Cleared: cleared}}})
		m := MapOf(s, "x/y", 200_000, 64_000, nil, nil)
		if said := strings.Contains(strings.Join(m.words(), "\n"), "The provider left about 30,000 tokens of old results out"); said != (cleared > 0) || m.Cleared.Provider != cleared {
			t.Errorf("%+v: %q", m.Cleared, m.words())
		}
		if cleared > 0 && s.Gauge().GrownBytes > 0 {
			t.Error("how tokens are counted was learnt from a request of which something was left out")
		}
	}
}

func TestWhyTheCacheMissed(t *testing.T) {
	for _, c := range []struct {
		c    transcript.Cache
		want Served
	}{
		{transcript.Cache{}, Served{Why: "no request was answered yet"}},
		{transcript.Cache{Prompt: 9000}, Served{Prompt: 9000, Why: "it was the first request"}},
		{transcript.Cache{Prompt: 9000, Read: 7990, Before: 8000, Any: true}, Served{9000, 7990, 10, "nothing of what had been sent before was missed"}},
		{transcript.Cache{Prompt: 9000, Before: 8000}, Served{9000, 0, 8000, "the provider told of no cache"}},
		{transcript.Cache{Prompt: 900, Before: 800, Any: true}, Served{900, 0, 800, "the prompt was too short to be cached"}},
		{transcript.Cache{Prompt: 9000, Before: 8000, Any: true, Idle: 12 * time.Minute}, Served{9000, 0, 8000, "12 minutes passed, and the provider may keep a prefix for no longer than five"}},
		{transcript.Cache{Prompt: 9000, Read: 3000, Before: 8000, Any: true, Between: []transcript.CacheChange{transcript.CacheResumed, transcript.CacheModel, transcript.CacheTools}},
			Served{9000, 3000, 5000, "another model was chosen; the list of tools changed"}},
		{transcript.Cache{Prompt: 9000, Read: 1900, Before: 2000, Any: true}, Served{9000, 1900, 100, "nothing of what had been sent before was missed"}},
		{transcript.Cache{Prompt: 9000, Read: 1899, Before: 2000}, Served{9000, 1899, 101, "the provider told of no cache"}},
		{transcript.Cache{Prompt: 9000, Before: 1023, Any: true}, Served{9000, 0, 1023, "the prompt was too short to be cached"}},
		{transcript.Cache{Prompt: 9000, Before: 1024, Any: true, Idle: 5 * time.Minute}, Served{9000, 0, 1024, "5 minutes passed, and the provider may keep a prefix for no longer than five"}},
		{transcript.Cache{Prompt: 9000, Before: 8000, Any: true, Idle: 5*time.Minute - 1, Between: []transcript.CacheChange{transcript.CacheResumed}}, Served{9000, 0, 8000, "adze was started anew"}},
		{transcript.Cache{Prompt: 9000, Before: 8000, Any: true}, Served{9000, 0, 8000, "the provider did not keep them, or another of its servers answered: what adze sent before did not change"}},
	} {
		if d := cmp.Diff(c.want, served(c.c)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.c, d)
		}
	}
}

// Each fact of a map is said as soon as there is one, and pictures and documents are named.
func TestMapSaysEachFact(t *testing.T) {
	for _, c := range []struct {
		m    Map
		want string
	}{
		{Map{}, "The model's window is not known"}, {Map{Effective: 1}, "Window: 0 tokens, 1 of them"}, {Map{}, "Cleared: nothing."}, {Map{}, "Missed: none"},
		{Map{Cleared: Gone{Results: 1}}, "Cleared: 1 result;"}, {Map{Cleared: Gone{Provider: 1}}, "left about 1 tokens"}, {Map{Cleared: Gone{Media: true}}, "Images and documents were taken out."},
		{Map{Cleared: Gone{From: 1}}, "the compaction at event 1."}, {Map{Cache: Served{Prompt: 1}}, "Cache: 0 of the newest request's 1 tokens"}, {Map{Cache: Served{Missed: 1, Why: "so"}}, "Missed: 1 tokens, because so."},
	} {
		if got := strings.Join(c.m.words(), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%q is not in %q", c.want, got)
		}
	}
	var s transcript.State
	s = s.Apply(event.Event{Seq: 1, Body: event.Compacted{Undo: 1, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Image{Data: []byte("x")}, llm.Document{Name: "a.pdf", Data: []byte("x")}}}}}})
	var names []string
	for _, it := range MapOf(s, "x/y", 200_000, 64_000, nil, nil).Biggest {
		names = append(names, it.Kind+": "+it.Name)
	}
	for _, want := range []string{"images and documents: image", "images and documents: document a.pdf"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not in %q", want, names)
		}
	}
}

// Of what somebody says a map has the beginning, and of a document's name more.
func TestNamesInAMapAreShort(t *testing.T) {
	long := strings.Repeat("n", 200)
	var s transcript.State
	for _, b := range []event.Body{
		event.InputAccepted{ID: "p", Text: long}, event.InputAccepted{ID: "h", Text: long, Hidden: true}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: long}}}},
	} {
		s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b})
	}
	back := transcript.State{}.Apply(event.Event{Seq: 1, Body: event.Compacted{Undo: 1, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Document{Name: long, Data: []byte("x")}}}}}})
	for _, it := range append(MapOf(s, "x/y", 0, 0, nil, nil).Biggest, MapOf(back, "x/y", 0, 0, nil, nil).Biggest...) {
		what, name, named := strings.Cut(it.Name, ": ")
		most := 50
		if !named {
			what, name, _ = strings.Cut(it.Name, " ")
			most = 80
		}
		if n := utf8.RuneCountInString(name); n != most {
			t.Errorf("%s has %d characters: %s", what, n, name)
		}
	}
}
