// Package anthropic owns the Messages wire: how a request is written so that
// its prefix stays cacheable, and how the event stream becomes chunks. It
// makes one attempt per call, reads no environment and knows no other wire.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// BaseURL is where the provider's own API lives.
const BaseURL = "https://api.anthropic.com"

const apiVersion = "2023-06-01"

// A Config says whom to ask and as whom.
type Config struct {
	wire.Config        // Provider "" is "anthropic"
	BaseURL     string // "" is BaseURL
	// Bearer sends the key as "Authorization: Bearer" (ANTHROPIC_AUTH_TOKEN).
	Bearer bool
	// CacheTTL is how long the provider keeps a prefix: "5m", "1h", or "" for
	// what fits: an hour where Pauses between requests are likely.
	CacheTTL string
	Pauses   bool
	// Betas are asked for beside those that a request needs (the header anthropic-beta).
	Betas []string
	// Facts describe a model; nil knows nothing, and asks for no reasoning
	// other than a budget.
	Facts price.Lookup
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
	c.Provider, c.BaseURL = cmp.Or(c.Provider, "anthropic"), cmp.Or(c.BaseURL, BaseURL)
	c.BaseURL = wire.Base(c.BaseURL, "/messages", "/v1")
	c.Key = strings.TrimSpace(c.Key)
	if c.Memory == nil {
		c.Memory = &wire.Memory{}
	}
	return &Client{c: c, wire: wire.NewClient(c.Config)}
}

// Asks reports whether the effort of r makes a difference to what is sent.
func (c *Client) Asks(r llm.Request) bool {
	return wire.Asks(r, func(r llm.Request) wire.Body {
		b, _, _ := c.request(r, "")
		return b
	})
}

// habits are what a server may refuse: models differ, and so do servers that speak like
// the provider's own.
var habits = []wire.Habit{
	{Name: "deferred tools", Sent: `"defer_loading":`, Refused: says("defer_loading", "tool_reference")},
	{Name: "eager_input_streaming", Refused: says("eager_input_streaming")},
	{Name: "tool_choice", Refused: says("tool_choice", "thinking")}, // it is not taken together with thinking
	{Name: "no thinking", Sent: `"thinking":{"type":"disabled"`, Refused: says("thinking")},
	{Name: "output_config", Words: []string{"output_config", "effort"}},
	{Name: "context_management", Refused: says("context_management", "context-management", "clear_tool_uses")},
	{Name: "thinking", Words: []string{"thinking", "adaptive", "budget_tokens", "interleaved"}},
	{Name: "ttl"},
	{Name: "cache_control"},
}

// says is a refusal whose words alone tell what it is about.
func says(texts ...string) func(wire.Answer) bool {
	return func(a wire.Answer) bool { return a.Status == http.StatusBadRequest && a.Says(texts...) }
}

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	from := c.c.Provider + "/" + r.Model
	server := wire.Server{Base: c.c.BaseURL, Reader: from, Habits: habits}
	return c.c.Memory.Learning(server, r, func(r llm.Request, without []string) (wire.Body, iter.Seq2[llm.Chunk, error]) {
		body, past, betas := c.request(r, from, without...)
		h := http.Header{"Anthropic-Version": {apiVersion}}
		switch {
		case c.c.Key == "":
		case c.c.Bearer:
			h.Set("Authorization", "Bearer "+c.c.Key)
		default:
			h.Set("X-Api-Key", c.c.Key)
		}
		for _, b := range c.c.Betas {
			if !slices.Contains(betas, b) {
				betas = append(betas, b)
			}
		}
		if len(betas) > 0 {
			h.Set("Anthropic-Beta", strings.Join(betas, ","))
		}
		call := wire.Call{URL: wire.Join(c.c.BaseURL, "/v1/messages"), Header: h, Body: body}
		return body, c.wire.Stream(ctx, call, &decoder{reply: wire.NewReply(r, past, from)})
	})
}
