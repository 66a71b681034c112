package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

func client(t *testing.T) *Client {
	t.Helper()
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Facts: func(m string) (price.Facts, bool) { return tab.Lookup("anthropic", m) }})
}

func user(s string) llm.Message {
	return llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: s}}}
}

func TestCacheMarks(t *testing.T) {
	r := llm.Request{Model: "claude-sonnet-4-6", System: []string{"stable", "", "changing"}, Tools: []llm.Spec{{Name: "A"}, {Name: "B"}}}
	for _, s := range []string{"one", "two", "three"} {
		r.Messages = append(r.Messages, user(s), llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "re " + s}}})
	}
	r.Messages = append(r.Messages, user("four"))
	body, _ := written(client(t), r, "")
	const mark = `,"cache_control":{"type":"ephemeral"}}`
	for _, end := range []string{`"name":"B","input_schema":{"type":"object","properties":{}},"eager_input_streaming":true`, `"text":"changing"`, `"text":"three"`, `"text":"four"`} {
		if !strings.Contains(string(body), end+mark) {
			t.Errorf("no mark after %s: %s", end, body)
		}
	}
	if n := strings.Count(string(body), "cache_control"); n != 4 {
		t.Errorf("%d marks", n)
	}
}

func TestThinkingByFacts(t *testing.T) {
	tools := []llm.Spec{{Name: "A"}}
	for _, c := range []struct {
		r    llm.Request
		want string
		beta bool
	}{
		{llm.Request{Model: "claude-sonnet-4-6", Effort: llm.EffortMax}, `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"max"}`, false},
		{llm.Request{Model: "claude-sonnet-4-6", Effort: llm.EffortLow}, `"output_config":{"effort":"low"}`, false},
		{llm.Request{Model: "claude-sonnet-4-6", ThinkingTokens: 10000}, `"output_config":{"effort":"medium"}`, false},
		{llm.Request{Model: "claude-sonnet-4-6", Tools: tools}, `"max_tokens":32000,"stream":true,"thinking":{"type":"adaptive"`, false},
		{llm.Request{Model: "claude-sonnet-4-5", Effort: llm.EffortHigh, Tools: tools}, `"thinking":{"type":"enabled","budget_tokens":20000}`, true},
		{llm.Request{Model: "claude-sonnet-4-5", ThinkingTokens: 5000, MaxTokens: 3000}, `"max_tokens":3000,"stream":true,"thinking":{"type":"enabled","budget_tokens":1976}`, false},
		{llm.Request{Model: "claude-sonnet-4-5", ThinkingTokens: 5, MaxTokens: 100}, `"max_tokens":2048,"stream":true,"thinking":{"type":"enabled","budget_tokens":1024}`, false},
		{llm.Request{Model: "unheard-of"}, `"max_tokens":8192,"stream":true,"messages"`, false},
	} {
		body, betas := written(client(t), c.r, "")
		if !strings.Contains(string(body), c.want) || (len(betas) == 1) != c.beta {
			t.Errorf("%+v: %s %v", c.r, body, betas)
		}
	}
}

// A budget is left out while a tool loop runs that began without reasoning:
// the API refuses it.
func TestNoBudgetInAForeignToolLoop(t *testing.T) {
	r := llm.Request{Model: "claude-sonnet-4-5", Effort: llm.EffortHigh, Messages: []llm.Message{user("q"),
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "a", Name: "A", Input: json.RawMessage(`{}`)}}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "a", Text: "x"}}}}}
	if body, _ := written(client(t), r, ""); strings.Contains(string(body), "budget_tokens") {
		t.Errorf("%s", body)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "done"}}}, user("next"))
	if body, _ := written(client(t), r, ""); !strings.Contains(string(body), "budget_tokens") {
		t.Errorf("%s", body)
	}
}

// A refusal says why.
func TestRefusalSaysWhy(t *testing.T) {
	for details, want := range map[string]string{
		`null`: "", `{"type":"refusal","category":"cyber","explanation":"of a policy"}`: "cyber: of a policy", `{"category":null,"explanation":"of a policy"}`: "of a policy", `{"category":"bio"}`: "bio", `7`: "",
	} {
		m := New(Config{Config: wire.Config{Transport: llmtest.Body(`data: {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":` + details + "}}\n\ndata: {\"type\":\"message_stop\"}\n\n")}})
		g := llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m", Messages: []llm.Message{user("q")}})
		if g.Err != nil || g.Finished.Stop != llm.Refused || g.Finished.Why != want {
			t.Errorf("%s: %+v %v", details, g.Finished, g.Err)
		}
	}
}

func TestRedactedThinkingAndStops(t *testing.T) {
	for reason, want := range map[string]llm.Stop{"pause_turn": llm.Paused, "model_context_window_exceeded": llm.WindowFull, "refusal": llm.Refused, "stop_sequence": llm.EndTurn, "brand_new": llm.EndTurn} {
		stream := `data: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"Emw+/=\u003d"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"hi"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":1}` + "\n\n" + `data: {"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
		m := New(Config{Config: wire.Config{Transport: llmtest.Body(stream)}})
		r := llm.Request{Model: "m", Messages: []llm.Message{user("q")}}
		g := llmtest.Collect(t, context.Background(), m, r)
		if g.Err != nil || g.Finished.Stop != want || len(g.Parts) != 2 {
			t.Fatalf("%s: %+v %v", reason, g.Finished, g.Err)
		}
		r.Messages = append(r.Messages, g.Finished.Message)
		if sent, _ := written(m, r, "anthropic/m"); !strings.Contains(string(sent), `{"type":"redacted_thinking","data":"Emw+/=\u003d"}`) {
			t.Errorf("%s", sent)
		}
	}
}

// Fault 51: events out of order, twice, or of parts that never began.
func TestFault51Disorder(t *testing.T) {
	stream := `data: {"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"lost"}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":-3}` + "\n\n" + `data: {"type":"content_block_start","index":99999999,"content_block":{"type":"text"}}` + "\n\n" +
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x","name":"A","input":{}}}` + "\n\n" +
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"again"}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"B","input":{"a":1}}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"late"}}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	g := llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Transport: llmtest.Body(stream)}}), llm.Request{Model: "m"})
	if g.Err != nil || len(g.Parts) != 2 {
		t.Fatalf("%+v %v", g.Parts, g.Err)
	}
	if u := g.Parts[1].(llm.ToolUse); string(u.Input) != `{"a":1}` || u.ID == "x" {
		t.Errorf("%+v", u)
	}
}

func TestAuth(t *testing.T) {
	for _, bearer := range []bool{false, true} {
		var got http.Header
		m := New(Config{Config: wire.Config{Key: "k", Transport: spy{&got}}, Bearer: bearer})
		llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m"})
		if (got.Get("X-Api-Key") == "k") == bearer || (got.Get("Authorization") == "Bearer k") != bearer || got.Get("Anthropic-Version") == "" {
			t.Errorf("%v: %v", bearer, got)
		}
	}
}

type spy struct{ h *http.Header }

func (s spy) RoundTrip(r *http.Request) (*http.Response, error) {
	*s.h = r.Header
	return llmtest.Body("").RoundTrip(r)
}

// The provider's own API keeps a prefix for an hour where pauses are likely,
// and is asked for inputs as they are written; others are asked for neither,
// unless a person says so.
func TestOwnAPI(t *testing.T) {
	for _, c := range []struct {
		c     Config
		hour  bool
		eager bool
	}{
		{Config{}, false, true}, {Config{Pauses: true}, true, true}, {Config{Pauses: true, CacheTTL: "5m"}, false, true},
		{Config{BaseURL: "http://gateway", Pauses: true}, false, false}, {Config{BaseURL: "http://gateway", CacheTTL: "1h"}, true, false},
	} {
		raw, _ := written(New(c.c), llm.Request{Model: "m", System: []string{"s"}, Tools: []llm.Spec{{Name: "Write"}},
			Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}}}}, "anthropic/m")
		body := string(raw)
		long, short := strings.Count(body, `"cache_control":{"type":"ephemeral","ttl":"1h"}`), strings.Count(body, `"cache_control":{"type":"ephemeral"}`)
		if c.hour && (long != 3 || short != 0) || !c.hour && (long != 0 || short != 3) || strings.Contains(body, `"eager_input_streaming":true`) != c.eager {
			t.Errorf("%+v: %s", c.c, body)
		}
	}
}

// written is a request as it is sent, and the betas that it asks for.
func written(c *Client, r llm.Request, reader string) (body []byte, betas []string) {
	b, _, betas := c.request(r, reader)
	return b.Bytes(), betas
}
