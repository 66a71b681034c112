package anthropic

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// Context editing is asked for as documented, and only when it is wanted.
func TestContextEditingIsAskedFor(t *testing.T) {
	r := llm.Request{Model: "claude-sonnet-4-6", Messages: []llm.Message{user("q")}, Clear: &llm.Clearing{Trigger: 108_000, Keep: 5, AtLeast: 20_000, Except: []string{"TodoWrite", "Ask\"User"}}}
	want := `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":108000},"keep":{"type":"tool_uses","value":5},` +
		`"clear_at_least":{"type":"input_tokens","value":20000},"exclude_tools":["TodoWrite","Ask\"User"]}]}`
	if body, _ := written(client(t), r, ""); !strings.Contains(string(body), want) {
		t.Errorf("%s", body)
	}
	var got http.Header
	llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Transport: spy{&got}}}), r)
	if got.Get("Anthropic-Beta") != "context-management-2025-06-27" {
		t.Errorf("betas %q", got.Get("Anthropic-Beta"))
	}
	r.Clear.AtLeast, r.Clear.Except = 0, nil
	if body, _ := written(client(t), r, ""); !strings.Contains(string(body), `"value":5}}]}`) {
		t.Errorf("%s", body)
	}
	r.Clear = nil
	if body, betas := written(client(t), r, ""); strings.Contains(string(body), "context_management") || len(betas) > 0 {
		t.Errorf("%s %v", body, betas)
	}
}

// What the API left out is counted beside what it read.
func TestAppliedEditsAreCounted(t *testing.T) {
	for said, want := range map[string]int{
		"": 0, `,"context_management":null`: 0, `,"context_management":{"applied_edits":[]}`: 0,
		`,"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":8,"cleared_input_tokens":50000},{"type":"other","cleared_input_tokens":12}]}`: 50_012,
		`,"context_management":{"applied_edits":[{"cleared_input_tokens":-5}]}`:                                                                                                       0,
	} {
		stream := `data: {"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":700,"output_tokens":1}}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}` + "\n\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}` + said + "}\n\n" + `data: {"type":"message_stop"}` + "\n\n"
		g := llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Transport: llmtest.Body(stream)}}), llm.Request{Model: "m"})
		if u := g.Finished.Usage; g.Err != nil || u.Cleared != want || u.In != 700 || u.Out != 5 {
			t.Errorf("%s: %+v %v", said, u, g.Err)
		}
	}
}

// Counts that are no whole numbers break no reply.
func TestCountsAsProxiesWriteThem(t *testing.T) {
	stream := `data: {"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":"700","output_tokens":1}}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}` + "\n\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5.5}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	g := llmtest.Collect(t, context.Background(), New(Config{Config: wire.Config{Transport: llmtest.Body(stream)}}), llm.Request{Model: "m"})
	if u := g.Finished.Usage; g.Err != nil || u.In != 700 || u.Out != 5 {
		t.Errorf("%+v %v", u, g.Err)
	}
}
