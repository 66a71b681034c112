// Package compat owns the Chat Completions wire as it is spoken by many
// servers, with one table of what is particular about each. It makes one
// attempt per call, and another where the server would not take an optional
// field of the request. It reads no environment.
package compat

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A Config says whom to ask and as whom.
type Config struct {
	// FirstByte 0 is 10 minutes for a local server, which reads a long prompt in
	// silence.
	wire.Config
	BaseURL string // up to and including /v1 or what stands for it
	Quirks  Quirks
	Local   bool
	Facts   price.Lookup
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

const localFirstByte = 10 * time.Minute

// New returns a client.
func New(c Config) *Client {
	c.BaseURL = wire.Base(c.BaseURL, "/chat/completions")
	c.Key = strings.TrimSpace(c.Key)
	if c.Memory == nil {
		c.Memory = &wire.Memory{}
	}
	if c.Local && c.FirstByte == 0 && c.Idle == 0 {
		c.FirstByte = localFirstByte
	}
	return &Client{c: c, wire: wire.NewClient(c.Config)}
}

// Asks reports whether the effort of r makes a difference to what is sent.
func (c *Client) Asks(r llm.Request) bool {
	return wire.Asks(r, func(r llm.Request) wire.Body {
		b, _ := c.request(r, "", c.c.Quirks)
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
	base := c.c.BaseURL
	known := habits
	if !wire.Bare(base) {
		known = known[:len(known)-1] // the last one is about the path
	}
	return c.c.Memory.Learning(wire.Server{Base: base, Reader: from, Habits: known}, r, func(r llm.Request, refused []string) (wire.Body, iter.Seq2[llm.Chunk, error]) {
		q := c.c.Quirks.without(refused)
		body, past := c.request(r, from, q)
		call := wire.Call{URL: address(base, q.Version), Header: h, Body: body}
		return body, c.wire.Stream(ctx, call, &decoder{reply: wire.NewReply(r, past, from)})
	})
}

// address is where requests go. A base URL without any path may leave out /v1.
func address(base string, version bool) string {
	if version && wire.Bare(base) {
		base = wire.Join(base, "/v1")
	}
	return wire.Join(base, "/chat/completions")
}
