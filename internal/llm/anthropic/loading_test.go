package anthropic

import (
	"net/http"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// On the provider's own API, models that know how are given tools in the
// provider's own way.
func TestLoadingNatively(t *testing.T) {
	llmtest.Loading(t, llmtest.Adapter{
		Provider: "anthropic", Model: "claude-sonnet-4-6", Wire: llmtest.Anthropic{},
		New: func(t testing.TB, s llmtest.Server) llm.Model {
			return New(Config{Config: wire.Config{Key: s.Key, Idle: s.Idle, Transport: llmtest.Via(s.URL)}, Facts: llmtest.Facts(t, "anthropic")})
		},
	}, true)
}

// A model that turns out not to know it is told in words, from the next attempt on.
func TestLoadingRefused(t *testing.T) {
	llmtest.LoadingRefused(t, llmtest.Anthropic{}, "claude-sonnet-4-6", "tools.1.defer_loading: Extra inputs are not permitted", func(via http.RoundTripper) llm.Model {
		return New(Config{Config: wire.Config{Transport: via}, Facts: llmtest.Facts(t, "anthropic")})
	})
}
