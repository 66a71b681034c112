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

// chunk is how many items of a rope are copied when one of them changes.
const chunk = 64

// A rope is a list whose items can be replaced without copying all of it:
// full holds chunks of equal length that are never written to again.
type rope[T any] struct {
	full list[[]T]
	last list[T]
}

func (r rope[T]) len() int { return len(r.full.items)*chunk + len(r.last.items) }

func (r rope[T]) at(i int) T {
	if c := i / chunk; c < len(r.full.items) {
		return r.full.items[c][i%chunk]
	}
	return r.last.items[i-len(r.full.items)*chunk]
}

func (r rope[T]) push(x T) rope[T] {
	r.last = r.last.push(x)
	if len(r.last.items) == chunk {
		r.full = r.full.push(r.last.items[:chunk:chunk])
		r.last = list[T]{}
	}
	return r
}

func (r rope[T]) appendTo(dst []T) []T {
	for _, c := range r.full.items {
		dst = append(dst, c...)
	}
	return append(dst, r.last.items...)
}

// mapFrom replaces the items from one on by f of them. Chunks before it are
// shared with r.
func (r rope[T]) mapFrom(from int, f func(T) T) rope[T] {
	copied := func(items []T, from int) []T {
		out := append([]T(nil), items...)
		for i := max(0, from); i < len(out); i++ {
			out[i] = f(out[i])
		}
		return out
	}
	n := len(r.full.items)
	if first := from / chunk; first < n {
		full := make([][]T, n, n+n/4+1)
		copy(full, r.full.items)
		for i := first; i < n; i++ {
			full[i] = copied(full[i], from-i*chunk)
		}
		r.full = newList(full)
	}
	r.last = newList(copied(r.last.items, from-n*chunk))
	return r
}
