package window

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(strings.ReplaceAll(string(want), "\r", ""), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// conversations of several kinds, by name.
func conversations() (names []string, of map[string]transcript.State) {
	of = map[string]transcript.State{}
	keep := func(name string, s transcript.State, more ...event.Body) {
		for _, b := range more {
			s = s.Apply(event.Event{Seq: s.Seq + 1, Time: time.Unix(1e9, 0), Body: b})
		}
		names = append(names, name)
		of[name] = s
	}
	said := func(s string) event.Body { return event.InputAccepted{ID: "p", Text: s} }
	reply := func(in int, parts ...llm.Part) event.Body {
		return event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Usage: llm.Usage{In: in}}
	}
	var chat []event.Body
	for i := range 12 {
		chat = append(chat, said(fmt.Sprint("question ", i)), reply(0, llm.Text{S: strings.Repeat("word ", 100)}))
	}
	keep("nothing", transcript.State{})
	keep("a prompt", transcript.State{}, said("go"))
	keep("calls", talk(20, 1000))
	keep("calls, and a prompt that waits", talk(6, 1000), said("and?"))
	keep("talk", transcript.State{}, chat...)
	keep("talk behind calls", talk(8, 4000), chat...)
	keep("dense", transcript.State{}, said(strings.Repeat("x", 4000)), reply(1000, llm.Text{S: "a"}), said(strings.Repeat("x", 8000)), reply(5000, llm.Text{S: "b"}), said(strings.Repeat("x", 4000)), reply(7000, llm.Text{S: " "}, llm.ToolUse{ID: "c", Name: "Read"}), event.ToolFinished{Call: "c", Text: strings.Repeat("y", 4000)})
	keep("compacted", of["talk"], event.Compacted{Text: "the sum", From: 20, Tokens: 9000, Left: 2000}, said("on"))
	return names, of
}

// From which event on messages stay: by the newest that fit, and behind notes
// that tell of all up to an event.
func TestWhatStays(t *testing.T) {
	var b strings.Builder
	names, of := conversations()
	for _, name := range names {
		s := of[name]
		fmt.Fprintf(&b, "# %s: %d events, %d bytes\n", name, s.Seq, s.Gauge().Bytes)
		was := ""
		for tokens := 0; tokens <= 3000; tokens += 50 {
			if at := fmt.Sprint(Tail(s, tokens)); at != was {
				fmt.Fprintf(&b, "the newest %d tokens: from %s\n", tokens, at)
				was = at
			}
		}
		for _, w := range []struct{ effective, overhead int }{{0, 0}, {12_000, 0}, {12_000, 4000}, {24_000, 0}, {200_000, 20_000}, {800, 700}} {
			was := ""
			for through := event.Seq(0); through <= s.Seq+1; through++ {
				from, ok := Behind(s, through, w.effective, w.overhead)
				if at := fmt.Sprintf("from %d, %t", from, ok); at != was {
					fmt.Fprintf(&b, "window %d, overhead %d, notes up to %d: %s\n", w.effective, w.overhead, through, at)
					was = at
				}
			}
		}
	}
	golden(t, "stays.txt", b.String())
}

// What the map of a window shows, as JSON and in words.
func TestMaps(t *testing.T) {
	var b strings.Builder
	names, of := conversations()
	add := func(name string, s transcript.State, more ...event.Body) {
		for _, b := range more {
			s = s.Apply(event.Event{Seq: s.Seq + 1, Time: time.Unix(1e9, 0), Body: b})
		}
		names = append(names, name)
		of[name] = s
	}
	img := llm.Image{Media: "image/png"}
	add("media", transcript.State{}, event.InputAccepted{ID: "p", Text: "see", Images: []llm.Image{img}}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm"}, llm.ToolUse{ID: "1", Name: "Read", Input: json.RawMessage(`{"file_path":"/w/a"}`)}, llm.ToolUse{ID: "2", Name: "Now"}}}, Usage: llm.Usage{In: 3000, CacheRead: 1500, CacheWrite: 500, Out: 100}},
		event.ToolFinished{Call: "1", Text: strings.Repeat("r", 500)}, event.ToolFinished{Call: "2", Text: "12:00"}, event.InputAccepted{Text: "the mode is plan", Hidden: true})
	add("taken out", of["media"], event.Cleared{Calls: []string{"1", "2"}}, event.Stripped{}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "so"}}}, Usage: llm.Usage{In: 5000, CacheRead: 100, Out: 10}}, event.Compacted{Text: "the sum", From: 99, Record: "/r/1", Tokens: 5000, Left: 100})
	add("brought back", of["taken out"], event.Compacted{Undo: 9, Messages: of["media"].Messages()[:2], Left: 900, Tokens: 10})
	for _, name := range names {
		for _, window := range []int{0, 10_000} {
			m := MapOf(of[name], "p/m", window, 1000, []Piece{{"identity", 400}, {"notes on the project", 100}, {"memory", 0}}, []Piece{{"Read", 4000}})
			rest := m
			rest.Shares, rest.Biggest = nil, nil
			raw, err := json.Marshal(rest)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "# %s in a window of %d\n%s\n", name, window, raw)
			for _, s := range m.Shares {
				fmt.Fprintf(&b, "\t%s: %d, %d tokens\n", s.Kind, s.Count, s.Tokens)
			}
			for _, it := range m.Biggest {
				fmt.Fprintf(&b, "\t%d tokens: %s (%s, event %d, call %q)\n", it.Tokens, it.Name, it.Kind, it.Event, it.Call)
			}
			g := m.View().(view.Group)
			fmt.Fprintf(&b, "%s\n", g.Blocks[2].(view.Text).S)
			meter, big := g.Blocks[0].(view.Meter), g.Blocks[1].(view.Table)
			if len(meter.Shares) != len(m.Shares) || meter.Whole != m.Effective || len(big.Rows) != len(m.Biggest) {
				t.Errorf("%s: drawn as %+v, %+v", name, meter, big)
			}
		}
	}
	golden(t, "maps.txt", b.String())
}

// Once the provider's cache is cold, 2,500 tokens make it worth to clear.
func TestToClearCold(t *testing.T) {
	all := func(string) bool { return true }
	for chars, want := range map[int]int{10_099: 0, 10_100: 1, 20_000: 1} {
		s := talk(1, chars)
		for i := range KeepResults {
			id := fmt.Sprint("new", i)
			for _, b := range []event.Body{event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: id, Name: "Read"}}}}, event.ToolFinished{Call: id, Text: "x"}} {
				s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b})
			}
		}
		if got := ToClearCold(s, all); len(got) != want {
			t.Errorf("%d characters: %v", chars, got)
		}
		if got := ToClearCold(s, func(string) bool { return false }); len(got) > 0 {
			t.Errorf("of what cannot be had again: %v", got)
		}
	}
}

// A question stands behind what the user said last, or is a message of its own.
func TestAsk(t *testing.T) {
	u, a := llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "u"}}}, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "a"}}}
	q := llm.Part(llm.Text{S: "why?"})
	for name, c := range map[string]struct{ ms, want []llm.Message }{
		"nothing": {nil, []llm.Message{{Role: llm.User, Parts: []llm.Part{q}}}},
		"a user":  {[]llm.Message{u}, []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "u"}, q}}}},
		"a reply": {[]llm.Message{u, a}, []llm.Message{u, a, {Role: llm.User, Parts: []llm.Part{q}}}},
	} {
		if d := cmp.Diff(c.want, Ask(c.ms, "why?")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A record has every part under a line that names it, but what was for the model
// alone.
func TestRecord(t *testing.T) {
	_, of := conversations()
	s := of["nothing"]
	for _, b := range []event.Body{
		event.InputAccepted{Text: "go", Images: []llm.Image{{Media: "image/png"}}}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "secret"}, llm.Text{S: "so"}, llm.ToolUse{ID: "1", Name: "Read", Input: json.RawMessage(`{"a":1}`)}}}},
		event.ToolFinished{Call: "1", Text: "found"},
	} {
		s = s.Apply(event.Event{Seq: s.Seq + 1, Body: b})
	}
	want := "== user (event 1)\n[a picture or a document]\n\n== user (event 1)\ngo\n\n== assistant (event 2)\nso\n\n== call 1: Read (event 2)\n{\"a\":1}\n\n== result 1 (event 3)\nfound\n\n"
	if d := cmp.Diff(want, Record(s.Entries())); d != "" {
		t.Error(d)
	}
}
