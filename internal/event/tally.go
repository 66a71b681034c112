package event

import (
	"maps"
	"slices"

	"github.com/adze-agent/adze/internal/view"
)

// Count adds a call that has ended. One that was refused did nothing.
func (t *Tally) Count(f ToolFinished) {
	if f.Denied {
		return
	}
	t.Calls++
	by := maps.Clone(t.ByTool)
	if by == nil {
		by = map[string]int{}
	}
	by[f.Name]++
	t.ByTool = by
	if d, ok := f.View.(view.Diff); ok {
		t.Added, t.Removed = t.Added+d.Added, t.Removed+d.Removed
	}
}

// Add is what two agents have done together. The models of the first stand first.
func (t Tally) Add(u Tally) Tally {
	t.Requests, t.Calls = t.Requests+u.Requests, t.Calls+u.Calls
	t.Added, t.Removed = t.Added+u.Added, t.Removed+u.Removed
	t.Usage, t.Cost = t.Usage.Add(u.Usage), t.Cost+u.Cost
	by := maps.Clone(t.ByTool)
	for name, n := range u.ByTool {
		if by == nil {
			by = map[string]int{}
		}
		by[name] += n
	}
	t.ByTool = by
	for _, m := range u.Models {
		if !slices.Contains(t.Models, m) {
			t.Models = append(slices.Clip(t.Models), m)
		}
	}
	return t
}
