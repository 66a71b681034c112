package openai

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

func TestBattery(t *testing.T) {
	llmtest.Run(t, llmtest.Adapter{
		Provider: "openai", Model: "gpt-test-1", Wire: llmtest.Responses{},
		New: func(_ testing.TB, s llmtest.Server) llm.Model {
			return New(Config{Config: wire.Config{Key: s.Key, KeySource: "OPENAI_API_KEY", Version: "1.2.3", Idle: s.Idle}, BaseURL: s.URL + "/v1"})
		},
	})
}

type canned struct{ body string }

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(c.body))}, nil
}

func run(t *testing.T, events ...string) llmtest.Got {
	t.Helper()
	body := ""
	for _, e := range events {
		body += "data: " + e + "\n\n"
	}
	m := New(Config{Config: wire.Config{Transport: canned{body}}})
	return llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m"})
}

const completed = `{"type":"response.completed","response":{"id":"r","status":"completed"}}`

func TestItemsWithoutDeltas(t *testing.T) {
	g := run(t,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"text":"a"},{"text":"b"}]}}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"hi"}]}}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c","name":"Read","arguments":"{\"a\":1}"}}`, completed)
	if g.Err != nil || g.Thinking != "a\n\nb" || g.Text != "hi" || g.Inputs["c"] != `{"a":1}` || g.Finished.Stop != llm.WantTools {
		t.Errorf("%+v %v", g.Finished, g.Err)
	}
}

// Counts that are no whole numbers break no reply.
func TestCountsAsProxiesWriteThem(t *testing.T) {
	g := run(t, `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":"7","output_tokens":1.5}}}`)
	if u := g.Finished.Usage; g.Err != nil || u.In != 7 || u.Out != 1 {
		t.Errorf("%+v %v", u, g.Err)
	}
}

func TestRefusalAndFailure(t *testing.T) {
	g := run(t, `{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}`,
		`{"type":"response.refusal.delta","output_index":0,"delta":"I will not"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message"}}`, completed)
	if g.Err != nil || g.Finished.Stop != llm.Refused || g.Text != "I will not" {
		t.Errorf("%+v %v", g.Finished, g.Err)
	}
	for reason, want := range map[string]llm.Stop{`"content_filter"`: llm.Refused, `"max_output_tokens"`: llm.MaxTokens, `"brand_new"`: llm.Refused, `null`: llm.MaxTokens} {
		g := run(t, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":`+reason+`}}}`)
		if g.Err != nil || g.Finished.Stop != want || want == llm.Refused && g.Finished.Why != strings.Trim(reason, `"`) {
			t.Errorf("%s: %+v %v", reason, g.Finished, g.Err)
		}
	}
	for body, want := range map[string]llm.Kind{
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}`:            llm.RateLimited,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"no"}}}`:          llm.TooLong,
		`{"type":"response.failed","response":{"status":"failed","error":null}}`:                                                       llm.ServerError,
		`{"type":"error","code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing"}`: llm.NoCredit,
	} {
		if k, ok := llmtest.KindOf(run(t, body).Err); !ok || k != want {
			t.Errorf("%s: kind %d", body, k)
		}
	}
}

func TestReasoningIsAskedForByFacts(t *testing.T) {
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{Facts: func(m string) (price.Facts, bool) { return tab.Lookup("openai", m) }})
	for _, tc := range []struct{ model, effort, want string }{
		{"gpt-5.4", "max", `"reasoning":{"effort":"xhigh","summary":"auto"},"include":["reasoning.encrypted_content"]`},
		{"gpt-6.1-sol", "max", `"effort":"max"`}, {"gpt-5-pro", "low", `"effort":"high"`},
		{"gpt-5-unheard-of", "max", `"effort":"high"`}, {"gpt-5.4", "", `"reasoning":{"summary":"auto"}`},
	} {
		if body := string(written(c, llm.Request{Model: tc.model, Effort: llm.Effort(tc.effort)}, "")); !strings.Contains(body, tc.want) {
			t.Errorf("%s %s: %s", tc.model, tc.effort, body)
		}
	}
	for _, model := range []string{"gpt-4.1", "gpt-4o-mini"} {
		if body := string(written(c, llm.Request{Model: model, Effort: "high"}, "")); strings.Contains(body, "reasoning") {
			t.Errorf("%s: %s", model, body)
		}
	}
}

func TestTrailingReasoningStaysHome(t *testing.T) {
	c := New(Config{})
	th := llm.Thinking{S: "x", Opaque: json.RawMessage(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2VjcmV0"}`), From: "openai/m"}
	body := string(written(c, llm.Request{Model: "m", Messages: []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
		{Role: llm.Assistant, Parts: []llm.Part{th, llm.Text{S: "b"}, th}},
	}}, "openai/m"))
	if n := strings.Count(body, "rs_1"); n != 1 {
		t.Errorf("%d reasoning items, want 1: %s", n, body)
	}
}

// A message returns with its phase to the model that wrote it, and to no other.
func TestPhaseReturns(t *testing.T) {
	for _, kinds := range [][]string{
		{`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","phase":"comm\u0065ntary","content":[]}}`,
			`{"type":"response.output_text.delta","output_index":0,"delta":"I look"}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[]}}`},
		{`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","phase":"comm\u0065ntary","content":[{"type":"output_text","text":"I look"}]}}`},
	} {
		g := run(t, append(kinds, completed)...)
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		stored, err := json.Marshal(g.Finished.Message)
		if err != nil {
			t.Fatal(err)
		}
		var m llm.Message
		if err := json.Unmarshal(stored, &m); err != nil {
			t.Fatal(err)
		}
		r := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}}, m}}
		if body := string(written(New(Config{}), r, "openai/m")); !strings.Contains(body, `"role":"assistant","phase":"comm\u0065ntary","content"`) {
			t.Error(body)
		}
		if body := string(written(New(Config{}), r, "openai/other")); strings.Contains(body, "phase") {
			t.Error(body)
		}
	}
	g := run(t, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","phase":null,"content":[{"type":"output_text","text":"x"}]}}`, completed)
	if x, ok := g.Finished.Message.Parts[0].(llm.Text); g.Err != nil || !ok || x.Opaque != nil {
		t.Errorf("%+v %v", g.Finished, g.Err)
	}
}

// A model that no table knows takes an effort, and is asked for its encrypted
// reasoning once it has reasoned; what has no content is not sent back.
func TestUnknownModelThatReasons(t *testing.T) {
	c := New(Config{})
	conversation := func(item string) string {
		return string(written(c, llm.Request{Model: "m", Effort: "high", Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
			{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{Opaque: json.RawMessage(item), From: "openai/m"}, llm.Text{S: "b"}}},
		}}, "openai/m"))
	}
	first := string(written(c, llm.Request{Model: "m", Effort: "high"}, "openai/m"))
	if !strings.Contains(first, `"reasoning":{"effort":"high"}`) || strings.Contains(first, "include") {
		t.Error(first)
	}
	for _, item := range []string{`{"type":"reasoning","id":"rs_1","summary":[]}`, `{"type":"reasoning","id":"rs_1","encrypted_content":null}`} {
		if b := conversation(item); strings.Contains(b, "rs_1") || !strings.Contains(b, `"include":["reasoning.encrypted_content"]`) {
			t.Error(b)
		}
	}
	if b := conversation(`{"type":"reasoning","id":"rs_1","encrypted_content":"x"}`); !strings.Contains(b, "rs_1") {
		t.Error(b)
	}
}

// An account that may not have summaries goes on without them.
func TestSummariesAreRefused(t *testing.T) {
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		if strings.Contains(string(b), `"summary"`) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(llmtest.Responses{}.Frames(llmtest.Say("hello")), ""))
	}))
	defer srv.Close()
	c := New(Config{Config: wire.Config{Key: "k"}, BaseURL: srv.URL})
	for range 2 {
		said := ""
		for chunk, err := range c.Stream(t.Context(), llm.Request{Model: "o3", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}}}}) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := chunk.(llm.TextDelta); ok {
				said += d.S
			}
		}
		if said != "hello" {
			t.Errorf("%q", said)
		}
	}
	if len(bodies) != 3 {
		t.Errorf("%d requests: %q", len(bodies), bodies)
	}
}

func TestSummaryAndRetention(t *testing.T) {
	for _, c := range []struct{ summary, retention, has, not string }{
		{"", "", `"summary":"auto"`, "prompt_cache_retention"},
		{"detailed", "24h", `"summary":"detailed"`, "in_memory"},
		{"none", "in_memory", `"prompt_cache_retention":"in_memory"`, `"summary"`},
	} {
		client := New(Config{Summary: c.summary, Retention: c.retention})
		body := string(written(client, llm.Request{Model: "gpt-5.1", Effort: llm.EffortHigh}, "openai/gpt-5.1"))
		if !strings.Contains(body, c.has) || strings.Contains(body, c.not) || c.retention != "" && !strings.Contains(body, `"prompt_cache_retention":"`+c.retention+`"`) {
			t.Errorf("%+v: %s", c, body)
		}
	}
}

// written is a request as it is sent.
func written(c *Client, r llm.Request, reader string) []byte {
	body, _ := c.request(r, reader)
	return body.Bytes()
}
