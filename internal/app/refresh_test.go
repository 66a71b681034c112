package app

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// keyed is a provider that takes one key.
type keyed struct {
	key   int
	valid *atomic.Int32
}

func (k keyed) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if int(k.valid.Load()) != k.key {
			yield(nil, &llm.Error{Kind: llm.Unauthorized, Err: errors.New("expired")})
			return
		}
		yield(llm.Finished{Stop: llm.EndTurn}, nil)
	}
}

// Fault 46: a key expires under eight sessions at once; it is fetched once.
func TestFault46OneRefreshForAll(t *testing.T) {
	var valid, fetched atomic.Int32
	valid.Store(2)
	m := &refreshed{model: keyed{1, &valid}, renew: func(context.Context) (llm.Model, error) {
		fetched.Add(1)
		return keyed{2, &valid}, nil
	}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, err := range m.Stream(t.Context(), llm.Request{}) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d keys", n)
	}
	valid.Store(3) // the new key is refused, too: the error comes through
	for _, err := range m.Stream(t.Context(), llm.Request{}) {
		if k, _ := llm.KindOf(err); err == nil || k != llm.Unauthorized {
			t.Errorf("got %v", err)
		}
	}
}
