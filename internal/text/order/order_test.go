package order

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// By sorts as package slices does, stably.
func TestBy(t *testing.T) {
	type pair struct{ key, n int }
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	rapid.Check(t, func(r *rapid.T) {
		var list []pair
		for i, key := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 100).Draw(r, "keys") {
			list = append(list, pair{key, i})
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		if By(list, byKey); !slices.Equal(list, want) {
			r.Fatalf("%v instead of %v", list, want)
		}
	})
}
