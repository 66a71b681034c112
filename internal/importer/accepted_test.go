package importer_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/gemini"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/transcript"
)

// paired checks the events: each call has one result, after the reply that holds
// it and before the next one.
func paired(tb testing.TB, es []event.Event) (calls int) {
	tb.Helper()
	open, turn := map[string]bool{}, false
	for i, e := range es {
		if e.Seq != event.Seq(i+1) {
			tb.Fatalf("seq %d at %d", e.Seq, i)
		}
		switch b := e.Body.(type) {
		case event.TurnStarted:
			turn = true
		case event.TurnEnded:
			turn = false
			if len(open) > 0 {
				tb.Fatalf("a turn ends with open calls: %v", open)
			}
		case event.Replied:
			if len(open) > 0 || !turn || len(b.Message.Parts) == 0 {
				tb.Fatalf("a reply with open calls %v, in a turn: %v", open, turn)
			}
			for _, p := range b.Message.Parts {
				if u, ok := p.(llm.ToolUse); ok {
					open[u.ID] = true
					calls++
				}
			}
		case event.ToolFinished:
			if !open[b.Call] {
				tb.Fatalf("a result of no open call: %s", b.Call)
			}
			delete(open, b.Call)
		default: // of no matter here
		}
	}
	if turn {
		tb.Fatal("the last turn has no end")
	}
	return calls
}

// accepted sends what a model would be sent after one more prompt to a server of
// each wire, which reads it as strictly as a provider.
func accepted(t *testing.T, es []event.Event) {
	t.Helper()
	var st transcript.State
	for _, e := range es {
		st = st.Apply(e)
	}
	msgs := append(st.Messages(), llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "and now?"}}})
	for name, w := range map[string]struct {
		wire  llmtest.Wire
		model func(url string) llm.Model
	}{
		"messages": {llmtest.Anthropic{}, func(url string) llm.Model {
			return anthropic.New(anthropic.Config{Config: wire.Config{Key: "k"}, BaseURL: url})
		}},
		"chat": {llmtest.Chat{}, func(url string) llm.Model {
			return compat.New(compat.Config{Config: wire.Config{Provider: "x", Key: "k"}, BaseURL: url + "/v1"})
		}},
		"responses": {llmtest.Responses{}, func(url string) llm.Model {
			return openai.New(openai.Config{Config: wire.Config{Key: "k"}, BaseURL: url + "/v1"})
		}},
		"gemini": {llmtest.Gemini{}, func(url string) llm.Model {
			return gemini.New(gemini.Config{Config: wire.Config{Key: "k"}, BaseURL: url})
		}},
	} {
		var body []byte
		srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
			body, _ = io.ReadAll(in.Body)
			out.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(out, strings.Join(w.wire.Frames(llmtest.Reply{Stop: llm.EndTurn, Parts: []llmtest.Part{{Part: llm.Text{S: "ok"}}}}), ""))
		}))
		got := llmtest.Collect(t, t.Context(), w.model(srv.URL), llm.Request{Model: "m", MaxTokens: 100, Messages: msgs})
		srv.Close()
		if got.Err != nil {
			t.Errorf("%s: %v", name, got.Err)
			continue
		}
		history, err := w.wire.History(body)
		if err != nil {
			t.Errorf("%s refuses it: %v\n%s", name, err, body)
			continue
		}
		if why := wrong(history); why != "" {
			t.Errorf("%s: %s\n%s", name, why, body)
		}
	}
}

// wrong says what a provider would not take of a history, beside what the reader
// of its wire refuses: a prompt before the results of calls, a result of no call.
func wrong(history []llm.Message) string {
	open := 0
	for _, m := range history {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				open++
			case llm.ToolResult:
				if open--; open < 0 {
					return "a result of no call: " + p.ID
				}
			case llm.Text:
				if strings.TrimSpace(p.S) == "" {
					return "an empty text"
				}
				if m.Role == llm.User && open > 0 {
					return "a prompt before the results"
				}
			}
		}
	}
	if open != 0 {
		return "calls without results"
	}
	return ""
}
