package file

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// maxDiff bounds the diff shown to people, in bytes.
const maxDiff = 256 << 10

// lineEdits compares two texts line by line. What they share at both ends is
// set aside first: a small change of a large file is the common case.
func lineEdits(a, b string) []udiff.Edit {
	n := min(len(a), len(b))
	from := 0
	for from < n && a[from] == b[from] {
		from++
	}
	from = strings.LastIndexByte(a[:from], '\n') + 1
	end := 0
	for end < n-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	// The shared end must start where a line starts in both.
	for end > 0 && !(lineStart(a, len(a)-end) && lineStart(b, len(b)-end)) {
		end--
	}
	edits := udiff.Lines(a[from:len(a)-end], b[from:len(b)-end])
	for i := range edits {
		edits[i].Start += from
		edits[i].End += from
	}
	return edits
}

func lineStart(s string, i int) bool { return i == 0 || s[i-1] == '\n' }

// diff is the change for people: hunks with three lines of context.
func (d draft) diff(name string) view.Block {
	out := view.Diff{Path: name, Created: d.was == nil}
	u, err := udiff.ToUnifiedDiff("a", "b", d.old.lf, lineEdits(d.old.lf, d.new.lf), 3)
	if err != nil {
		out.Unified = "" // edits of our own text always apply
		return out
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				out.Added++
			case udiff.Delete:
				out.Removed++
			case udiff.Equal:
			}
		}
	}
	s := u.String()
	if i := strings.Index(s, "@@ "); i >= 0 {
		s = s[i:]
	}
	s, cut := clip.Head(visible(s), maxDiff)
	if cut {
		s += "\\ the rest of this diff is not shown\n"
	}
	out.Unified = s
	return out
}

// changedLines returns the ranges of lines of b, from 1 and inclusive, that
// differ from a. A deletion is the line that now stands there.
func changedLines(a, b string) [][2]int {
	var out [][2]int
	shift, line, at := 0, 1, 0 // line of b at offset at
	for _, e := range lineEdits(a, b) {
		start := e.Start + shift
		line += strings.Count(b[at:start], "\n")
		at = start
		n := strings.Count(strings.TrimSuffix(e.New, "\n"), "\n")
		out = append(out, [2]int{line, line + n})
		shift += len(e.New) - (e.End - e.Start)
	}
	return out
}
