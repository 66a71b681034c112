// Package secret hides secrets in what adze shows, keeps and sends: values it
// was told, in the forms in which programs print them, and texts that have
// the shape of a well-known kind of key. It works on whole texts and on
// streams, whose writes may cut a secret anywhere. It never decides what is a
// secret by the name of a thing alone, and it holds no keys for use.
package secret

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Masked stands where a secret was.
const Masked = "[masked]"

// minValue is the length, in bytes, below which a value is not looked for: it
// would blank out ordinary words.
const minValue = 8

// A Redactor hides secrets. Its methods may be called from several goroutines.
type Redactor struct {
	mu sync.Mutex // held by Add, and guards more
	ix atomic.Pointer[index]
	// more is what With made last, of which index and values.
	more   *Redactor
	moreOf *index
	moreBy []string
}

// New returns a redactor that hides the given values, those of 8 bytes
// or more, and every known shape of a key.
func New(values ...string) *Redactor {
	r := &Redactor{}
	r.ix.Store(newIndex(values))
	return r
}

// Add hides more values from now on, also in writers that are open: a key
// that a helper printed, a token that was refreshed.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.ix.Load()
	all := usable(append(slices.Clone(old.values), values...))
	if len(all) > len(old.values) {
		r.ix.Store(newIndex(all))
	}
}

// usable sorts values, without those that are too short and doubles.
func usable(values []string) []string {
	var out []string
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= minValue {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// An index finds the places of a text where a secret may begin: each begins
// with one of a set of trigrams, so that one look into a table per byte is
// all that ordinary text costs.
type index struct {
	values  []string
	table   [1 << 16]uint16 // hash of a trigram → 1 + its place in buckets
	buckets [][]candidate
	one     [256]bool          // first bytes of trigrams
	two     [1 << 16 / 8]uint8 // first two bytes of trigrams, as bits
	bare    [drops][][]byte    // see apart
}

// A candidate is a matcher to try where a trigram stands.
type candidate struct {
	trigram uint32
	known   bool // a value; shapes otherwise
	escape  bool // the trigram begins an escape of any of several bytes:
	first   byte // this must be the one that it stands for
	match   matcher
}

// A matcher looks at b from i on. final says that nothing follows b.
type matcher interface {
	match(b []byte, i int, before [2]byte, final bool) found
}

// found is what a matcher saw: a secret in b[start:end], or nothing, or that
// it needs to see more.
type found struct {
	state      state
	start, end int
	goes       tail // what of the text after end belongs to the secret, too
}

type state uint8

const (
	no state = iota
	yes
	more
)

func newIndex(values []string) *index {
	ix := &index{values: usable(values)}
	for _, v := range ix.values {
		ix.addValue(v)
		ix.addBare(v)
	}
	for _, s := range shapes() {
		for _, t := range s.starts() {
			ix.add(t, false, s)
		}
	}
	return ix
}

const multiplier = 0x9E3779B1 // 2^32 divided by the golden ratio

func hash(trigram uint32) uint16 { return uint16(trigram * multiplier >> 16) }

func trigram(s string) uint32 { return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 }

// add makes a matcher be tried where the first three bytes of start stand.
func (ix *index) add(start string, known bool, m matcher) {
	ix.put(start, candidate{trigram: trigram(start), known: known, match: m})
}

// addFirst is add for a text that begins with first, if need be escaped.
func (ix *index) addFirst(start string, first byte, m matcher) {
	c := candidate{trigram: trigram(start), known: true, first: first, match: m}
	c.escape = (start[0] == '\\' || start[0] == '&') && start[0] != first && (start[0] == '&' || start[1] == 'u' || start[1] == 'x')
	ix.put(start, c)
}

func (ix *index) put(start string, c candidate) {
	ix.one[start[0]] = true
	pair := uint16(start[0]) | uint16(start[1])<<8
	ix.two[pair>>3] |= 1 << (pair & 7)
	at := &ix.table[hash(c.trigram)]
	if *at == 0 {
		ix.buckets = append(ix.buckets, nil)
		*at = uint16(len(ix.buckets))
	}
	b := &ix.buckets[*at-1]
	*b = append(*b, c)
}

// next returns the first place at or after i where a secret may begin, with
// its candidates; and where to wait for more text when there is none.
func (ix *index) next(b []byte, i int) (int, []candidate) {
	table := &ix.table
	for ; i+4 <= len(b); i++ {
		t := binary.LittleEndian.Uint32(b[i:]) & 0xffffff
		if at := table[hash(t)]; at != 0 {
			return i, ix.buckets[at-1]
		}
	}
	for ; i+3 <= len(b); i++ {
		if at := table[hash(uint32(b[i])|uint32(b[i+1])<<8|uint32(b[i+2])<<16)]; at != 0 {
			return i, ix.buckets[at-1]
		}
	}
	return i, nil
}

// wait returns the first of the last two places at or after i where a secret
// may begin whose third byte is not here yet.
func (ix *index) wait(b []byte, i int) int {
	for i = max(i, len(b)-2); i < len(b); i++ {
		if i+2 == len(b) {
			pair := uint16(b[i]) | uint16(b[i+1])<<8
			if ix.two[pair>>3]>>(pair&7)&1 != 0 {
				return i
			}
		} else if ix.one[b[i]] {
			return i
		}
	}
	return len(b)
}
