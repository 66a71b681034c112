package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/story"
)

// mostRows bounds the rows of a table of what was used.
const mostRows = 20

// cost is what was used so far, as Markdown.
func (v *conversation) cost() string {
	var b strings.Builder
	t := v.st.Total
	fmt.Fprintf(&b, "**%s**", t.Money())
	if t.Unpriced > 0 {
		fmt.Fprintf(&b, ", and %s without a known price", story.Plural(t.Unpriced, "request"))
	}
	if rate, ok := t.HitRate(); ok {
		fmt.Fprintf(&b, ". %.0f %% of what was sent came from the provider's cache", 100*rate)
	}
	if t.Took > 0 {
		fmt.Fprintf(&b, ". Replies took %s", story.Span(t.Took))
	}
	if t.Retries > 0 {
		fmt.Fprintf(&b, ". %s had to be sent again", story.Plural(t.Retries, "request"))
	}
	b.WriteString(".\n\n| model | requests | in | out | cached | written | first | cost |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, name := range slices.Sorted(maps.Keys(v.st.ByModel)) {
		s := v.st.ByModel[name]
		b.WriteString("| " + cellOf(name) + story.SpentCells(s) + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(v.st.Helpers)) {
		b.WriteString("| of it for: " + cellOf(name) + story.SpentCells(v.st.Helpers[name]) + "\n")
	}
	v.toolTimes(&b)
	return b.String()
}

// dear asks whether to go on with a turn that became dear, which waits for the
// answer.
func (m *Model) dear(b event.Asked) dialog.Dialog {
	d := newMenu(m, "Go on?", []Choice{{ID: "on", Name: "Go on"}, {ID: "stop", Name: "Stop here", About: "what is done stays"}}, func(m *Model, c Choice) []effect {
		if c.ID == "stop" {
			return m.interrupt()
		}
		return []effect{submit{op: op.Answer{Call: b.Call, By: clientName, Allow: true}, then: func(m *Model, err error) []effect {
			if err != nil && m.st.Pending[b.Call].Call != "" { // it still waits
				return append(m.fail(err), m.ask(b)...)
			}
			return nil
		}}}
	})
	d.About = story.FirstLine(b.Title) + "."
	d.dropped = (*Model).interrupt
	d.Fixed, d.Careful, d.Rank, d.Hint, d.Call = true, true, dialog.RankCost, "Enter takes it, Esc stops", b.Call
	return d
}

// toolTimes lists the tools that took longest.
func (v *conversation) toolTimes(b *strings.Builder) {
	if len(v.st.ByTool) == 0 {
		return
	}
	names := slices.Collect(maps.Keys(v.st.ByTool))
	order.By(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(v.st.ByTool[y].Took, v.st.ByTool[x].Took), cmp.Compare(x, y))
	})
	b.WriteString("\n| tool | calls | failed | refused | time |\n|---|---:|---:|---:|---:|\n")
	for _, name := range names[:min(len(names), mostRows)] {
		w := v.st.ByTool[name]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %s |\n", cellOf(name), w.Calls, w.Errors, w.Denied, story.Span(w.Took))
	}
}

// cellOf is a name as a cell of a table in Markdown.
func cellOf(name string) string {
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(clip.Line(clip.Visible(name), 60))
}
