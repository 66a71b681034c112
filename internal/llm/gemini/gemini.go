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
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// BaseURL is where the provider's own API lives.
const BaseURL = "https://generativelanguage.googleapis.com"

// A Config says whom to ask and as whom.
type Config struct {
	Name      string // in errors and in Thinking.From; "" is "gemini"
	BaseURL   string // "" is BaseURL; /v1beta is added when no version is in it
	Key       string
	KeySource string // where the key came from, such as GEMINI_API_KEY
	Version   string // of adze
	Headers   map[string]string
	Transport http.RoundTripper
	Idle      time.Duration // 0: 90 s
	FirstByte time.Duration // 0: Idle
	Wall      func() time.Time
	Facts     price.Lookup
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
	c.Name, c.BaseURL = cmp.Or(c.Name, "gemini"), cmp.Or(c.BaseURL, BaseURL)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if !strings.Contains(c.BaseURL, "/v1") {
		c.BaseURL += "/v1beta"
	}
	c.Key = strings.TrimSpace(c.Key)
	return &Client{c: c, wire: wire.NewClient(wire.Config{
		Provider: c.Name, Key: c.Key, KeySource: c.KeySource, Version: c.Version, Headers: c.Headers,
		Transport: c.Transport, Idle: c.Idle, FirstByte: c.FirstByte, Wall: c.Wall,
	})}
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
	from := c.c.Name + "/" + r.Model
	h := http.Header{}
	if c.c.Key != "" {
		h.Set("X-Goog-Api-Key", c.c.Key)
	}
	body, past := c.request(r, from)
	call := wire.Call{
		URL:    c.c.BaseURL + "/models/" + url.PathEscape(strings.TrimPrefix(r.Model, "models/")) + ":streamGenerateContent?alt=sse",
		Header: h, Body: body,
	}
	return func(yield func(llm.Chunk, error) bool) {
		dec := &decoder{reply: wire.NewReply(r, past, from)}
		c.wire.Stream(ctx, call, dec)(yield)
	}
}
