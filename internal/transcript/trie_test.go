package transcript

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// Keys of one hash, and of hashes that differ late, are different keys: set, read
// and taken away in any order, and earlier tries stay as they were.
func TestTrieOfHashesThatCollide(t *testing.T) {
	hashes := map[string]uint64{"a": 5, "b": 5, "c": 5, "d": 5 | 1<<60, "e": 5 | 1<<32, "f": 6, "g": 0}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		type version struct {
			root *node[int]
			want map[string]int
		}
		all := []version{{want: map[string]int{}}}
		for i := range 60 {
			v := all[len(all)-1]
			want := maps.Clone(v.want)
			key := string(rune('a' + r.IntN(len(hashes))))
			root := v.root
			if _, ok := want[key]; ok && r.IntN(2) == 0 {
				root = root.del(hashes[key], 0, key)
				delete(want, key)
			} else {
				root = root.set(hashes[key], 0, pair[int]{key, i})
				want[key] = i
			}
			all = append(all, version{root, want})
		}
		for i, v := range all {
			if got := maps.Collect(trie[int]{root: v.root}.all()); !maps.Equal(got, v.want) {
				t.Fatalf("seed %d, step %d: %v, want %v", seed, i, got, v.want)
			}
			if len(v.want) == 0 && v.root != nil {
				t.Fatalf("seed %d, step %d: an empty trie has nodes", seed, i)
			}
		}
	}
}

// A trie counts its keys, and who leaves a walk early is not called again.
func TestTrieCountsItsKeys(t *testing.T) {
	var s trie[int]
	for i, key := range []string{"a", "b", "a", "c"} {
		s = s.set(key, i)
	}
	s = s.del("b").del("never")
	if a, ok := s.get("a"); s.n != 2 || a != 2 || !ok {
		t.Errorf("%d keys, a is %d", s.n, a)
	}
	calls := 0
	for range s.all() {
		calls++
		break
	}
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
}
