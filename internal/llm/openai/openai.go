// Package openai owns the Responses wire, used without any state on the
// server: every request carries the whole conversation, and reasoning returns
// in the encrypted items it came in. It makes one attempt per call and reads
// no environment.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// BaseURL is where the provider's own API lives.
const BaseURL = "https://api.openai.com/v1"

// A Config says whom to ask and as whom.
type Config struct {
	wire.Config        // Provider "" is "openai"
	BaseURL     string // "" is BaseURL
	Facts       price.Lookup
	// Retention is prompt_cache_retention, "" for the provider's own; Summary
	// the kind of summary of reasoning, "" for auto and "none" for no summary.
	Retention, Summary string
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
	c.Provider, c.BaseURL = cmp.Or(c.Provider, "openai"), cmp.Or(c.BaseURL, BaseURL)
	c.BaseURL = wire.Base(c.BaseURL, "/responses", "/chat/completions")
	if c.Memory == nil {
		c.Memory = &wire.Memory{}
	}
	c.Key = strings.TrimSpace(c.Key)
	if c.Summary == "" {
		c.Summary = "auto"
	}
	return &Client{c: c, wire: wire.NewClient(c.Config)}
}

// Asks reports whether the effort of r makes a difference to what is sent.
func (c *Client) Asks(r llm.Request) bool {
	return wire.Asks(r, func(r llm.Request) wire.Body {
		b, _ := c.request(r, "")
		return b
	})
}

// habits are what a server may refuse: accounts and models differ, and servers that speak
// like the provider's own leave out what they have no use for.
var habits = []wire.Habit{
	{Name: "tool_search", Sent: `"tool_search"`, Refused: func(a wire.Answer) bool {
		return a.Status == http.StatusBadRequest && a.Says("tool_search", "defer_loading", "namespace for function_call")
	}},
	{Name: "summary", Refused: func(a wire.Answer) bool { // the provider wants to know the account's owner first
		return a.Status == http.StatusBadRequest && a.Says("reasoning.summary", "reasoning summar")
	}},
	{Name: "prompt_cache_key"}, {Name: "prompt_cache_retention"}, {Name: "store"}, {Name: "strict"}, {Name: "max_output_tokens"}, {Name: "tool_choice"},
	{Name: "include", Words: []string{"include", "encrypted", "encrypted_content"}},
	{Name: "effort", Sent: `"reasoning":{"effort":`, Words: []string{"effort"}},
	{Name: "reasoning"},
	{Name: "phase"}, {Name: "detail"},
}

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	from := c.c.Provider + "/" + r.Model
	h := http.Header{}
	if c.c.Key != "" {
		h.Set("Authorization", "Bearer "+c.c.Key)
	}
	server := wire.Server{Base: c.c.BaseURL, Reader: from, Habits: habits}
	return c.c.Memory.Learning(server, r, func(r llm.Request, without []string) (wire.Body, iter.Seq2[llm.Chunk, error]) {
		body, past := c.request(r, from, without...)
		call := wire.Call{URL: wire.Join(c.c.BaseURL, "/responses"), Header: h, Body: body}
		return body, c.wire.Stream(ctx, call, &decoder{reply: wire.NewReply(r, past, from), items: map[int]*item{}, search: loader(r)})
	})
}

// loader is the tool of a request that loads others, or "".
func loader(r llm.Request) string {
	for _, t := range r.Tools {
		if t.Loads {
			return t.Name
		}
	}
	return ""
}
