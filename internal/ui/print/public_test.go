package print

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// happened is a session that is over.
type happened struct {
	bodies []event.Body
	told   []op.Op
}

func (h *happened) Follow(_ context.Context, after event.Seq, _ event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for i, b := range h.bodies {
			e := event.Event{Seq: event.Seq(i + 1), Time: time.Unix(int64(i), 0), Body: b}
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (h *happened) Submit(_ context.Context, o op.Op) error {
	h.told = append(h.told, o)
	return nil
}

// publish has a session's transcript written, and returns its lines as they are read in a chain
// from the last message.
func publish(t *testing.T, path string, h *happened) []string {
	t.Helper()
	a := about()
	a.SessionID, a.NewID = "s1", newIDs()
	NewPublic(path, func(s string) { t.Error(s) }).Follow(h, func() About { return a }, true)()
	return chained(t, path)
}

func newIDs() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint("made", n, "-", time.Now().UnixNano()) }
}

func chained(t *testing.T, path string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		publicRead
		Message struct{ Content any }
		Subtype string
	}
	by, last := map[string]line{}, ""
	for _, raw := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var l line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if !l.message() {
			continue
		}
		if _, twice := by[l.UUID]; twice {
			t.Fatalf("%s stands twice", l.UUID)
		}
		by[l.UUID], last = l, l.UUID
	}
	for id := last; id != ""; id = by[id].Parent {
		l, ok := by[id]
		if !ok {
			t.Fatalf("no line %q", id)
		}
		said := fmt.Sprint(l.Message.Content)
		if blocks, ok := l.Message.Content.([]any); ok {
			b := blocks[0].(map[string]any)
			said = fmt.Sprint(b["text"], b["name"], b["content"])
		}
		out = append([]string{l.Type + " " + strings.ReplaceAll(strings.ReplaceAll(said, "<nil>", ""), " ", "")}, out...)
	}
	return out
}

func prompted1(id string) event.InputAccepted { return event.InputAccepted{ID: id, Text: id} }

func says(text string) event.Replied { return replied(llm.EndTurn, llm.Text{S: text}) }

// A turn asks, and is answered.
func turn(id, answer string) []event.Body {
	return []event.Body{prompted1(id), begun, says(answer), ended(event.Done, "completed", 1)}
}

func past(parts ...[]event.Body) *happened {
	h := &happened{bodies: []event.Body{event.SessionStarted{ID: "s1"}}}
	for _, p := range parts {
		h.bodies = append(h.bodies, p...)
	}
	return h
}

func TestPublicChains(t *testing.T) {
	calls := []event.Body{prompted1("go"), begun, finished("c1", "early"), replied(llm.WantTools, ls, pwd), finished("c2", "second"), says("done"), ended(event.Done, "completed", 2)}
	for _, c := range []struct {
		name   string
		events *happened
		want   []string
	}{
		{"answer", past(turn("a", "b")), []string{"user a", "assistant b"}},
		{"results come in the order of their calls", past(calls), []string{"user go", "assistant Bash", "user early", "user second", "assistant done"}},
		{"a rewind leaves a branch", past(turn("a", "b"), turn("c", "d"), []event.Body{event.Rewound{To: 6, Conversation: true}}, turn("e", "f")), []string{"user a", "assistant b", "user e", "assistant f"}},
		{"a rewind to the begin of a branch", past(turn("a", "b"), turn("c", "d"), []event.Body{event.Rewound{To: 6, Conversation: true}}, turn("e", "f"), []event.Body{event.Rewound{To: 11, Conversation: true}}, turn("g", "h")), []string{"user a", "assistant b", "user g", "assistant h"}},
		{"a rewind is undone", past(turn("a", "b"), turn("c", "d"), []event.Body{event.Rewound{To: 6, Conversation: true}, event.Rewound{To: 10, Undo: true, Conversation: true}}, turn("e", "f")), []string{"user a", "assistant b", "user c", "assistant d", "user e", "assistant f"}},
		{"files alone", past(turn("a", "b"), []event.Body{event.Rewound{To: 2, Code: true}}, turn("e", "f")), []string{"user a", "assistant b", "user e", "assistant f"}},
		{"a summary begins anew", past(turn("a", "b"), []event.Body{event.Compacted{Text: "sum"}}, turn("c", "d")), []string{"system ", "user sum", "user c", "assistant d"}},
		{"a failed turn", past([]event.Body{prompted1("a"), begun, event.TurnEnded{How: event.Failed, Err: "no"}}), []string{"user a", "assistant APIError:no"}},
		{"an interrupted one", past([]event.Body{prompted1("a"), begun, ended(event.Interrupted, "interrupted", 0)}), []string{"user a", "user [Requestinterruptedbyuser]"}},
		{"a command of a person", past([]event.Body{event.Ran{Command: "ls", Text: "x"}}), []string{"user <bash-input>ls</bash-input>", "user <bash-stdout>x</bash-stdout>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p", "s1.jsonl")
			if got := publish(t, path, c.events); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			// However often it goes on, and wherever it stopped, the file is the same.
			for n := range c.events.bodies {
				part := filepath.Join(t.TempDir(), "p", "s1.jsonl")
				h := &happened{bodies: c.events.bodies[:n]}
				a := about()
				a.NewID = newIDs()
				NewPublic(part, func(s string) { t.Error(s) }).Follow(h, func() About { return a }, true)()
				if got := publish(t, part, c.events); !reflect.DeepEqual(got, c.want) {
					t.Errorf("in two runs, the first with %d events: %q, want %q", n, got, c.want)
				}
			}
		})
	}
}

func TestPublicFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "projects", "p", "s1.jsonl")
	NewPublic(path, func(s string) { t.Error(s) }).Follow(past(), about, true)()
	if _, err := os.Stat(filepath.Join(dir, "projects")); err == nil {
		t.Error("a session without a prompt left something")
	}
	publish(t, path, past(turn("a", "b")))
	if runtime.GOOS != "windows" {
		for at, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if i, err := os.Stat(at); err != nil || i.Mode().Perm() != mode {
				t.Errorf("%s: %v %v, want %v", at, i.Mode(), err, mode)
			}
		}
	}
	add := func(text string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
	add(`{"type":"custom-title","customTitle":"named","sessionId":"s1"}`) // without a line's end
	h := past(turn("a", "b"), turn("c", "d"))
	publish(t, path, h)
	if want := []op.Op{op.Rename{Title: "named"}}; !reflect.DeepEqual(h.told, want) {
		t.Errorf("told %v, want %v", h.told, want)
	}
	// Large lines of others behind it hide nothing.
	add(`{"type":"tag","tag":"` + strings.Repeat("x", 600<<10) + "\"}\n")
	h = past(turn("a", "b"), turn("c", "d"), turn("e", "f"))
	if got, want := publish(t, path, h), "[user a assistant b user c assistant d user e assistant f]"; fmt.Sprint(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if h.told != nil {
		t.Errorf("told %v of a title that is known", h.told)
	}
}

func TestPublicLeavesOthersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	was := `{"type":"user","uuid":"u","sessionId":"s1","message":{"role":"user","content":"x"}}` + "\n"
	if err := os.WriteFile(path, []byte(was), 0o600); err != nil {
		t.Fatal(err)
	}
	p := NewPublic(path, func(s string) { t.Error(s) })
	p.Follow(past(turn("a", "b")), about, true)()
	if now, _ := os.ReadFile(path); string(now) != was {
		t.Errorf("it is now %q", now)
	}
	if p.File(100) != path {
		t.Error("its path is another one")
	}
}

// Where nobody asks, nothing is written; who asks has all that happened before.
func TestPublicBeginsWhenItIsAskedFor(t *testing.T) {
	for _, asked := range []bool{false, true} {
		p := NewPublic(filepath.Join(t.TempDir(), "s1.jsonl"), func(s string) { t.Error(s) }).Agent("a1")
		h := past(turn("a", "b"))
		wait := p.Follow(h, about, false)
		if asked {
			p.File(event.Seq(len(h.bodies)))
			text, _ := os.ReadFile(p.path)
			if n := strings.Count(string(text), `"isSidechain":true,"agentId":"a1"`); n != 2 {
				t.Errorf("%d lines in %q", n, text)
			}
		}
		wait()
		if _, err := os.Stat(p.path); (err == nil) != asked {
			t.Errorf("asked %t: %v", asked, err)
		}
	}
}

func TestPublicSaysWhyNot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var notes []string
	NewPublic(filepath.Join(file, "p", "s1.jsonl"), func(s string) { notes = append(notes, s) }).Follow(past(turn("a", "b"), turn("c", "d")), about, true)()
	if len(notes) != 1 || !strings.Contains(notes[0], "compat.transcripts") {
		t.Errorf("said %q", notes)
	}
}

func TestPublicCopy(t *testing.T) {
	claude := t.TempDir()
	dir := filepath.Join(claude, "projects", "x")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{
		"ours":    `{"type":"user","uuid":"u","adze":{"seq":7,"from":4},"forkedFrom":{"sessionId":"old","messageUuid":"m"}}` + "\n" + `{"type":"custom-title","customTitle":"t"}`,
		"theirs":  `{"type":"user","uuid":"u","forkedFrom":{"sessionId":"old","messageUuid":"m"}}`,
		"no-fork": `{"type":"user","uuid":"u","adze":{"seq":7,"from":4}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if of, upTo, ok := PublicCopy(claude, "ours"); of != "old" || upTo != 7 || !ok {
		t.Error(of, upTo, ok)
	}
	for _, id := range []string{"theirs", "no-fork", "none"} {
		if _, _, ok := PublicCopy(claude, id); ok {
			t.Errorf("%s is a copy of ours", id)
		}
	}
}

// The names are those that the SDK's own functions look for: a character outside of the Basic
// Multilingual Plane is two there, and the hash was computed with the function of the SDK.
func TestPublicPath(t *testing.T) {
	long := "/" + strings.Repeat("a", 250)
	for dir, want := range map[string]string{
		"/w/my.app_x": "-w-my-app-x", "/é/😀": "---" + "--", "": "", long: "-" + strings.Repeat("a", 199) + "-feo44x",
	} {
		got := filepath.Base(filepath.Dir(PublicPath("/c", dir, "id")))
		if dir == "" {
			got = PublicPath("", "/w", "id")
		}
		if got != want {
			t.Errorf("%q is %q, want %q", dir, got, want)
		}
	}
}

func FuzzPublicEnd(f *testing.F) {
	f.Add(`{"type":"user","uuid":"u","adze":{"seq":7,"from":4}}` + "\n{")
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := publicEnd(path, publicRead.message); err != nil {
			t.Error(err)
		}
	})
}
