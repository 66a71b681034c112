package pick

import (
	"cmp"
	"slices"
)

// rated is a hit before it is known whether it is among the best.
type rated struct {
	i     int32
	score int32
}

// best keeps the limit best of many as a heap with the worst on top.
type best struct {
	f     *Files
	limit int
	heap  []rated
}

func newBest(f *Files, limit int) *best { return &best{f: f, limit: limit} }

// worse orders by score, then by length, then as the files came.
func (b *best) worse(x, y rated) bool {
	if x.score != y.score {
		return x.score < y.score
	}
	return b.compare(x, y) > 0
}

func (b *best) compare(x, y rated) int {
	return cmp.Or(int(b.f.lines[x.i].len)-int(b.f.lines[y.i].len), int(x.i)-int(y.i))
}

func (b *best) put(r rated) {
	if len(b.heap) < b.limit {
		b.heap = append(b.heap, r)
		for i := len(b.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if !b.worse(b.heap[i], b.heap[up]) {
				break
			}
			b.heap[i], b.heap[up] = b.heap[up], b.heap[i]
			i = up
		}
		return
	}
	if !b.worse(b.heap[0], r) {
		return
	}
	b.heap[0] = r
	for i := 0; ; {
		low := i
		for _, c := range []int{2*i + 1, 2*i + 2} {
			if c < len(b.heap) && b.worse(b.heap[c], b.heap[low]) {
				low = c
			}
		}
		if low == i {
			return
		}
		b.heap[i], b.heap[low] = b.heap[low], b.heap[i]
		i = low
	}
}

func (b *best) merge(o *best) {
	for _, r := range o.heap {
		b.put(r)
	}
}

func (b *best) sorted() []rated {
	slices.SortFunc(b.heap, func(x, y rated) int {
		return cmp.Or(int(y.score)-int(x.score), b.compare(x, y))
	})
	return b.heap
}
