package anthropic

import (
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/wire"
)

func TestBattery(t *testing.T) {
	llmtest.Run(t, llmtest.Adapter{
		Provider: "anthropic", Model: "claude-test-1", Wire: llmtest.Anthropic{},
		New: func(_ testing.TB, s llmtest.Server) llm.Model {
			return New(Config{Config: wire.Config{Key: s.Key, KeySource: "ANTHROPIC_API_KEY", Version: "1.2.3", Idle: s.Idle}, BaseURL: s.URL})
		},
	})
}

// A gateway sends the input of a call whole with its beginning, in deltas, or both.
func TestInputOfTheBeginning(t *testing.T) {
	delta := func(s string) string {
		return `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + s + `"}}` + "\n\n"
	}
	const stop = `data: {"type":"content_block_stop","index":0}` + "\n\n"
	for middle, want := range map[string]string{
		stop:                           `{"a":1}`,
		"":                             `{"a":1}`,
		delta("") + stop:               `{"a":1}`,
		delta(`{\"a\":1}`) + stop:      `{"a":1}`,
		delta(`{\"b\"`) + delta(`:2}`): `{"b":2}`,
	} {
		stream := `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"A","input":{"a":1}}}` + "\n\n" + middle +
			`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
		g := llmtest.Collect(t, t.Context(), New(Config{Config: wire.Config{Transport: llmtest.Body(stream)}}), llm.Request{Model: "m"})
		if g.Err != nil || len(g.Parts) != 1 {
			t.Fatalf("%s: %+v %v", middle, g.Parts, g.Err)
		}
		if u := g.Parts[0].(llm.ToolUse); string(u.Input) != want || u.Bad != "" {
			t.Errorf("%s: %+v", middle, u)
		}
	}
}
