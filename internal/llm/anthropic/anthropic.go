// Package anthropic owns the Messages wire: how a request is written so that
// its prefix stays cacheable, and how the event stream becomes chunks. It
// makes one attempt per call, reads no environment and knows no other wire.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

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
	// Facts describe a model; nil knows nothing, and asks for no reasoning
	// other than a budget.
	Facts price.Lookup
}

// A Client is an llm.Model.
type Client struct {
	c    Config
	wire *wire.Client
	sent wire.Threads
	// lazy: the provider does not take eager_input_streaming.
	lazy atomic.Bool
	// always: a model does not take it that thinking is disabled.
	always atomic.Bool
	// unforced: a model does not take it that a tool is forced.
	unforced atomic.Bool
	// whole has the names of models that take no deferred tools.
	whole sync.Map
}

var _ llm.Model = (*Client)(nil)

// New returns a client.
func New(c Config) *Client {
	c.Provider, c.BaseURL = cmp.Or(c.Provider, "anthropic"), cmp.Or(c.BaseURL, BaseURL)
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	c.Key = strings.TrimSpace(c.Key)
	return &Client{c: c, wire: wire.NewClient(c.Config)}
}

// Asks reports whether the effort of r makes a difference to what is sent.
func (c *Client) Asks(r llm.Request) bool {
	return wire.Asks(r, func(r llm.Request) wire.Body {
		b, _, _ := c.request(r, "")
		return b
	})
}

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	from := c.c.Provider + "/" + r.Model
	attempt := func() iter.Seq2[llm.Chunk, error] { return c.attempt(ctx, r, from) }
	return func(yield func(llm.Chunk, error) bool) {
		for chunk, err := range attempt() {
			var e *llm.Error
			if errors.As(err, &e) && e.Status == http.StatusBadRequest && c.without(r, e.Error()) {
				attempt()(yield)
				return
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// without gives up what a refusal is about, and reports whether that makes
// another request.
func (c *Client) without(r llm.Request, why string) bool {
	switch {
	case strings.Contains(why, "defer_loading") || strings.Contains(why, "tool_reference"):
		_, known := c.whole.LoadOrStore(r.Model, true)
		return !known
	case strings.Contains(why, "eager_input_streaming"):
		return c.lazy.CompareAndSwap(false, true)
	case r.Force != "" && (strings.Contains(why, "tool_choice") || strings.Contains(why, "thinking")):
		return c.unforced.CompareAndSwap(false, true)
	case r.Effort == llm.EffortNone && strings.Contains(why, "thinking"):
		return c.always.CompareAndSwap(false, true)
	}
	return false
}

// attempt makes one request.
func (c *Client) attempt(ctx context.Context, r llm.Request, from string) iter.Seq2[llm.Chunk, error] {
	body, past, betas := c.request(r, from)
	h := http.Header{"Anthropic-Version": {apiVersion}}
	switch {
	case c.c.Key == "":
	case c.c.Bearer:
		h.Set("Authorization", "Bearer "+c.c.Key)
	default:
		h.Set("X-Api-Key", c.c.Key)
	}
	if len(betas) > 0 {
		h.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	call := wire.Call{URL: c.c.BaseURL + "/v1/messages", Header: h, Body: body}
	return c.wire.Stream(ctx, call, &decoder{reply: wire.NewReply(r, past, from)})
}
