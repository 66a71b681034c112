package transcript_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

func stored(t interface{ Fatal(...any) }, s transcript.State) []byte {
	raw, err := transcript.AppendState(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func restored(t interface{ Fatal(...any) }, s transcript.State) transcript.State {
	out, err := transcript.ParseState(stored(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rich adds to a drawn log what it has none of: images, documents, thinking,
// files, questions, tasks, prompts that wait.
func rich(t *rapid.T, es []event.Event) []event.Event {
	var out []event.Event
	for _, e := range es {
		out = append(out, e)
		n := len(out)
		var b event.Body
		switch rapid.IntRange(0, 30).Draw(t, "more") {
		case 0:
			b = event.InputAccepted{ID: fmt.Sprint("i", n), Text: "look \u2028", Images: []llm.Image{{Media: "image/png", Data: []byte{1, 2, byte(n)}}}}
		case 1:
			b = event.InputQueued{ID: fmt.Sprint("q", n), Text: "later", Images: []llm.Image{{Media: "image/gif", Data: []byte{9}}}}
		case 2:
			b = event.Asked{Call: fmt.Sprint("c", n), Tool: "Bash", Input: []byte(`{"a":1}`), Title: "t", Verdict: policy.Verdict{Effect: policy.Ask, Reason: "r"}, View: view.Text{S: "v"}}
		case 3:
			b = event.ToolFinished{Call: fmt.Sprint("f", n), Name: "Read", Text: "x", Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: fmt.Sprint("/", n%5), Hash: "h", Size: int64(n)}}}, effect.Dir{Path: "/d"}, effect.Exported{Vars: []effect.Variable{{Name: "A", Value: "b"}}}}, View: view.Tasks{Items: []view.Task{{Text: "do", Status: view.Pending}}}}
		case 4:
			b = event.TaskStarted{ID: fmt.Sprint("b", n), Kind: "shell"}
		case 5:
			b = event.Stripped{}
		case 6:
			b = event.Answered{}
		case 7:
			b = event.Spent{For: event.ForRuling, Model: "small", Usage: llm.Usage{In: 3}, Cost: 0.25}
		case 8:
			b = event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm", Opaque: []byte(`{"s":"x"}`), From: "p/m"}, llm.Text{S: "so"}}}, Usage: llm.Usage{In: 7, Out: 1}, Model: "p/m", Took: time.Second}
		default:
			continue
		}
		out = append(out, event.Event{Body: b})
	}
	for i := range out {
		out[i].Seq, out[i].Time = event.Seq(i+1), time.Unix(int64(i), 0).UTC()
	}
	return out
}

// A state that was stored and read again goes on as the one that was not: at
// every event of every log.
func TestRestoredStatesGoOnTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		es := rich(t, draw(t))
		var whole transcript.State
		for _, e := range es {
			whole = whole.Apply(e)
		}
		want := stored(t, whole)
		closer := rapid.IntRange(0, len(es)-1).Draw(t, "looked at")
		var s transcript.State
		for k, e := range es {
			s = s.Apply(e)
			if len(es) > 40 && k%7 > 0 && k != closer { // all of small logs, some of large ones
				continue
			}
			got := restored(t, s)
			if k == closer {
				if d := same(s, got); d != "" {
					t.Fatalf("stored at %d:\n%s", k+1, d)
				}
			}
			for _, e := range es[k+1:] {
				got = got.Apply(e)
			}
			if k == closer {
				if d := same(whole, got); d != "" {
					t.Fatalf("stored at %d, and gone on (-whole +restored):\n%s", k+1, d)
				}
			}
			if raw := stored(t, got); !bytes.Equal(raw, want) {
				t.Fatalf("stored at %d, and gone on:\n%s\nwant\n%s", k+1, raw, want)
			}
		}
	})
}

// same compares all that can be seen of two states.
func same(a, b transcript.State) string {
	opts := []cmp.Option{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(transcript.State{}), cmp.AllowUnexported(transcript.Gauge{})}
	if d := cmp.Diff(a, b, opts...); d != "" {
		return d
	}
	seen := func(s transcript.State) []any {
		files := map[string]effect.File{}
		for p, f := range s.Files() {
			files[p] = f
		}
		return []any{s.Entries(), s.Open(), s.Gauge(), s.Whole(), s.Boundary(), s.Stripped(), files}
	}
	return cmp.Diff(seen(a), seen(b), opts...)
}

func TestParseStateRefusesWhatItDidNotWrite(t *testing.T) {
	good := stored(t, transcript.State{}.Apply(event.Event{Seq: 1, Body: event.InputAccepted{Text: "x"}}))
	for _, bad := range []string{"", "{", `{"talk":{"done":[{"message":{"role":"user","parts":[{"type":"text"}]}}]}}`, `{"talk":{"tail":{"message":{"parts":[{"type":"text"}]}}}}`,
		`{"talk":{"round":[{"parts":{"parts":[{"type":"text"}]}}]}}`, `{"talk":{"held":[{"message":{}}]}}`, `{"talk":{"held":[{"message":{},"from":[1,2]}]}}`,
		`{"talk":{"round":[{"parts":{"parts":[{"type":"tool_use","id":"a","name":"x"},{"type":"text","text":"no result"}]},"done":true}]}}`, `{"talk":{"round":[{"parts":{"parts":[]}}]}}`,
		`{"talk":{"early":[{"result":{"parts":[{"type":"text","text":"no result"}]}}]}}`, `{"pending":[{"type":"input_removed","seq":1}]}`, `{"talk":{"early":[{"result":{}}]}}`, `{"pending":["x"]}`, string(good[:len(good)-1])} {
		if _, err := transcript.ParseState([]byte(bad)); err == nil {
			t.Errorf("%.60q was read", bad)
		}
	}
	if s, err := transcript.ParseState(good); err != nil || !reflect.DeepEqual(s.Messages(), []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "x"}}}}) {
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzParseState(f *testing.F) {
	f.Add(stored(f, transcript.State{}.Apply(event.Event{Seq: 1, Body: event.InputAccepted{Text: "x"}})))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := transcript.ParseState(raw)
		if err != nil {
			return
		}
		s = s.Apply(event.Event{Seq: 9, Body: event.TurnEnded{}})
		_ = s.Messages()
	})
}
