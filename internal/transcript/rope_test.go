package transcript

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A rope is a slice, and a changed one leaves the earlier ones alone.
func TestRopeIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			r    rope[int]
			want []int
		}
		all := []version{{}}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			v := all[rapid.IntRange(0, len(all)-1).Draw(t, "of")]
			r, want := v.r, slices.Clone(v.want)
			if from := rapid.IntRange(0, len(want)).Draw(t, "from"); step%3 == 2 {
				r = r.mapFrom(from, func(x int) int { return -x - step })
				for i := from; i < len(want); i++ {
					want[i] = -want[i] - step
				}
			} else {
				for i := range rapid.IntRange(0, 3*chunk).Draw(t, "push") {
					r, want = r.push(1000*step+i), append(want, 1000*step+i)
				}
			}
			all = append(all, version{r, want})
		}
		for _, v := range all {
			if got := v.r.appendTo(nil); !slices.Equal(got, v.want) || v.r.len() != len(v.want) {
				t.Fatalf("got %v, want %v", got, v.want)
			}
			for i, x := range v.want {
				if v.r.at(i) != x {
					t.Fatalf("at(%d) is %d, not %d", i, v.r.at(i), x)
				}
			}
		}
	})
}
