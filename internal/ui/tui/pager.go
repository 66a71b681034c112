package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A pager shows the whole conversation in full screen, unfolded. Only what is
// seen is drawn: top is an item and a line of it, and items are drawn from
// there on.
type pager struct {
	top    place
	follow bool // stay at the end while more comes
	search *edit.Editor
	query  string
	wrong  string
	cache  map[*story.Item][]draw.Line
	grows  map[*story.Item]*growth // replies that stream
	short  bool                    // fold as in the scrollback
	hit    place                   // that was found last
	height int                     // rows for the conversation
}

// A place is a line of an item.
type place struct{ item, line int }

// A leaf is a conversation, and what it is drawn on.
type leaf struct {
	*story.Story
	dialog.Paper
}

// leaf is the conversation that is seen: of the session, or of the agent that is visited.
func (m *Model) leaf() leaf {
	if m.visit != nil {
		return leaf{m.visit.story, m.paper()}
	}
	return leaf{m.story, m.paper()}
}

func (m *Model) openPager() []effect {
	m.pager = newPager(false, m.screen.size.Rows-1)
	return []effect{full{true}}
}

func newPager(short bool, rows int) *pager {
	return &pager{follow: true, short: short, height: max(rows, 1), hit: place{-1, 0}, cache: map[*story.Item][]draw.Line{}, grows: map[*story.Item]*growth{}}
}

func (g *pager) resized() {
	clear(g.cache)
	clear(g.grows)
}

// A growth is a reply that streams, as far as it was drawn: of what it says
// next, only the last block is drawn anew.
type growth struct {
	stream  *draw.Stream
	n       int // bytes of the text that the stream has
	settled []draw.Line
	out     []draw.Line
}

// growing draws a reply that streams.
func (g *pager) growing(p dialog.Paper, it *story.Item) []draw.Line {
	x := g.grows[it]
	if x == nil || x.n > len(it.Text) { // it is new, or was taken back
		x = &growth{stream: draw.NewStream(p.Inner(2, 0, false))}
		g.grows[it] = x
	}
	if x.n < len(it.Text) || x.out == nil {
		x.stream.Write(it.Text[x.n:])
		x.n = len(it.Text)
		x.settled = append(x.settled, x.stream.Take()...)
		x.out = story.Hang(append(slices.Clip(x.settled), x.stream.Tail(0)...), p.Mark(draw.Bullet, draw.Accent))
	}
	return x.out
}

// lines draws item i; what is done is kept.
func (g *pager) lines(l leaf, i int) []draw.Line {
	it := l.Items[i]
	if l, ok := g.cache[it]; ok {
		return l
	}
	p := l.Paper
	p.Whole = !g.short
	p.O.Hint = ""
	var out []draw.Line
	if it.Kind == story.Spoke && !it.Done && it.Back == 0 {
		out = g.growing(p, it)
	} else {
		delete(g.grows, it)
		out = p.Item(it)
	}
	if it.Back == 0 {
		for _, f := range it.Figures {
			out = append(out, f.Lines...)
		}
	}
	var before *story.Item
	if i > 0 {
		before = l.Items[i-1]
	}
	if len(out) > 0 && (story.Apart(before, it) || p.Whole && before != nil && before.Kind == story.Called && it.Kind == story.Called) {
		out = append([]draw.Line{nil}, out...)
	}
	if l.Ready(i) {
		if len(g.cache) > 500 {
			clear(g.cache)
		}
		g.cache[it] = out
	}
	return out
}

// back is the place n lines before at, or the first.
func (g *pager) back(l leaf, at place, n int) place {
	for n > at.line {
		if at.item == 0 {
			return place{}
		}
		n -= at.line
		at.item--
		at.line = len(g.lines(l, at.item))
	}
	at.line -= n
	return at
}

// forth is the place n lines after at, no further than the end.
func (g *pager) forth(l leaf, at place, n int) place {
	for at.item < len(l.Items) {
		have := len(g.lines(l, at.item)) - at.line
		if n < have {
			at.line += n
			return at
		}
		n -= have
		at = place{at.item + 1, 0}
	}
	return at
}

func (g *pager) end(l leaf) place {
	return g.back(l, place{len(l.Items), 0}, g.height)
}

// move goes n lines down, or up.
func (g *pager) move(l leaf, n int) {
	if n < 0 {
		g.follow = false
		g.top = g.back(l, g.top, -n)
		return
	}
	g.top = g.forth(l, g.top, n)
	if end := g.end(l); !g.top.before(end) {
		g.top, g.follow = end, true
	}
}

func (p place) before(o place) bool { return p.item < o.item || p.item == o.item && p.line < o.line }

// page are the lines that are seen.
func (g *pager) page(l leaf) []draw.Line {
	rows := g.height
	if g.follow {
		g.top = g.end(l)
	}
	var out []draw.Line
	at := g.top
	for at.item < len(l.Items) && len(out) < rows {
		lines := g.lines(l, at.item)
		for _, l := range lines[min(at.line, len(lines)):] {
			if len(out) < rows {
				out = append(out, g.shown(l))
			}
		}
		at = place{at.item + 1, 0}
	}
	return out
}

func (g *pager) frame(l leaf, after event.Seq) ([]draw.Line, term.Cursor) {
	rows := g.height
	out := g.page(l)
	for len(out) < rows {
		out = append(out, nil)
	}
	p, cols := l.Paper, l.O.Width
	if g.search != nil {
		l, col := p.FieldLine(draw.L(draw.S("/", draw.Accent)), g.search, cols)
		return append(out, l), term.Cursor{Row: rows, Col: min(col, cols-1)}
	}
	left := draw.L(draw.S(" whole conversation", draw.Accent))
	if n := after; n > 0 {
		left = draw.L(draw.S(fmt.Sprintf(" without its first %d events (adze export has all)", n), draw.Accent))
	}
	if g.wrong != "" {
		left = draw.L(draw.S(" "+g.wrong, draw.Attention))
	}
	where := "end"
	if !g.follow && len(l.Items) > 0 {
		where = fmt.Sprintf("%d %%", g.top.item*100/len(l.Items))
	}
	dot := " " + p.Sign(draw.Middot) + " "
	right := draw.L(draw.S("/ searches"+dot+"v opens in the editor"+dot+"q closes"+dot+where+" ", draw.Quiet))
	return append(out, draw.Beside(left, right, cols, p.O)), term.Cursor{Hidden: true}
}

// shown marks what was searched for.
func (g *pager) shown(l draw.Line) draw.Line {
	if g.query == "" {
		return l
	}
	text := strings.ToLower(l.String())
	q := strings.ToLower(g.query)
	if len(text) != len(l.String()) || !strings.Contains(text, q) {
		return l
	}
	var out draw.Line
	at := 0 // of the line's text
	hits := map[int]bool{}
	for i := 0; ; {
		j := strings.Index(text[i:], q)
		if j < 0 {
			break
		}
		for k := range len(q) {
			hits[i+j+k] = true
		}
		i += j + len(q)
	}
	for _, s := range l {
		from := 0
		for i := 1; i <= len(s.Text); i++ {
			if i < len(s.Text) && hits[at+i] == hits[at+from] {
				continue
			}
			part := s
			part.Text = s.Text[from:i]
			if hits[at+from] {
				part.Role, part.On = draw.Match, draw.Match
			}
			out = append(out, part)
			from = i
		}
		at += len(s.Text)
	}
	return out
}

// find goes to the next line that holds the query, or the one before.
func (g *pager) find(l leaf, step int) {
	if g.wrong = ""; g.query == "" {
		return
	}
	q := strings.ToLower(g.query)
	has := func(l draw.Line) bool { return strings.Contains(strings.ToLower(l.String()), q) }
	at := g.top
	if g.near(l) {
		at = g.hit
	}
	for n := 0; n < 2; n++ {
		for i := at.item; i >= 0 && i < len(l.Items); i += step {
			lines := g.lines(l, i)
			from := 0
			if step < 0 {
				from = len(lines) - 1
			}
			if i == at.item && n == 0 {
				from = at.line + step
			}
			for j := from; j >= 0 && j < len(lines); j += step {
				if has(lines[j]) {
					g.top, g.follow, g.hit = place{i, j}, false, place{i, j}
					if end := g.end(l); end.before(g.top) {
						g.top = end // the page stays full
					}
					return
				}
			}
		}
		at = place{} // once around
		if step < 0 {
			at = place{len(l.Items) - 1, 0}
		}
	}
	g.wrong = "not found: " + draw.String(g.query)
}

// near reports whether what was found last is on the page, so that a search
// goes on from there.
func (g *pager) near(l leaf) bool {
	return !g.hit.before(g.top) && g.hit.before(g.forth(l, g.top, g.height))
}

func (g *pager) act(m *Model, a keymap.Action) ([]effect, bool) {
	if g.search != nil {
		switch a {
		case keymap.Interrupt:
			g.search = nil
			return nil, true
		}
		if k := m.pressed; k.Types() || k.Name == "enter" || k.Name == "esc" {
			return nil, false
		}
		g.search.Key(m.pressed)
		return nil, true
	}
	rows, l := g.height, m.leaf()
	switch a {
	case keymap.TranscriptExit, keymap.Interrupt:
		m.pager = nil
		return []effect{full{m.fills() || m.visit != nil}}, true
	case keymap.TranscriptSearch:
		g.search = dialog.Field(m.keys, "")
	case keymap.TranscriptNext:
		g.find(l, 1)
	case keymap.TranscriptPrev:
		g.find(l, -1)
	case keymap.TranscriptTop:
		g.top, g.follow = place{}, false
	case keymap.TranscriptBottom:
		g.follow = true
	case keymap.TranscriptDown:
		g.move(l, 1)
	case keymap.TranscriptUp:
		g.move(l, -1)
	case keymap.TranscriptPageDown:
		g.move(l, max(rows-2, 1))
	case keymap.TranscriptPageUp:
		g.move(l, -max(rows-2, 1))
	case keymap.TranscriptShowAll:
		g.short = !g.short
		g.resized()
	case keymap.TranscriptEditor:
		return g.editor(m), true
	case keymap.Redraw, keymap.Suspend, keymap.Exit:
		return m.anyAct(a)
	default:
		return nil, false
	}
	return nil, true
}

func (g *pager) typed(m *Model, k keymap.Key) []effect {
	if g.search == nil {
		return nil
	}
	switch k.Name {
	case "enter":
		g.query, g.search, g.hit = g.search.Text(), nil, place{-1, 0}
		g.find(m.leaf(), 1)
	case "esc":
		g.search = nil
	default:
		g.search.Key(k)
	}
	return nil
}

// editor opens the conversation in the person's editor.
func (g *pager) editor(m *Model) []effect {
	if m.host.Edit == nil {
		return nil
	}
	var b strings.Builder
	l := m.leaf()
	for i := range l.Items {
		b.WriteString(draw.TextOf(g.lines(l, i)))
	}
	text := b.String()
	return []effect{away{func(ctx context.Context) func(*Model) []effect {
		_, err := m.host.Edit(ctx, text)
		return func(m *Model) []effect {
			if err != nil {
				m.say(err.Error(), draw.Wrong)
			}
			return nil
		}
	}}}
}
