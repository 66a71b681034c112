package search

import "bytes"

// maxAnchor bounds the bytes of an anchor set: each is looked for by itself.
const maxAnchor = 4

// worth is the cost per byte, in nanoseconds, above which a filter does not
// pay: the automaton alone is as fast.
const worth = 1.0

// A stream looks for one byte, and where it stands checks the window around.
type stream struct {
	c    byte
	at   int // of c in the window
	win  window
	next int // place of a byte to check first, relative to c
	set  *byteSet
}

// A prefilter finds places that may be part of a match. The nil prefilter
// knows none.
type prefilter struct {
	streams []stream
	grams   *grams // used instead of the streams when set
}

// newPrefilter returns nil for a choice that costs more than limit.
func newPrefilter(c choice, limit float64) *prefilter {
	if len(c) == 0 || c.cost() > limit {
		return nil
	}
	p := &prefilter{}
	if g := newGrams(c); g != nil && len(c) > 1 && g.cost() < c.cost() {
		p.grams = g
		return p
	}
	for _, w := range c {
		a := w.anchor()
		// The second rarest place decides most of the time.
		second, least := a, 2.0
		for i := range w {
			if f := w[i].weight(); i != a && f < least {
				second, least = i, f
			}
		}
		for _, c := range w[a].bytes() {
			p.streams = append(p.streams, stream{c: c, at: a, win: w, next: second - a, set: &w[second]})
		}
	}
	return p
}

// block is how far ahead one stream looks before the others have a turn.
const block = 16 << 10

// A hunt is the state of a prefilter in one buffer.
type hunt struct {
	p     *prefilter
	found []int // per stream: the next place, or where it has looked up to
	sure  []bool
}

func newHunt(p *prefilter) *hunt {
	return &hunt{p: p, found: make([]int, len(p.streams)), sure: make([]bool, len(p.streams))}
}

func (h *hunt) reset() {
	clear(h.found)
	clear(h.sure)
}

// next returns the first place from at on where a window stands, or -1.
// Places must be asked for in rising order until reset.
func (h *hunt) next(b []byte, at int) int {
	if h.p.grams != nil {
		return h.p.grams.next(b, at)
	}
	for limit := min(at+block, len(b)); ; limit = min(limit+block, len(b)) {
		first := -1
		for i := range h.p.streams {
			if h.found[i] < at {
				h.found[i], h.sure[i] = at, false
			}
			if !h.sure[i] && h.found[i] < limit {
				h.found[i], h.sure[i] = h.p.streams[i].seek(b, h.found[i], limit)
			}
			if h.sure[i] && (first < 0 || h.found[i] < first) {
				first = h.found[i]
			}
		}
		if first >= 0 && first < limit {
			return first
		}
		if limit == len(b) {
			return first
		}
	}
}

// seek looks for s in b[from:limit]; the place returned is that of its byte.
func (s *stream) seek(b []byte, from, limit int) (int, bool) {
	for i := from; i < limit; i++ {
		j := bytes.IndexByte(b[i:limit], s.c)
		if j < 0 {
			return limit, false
		}
		i += j
		if n := i + s.next; n < 0 || n >= len(b) || !s.set.has(b[n]) {
			continue
		}
		if stands(s.win, b, i-s.at) {
			return i, true
		}
	}
	return limit, false
}

// stands reports whether a window stands at b[start].
func stands(w window, b []byte, start int) bool {
	if start < 0 || start+len(w) > len(b) {
		return false
	}
	for i, c := range b[start : start+len(w)] {
		if !w[i].has(c) {
			return false
		}
	}
	return true
}
