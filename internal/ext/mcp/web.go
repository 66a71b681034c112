package mcp

import (
	"net/http"

	llmwire "github.com/adze-agent/adze/internal/llm/wire"
)

func newCarrier() http.RoundTripper {
	return llmwire.NewTransport(llmwire.Dial{Proxy: http.ProxyFromEnvironment})
}

type courier struct{}

func (c *courier) because(err error) error { return err }
