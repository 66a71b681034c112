// Package diff compares two texts line by line, for people. It reads nothing and
// decides nothing.
package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// maxShown bounds the diff shown to people, in bytes.
const maxShown = 256 << 10

// Edits compares two texts line by line. What they share at both ends is
// set aside first: a small change of a large file is the common case.
func Edits(a, b string) []udiff.Edit {
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

// Shown is the change from one text to another: hunks with three lines of
// context, of at most 256 KiB. What a terminal would act on, or would
// not show, stands as escapes.
func Shown(path, from, to string, created bool) view.Diff {
	out := view.Diff{Path: path, Created: created}
	u, err := udiff.ToUnifiedDiff("a", "b", from, Edits(from, to), 3)
	if err != nil {
		return out // edits of our own text always apply
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
	s, cut := clip.Head(clip.VisibleText(s), maxShown)
	if cut {
		s += "\\ the rest of this diff is not shown\n"
	}
	out.Unified = s
	return out
}

// A Hunk is a part of a change with three unchanged lines around it. Lines begin with
// "+", "-" or a blank; numbers of lines count from 1.
type Hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// Hunks are all parts of a change.
func Hunks(from, to string) []Hunk {
	out := []Hunk{}
	u, err := udiff.ToUnifiedDiff("a", "b", from, Edits(from, to), 3)
	if err != nil {
		return out // edits of our own text always apply
	}
	for _, h := range u.Hunks {
		x := Hunk{OldStart: h.FromLine, NewStart: h.ToLine, Lines: make([]string, 0, len(h.Lines))}
		for _, l := range h.Lines {
			sign := " "
			switch l.Kind {
			case udiff.Insert:
				sign, x.NewLines = "+", x.NewLines+1
			case udiff.Delete:
				sign, x.OldLines = "-", x.OldLines+1
			case udiff.Equal:
				x.OldLines, x.NewLines = x.OldLines+1, x.NewLines+1
			}
			x.Lines = append(x.Lines, sign+strings.TrimSuffix(l.Content, "\n"))
		}
		out = append(out, x)
	}
	return out
}
