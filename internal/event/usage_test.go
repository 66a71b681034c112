package event_test

import (
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/usage"
)

// A line is counted as the event that it holds is, whatever else it holds.
func TestParseUsage(t *testing.T) {
	bodies := []event.Body{
		event.Replied{
			Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "x"}, llm.ToolUse{ID: "1", Name: "Read", Input: []byte(`{}`)}}},
			Model:   "p/m", Usage: llm.Usage{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4}, Cost: 0.5, Priced: true, First: time.Second, Took: 2 * time.Second, Attempts: 3,
		},
		event.Replied{Model: "p/m", Usage: llm.Usage{In: 1}},
		event.Dropped{Reason: "r", Calls: []string{"1"}, Model: "p/m", Usage: llm.Usage{In: 1}, Cost: 1},
		event.Dropped{Reason: "r"},
		event.Spent{For: "title", Model: "p/s", Usage: llm.Usage{In: 9}},
		event.ToolFinished{Call: "1", Name: "Bash", Text: "x", Images: []llm.Image{{Media: "image/png", Data: []byte("png")}}, IsErr: true, Took: time.Second},
		event.ToolFinished{Call: "1", Name: "Bash", Denied: true, IsErr: true},
		event.Noted{Text: "x"},
	}
	counted := 0
	for i, b := range bodies {
		line, err := event.AppendLine(nil, event.Event{Seq: 1, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.ParseUsage(line, event.TypeName(b))
		if err != nil {
			t.Fatal(err)
		}
		wantR, wantIs := event.Request(b)
		gotR, gotIs := event.Request(got)
		wantName, wantW, wantRan := event.Work(b)
		gotName, gotW, gotRan := event.Work(got)
		if gotR != wantR || gotIs != wantIs || gotName != wantName || gotW != wantW || gotRan != wantRan {
			t.Errorf("%d: %+v %v, %s %+v %v", i, gotR, gotIs, gotName, gotW, gotRan)
		}
		if gotIs || gotRan {
			counted++
		}
	}
	if counted != 6 {
		t.Errorf("%d events were counted", counted)
	}
	r, _ := event.Request(bodies[0])
	if want := (usage.Request{Model: "p/m", Usage: llm.Usage{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4}, Cost: 0.5, Priced: true, First: time.Second, Took: 2 * time.Second, Retries: 2}); r != want {
		t.Errorf("%+v", r)
	}
	if r, _ := event.Request(bodies[4]); r.For != "title" || r.Priced {
		t.Errorf("%+v", r)
	}
	if _, w, _ := event.Work(bodies[6]); w != (usage.Work{Denied: 1}) {
		t.Errorf("%+v", w)
	}
	// Images are names of blobs in a file, which no event has.
	if b, err := event.ParseUsage([]byte(`{"seq":1,"type":"tool_finished","name":"Read","images":[{"data":"blob:00"}],"took":5}`), "tool_finished"); err != nil || b.(event.ToolFinished).Took != 5 {
		t.Errorf("%+v, %v", b, err)
	}
}
