// Package storetest is the batteries that every store.Log and every
// store.Catalogue passes. It tests the contracts and knows no implementation.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
)

// Run tests the logs that open makes: empty ones, each a new one.
func Run(t *testing.T, open func(t *testing.T) store.Log) {
	for name, f := range map[string]func(*testing.T, store.Log){
		"order": order, "refusals": refusals, "readers": readers, "leaving": leaving, "close": closing,
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t)
			t.Cleanup(func() { _ = l.Close() })
			f(t, l)
		})
	}
}

// Event is the nth of a log; every fourth one is durable.
func Event(n int) event.Event {
	e := event.Event{Seq: event.Seq(n), Time: time.Unix(int64(n), 0).UTC(), Body: event.Noted{Level: "info", Text: fmt.Sprint("note ", n)}}
	if n%4 == 0 {
		e.Body = event.TurnEnded{ID: fmt.Sprint("t", n)}
	}
	return e
}

func add(t *testing.T, l store.Log, ns ...int) {
	t.Helper()
	for _, n := range ns {
		if err := l.Append(t.Context(), Event(n)); err != nil {
			t.Fatalf("append %d: %v", n, err)
		}
	}
}

func want(t *testing.T, l store.Log, after event.Seq, ns ...int) {
	t.Helper()
	var es, got []event.Event
	for _, n := range ns {
		es = append(es, Event(n))
	}
	for e, err := range l.After(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if d := cmp.Diff(es, got); d != "" {
		t.Fatalf("after %d (-want +got):\n%s", after, d)
	}
}

func order(t *testing.T, l store.Log) {
	want(t, l, 0)
	add(t, l, 1, 2, 3, 4, 7, 9) // gaps are allowed
	want(t, l, 0, 1, 2, 3, 4, 7, 9)
	want(t, l, 3, 4, 7, 9)
	want(t, l, 5, 7, 9)
	want(t, l, 9)
	want(t, l, 1000)
}

func refusals(t *testing.T, l store.Log) {
	add(t, l, 1, 2)
	for _, n := range []int{0, 1, 2} {
		if l.Append(t.Context(), Event(n)) == nil {
			t.Errorf("seq %d was taken after 2", n)
		}
	}
	if l.Append(t.Context(), event.Event{Seq: 3, Body: event.TextDelta{S: "x"}}) == nil {
		t.Error("a live event was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Append(ctx, Event(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("append after the end of its context: %v", err)
	}
	for _, err := range l.After(ctx, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read after the end of its context: %v", err)
		}
	}
	want(t, l, 0, 1, 2)
	add(t, l, 3)
}

// readers follow in other goroutines and miss nothing.
func readers(t *testing.T, l store.Log) {
	const n = 3000
	var wg sync.WaitGroup
	for start := range 3 {
		wg.Go(func() {
			seq := event.Seq(start * 100)
			for seq < n {
				for e, err := range l.After(t.Context(), seq) {
					if err != nil || e.Seq != seq+1 {
						t.Errorf("%d after %d, %v", e.Seq, seq, err)
						return
					}
					if !cmp.Equal(e, Event(int(e.Seq))) {
						t.Errorf("event %d changed", e.Seq)
						return
					}
					seq = e.Seq
				}
				if t.Context().Err() != nil {
					return
				}
			}
		})
	}
	for i := 1; i <= n; i++ {
		add(t, l, i)
	}
	wg.Wait()
}

func leaving(t *testing.T, l store.Log) {
	add(t, l, 1, 2, 3)
	for e, err := range l.After(t.Context(), 0) {
		if err != nil || e.Seq != 1 {
			t.Fatal(e, err)
		}
		break
	}
	for range l.After(t.Context(), 0) { // a reader may append
		add(t, l, 4)
		break
	}
	want(t, l, 0, 1, 2, 3, 4)
}

func closing(t *testing.T, l store.Log) {
	add(t, l, 1, 2)
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(t.Context(), Event(3)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	want(t, l, 0, 1, 2)
}
