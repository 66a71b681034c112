package file

import (
	"strings"

	"github.com/adze-agent/adze/internal/text/diff"
	"github.com/adze-agent/adze/internal/view"
)

// diff is the change for people.
func (d draft) diff(name string) view.Block {
	return diff.Shown(name, d.old.lf, d.new.lf, d.was == nil)
}

// changedLines returns the ranges of lines of b, from 1 and inclusive, that
// differ from a. A deletion is the line that now stands there.
func changedLines(a, b string) [][2]int {
	var out [][2]int
	shift, line, at := 0, 1, 0 // line of b at offset at
	for _, e := range diff.Edits(a, b) {
		start := e.Start + shift
		line += strings.Count(b[at:start], "\n")
		at = start
		n := strings.Count(strings.TrimSuffix(e.New, "\n"), "\n")
		out = append(out, [2]int{line, line + n})
		shift += len(e.New) - (e.End - e.Start)
	}
	return out
}
