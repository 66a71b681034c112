package tui

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// recent is how many items of an earlier run are put on the screen again.
const recent = 60

// flush returns the lines that are settled and were not printed before.
func (m *Model) flush() []draw.Line {
	var out []draw.Line
	m.placed = nil
	p := m.paper()
	if m.s == nil && p.Plain {
		return m.story.Next(p.Paper) // there is no other place for it
	}
	if m.s == nil || m.past {
		return nil
	}
	if !m.headed {
		m.headed = true
		head := append(m.header(), nil)
		if draw.TextOf(head) == m.head {
			head = nil
		}
		out = append(out, head...)
		skip := max(len(m.story.Items)-recent, 0)
		what := fmt.Sprintf("%d earlier items", skip)
		if m.shownAfter > 0 { // how many there are is not known yet
			what = "earlier items"
		}
		if skip > 0 || m.shownAfter > 0 {
			m.story.Printed = skip
			how := p.O.Hint
			if p.Plain {
				how += " all"
			}
			out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %s (%s shows all)", p.Sign(draw.Ellipsis), what, how), draw.Quiet)).Truncate(p.Cols(), p.O), nil)
		}
		if len(out) > 0 {
			m.head = draw.TextOf(out)
		}
	}
	st := m.story
	for st.Printed < len(st.Items) {
		it := st.Items[st.Printed]
		if !st.Ready(st.Printed) {
			if it.Kind == story.Spoke {
				out = append(out, m.settled(it, p)...)
			}
			break
		}
		m.head = ""
		out = append(out, m.whole(it, p, m.spoken.typed)...)
		for _, f := range it.Figures {
			m.placed = append(m.placed, placing{len(out), f})
			out = append(out, f.Lines...)
		}
		st.Printed++
		m.last = it
	}
	return out
}

func clampLow(n int) int { return max(n, 0) }

// header is the first line of a session.
func (m *Model) header() []draw.Line {
	p := m.paper()
	dot := " " + p.Sign(draw.Middot) + " "
	left := draw.L(draw.Span{Text: "adze", Style: draw.Style{Role: draw.Accent, Attr: draw.Bold}}, draw.S(" "+m.host.Version, draw.Quiet))
	where := m.host.Dir
	if m.s != nil {
		if name := shortModel(m.st.Model); name != "" {
			left = append(left, draw.S(dot+name, draw.Quiet))
		}
		where = m.s.where()
		if m.s.Branch != "" {
			where += " on " + m.s.Branch
		}
	}
	left = append(left, draw.S(dot+where, draw.Quiet))
	if p.Plain && m.mode() != policy.Default { // no footer says it
		left = append(left, draw.S(dot+modeName(m.mode()), modeRole(m.mode(), draw.Quiet)))
	}
	help := "/help for keys"
	if p.Plain {
		help = "/help says what can be typed"
	}
	lines := []draw.Line{draw.Beside(left, draw.L(draw.S(help, draw.Quiet)), p.Cols(), p.O)}
	if m.st.Title != "" {
		lines = append(lines, draw.L(draw.S("  "+m.st.Title, draw.Plain)).Truncate(p.Cols(), p.O))
	}
	return lines
}

// shortModel is a model's name without its provider.
func shortModel(id string) string {
	if i := strings.LastIndexByte(id, '/'); i >= 0 && i+1 < len(id) {
		id = id[i+1:]
	}
	return clip.Line(draw.String(id), 40)
}

// frame is the screen as it is now: what to print for good, the live area,
// and the cursor.
func (m *Model) frame() (printed, live []draw.Line, cur term.Cursor) {
	if m.screen.plain {
		printed, live = m.plainFrame()
		return m.wrapped(printed, m.screen.size.Cols), live, term.Cursor{Hidden: true}
	}
	printed = m.flush()
	if m.pager != nil {
		live, cur = m.pager.frame(m.leaf(), m.shownAfter)
	} else if m.visit != nil {
		live, cur = m.visited()
	} else if m.fills() {
		live, cur = m.filled()
	} else {
		live, cur = m.inline()
	}
	z := m.screen.size
	if over := len(live) - z.Rows; over > 0 { // what is acted on is at the end
		live, cur.Row = live[over:], clampLow(cur.Row-over)
	}
	cur.Col = min(cur.Col, z.Cols-1)
	return m.wrapped(printed, z.Cols), narrowed(live, z.Cols), cur
}

func wrap(lines []draw.Line, cols int) (out []draw.Line) {
	for _, l := range lines {
		text := l.String()
		in := len(text) - len(strings.TrimLeft(text, " "))
		out = append(out, l.Wrap(cols, draw.S(text[:in], draw.Plain))...)
	}
	return out
}

// narrowed cuts what does not fit even so: on screens of a few columns.
func narrowed(lines []draw.Line, cols int) []draw.Line {
	for i, l := range lines {
		if l.Width() > cols {
			lines[i] = l.Cut(cols)
		}
	}
	return lines
}

// inline is the live area below the scrollback.
func (m *Model) inline() (live []draw.Line, cur term.Cursor) {
	rows := m.screen.size.Rows
	bottom, cur := m.bottom(rows)
	room := rows - len(bottom) - 1 // a row above stays with what was printed
	var top []draw.Line
	if m.s == nil {
		top = append(m.header(), nil)
	}
	top = append(top, m.pending(m.paper(), room-len(top)-1)...)
	if len(top) > 2 || len(top) > 0 && m.s != nil {
		top = append(top, nil)
	} else if m.s != nil && m.last != nil {
		top = []draw.Line{nil}
	}
	top = top[:min(len(top), clampLow(rows-len(bottom)))]
	cur.Row += len(top)
	return append(top, bottom...), cur
}

// leastDialog is how many rows a dialog has at least before anything stands
// below it.
const leastDialog = 10

// bottom is what a person acts on: the spinner, the queue, and a dialog or the
// prompt box with its footer.
func (m *Model) bottom(rows int) ([]draw.Line, term.Cursor) {
	var out []draw.Line
	p := m.paper()
	if len(m.shown) > 0 {
		said := m.flashed(m.screen.size.Rows, p)
		if rows-len(said) < leastDialog {
			said = nil
		}
		typed := (m.holds() || m.drafts()) && !p.Plain && rows-len(said) > leastDialog
		if typed {
			rows--
		}
		lines, cur := m.first().View(m.around(), clampLow(rows-1-len(said)))
		if typed {
			l, at := m.stillTyped(p)
			if m.holds() { // keys go there
				cur, cur.Row = at, len(lines)
			}
			lines = append(lines, l)
		}
		return append(lines, said...), cur
	}
	if m.visit != nil {
		out = append(out, m.visitNow(p))
	} else {
		if l := m.spinner(p); l != nil {
			out = append(out, l)
		}
		out = append(out, m.agents(p, max(rows/4, 1))...)
		out = append(out, m.todos(p, rows/3)...)
	}
	out = append(out, m.waiting(p, clampLow(rows/4), m.awaited())...)
	box, cur := m.typing(p, min(max(rows/3, 1), 12))
	cur.Row += len(out)
	out = append(out, box...)
	if m.list != nil {
		out = append(out, m.list.View(p, clampLow(min(rows/2, rows-len(out)-1)))...)
	} else {
		out = append(out, m.footer(p)...)
	}
	return out, cur
}
