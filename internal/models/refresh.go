package models

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/choose"
)

// errSame is why a key that was refused is not tried again.
var errSame = errors.New("the saved key is the one that was refused")

// renewal is how to get a newer key for a choice whose key is refused; nil when
// there is no other. It is called for one request at a time.
func (m *Set) renewal(c choose.Choice) func(context.Context) (llm.Model, error) {
	name, tried := c.String(), ""
	switch c.KeySource {
	case choose.FromStore: // somebody may have logged in again meanwhile
		if m.conf.Record != nil {
			return nil // a recording is of one set of keys
		}
		return func(ctx context.Context) (llm.Model, error) {
			key, err := m.conf.keys().Get(ctx, c.Provider)
			switch {
			case err != nil:
				return nil, err
			case key == tried:
				return nil, errSame
			}
			tried = key
			return m.remake(ctx, name)
		}
	case choose.FromHelper:
		return func(ctx context.Context) (llm.Model, error) {
			// Of several processes whose key expired at once, one after the other
			// runs its helper, so that the later ones find what the first fetched
			// where the helper itself keeps it. adze writes no key to disk.
			if unlock, err := lease.Lock(ctx, m.conf.Folders.State, "apiKeyHelper"); err == nil {
				defer unlock()
			} else if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			m.renewed.helped.forget()
			again, err := m.Choose(ctx, name)
			return again.Model, err
		}
	}
	return nil
}

// helped is the key that the person's own command printed, which is run once, for all
// sessions and models, until a server refuses the key. The zero value has none yet.
type helped struct {
	mu  sync.Mutex // guards got, and is held while the command runs
	got string
}

// key is the one that is known, or else what fetch gets.
func (h *helped) key(fetch func() (string, error)) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.got != "" {
		return h.got, nil
	}
	key, err := fetch()
	h.got = key
	return key, err
}

// forget has the next one fetch a key.
func (h *helped) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = ""
}

// sharing is the model of a choice, the same one for all who choose it when its
// key can be another one later.
func (m *Set) sharing(c choose.Choice) llm.Model {
	m.renewed.mu.Lock()
	defer m.renewed.mu.Unlock()
	if shared := m.renewed.by[c.String()]; shared != nil {
		return shared
	}
	renew := m.renewal(c)
	if renew == nil {
		return c.Model
	}
	shared := &refreshed{model: c.Model, renew: renew}
	m.renewed.by[c.String()] = shared
	return shared
}

// remake makes a model with the keys that are saved now; a chooser reads them
// once.
func (m *Set) remake(ctx context.Context, name string) (llm.Model, error) {
	chooser, err := newChooser(m.conf, m.cfg, &m.renewed.helped)
	if err != nil {
		return nil, err
	}
	c, err := chooser.Choose(ctx, name)
	return c.Model, err
}

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
