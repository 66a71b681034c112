// Package near finds the names that somebody probably meant. It knows nothing
// of what the names are for.
package near

import (
	"strings"

	"github.com/adze-agent/adze/internal/text/order"
)

// Words returns at most three of names that are close to word, nearest first:
// those that differ by a third of their letters or fewer, or that one is the
// beginning of. Case, "-" and "_" do not count.
func Words(word string, names []string) []string {
	type hit struct {
		name string
		d    int
	}
	w := folded(word)
	if w == "" {
		return nil
	}
	var hits []hit
	for _, n := range names {
		p := folded(n)
		d := Distance(w, p)
		switch {
		case d <= max(len(w), len(p))/3:
		case len(w) >= 3 && (strings.HasPrefix(p, w) || strings.HasPrefix(w, p) && len(p) >= 3):
			d = len(p)
		default:
			continue
		}
		hits = append(hits, hit{n, d})
	}
	order.By(hits, func(a, b hit) int { return a.d - b.d })
	var out []string
	for _, h := range hits[:min(3, len(hits))] {
		out = append(out, h.name)
	}
	return out
}

// Hint is " (did you mean a or b?)", or nothing when no name is close.
func Hint(word string, names []string) string {
	ws := Words(word, names)
	if len(ws) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(ws, " or ") + "?)"
}

func folded(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
}

// maxCompared is how many bytes of a name are compared; names are shorter.
const maxCompared = 200

// Distance is the least number of letters to add, drop, change or swap with
// their neighbour that turn a into b (optimal string alignment). Of two of
// which one has more than 200 bytes it is the length of the longer one.
func Distance(a, b string) int {
	if n := max(len(a), len(b)); n > maxCompared {
		return n
	}
	x, y := []rune(a), []rune(b)
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}
