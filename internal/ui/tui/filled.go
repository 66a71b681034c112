package tui

import (
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/term"
)

// fills reports whether adze has the whole screen to itself, with scrolling of
// its own. What was said goes to the terminal's scrollback when it ends.
func (m *Model) fills() bool { return m.s != nil && m.s.UI.Fullscreen && !m.screen.plain }

// filled is the whole screen: the conversation, and below it what a person
// acts on.
func (m *Model) filled() ([]draw.Line, term.Cursor) {
	rows := m.screen.size.Rows
	bottom, cur := m.bottom(rows)
	p := m.paper()
	g := m.scroll
	g.height = max(rows-len(bottom)-1, 1)
	out := g.page(m.leaf())
	if h := m.header(); g.top == (place{}) && len(out)+len(h) < g.height {
		out = append(append(h, nil), out...)
	}
	for len(out) < g.height {
		out = append(out, nil)
	}
	below := draw.Line{}
	if !g.follow {
		below = draw.L(draw.S("  "+p.Sign(draw.MoreDown)+" more below (PgDn)", draw.Attention))
	}
	out = append(out, below.Truncate(m.screen.size.Cols, p.O))
	cur.Row += len(out)
	return append(out, bottom...), cur
}

// scrolls takes a key that moves through the conversation.
func (m *Model) scrolls(k keymap.Key) bool {
	g := m.scroll
	if m.visit != nil {
		g = m.visit.page
	} else if !m.fills() {
		return false
	}
	if m.list != nil || k.Mod != 0 {
		return false
	}
	page := max(g.height-2, 1)
	switch k.Name {
	case "pgup":
		g.move(m.leaf(), -page)
	case "pgdown":
		g.move(m.leaf(), page)
	default:
		return false
	}
	return true
}
