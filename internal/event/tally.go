package event

import (
	"maps"

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
