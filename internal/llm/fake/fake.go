// Package fake is a model for tests: each request is answered by the next
// function. It speaks no wire; script and replay do.
package fake

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
)

// A Reply plays one answer. It may yield chunks, wait on ctx, and fail.
type Reply func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool)

// A Model plays its replies in order and keeps the requests it was sent.
type Model struct {
	Replies []Reply

	mu       sync.Mutex // guards the rest
	requests []llm.Request
}

// Requests are those sent so far.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[:len(m.requests):len(m.requests)]
}

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, r)
		n := len(m.requests) - 1
		m.mu.Unlock()
		if n >= len(m.Replies) {
			yield(nil, &llm.Error{Kind: llm.BadRequest, Provider: "fake", Err: errors.New("the script ran out")})
			return
		}
		m.Replies[n](ctx, r, yield)
	}
}

// Parts answers with these parts, one delta for each text, and stops.
func Parts(stop llm.Stop, parts ...llm.Part) Reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if Send(yield, parts...) {
			yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: parts}, Stop: stop, Usage: llm.Usage{In: 10, Out: 5}}, nil)
		}
	}
}

// Send yields parts as they would stream, without an end.
func Send(yield func(llm.Chunk, error) bool, parts ...llm.Part) bool {
	for _, p := range parts {
		if t, ok := p.(llm.Text); ok && !yield(llm.TextDelta{S: t.S}, nil) {
			return false
		}
		if !yield(llm.PartDone{Part: p}, nil) {
			return false
		}
	}
	return true
}

// Say answers with a text and ends the turn.
func Say(s string) Reply { return Parts(llm.EndTurn, llm.Text{S: s}) }

// Use answers with calls.
func Use(calls ...llm.ToolUse) Reply {
	parts := make([]llm.Part, 0, len(calls))
	for _, c := range calls {
		parts = append(parts, c)
	}
	return Parts(llm.WantTools, parts...)
}

// Call makes a call with v as its input.
func Call(id, name string, v any) llm.ToolUse {
	raw, _ := json.Marshal(v)
	return llm.ToolUse{ID: id, Name: name, Input: raw}
}

// Fail answers with an error after parts.
func Fail(e llm.Error, parts ...llm.Part) Reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if Send(yield, parts...) {
			yield(nil, &e)
		}
	}
}

// Hang streams parts and then nothing until the request is given up.
func Hang(parts ...llm.Part) Reply {
	return func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if Send(yield, parts...) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	}
}
