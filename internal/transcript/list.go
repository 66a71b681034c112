package transcript

import "sync/atomic"

// A list is a slice that many states share. Adding to the newest state takes
// amortised constant time; adding to an older one copies, so that no state
// ever sees what another one added.
type list[T any] struct {
	items []T
	owned *atomic.Int64 // how many slots of the shared array are taken
}

func (l list[T]) push(x T) list[T] {
	n := len(l.items)
	if l.owned != nil && n < cap(l.items) && l.owned.CompareAndSwap(int64(n), int64(n+1)) {
		l.items = append(l.items, x)
		return l
	}
	items := make([]T, n, max(8, 2*n))
	copy(items, l.items)
	return newList(append(items, x))
}

// newList takes items over: nobody else may write to its array.
func newList[T any](items []T) list[T] {
	l := list[T]{items: items, owned: new(atomic.Int64)}
	l.owned.Store(int64(len(items)))
	return l
}
