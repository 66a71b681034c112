package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/gemini"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A Config is what a Model may be given.
type Config struct {
	Version string        // of adze
	Idle    time.Duration // limit of a silent stream; 0: 90 s
	// Paced plays at the speed of the recording; else without pauses.
	Paced bool
}

// A player is a transport that answers with what was recorded, in order.
type player struct {
	paced bool

	mu       sync.Mutex // guards the rest
	cassette *Cassette
	next     int
}

// newPlayer returns a player at the beginning of c.
func newPlayer(c *Cassette, paced bool) *player { return &player{cassette: c, paced: paced} }

// RoundTrip implements http.RoundTripper. A request that is not the recorded
// one, and one too many, are answered with an error that says so.
func (p *player) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	n := p.next
	if n >= len(p.cassette.exchanges) {
		p.mu.Unlock()
		return refuse(req, fmt.Sprintf("the cassette has run out: it holds %d exchanges and this is request %d", n, n+1)), nil
	}
	e := p.cassette.exchanges[n]
	asked := summarize(req.URL.Path, body)
	if how := asked.differs(e.Request); how != "" {
		like := slices.IndexFunc(p.cassette.exchanges[n:], func(x exchange) bool { return asked.differs(x.Request) == "" })
		p.mu.Unlock()
		if like > 0 {
			how += fmt.Sprintf("; it is like request %d of the recording. What agents asked in between cannot be played", n+like+1)
		}
		return refuse(req, fmt.Sprintf("request %d is not the one that was recorded: %s", n+1, how)), nil
	}
	p.next++
	p.mu.Unlock()
	if e.Failed != "" {
		return nil, errors.New(e.Failed)
	}
	if e.Status == 0 && e.End == "left" { // before there was an answer
		return nil, wire.Silence(req.Context(), nil, -1)
	}
	resp := answer(req, e.Status)
	for k, v := range e.Headers {
		resp.Header.Set(k, v)
	}
	resp.Body = &playback{ctx: req.Context(), e: e, paced: p.paced, start: time.Now(), closed: make(chan struct{})}
	return resp, nil
}

// peek is the wire and the model of the next exchange.
func (p *player) peek() summary {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next < len(p.cassette.exchanges) {
		return p.cassette.exchanges[p.next].Request
	}
	return summary{Wire: wireMessages}
}

func answer(req *http.Request, status int) *http.Response {
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: req}
}

func refuse(req *http.Request, why string) *http.Response {
	resp := answer(req, http.StatusBadRequest)
	resp.Header.Set("Content-Type", "application/json")
	var j wire.JSON
	j.Obj()
	j.Key("error")
	j.Obj()
	j.Member("type", "invalid_request_error")
	j.Member("message", why)
	j.End()
	j.End()
	resp.Body = io.NopCloser(strings.NewReader(string(j.Bytes())))
	return resp
}

// A playback is the body of a recorded answer.
type playback struct {
	ctx    context.Context
	e      exchange
	paced  bool
	start  time.Time
	rest   string
	once   sync.Once
	closed chan struct{}
}

// Read implements io.Reader.
func (b *playback) Read(p []byte) (int, error) {
	for b.rest == "" {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		if len(b.e.Chunks) == 0 {
			return 0, b.end()
		}
		c := b.e.Chunks[0]
		if b.paced {
			if err := wire.Silence(b.ctx, b.closed, max(0, time.Duration(c.MS)*time.Millisecond-time.Since(b.start))); err != nil {
				return 0, err
			}
		}
		b.e.Chunks = b.e.Chunks[1:]
		b.rest = c.Data
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// end is how the recording ended. Where the client had left, nobody knows
// what would have come: the stream is silent.
func (b *playback) end() error {
	switch b.e.End {
	case "cut":
		return io.ErrUnexpectedEOF
	case "left":
		return wire.Silence(b.ctx, b.closed, -1)
	}
	return io.EOF
}

// Close implements io.Closer.
func (b *playback) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// A Model plays a cassette through the code of the provider it was recorded
// from.
type Model struct {
	player    *player
	anthropic llm.Model
	openai    llm.Model
	compat    llm.Model
	gemini    llm.Model
}

var _ llm.Model = (*Model)(nil)

// New returns a model at the beginning of c.
func New(c *Cassette, cfg Config) *Model {
	const name, url = "replay", "http://replay.invalid"
	p := newPlayer(c, cfg.Paced)
	q := compat.Quirks{Reasoning: "reasoning_content"}
	conf := wire.Config{Provider: name, Version: cfg.Version, Idle: cfg.Idle, Transport: p}
	return &Model{
		player:    p,
		anthropic: anthropic.New(anthropic.Config{Config: conf, BaseURL: url}),
		openai:    openai.New(openai.Config{Config: conf, BaseURL: url}),
		compat:    compat.New(compat.Config{Config: conf, BaseURL: url, Quirks: q}),
		gemini:    gemini.New(gemini.Config{Config: conf, BaseURL: url}),
	}
}

// Open reads the cassette at path and returns a model that plays it.
func Open(path string, cfg Config) (*Model, error) {
	c, err := load(path)
	if err != nil {
		return nil, err
	}
	return New(c, cfg), nil
}

// Stream implements llm.Model. The model a session asks for is its own affair;
// the recorded one is asked for.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		next := m.player.peek()
		own := r.Model
		if next.Model != "" {
			r.Model = next.Model
			r.Messages = reader(r.Messages, "replay/"+own, "replay/"+next.Model)
		}
		var model llm.Model
		switch next.Wire {
		case wireResponses:
			model = m.openai
		case wireChat:
			model = m.compat
		case wireGemini:
			model = m.gemini
		default:
			model = m.anthropic
		}
		model.Stream(ctx, r)(func(c llm.Chunk, err error) bool { return yield(relabel(c, "replay/"+own), err) })
	}
}

// reader gives the opaque tokens of one name to another.
func reader(msgs []llm.Message, from, to string) []llm.Message {
	if from == to {
		return msgs
	}
	out := make([]llm.Message, len(msgs))
	for i, m := range msgs {
		out[i] = llm.Message{Role: m.Role, Parts: make([]llm.Part, len(m.Parts))}
		for k, p := range m.Parts {
			if owner(p) == from {
				p = owned(p, to)
			}
			out[i].Parts[k] = p
		}
	}
	return out
}

func owner(p llm.Part) string {
	switch p := p.(type) {
	case llm.Thinking:
		return p.From
	case llm.ToolUse:
		return p.From
	case llm.Text, llm.ToolResult, llm.Image, llm.Document:
	}
	return ""
}

// owned is p with another owner of its token, if it has one.
func owned(p llm.Part, by string) llm.Part {
	switch p := p.(type) {
	case llm.Thinking:
		p.From = by
		return p
	case llm.ToolUse:
		if p.From != "" {
			p.From = by
		}
		return p
	case llm.Text, llm.ToolResult, llm.Image, llm.Document:
	}
	return p
}

func relabel(c llm.Chunk, by string) llm.Chunk {
	switch c := c.(type) {
	case llm.PartDone:
		c.Part = owned(c.Part, by)
		return c
	case llm.Finished:
		for i := range c.Message.Parts {
			c.Message.Parts[i] = owned(c.Message.Parts[i], by)
		}
		return c
	case llm.TextDelta, llm.Recast, llm.ThinkingDelta, llm.ToolInputDelta, llm.Progress:
	}
	return c
}
