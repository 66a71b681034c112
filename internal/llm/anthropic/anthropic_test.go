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
