package transcript_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/gemini"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// A wiretap keeps the body of a request, and answers nothing.
type wiretap struct{ body []byte }

func (w *wiretap) RoundTrip(r *http.Request) (*http.Response, error) {
	w.body, _ = io.ReadAll(r.Body)
	return &http.Response{StatusCode: http.StatusTeapot, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// sent is what a model is sent of a state.
func sent(tap *wiretap, m llm.Model, s transcript.State) []byte {
	tap.body = nil
	for range m.Stream(context.Background(), llm.Request{Model: "m", System: []string{"Be brief."}, MaxTokens: 1000, Messages: window.Build(s)}) {
	}
	return tap.body
}

// However a session went, with compactions, undos and rewinds: whoever takes it
// up again, from a snapshot and the rest of its log, sends the same bytes as who
// never left, and a strict provider of each wire accepts them.
func TestResumeSendsTheSameBytes(t *testing.T) {
	tap := &wiretap{}
	wires := []struct {
		wire llmtest.Wire
		make func() llm.Model
	}{
		{llmtest.Anthropic{}, func() llm.Model {
			return anthropic.New(anthropic.Config{Config: wire.Config{Key: "k", Transport: tap}})
		}},
		{llmtest.Responses{}, func() llm.Model { return openai.New(openai.Config{Config: wire.Config{Key: "k", Transport: tap}}) }},
		{llmtest.Chat{}, func() llm.Model {
			return compat.New(compat.Config{Config: wire.Config{Key: "k", Transport: tap}, BaseURL: "http://127.0.0.1:1"})
		}},
		{llmtest.Gemini{}, func() llm.Model { return gemini.New(gemini.Config{Config: wire.Config{Key: "k", Transport: tap}}) }},
	}
	rapid.Check(t, func(t *rapid.T) {
		es := draw(t)
		es = append(es, event.Event{Seq: event.Seq(len(es) + 1), Body: event.InputAccepted{ID: "last", Text: "and now?"}})
		cut := rapid.IntRange(0, len(es)).Draw(t, "cut")
		var stayed, back transcript.State
		stays := make([]llm.Model, len(wires))
		for i, w := range wires {
			stays[i] = w.make()
		}
		for i, e := range es {
			if i == cut {
				raw, err := transcript.AppendState(nil, back)
				if err != nil {
					t.Fatal(err)
				}
				if back, err = transcript.ParseState(raw); err != nil {
					t.Fatal(err)
				}
			}
			line, err := event.AppendLine(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			read, err := event.ParseLine(bytes.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			stayed, back = stayed.Apply(e), back.Apply(read)
			if rapid.IntRange(0, 5).Draw(t, "ask") == 0 { // so that what was sent before is reused
				for i := range wires {
					sent(tap, stays[i], stayed)
				}
			}
		}
		for i, w := range wires {
			want, got := sent(tap, stays[i], stayed), sent(tap, w.make(), back)
			if !bytes.Equal(got, want) || len(got) == 0 {
				t.Fatalf("%T: who came back sends\n%s\nwho stayed sends\n%s", w.wire, got, want)
			}
			if _, err := llmtest.Accept(w.wire, got); err != nil {
				t.Fatalf("%T refuses it: %v\n%s", w.wire, err, got)
			}
		}
	})
}
