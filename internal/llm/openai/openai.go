// Package openai owns the Responses wire, used without any state on the
// server: every request carries the whole conversation, and reasoning returns
// in the encrypted items it came in. It makes one attempt per call and reads
// no environment.
package openai

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
const BaseURL = "https://api.openai.com/v1"

// A Config says whom to ask and as whom.
type Config struct {
	wire.Config        // Provider "" is "openai"
	BaseURL     string // "" is BaseURL
	Facts       price.Lookup
	// Retention is prompt_cache_retention, "" for the provider's own; Summary
	// the kind of summary of reasoning, "" for auto and "none" for no summary.
	Retention, Summary string
}

// A Client is an llm.Model.
type Client struct {
	c    Config
	wire *wire.Client
	sent wire.Threads
	// unsummed: the provider gives this account no summaries of reasoning.
	unsummed atomic.Bool
	// plain has the names of models that do not know tool_search.
	plain sync.Map
}

var _ llm.Model = (*Client)(nil)

// New returns a client.
func New(c Config) *Client {
	c.Provider, c.BaseURL = cmp.Or(c.Provider, "openai"), cmp.Or(c.BaseURL, BaseURL)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
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

// Stream implements llm.Model.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	from := c.c.Provider + "/" + r.Model
	h := http.Header{}
	if c.c.Key != "" {
		h.Set("Authorization", "Bearer "+c.c.Key)
	}
	attempt := func() iter.Seq2[llm.Chunk, error] {
		body, past := c.request(r, from)
		call := wire.Call{URL: c.c.BaseURL + "/responses", Header: h, Body: body}
		return c.wire.Stream(ctx, call, &decoder{reply: wire.NewReply(r, past, from), items: map[int]*item{}, search: loader(r)})
	}
	return func(yield func(llm.Chunk, error) bool) {
		for chunk, err := range attempt() {
			if noSummaries(err) && c.unsummed.CompareAndSwap(false, true) || c.noSearch(r.Model, err) {
				attempt()(yield)
				return
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
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

// noSearch reports whether a request was refused because of the provider's own
// kind of search for tools, for the first time.
func (c *Client) noSearch(model string, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return false
	}
	about := func(word string) bool { return strings.Contains(e.Error(), word) }
	if !about("tool_search") && !about("defer_loading") && !about("namespace for function_call") {
		return false
	}
	_, known := c.plain.LoadOrStore(model, true)
	return !known
}

// noSummaries reports whether a request was refused because the account may
// not have summaries of reasoning: the provider wants to know its owner first.
func noSummaries(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return false
	}
	text := strings.ToLower(e.Error())
	return strings.Contains(text, "reasoning.summary") || strings.Contains(text, "reasoning summar")
}
