package compat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

func TestBattery(t *testing.T) {
	for _, name := range []string{"deepseek", "ollama"} {
		t.Run(name, func(t *testing.T) {
			e, ok := known(name)
			if !ok {
				t.Fatal("unknown")
			}
			llmtest.Run(t, llmtest.Adapter{
				Provider: name, Model: "some-model", Wire: llmtest.Chat{}, NoOpaque: true, NoThinking: e.Quirks.Reasoning == "",
				New: func(_ testing.TB, s llmtest.Server) llm.Model {
					return New(Config{Config: wire.Config{Provider: name, Key: s.Key, Version: "1.2.3", Idle: s.Idle}, BaseURL: s.URL + "/v1", Quirks: e.Quirks, Local: e.Local})
				},
			})
		})
	}
}

// canned answers every request with one body and keeps the last request.
type canned struct {
	body    string
	request string
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	c.request = string(b)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(c.body))}, err
}

func say(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + d + "}]}\n\n")
	}
	return b.String()
}

const finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"

func run(t *testing.T, body string) llmtest.Got {
	t.Helper()
	m := New(Config{Config: wire.Config{Provider: "x", Transport: &canned{body: body}}, BaseURL: "http://x/v1"})
	return llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "hi"}}}}})
}

func TestShapesOfCalls(t *testing.T) {
	want := []string{`a {"x":1}`, `b {"y":2}`}
	for name, body := range map[string]string{
		"usual": say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
			`{"tool_calls":[{"index":1,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"both in one chunk": say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}},{"index":1,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"no index, ids":     say(`{"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}]}`, `{"tool_calls":[{"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"no index, no ids":  say(`{"tool_calls":[{"function":{"name":"a","arguments":"{\"x\":1}"}}]}`, `{"tool_calls":[{"function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"no index, pieces":  say(`{"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"function":{"arguments":":1}"}}]}`, `{"tool_calls":[{"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"objects":           say(`{"tool_calls":[{"function":{"name":"a","arguments":{"x":1}}}]}`, `{"tool_calls":[{"function":{"name":"b","arguments":{"y":2}}}]}`),
		"same index":        say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}]}`, `{"tool_calls":[{"index":0,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"same id":           say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}]}`, `{"tool_calls":[{"index":1,"id":"1","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"id and name repeated": say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}]}`,
			`{"tool_calls":[{"index":1,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
		"interleaved": say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}},{"index":1,"id":"2","function":{"name":"b","arguments":"{\"y\""}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":":1}"}}]}`),
		"nulls": say(`{"content":null,"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":null}}]}`, `{"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"{\"x\":1}"}}]}`,
			`{"tool_calls":[{"index":1,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}]}`),
	} {
		g := run(t, body+finish)
		var got []string
		for _, p := range g.Parts {
			u, ok := p.(llm.ToolUse)
			if !ok || u.Bad != "" {
				t.Errorf("%s: %+v", name, p)
				continue
			}
			got = append(got, u.Name+" "+string(u.Input))
		}
		if !reflect.DeepEqual(got, want) || g.Finished == nil || g.Finished.Stop != llm.WantTools {
			t.Errorf("%s: %q, %v", name, got, g.Err)
		}
	}
}

func TestOddStreams(t *testing.T) {
	usage := `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":20,"completion_tokens_details":{"reasoning_tokens":7},"prompt_cache_hit_tokens":4}}` + "\n\n"
	for name, c := range map[string]struct {
		body           string
		text, thinking string
		stop           llm.Stop
		usage          llm.Usage
	}{
		"no DONE":           {body: say(`{"content":"hi"}`) + finish + usage, text: "hi", stop: llm.EndTurn, usage: llm.Usage{In: 6, Out: 10, CacheRead: 4, Reasoning: 7}},
		"DONE only":         {body: say(`{"content":"hi"}`) + "data: [DONE]\n\n", text: "hi", stop: llm.EndTurn},
		"no blank at end":   {body: say(`{"content":"hi"}`) + finish + "data: [DONE]", text: "hi", stop: llm.EndTurn},
		"reasoning":         {body: say(`{"reasoning":"hm"}`, `{"content":"hi"}`) + finish, text: "hi", thinking: "hm", stop: llm.EndTurn},
		"both reasonings":   {body: say(`{"reasoning":"hm","reasoning_content":"hm"}`, `{"content":"hi"}`) + finish, text: "hi", thinking: "hm", stop: llm.EndTurn},
		"list content":      {body: say(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, `{"content":[{"type":"text","text":"hi"}]}`) + finish, text: "hi", thinking: "hm", stop: llm.EndTurn},
		"refusal":           {body: say(`{"refusal":"no"}`) + finish, text: "no", stop: llm.Refused},
		"stop with a call":  {body: say(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":""}}]}`) + strings.Replace(finish, "tool_calls", "stop", 1), stop: llm.WantTools},
		"groq usage":        {body: say(`{"content":"hi"}`) + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":2}}}` + "\n\n", text: "hi", stop: llm.EndTurn, usage: llm.Usage{In: 5, Out: 2}},
		"message for delta": {body: `data: {"choices":[{"message":{"content":"hi"},"finish_reason":"length"}]}` + "\n\n", text: "hi", stop: llm.MaxTokens},
		"null error":        {body: `data: {"error":null,"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n", text: "hi", stop: llm.EndTurn},
	} {
		g := run(t, c.body)
		if g.Err != nil || g.Text != c.text || g.Thinking != c.thinking || g.Finished.Stop != c.stop || g.Finished.Usage != c.usage {
			t.Errorf("%s: %q %q %+v %v", name, g.Text, g.Thinking, g.Finished, g.Err)
		}
	}
	for _, reason := range []string{"content_filter", "refusal", "safety"} {
		if g := run(t, say(`{"content":"hi"}`)+strings.Replace(finish, "tool_calls", reason, 1)); g.Err != nil || g.Finished.Stop != llm.Refused || g.Finished.Why != reason {
			t.Errorf("%s: %+v %v", reason, g.Finished, g.Err)
		}
	}
	for name, c := range map[string]struct {
		body string
		kind llm.Kind
	}{
		"finish error":  {strings.Replace(finish, "tool_calls", "error", 1), llm.ServerError},
		"choice error":  {`data: {"choices":[{"delta":{},"error":{"code":429,"message":"slow down"}}]}` + "\n\n", llm.RateLimited},
		"router error":  {`data: {"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}}` + "\n\n", llm.TooLong},
		"unknown error": {`data: {"error":{"message":"well"}}` + "\n\n", llm.ServerError},
	} {
		if k, ok := llmtest.KindOf(run(t, c.body).Err); !ok || k != c.kind {
			t.Errorf("%s: kind %v", name, k)
		}
	}
}

// request returns what a named endpoint sends for r.
func request(t *testing.T, name string, r llm.Request) map[string]any {
	t.Helper()
	e, _ := known(name)
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{Config: wire.Config{Provider: name}, BaseURL: e.BaseURL, Quirks: e.Quirks, Facts: func(m string) (price.Facts, bool) { return tab.Lookup(name, m) }})
	var got map[string]any
	if err := json.Unmarshal(written(c, r, name+"/"+r.Model, e.Quirks), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestQuirksOnTheWire(t *testing.T) {
	r := llm.Request{Model: "openai/gpt-oss-120b", MaxTokens: 7, Effort: llm.EffortHigh}
	if got := request(t, "groq", r); got["max_completion_tokens"] != 7.0 || got["reasoning_effort"] != "high" || got["max_tokens"] != nil {
		t.Errorf("groq: %v", got)
	}
	r.Model = "deepseek-v4-pro"
	if got := request(t, "deepseek", r); got["max_tokens"] != 7.0 || got["thinking"] == nil {
		t.Errorf("deepseek: %v", got)
	}
	r.Model = "anthropic/claude-sonnet-4.6"
	if got := request(t, "openrouter", r); !reflect.DeepEqual(got["reasoning"], map[string]any{"effort": "high"}) {
		t.Errorf("openrouter: %v", got)
	}
	r.Model = "devstral-latest"
	r.Messages = []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "toolu_01ABC", Name: "Read", Input: json.RawMessage(`{}`)}}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "toolu_01ABC", Text: "x"}, llm.Text{S: "and?"}}},
	}
	got := request(t, "mistral", r)
	msgs := got["messages"].([]any)
	id := msgs[1].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)["id"].(string)
	res := msgs[2].(map[string]any)
	if got["stream_options"] != nil || len(id) != 9 || res["tool_call_id"] != id || res["name"] != "Read" || len(msgs) != 5 || msgs[3].(map[string]any)["role"] != "assistant" {
		t.Errorf("mistral: %v", got)
	}
}

func TestRouterCacheMarks(t *testing.T) {
	e, _ := known("openrouter")
	c := New(Config{Config: wire.Config{Provider: "openrouter"}, BaseURL: e.BaseURL, Quirks: e.Quirks})
	r := llm.Request{Model: "anthropic/claude-sonnet-4.6", System: []string{"be brief"}}
	for range 5 {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "q"}}}, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "a"}}})
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "q"}}})
	if n := strings.Count(string(written(c, r, "", c.c.Quirks)), "cache_control"); n != 3 {
		t.Errorf("%d marks, want 3", n)
	}
	r.Model = "openai/gpt-5.4"
	if n := strings.Count(string(written(c, r, "", c.c.Quirks)), "cache_control"); n != 0 {
		t.Errorf("%d marks for a model that takes none", n)
	}
}

func TestReasoningDetailsComeBack(t *testing.T) {
	e, _ := known("openrouter")
	tr := &canned{body: say(
		`{"content":"","reasoning":"one ","reasoning_details":[{"type":"reasoning.text","text":"one ","format":"anthropic-claude-v1","index":0}]}`,
		`{"content":"","reasoning":"two","reasoning_details":[{"type":"reasoning.text","text":"two","index":0}]}`,
		`{"content":"","reasoning_details":[{"type":"reasoning.text","signature":"SIG+/=","index":0}]}`,
		`{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}]}`) + finish}
	c := New(Config{Config: wire.Config{Provider: "openrouter", Transport: tr}, BaseURL: e.BaseURL, Quirks: e.Quirks})
	r := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "hi"}}}}}
	g := llmtest.Collect(t, context.Background(), c, r)
	if g.Err != nil || len(g.Parts) != 2 {
		t.Fatalf("%+v %v", g.Parts, g.Err)
	}
	r.Messages = append(r.Messages, g.Finished.Message)
	llmtest.Collect(t, context.Background(), c, r)
	const want = `"reasoning_details":[{"type":"reasoning.text","text":"one two","signature":"SIG+/=","format":"anthropic-claude-v1","index":0}]`
	if !strings.Contains(tr.request, want) {
		t.Errorf("sent %s", tr.request)
	}
}

// known returns the server of that name.
func known(name string) (Endpoint, bool) {
	for _, e := range endpoints {
		if e.Name == name {
			return e, true
		}
	}
	return Endpoint{}, false
}

// written is a request as it is sent.
func written(c *Client, r llm.Request, reader string, q Quirks) []byte {
	body, _ := c.request(r, reader, q)
	return body.Bytes()
}
