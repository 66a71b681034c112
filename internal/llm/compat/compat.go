// Package compat owns the Chat Completions wire as it is spoken by many
// servers, with one table of what is particular about each. It makes one
// attempt per call, and another where the server would not take an optional
// field of the request. It reads no environment.
package compat

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A Config says whom to ask and as whom.
type Config struct {
	Name      string // of the endpoint: in errors and in Thinking.From
	BaseURL   string // up to and including /v1 or what stands for it
	Key       string // "" for a server that wants none
	KeySource string
	Version   string // of adze
	Headers   map[string]string
	Transport http.RoundTripper
	Idle      time.Duration // 0: 90 s
	// FirstByte bounds the wait for the first byte; 0 is Idle, or 10 minutes
	// for a local server, which reads a long prompt in silence.
	FirstByte time.Duration
	Wall      func() time.Time
	Quirks    Quirks
	Local     bool
	StartHint string // how to start a local server
	Facts     price.Lookup
	// Memory is what servers refused before; nil: one of the client's own.
	Memory *Memory
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
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.Key = strings.TrimSpace(c.Key)
	if c.Memory == nil {
		c.Memory = &Memory{}
	}
	if c.Local && c.FirstByte == 0 && c.Idle == 0 {
		c.FirstByte = localFirstByte
	}
	return &Client{c: c, wire: wire.NewClient(wire.Config{
		Provider: c.Name, Key: c.Key, KeySource: c.KeySource, Version: c.Version, Headers: c.Headers,
		Transport: c.Transport, Idle: c.Idle, FirstByte: c.FirstByte, StartHint: c.StartHint, Wall: c.Wall,
	})}
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
	from := c.c.Name + "/" + r.Model
	h := http.Header{}
	if c.c.Key != "" {
		h.Set("Authorization", "Bearer "+c.c.Key)
	}
	return func(yield func(llm.Chunk, error) bool) {
		key := c.c.BaseURL + " " + r.Model
		for refused := c.c.Memory.of(key); ; {
			body, past := c.request(r, from, c.c.Quirks.without(refused))
			call := wire.Call{URL: c.c.BaseURL + "/chat/completions", Header: h, Body: body}
			again := ""
			for chunk, err := range c.wire.Stream(ctx, call, &decoder{reply: wire.NewReply(r, past, from)}) {
				if again = refusedField(err, body); again != "" && !slices.Contains(refused, again) {
					break
				}
				if again = ""; err == nil {
					c.c.Memory.keep(key, refused)
				}
				if !yield(chunk, err) {
					return
				}
			}
			if again == "" {
				return
			}
			refused = append(refused, again)
		}
	}
}
