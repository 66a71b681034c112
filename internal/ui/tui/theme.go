package tui

import (
	"cmp"
	"slices"

	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// themeCommand chooses the colours; while a person looks for them, all is
// drawn in those that are marked.
func (m *Model) themeCommand(args string) []effect {
	if m.screen.plain {
		m.say("there are no colours in plain mode", draw.Quiet)
		return nil
	}
	was := m.screen.chosen
	set := func(m *Model, name string) []effect {
		m.screen.chosen = name
		return append(m.setTheme(name), m.save("ui.theme", name)...)
	}
	if args != "" {
		if args != "auto" && !slices.Contains(m.host.Themes(), args) {
			m.say("there is no theme "+draw.String(args), draw.Attention)
			return nil
		}
		return set(m, args)
	}
	var all []Choice
	for _, n := range append([]string{"auto"}, m.host.Themes()...) {
		all = append(all, Choice{ID: n, Name: n, Now: n == cmp.Or(was, "auto")})
	}
	d := newMenu(m, "Theme", all, func(m *Model, c Choice) []effect { return set(m, c.ID) })
	d.marked = func(m *Model, c Choice) []effect { return m.setTheme(c.ID) }
	d.dropped = func(m *Model) []effect { return m.setTheme(was) }
	d.Hint, d.Sample = "Enter keeps it", sampled
	m.open(d)
	return nil
}

// sampled is a change of some code and a few words, to judge colours by.
func sampled(p dialog.Paper, width int) []draw.Line {
	o := p.Inner(0, 0, false)
	o.Width, o.Hint = width, ""
	lines := draw.Block(view.Diff{Path: "sum.go", Unified: sampleDiff}, o)
	gap := draw.S("  ", draw.Plain)
	words := draw.L(
		draw.S("it works", draw.OK), gap, draw.S("look here", draw.Attention), gap, draw.S("it failed", draw.Wrong), gap, draw.S("a link", draw.Link), gap, draw.S("by the way", draw.Quiet),
	)
	return append(lines, words.Truncate(width, p.O))
}

const sampleDiff = `@@ -7,4 +7,4 @@
 // Sum returns the sum of nums, 0 for none.
-	for i := 1; i < len(nums); i++ {
+	for i := range nums {
 		fmt.Printf("%d\n", nums[i])
`
