package tui

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// diffCommand shows what is different on disk now from before the session, of all
// files or of those whose paths have args in them.
func (m *Model) diffCommand(args string) []effect {
	if m.s == nil || m.st.Seq == 0 {
		m.say("the session changed no file yet", draw.Quiet)
		return nil
	}
	s := m.s
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, s, ask.Diff{})
		blocks := r.Shapes
		return func(m *Model) []effect {
			if err != nil || m.s != s {
				return m.fail(err)
			}
			all := len(blocks)
			blocks = slices.DeleteFunc(blocks, func(b view.Block) bool {
				d, ok := b.(view.Diff)
				return ok && !strings.Contains(d.Path, args)
			})
			if len(blocks) == 0 && all > 0 {
				m.say("the session changed no file with "+draw.String(args)+" in its path, of "+story.Plural(all, "file"), draw.Quiet)
				return nil
			}
			m.showDiffs(blocks)
			return nil
		}
	}}}
}

func (m *Model) showDiffs(blocks []view.Block) {
	var diffs []view.Diff
	var sum view.Diff
	for _, b := range blocks {
		if d, ok := b.(view.Diff); ok {
			diffs = append(diffs, d)
			sum.Added, sum.Removed = sum.Added+d.Added, sum.Removed+d.Removed
		}
	}
	if len(diffs) == 0 {
		m.say("no file is different from what it was before this session", draw.Quiet)
		return
	}
	p := m.paper()
	heading := append(draw.L(draw.S(story.Plural(len(diffs), "file")+" changed ", draw.Plain)), p.PlusMinus(sum.Added, sum.Removed)...)
	m.open(&dialog.Sheet{Heading: heading.String(), Lines: func(p dialog.Paper, width int) (out []draw.Line) {
		p.Whole, p.O.Width = true, width
		for i, d := range diffs {
			if i > 0 {
				out = append(out, nil)
			}
			out = append(out, p.Change(d)...)
		}
		return out
	}})
}
