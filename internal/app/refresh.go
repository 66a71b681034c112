package app

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
)

// A refreshed model asks for a new key when the old one is refused, once for
// all sessions that share it: those that come while it is being fetched wait.
type refreshed struct {
	renew func(context.Context) (llm.Model, error)

	mu    sync.Mutex // guards the rest, and is held while a key is fetched
	model llm.Model
	round int // how often it was renewed
}

func (m *refreshed) now() (llm.Model, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.model, m.round
}

// again returns a model newer than the one of round.
func (m *refreshed) again(ctx context.Context, round int) (llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.round > round {
		return m.model, nil
	}
	fresh, err := m.renew(ctx)
	if err != nil {
		return nil, err
	}
	m.model = fresh
	m.round++
	return fresh, nil
}

// Stream implements llm.Model.
func (m *refreshed) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		model, round := m.now()
		begun := false
		for c, err := range model.Stream(ctx, r) {
			var e *llm.Error
			if !begun && errors.As(err, &e) && e.Kind == llm.Unauthorized {
				fresh, rerr := m.again(ctx, round)
				if rerr != nil {
					yield(nil, err)
					return
				}
				for c, err := range fresh.Stream(ctx, r) {
					if !yield(c, err) {
						return
					}
				}
				return
			}
			begun = true
			if !yield(c, err) {
				return
			}
		}
	}
}
