// Package mem keeps a session log in memory, for tests and for sessions that
// are not saved. It never touches a disk.
package mem

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
)

// A Log is a store.Log in memory. The zero value is empty and ready.
type Log struct {
	mu     sync.RWMutex // guards the fields below
	es     []event.Event
	closed bool
}

var _ store.Log = (*Log)(nil)

// Append adds e.
func (l *Log) Append(ctx context.Context, e event.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, live := e.Body.(event.Live); live {
		return fmt.Errorf("append event: a %T is never stored", e.Body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return store.ErrClosed
	}
	if n := len(l.es); n > 0 && e.Seq <= l.es[n-1].Seq || e.Seq == 0 {
		return fmt.Errorf("append event: seq %d does not follow", e.Seq)
	}
	l.es = append(l.es, e)
	return nil
}

// After yields the events above seq.
func (l *Log) After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			l.mu.RLock()
			i := sort.Search(len(l.es), func(i int) bool { return l.es[i].Seq > seq })
			es := slices.Clip(l.es[i:])
			l.mu.RUnlock()
			if len(es) == 0 {
				return
			}
			for _, e := range es {
				if err := ctx.Err(); err != nil {
					yield(event.Event{}, err)
					return
				}
				if !yield(e, nil) {
					return
				}
				seq = e.Seq
			}
		}
	}
}

// Close ends the log; it can still be read.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

func (l *Log) reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = false
}
