package pick

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Files is an index of the paths of a folder. It serves one goroutine.
type Files struct {
	all   []file
	lines []outline // of all
	dirs  map[string]bool
	steps []narrowed // of the query that was typed, one for each longer query
}

// A file is a path, ready to be compared.
type file struct {
	path string // slash-separated; a folder ends in "/"
	fold string
	base int // where the last name starts
}

// An outline is what can be told of a file without looking at its path. Outlines
// lie side by side, so that a key looks at all of them quickly.
type outline struct {
	mask  uint64 // of the path
	base  uint64 // of the last name
	len   uint16
	depth uint8
	first byte // of the last name
}

// narrowed are the files that matched a query. What it does not match, no longer
// query matches either.
type narrowed struct {
	query string
	hits  []int32
}

// A Hit is a file that matched.
type Hit struct {
	Path string // slash-separated; a folder ends in "/"
	At   []int  // the bytes that matched
}

// NewFiles makes an index of files, given as slash-separated paths below the
// folder. The folders they are in are found, too.
func NewFiles(paths []string) *Files {
	f := &Files{dirs: map[string]bool{}}
	f.Add(paths...)
	return f
}

// Add puts more files into the index. Files that are in it already are the
// caller's to leave out.
func (f *Files) Add(paths ...string) {
	f.steps = nil
	f.all = slices.Grow(f.all, len(paths)+len(paths)/8)
	f.lines = slices.Grow(f.lines, len(paths)+len(paths)/8)
	last := ""
	for _, p := range paths {
		if p == "" {
			continue
		}
		f.add(p)
		if d := parent(strings.TrimSuffix(p, "/")); d == last {
			continue
		} else {
			last = d
		}
		for d := parent(strings.TrimSuffix(p, "/")); d != "" && !f.dirs[d]; d = parent(d[:len(d)-1]) {
			f.dirs[d] = true
			f.add(d)
		}
	}
}

// parent is the folder of a path, with its "/", or "".
func parent(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }

func (f *Files) add(p string) {
	if strings.HasSuffix(p, "/") {
		f.dirs[p] = true
	}
	low := fold(p)
	base := len(parent(strings.TrimSuffix(p, "/")))
	b := mask(low[base:])
	f.all = append(f.all, file{p, low, base})
	f.lines = append(f.lines, outline{
		mask: b | mask(low[:base]), base: b, len: uint16(min(len(p), math.MaxUint16)),
		depth: uint8(min(strings.Count(strings.TrimSuffix(p, "/"), "/"), math.MaxUint8)), first: low[base],
	})
}

// Find returns the limit best files for a query, the best first. A query that
// goes on where the last one ended looks only at what that one matched. When
// enough files match in their names, those that match only across their folders
// are not looked at.
func (f *Files) Find(query string, limit int) []Hit {
	if limit <= 0 {
		return nil
	}
	query = strings.TrimPrefix(query, "./")
	if strings.TrimSpace(query) == "" {
		return f.shallow(limit)
	}
	q := NewQuery(query)
	from, narrow := f.before(query)
	n := len(f.all)
	if narrow {
		n = len(from)
	}
	first := f.share(n, limit, func(p *part, k int) {
		i := int32(k)
		if narrow {
			i = from[k]
		}
		p.strong(f, q, i)
	})
	hits := first.hits
	if len(first.best.heap) < limit {
		second := f.share(len(first.rest), limit, func(p *part, k int) { p.weak(f, q, first.rest[k]) })
		hits = append(hits, second.hits...)
		first.best.merge(second.best)
	} else {
		hits = append(hits, first.rest...) // they may match
	}
	f.steps = append(f.steps, narrowed{query, hits})
	return f.hits(first.best.sorted(), q)
}

// alone is how many files one goroutine looks at without help.
const alone = 8000

// share looks at n files from several goroutines and puts together what they
// find.
func (f *Files) share(n, limit int, look func(p *part, k int)) part {
	parts := make([]part, max(1, min(runtime.GOMAXPROCS(0), n/alone, 8)))
	var wg sync.WaitGroup
	for j := range parts {
		p := &parts[j]
		p.best = newBest(f, limit)
		if n > alone { // growing them costs as much as looking
			p.hits, p.rest = make([]int32, 0, n/len(parts)+1), make([]int32, 0, n/len(parts)+1)
		}
		work := func() { // ends after its share of the files
			for k := n * j / len(parts); k < n*(j+1)/len(parts); k++ {
				look(p, k)
			}
		}
		if len(parts) == 1 {
			work()
		} else {
			wg.Go(work)
		}
	}
	wg.Wait()
	all := part{best: parts[0].best}
	var hits, rest [][]int32
	for j, p := range parts {
		hits, rest = append(hits, p.hits), append(rest, p.rest)
		if j > 0 {
			all.best.merge(p.best)
		}
	}
	all.hits, all.rest = slices.Concat(hits...), slices.Concat(rest...)
	return all
}

// A part is what one goroutine finds.
type part struct {
	best *best
	hits []int32 // that match
	rest []int32 // that may match, and were not rated
	tmp  scratch
}

// strong rates a file that matches in its last name, and where the query has a
// "/", one that has the query in its path as it is.
func (p *part) strong(f *Files, q Query, i int32) {
	o := &f.lines[i]
	total := -int(o.len) / 8 * perEight
	ok, hopeless := true, false
	for _, w := range q.words {
		if o.mask&w.mask != w.mask {
			return
		}
		if !ok {
			continue
		}
		var n int
		switch c := w.s[0]; {
		case len(w.s) == 1 && w.fold && bit(c) < 40:
			n = o.letter(w.mask, c)
		case w.head != "":
			n, ok = f.all[i].inPath(w, o, &p.tmp)
		default:
			n, ok, hopeless = f.all[i].inBase(w, o, p.floor(q, total), &p.tmp)
		}
		total += n
	}
	switch {
	case hopeless:
		p.hits = append(p.hits, i) // it may match
	case !ok:
		p.rest = append(p.rest, i)
	default:
		p.hits = append(p.hits, i)
		p.best.put(rated{i, int32(total)})
	}
}

// floor is what the word of a query of one must be worth in a file that is worth
// total without it, so that the file is among the best so far.
func (p *part) floor(q Query, total int) int {
	if len(q.words) > 1 || len(p.best.heap) < p.best.limit {
		return math.MinInt32
	}
	return int(p.best.heap[0].score) - total
}

// weak rates any other file. One that cannot be among the best whatever its path
// has of the query may match.
func (p *part) weak(f *Files, q Query, i int32) {
	if p.beaten(f, q, i) {
		p.hits = append(p.hits, i)
		return
	}
	score, ok, hopeless := f.rate(i, q, p.floor(q, 0), &p.tmp)
	if ok || hopeless {
		p.hits = append(p.hits, i)
	}
	if ok {
		p.best.put(rated{i, int32(score)})
	}
}

// beaten reports whether the file would not be among the best if its path had the
// query of one word as it is, at the start of a name, or at its own where it does.
func (p *part) beaten(f *Files, q Query, i int32) bool {
	if len(q.words) > 1 || q.words[0].head != "" || len(p.best.heap) < p.best.limit {
		return false
	}
	o, w, n := &f.lines[i], q.words[0], len(q.words[0].s)
	most := -int(o.len)/8*perEight + n*(perLetter+following) - following + firstFactor*atBoundary
	last := p.best.heap[0]
	if most+fromStart >= int(last.score) && strings.HasPrefix(f.all[i].text(w), w.s) {
		most += fromStart - perFolder*int(o.depth)
	}
	return !p.best.worse(last, rated{i, int32(most)})
}

// maxSteps bounds the queries that are remembered.
const maxSteps = 32

// before finds what a shorter query matched, and forgets queries that the new
// one does not go on from.
func (f *Files) before(query string) ([]int32, bool) {
	for n := len(f.steps); n > 0; n-- {
		s := f.steps[n-1]
		if s.query != query && strings.HasPrefix(query, s.query) && n < maxSteps {
			f.steps = f.steps[:n]
			return s.hits, true
		}
		if s.query == query && n > 1 {
			f.steps = f.steps[:n-1]
			return f.steps[n-2].hits, true
		}
	}
	f.steps = nil
	return nil, false
}

// hits makes results of indices.
func (f *Files) hits(list []rated, q Query) []Hit {
	out := make([]Hit, len(list))
	for i, r := range list {
		e := &f.all[r.i]
		out[i] = Hit{e.path, e.places(q)}
	}
	return out
}

// places are the bytes of the path that matched.
func (e *file) places(q Query) []int {
	var tmp scratch
	var out []int
	for _, w := range q.words {
		text, at, base := e.fold, make([]int, len(w.s)), e.base
		if !w.fold {
			text = e.path
		}
		_, _, _, ok := w.match(e.path[base:], text[base:], at, &tmp)
		if !ok {
			base = 0
			_, _, _, ok = w.match(e.path, text, at, &tmp)
		}
		for _, p := range at {
			if ok {
				out = append(out, p+base)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shallow lists what is in the folder itself, then what is in its folders.
func (f *Files) shallow(limit int) []Hit {
	best := newBest(f, limit)
	for i := range f.all {
		best.put(rated{int32(i), -int32(f.lines[i].depth)})
	}
	return f.hits(best.sorted(), Query{})
}
