package compat

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// picky refuses requests by their bodies.
type picky struct {
	refuse func(body string) (message string, status int)
	bodies []string
}

func (p *picky) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	p.bodies = append(p.bodies, string(b))
	if message, status := p.refuse(string(b)); status != 0 {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(message))}, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(say(`{"content":"hi"}`) + finish))}, err
}

func naming(field, answer string) func(string) (string, int) {
	return func(body string) (string, int) {
		if strings.Contains(body, `"`+field+`":`) {
			return answer, 400
		}
		return "", 0
	}
}

// A field that a server would not take is left out at once, and from then on.
func TestRefusedField(t *testing.T) {
	msgs := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: `is "stream_options": right?`}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm", From: "x/m"}, llm.Text{S: "yes"}}},
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "go"}}},
	}
	for name, c := range map[string]struct {
		quirks Quirks
		refuse func(string) (string, int)
		tries  int
		has    string
		not    string
	}{
		"openai's words": {Quirks{}, naming("stream_options", `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`), 2, `"max_tokens":9`, `"stream_options":`},
		"only in param":  {Quirks{}, naming("stream_options", `{"error":{"message":"Unknown parameter.","param":"stream_options"}}`), 2, `"max_tokens":9`, `"stream_options":`},
		"only in loc":    {Quirks{}, naming("stream_options", `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`), 2, `"max_tokens":9`, `"stream_options":`},
		"the other cap":  {Quirks{}, naming("max_tokens", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`), 2, `"max_completion_tokens":9`, `"max_tokens":`},
		"and back":       {Quirks{MaxCompletion: true}, naming("max_completion_tokens", `{"error":"unknown field max_completion_tokens"}`), 2, `"max_tokens":9`, `"max_completion_tokens":`},
		"effort":         {Quirks{Effort: ReasoningEffort}, naming("reasoning_effort", `{"error":{"message":"reasoning_effort must be one of none, default"}}`), 2, `"stream_options":`, `"reasoning_effort":`},
		"reasoning back": {Quirks{Reasoning: "reasoning_content"}, naming("reasoning_content", `{"error":{"message":"messages.1: property 'reasoning_content' is unsupported"}}`), 2, `"stream_options":`, `"reasoning_content":`},
		"reasoning missed": {Quirks{}, func(b string) (string, int) {
			if !strings.Contains(b, `"reasoning_content":"hm"`) {
				return `{"error":{"message":"Missing reasoning_content field in the assistant message in thinking mode"}}`, 400
			}
			return "", 0
		}, 2, `"reasoning_content":"hm"`, "nothing"},
		"two of them": {Quirks{Effort: ReasoningEffort}, func(b string) (string, int) {
			if m, s := naming("stream_options", `{"error":"unexpected stream_options"}`)(b); s != 0 {
				return m, s
			}
			return naming("reasoning_effort", `{"error":"unexpected reasoning_effort"}`)(b)
		}, 3, `"max_tokens":9`, `"reasoning_effort":`},
	} {
		p := &picky{refuse: c.refuse}
		facts := func(string) (price.Facts, bool) {
			return price.Facts{ID: "m", Window: 9000, Thinking: price.Effort, Efforts: []string{"low", "high"}}, true
		}
		mem := &wire.Memory{}
		for round := range 2 {
			m := New(Config{Config: wire.Config{Provider: "x", Transport: p}, BaseURL: "http://x/v1", Quirks: c.quirks, Facts: facts, Memory: mem})
			g := llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m", MaxTokens: 9, Effort: llm.EffortHigh, Messages: msgs})
			last := p.bodies[len(p.bodies)-1]
			if g.Err != nil || g.Text != "hi" || len(p.bodies) != c.tries+round || !strings.Contains(last, c.has) || strings.Contains(last, c.not) {
				t.Errorf("%s, %d: %d requests, %v, %s", name, round, len(p.bodies), g.Err, last)
			}
		}
	}
}

// What is no refusal of a field stays an error, after one request.
func TestOtherRefusals(t *testing.T) {
	for _, c := range []struct {
		status  int
		message string
	}{
		{400, "stream_options are in a bad mood today"}, {400, "unknown parameter prompt_cache_key"}, {400, "unknown parameter 'stream'"},
		{429, "unsupported stream_options"}, {500, "unsupported stream_options"}, {401, "unsupported stream_options"},
		{400, "This model's maximum context length is 10 tokens; max_tokens is not supported"},
	} {
		p := &picky{refuse: func(string) (string, int) { return fmt.Sprintf(`{"error":{"message":%q}}`, c.message), c.status }}
		g := llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Provider: "x", Transport: p}, BaseURL: "http://x/v1"}),
			llm.Request{Model: "m", MaxTokens: 9, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "hi"}}}}})
		if g.Err == nil || len(p.bodies) != 1 {
			t.Errorf("%d %s: %d requests, %v", c.status, c.message, len(p.bodies), g.Err)
		}
	}
	p := &picky{refuse: func(string) (string, int) { return `{"error":"unexpected stream_options"}`, 400 }}
	g := llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Provider: "x", Transport: p}, BaseURL: "http://x/v1"}), llm.Request{Model: "m"})
	if g.Err == nil || len(p.bodies) != 2 {
		t.Errorf("a server that always refuses: %d requests, %v", len(p.bodies), g.Err)
	}
}
