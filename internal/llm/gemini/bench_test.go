package gemini

import (
	"net/http"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/wire"
)

func BenchmarkDeltas(b *testing.B) {
	llmtest.Deltas(b, llmtest.Gemini{}, func(via http.RoundTripper) llm.Model { return New(Config{Config: wire.Config{Transport: via}}) })
}
