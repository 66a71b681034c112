package transcript

import (
	"iter"
	"math/bits"
)

// A trie is a map from strings that many states share: set and del copy the
// few nodes on the way to the key and leave the rest alone. It is a hash trie
// with 16 children per node; keys whose hashes are equal share a leaf. The
// zero value is empty.
type trie[V any] struct {
	root *node[V]
	n    int
}

type node[V any] struct {
	bitmap uint16
	kids   []*node[V] // one per set bit, in order of the bits
	leaf   []pair[V]  // of a leaf; kids is nil then
	hash   uint64
}

type pair[V any] struct {
	key string
	val V
}

// hash is FNV-1a with a final mix; it is the same in every process, so the
// order of all is too.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

func (t trie[V]) get(key string) (V, bool) {
	h := hash(key)
	n := t.root
	for shift := 0; n != nil; shift += 4 {
		if n.leaf != nil {
			for _, p := range n.leaf {
				if p.key == key {
					return p.val, true
				}
			}
			break
		}
		bit := uint16(1) << (h >> shift & 15)
		if n.bitmap&bit == 0 {
			break
		}
		n = n.kids[bits.OnesCount16(n.bitmap&(bit-1))]
	}
	var zero V
	return zero, false
}

func (t trie[V]) set(key string, v V) trie[V] {
	if _, ok := t.get(key); !ok {
		t.n++
	}
	t.root = t.root.set(hash(key), 0, pair[V]{key, v})
	return t
}

func (n *node[V]) set(h uint64, shift int, p pair[V]) *node[V] {
	if n == nil {
		return &node[V]{leaf: []pair[V]{p}, hash: h}
	}
	if n.leaf != nil {
		if n.hash == h {
			leaf := make([]pair[V], 0, len(n.leaf)+1)
			for _, old := range n.leaf {
				if old.key != p.key {
					leaf = append(leaf, old)
				}
			}
			return &node[V]{leaf: append(leaf, p), hash: h}
		}
		split := &node[V]{bitmap: 1 << (n.hash >> shift & 15), kids: []*node[V]{n}}
		return split.set(h, shift, p)
	}
	bit := uint16(1) << (h >> shift & 15)
	i := bits.OnesCount16(n.bitmap & (bit - 1))
	if n.bitmap&bit != 0 {
		kids := append([]*node[V](nil), n.kids...)
		kids[i] = kids[i].set(h, shift+4, p)
		return &node[V]{bitmap: n.bitmap, kids: kids}
	}
	kids := make([]*node[V], 0, len(n.kids)+1)
	kids = append(kids, n.kids[:i]...)
	kids = append(kids, (*node[V])(nil).set(h, shift+4, p))
	kids = append(kids, n.kids[i:]...)
	return &node[V]{bitmap: n.bitmap | bit, kids: kids}
}

func (t trie[V]) del(key string) trie[V] {
	if _, ok := t.get(key); !ok {
		return t
	}
	t.n--
	t.root = t.root.del(hash(key), 0, key)
	return t
}

func (n *node[V]) del(h uint64, shift int, key string) *node[V] {
	if n.leaf != nil {
		var leaf []pair[V]
		for _, p := range n.leaf {
			if p.key != key {
				leaf = append(leaf, p)
			}
		}
		if leaf == nil {
			return nil
		}
		return &node[V]{leaf: leaf, hash: n.hash}
	}
	bit := uint16(1) << (h >> shift & 15)
	i := bits.OnesCount16(n.bitmap & (bit - 1))
	kid := n.kids[i].del(h, shift+4, key)
	if kid == nil && len(n.kids) == 1 {
		return nil
	}
	if kid == nil {
		kids := append([]*node[V](nil), n.kids[:i]...)
		return &node[V]{bitmap: n.bitmap &^ bit, kids: append(kids, n.kids[i+1:]...)}
	}
	kids := append([]*node[V](nil), n.kids...)
	kids[i] = kid
	return &node[V]{bitmap: n.bitmap, kids: kids}
}

// all yields every pair, in an order that depends only on the keys.
func (t trie[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.root.each(yield) }
}

func (n *node[V]) each(yield func(string, V) bool) bool {
	if n == nil {
		return true
	}
	for _, p := range n.leaf {
		if !yield(p.key, p.val) {
			return false
		}
	}
	for _, k := range n.kids {
		if !k.each(yield) {
			return false
		}
	}
	return true
}
