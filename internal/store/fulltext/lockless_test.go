package fulltext

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Where nothing can be locked, one uses the index after the other.
func TestWithoutLocks(t *testing.T) {
	f, s := folder(t), newShelf()
	f.noLocks = true
	for n := range 20 {
		s.add(fmt.Sprint("s", n), "p", prompt("needle"))
	}
	update(t, f, s)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			if err := f.Mark(fmt.Sprint("s", n)); err != nil {
				t.Error(err)
			}
			if err := f.Update(t.Context(), s, nil); err != nil && !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
			if hits, err := f.Search(t.Context(), Query{Words: "needle", Limit: 100}); err != nil && !errors.Is(err, ErrBusy) || err == nil && len(hits) != 20 {
				t.Errorf("found %d: %v", len(hits), err)
			}
		})
	}
	wg.Wait()
	x, err := f.open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Search(t.Context(), Query{Words: "needle"}); !errors.Is(err, ErrBusy) {
		t.Errorf("a search beside somebody who has the index: %v", err)
	}
	if err := x.close(); err != nil {
		t.Error(err)
	}
	if got := found(t, f, Query{Words: "needle", Limit: 100}); len(got) != 20 {
		t.Errorf("found %d of 20", len(got))
	}
}
