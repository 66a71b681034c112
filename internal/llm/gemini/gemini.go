// Package gemini owns the streamGenerateContent wire: contents and parts,
// schemas brought down to what it takes, thought signatures kept byte for
// byte. The key travels in a header, never in the URL. It makes one attempt
// per call and reads no environment.
package gemini

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// BaseURL is where the provider's own API lives.
const BaseURL = "https://generativelanguage.googleapis.com"

// A Config says whom to ask and as whom.
type Config struct {
	wire.Config        // Provider "" is "gemini"
	BaseURL     string // "" is BaseURL; /v1beta is added when no version is in it
	Facts       price.Lookup
	// Memory is what servers refused before; nil: one of the client's own.
	Memory *wire.Memory
}

// A Client is an llm.Model.
type Client struct {
	c    Config
	wire *wire.Client
	sent wire.Threads
}

var _ llm.Model = (*Client)(nil)

// New returns a client.
func New(c Config) *Client {
	c.Provider, c.BaseURL = cmp.Or(c.Provider, "gemini"), cmp.Or(c.BaseURL, BaseURL)
	c.BaseURL = wire.Base(c.BaseURL, "/models")
	if !strings.Contains(c.BaseURL, "/v1") {
		c.BaseURL = wire.Join(c.BaseURL, "/v1beta")
	}
	if c.Memory == nil {
		c.Memory = &wire.Memory{}
	}
	c.Key = strings.TrimSpace(c.Key)
	return &Client{c: c, wire: wire.NewClient(c.Config)}
}

// Asks reports whether the effort of r makes a difference to what is sent.
func (c *Client) Asks(r llm.Request) bool {
	return wire.Asks(r, func(r llm.Request) wire.Body {
		b, _ := c.request(r, "")
		return b
	})
}

// habits are what a server may refuse. Models differ in how they are asked to think, and
// servers that speak like the provider's own know fewer members.
var habits = []wire.Habit{
	{Name: "thinkingConfig", Words: []string{"thinking_config", "thinking", "thinking_level", "thinking_budget", "include_thoughts"}},
	{Name: "toolConfig", Words: []string{"tool_config", "function_calling_config", "allowed_function_names"}},
	{Name: "thoughtSignature", Words: []string{"thought_signature"}},
	{Name: "id"},
}

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	from := c.c.Provider + "/" + r.Model
	h := http.Header{}
	if c.c.Key != "" {
		h.Set("X-Goog-Api-Key", c.c.Key)
	}
	to := wire.Join(c.c.BaseURL, "/models/"+url.PathEscape(strings.TrimPrefix(r.Model, "models/"))+":streamGenerateContent?alt=sse")
	server := wire.Server{Base: c.c.BaseURL, Reader: from, Habits: habits, SealedCalls: true}
	return c.c.Memory.Learning(server, r, func(r llm.Request, without []string) (wire.Body, iter.Seq2[llm.Chunk, error]) {
		body, past := c.request(r, from, without...)
		return body, c.wire.Stream(ctx, wire.Call{URL: to, Header: h, Body: body}, &decoder{reply: wire.NewReply(r, past, from)})
	})
}
