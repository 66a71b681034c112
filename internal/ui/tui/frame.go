package tui

import (
	"fmt"
	"github.com/adze-agent/adze/internal/ui/story"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// history is how many items of an earlier run are put on the screen again.
const recent = 60

// flush returns the lines that are settled and were not printed before.
func (m *Model) flush() []draw.Line {
	var out []draw.Line
	m.placed = nil
	if m.s == nil || m.screen.past {
		return nil
	}
	p := m.paper()
	if !m.screen.headed {
		m.screen.headed = true
		out = append(out, m.header()...)
		skip := max(len(m.story.Items)-recent, 0)
		what := fmt.Sprintf("%d earlier items", skip)
		if m.shownAfter > 0 { // how many there are is not known yet
			what = "earlier items"
		}
		if skip > 0 || m.shownAfter > 0 {
			m.story.Printed = skip
			out = append(out, nil, draw.L(draw.S(fmt.Sprintf("  %s %s (%s shows all)", p.Sign(draw.Ellipsis), what, p.O.Hint), draw.Quiet)).Truncate(p.Cols(), p.O))
		}
		out = append(out, nil)
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
		out = append(out, m.whole(it, p)...)
		for _, f := range it.Figures {
			m.placed = append(m.placed, placing{len(out), f})
			out = append(out, f.Lines...)
		}
		st.Printed++
		m.screen.last = it
	}
	return out
}

// whole is an item that is done, or what of it was not printed while it
// streamed.
func (m *Model) whole(it *story.Item, p paper) []draw.Line {
	var out []draw.Line
	switch {
	case it.Begun && it.Stream == nil: // it was printed, and stands behind what was told late
	case it.Begun:
		out = draw.Indent(it.Stream.Finish(), draw.S("  ", draw.Plain))
	default:
		out = p.Item(it)
		if len(out) > 0 && story.Apart(m.screen.last, it) {
			out = append([]draw.Line{nil}, out...)
		}
	}
	it.Stream = nil
	return out
}

// settled is what of a streaming item cannot change any more.
func (m *Model) settled(it *story.Item, p paper) []draw.Line {
	if it.Stream == nil {
		it.Stream = draw.NewStream(p.Inner(2, 0, false))
		it.Stream.Write(it.Text)
	}
	lines := it.Stream.Take()
	if len(lines) == 0 {
		return nil
	}
	if it.Begun {
		return draw.Indent(lines, draw.S("  ", draw.Plain))
	}
	it.Begun = true
	lines = story.Hang(lines, p.Mark(draw.Bullet, draw.Accent))
	if story.Apart(m.screen.last, it) {
		lines = append([]draw.Line{nil}, lines...)
	}
	m.screen.last = it
	return lines
}

// pending draws what happens now and cannot be printed yet, in at most max
// lines.
func (m *Model) pending(max int) []draw.Line {
	if max <= 0 || m.screen.past {
		return nil
	}
	p := m.paper()
	var out []draw.Line
	before := m.screen.last
	for _, it := range m.story.Items[m.story.Printed:] {
		var lines []draw.Line
		switch {
		case it.Stream != nil && it.Begun:
			out = append(out, draw.Indent(it.Stream.Tail(max), draw.S("  ", draw.Plain))...)
			before = it
			continue
		case it.Stream != nil:
			lines = story.Hang(it.Stream.Tail(max), p.Mark(draw.Bullet, draw.Accent))
		case it.Kind == story.Thought && !it.Done && !p.Thinking:
			lines = []draw.Line{{p.Mark(draw.Star, draw.Thinking), draw.S("Thinking", draw.Thinking)}}
		default:
			lines = p.Item(it)
		}
		if len(lines) > 0 && story.Apart(before, it) {
			out = append(out, nil)
		}
		out = append(out, lines...)
		before = it
	}
	return out[clampLow(len(out)-max):]
}

func clampLow(n int) int { return max(n, 0) }

// header is the first line of a session.
func (m *Model) header() []draw.Line {
	p := m.paper()
	dot := " " + p.Sign(draw.Middot) + " "
	left := draw.L(draw.Span{Text: "adze", Style: draw.Style{Role: draw.Accent, Attr: draw.Bold}}, draw.S(" "+m.host.Version, draw.Quiet))
	where := m.host.Dir
	if m.s != nil {
		left = append(left, draw.S(dot+shortModel(m.st.Model), draw.Quiet))
		where = m.s.Dir
		if m.s.Branch != "" {
			where += " on " + m.s.Branch
		}
	}
	left = append(left, draw.S(dot+where, draw.Quiet))
	lines := []draw.Line{draw.Beside(left, draw.L(draw.S("/help for keys", draw.Quiet)), p.Cols(), p.O)}
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
	printed = m.flush()
	if m.pager != nil {
		live, cur = m.pager.frame(m)
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

// wrapped wraps what is printed and does not fit: it was drawn before the screen
// became narrower, and does not come again. Pictures are cut.
func (m *Model) wrapped(lines []draw.Line, cols int) []draw.Line {
	out := make([]draw.Line, 0, len(lines))
	at := 0
	for i := range m.placed {
		f := &m.placed[i]
		out = append(out, wrap(lines[at:f.at], cols)...)
		here := len(out)
		at = f.at + len(f.Lines)
		out = append(out, narrowed(lines[f.at:at], cols)...)
		f.at = here
	}
	return append(out, wrap(lines[at:], cols)...)
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
	top = append(top, m.pending(room-len(top)-1)...)
	if len(top) > 2 || len(top) > 0 && m.s != nil {
		top = append(top, nil)
	} else if m.s != nil && m.screen.last != nil {
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
	if len(m.dialogs) > 0 {
		said := m.flashed(p)
		if rows-len(said) < leastDialog {
			said = nil
		}
		lines, cur := m.dialogs[0].view(m, p, clampLow(rows-1-len(said)))
		return append(lines, said...), cur
	}
	if l := m.spinner(p); l != nil {
		out = append(out, l)
	}
	out = append(out, m.todos(p, rows/3)...)
	out = append(out, m.waiting(p, clampLow(rows/4))...)
	box, cur := m.prompt(p, min(max(rows/3, 1), 12))
	cur.Row += len(out)
	out = append(out, box...)
	if m.list != nil {
		out = append(out, m.list.view(p, clampLow(min(rows/2, rows-len(out)-1)))...)
	} else {
		out = append(out, m.footer(p)...)
	}
	return out, cur
}

// spinner says what goes on, how long, and how to stop it.
func (m *Model) spinner(p paper) draw.Line {
	if m.s == nil && m.gone == nil {
		return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S("Opening the session", draw.Quiet))
	}
	dot := " " + p.Sign(draw.Middot) + " "
	if !m.turn.running {
		text := m.delayed()
		if text == "" {
			return m.spent(p)
		}
		facts := dot + story.Seconds(m.now.Sub(m.queue[0].at)) + dot + m.keys.Hint(keymap.Cancel) + " takes the prompt back"
		return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S(text, draw.Accent), draw.S(facts, draw.Quiet)).Truncate(p.Cols(), p.O)
	}
	if m.turn.stopped {
		return draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent), draw.S("Stopping", draw.Accent))
	}
	var took string
	if d := m.now.Sub(m.turn.began); d >= time.Second {
		took = dot + story.Seconds(d)
	}
	tokens := m.tokens(p)
	if tokens != "" {
		tokens = dot + tokens
	}
	stop := dot + m.keys.Hint(keymap.Cancel) + " interrupts"
	verb := m.verb()
	room := p.Cols() - 2 - draw.Width(took+tokens+stop)
	if room < draw.Width(verb) && p.Cols() < 60 { // how to stop it counts more
		room, tokens = room+draw.Width(tokens), ""
	}
	head := draw.L(draw.S(verb, draw.Accent)).Truncate(max(room, p.Cols()/4), p.O)
	head = append(draw.L(draw.S(draw.Spinner(m.turn.spin, p.O.ASCII)+" ", draw.Accent)), head...)
	return append(head, draw.S(took+tokens+stop, draw.Quiet)).Truncate(p.Cols(), p.O)
}

// tokens are what the turn sent and got so far.
func (m *Model) tokens(p paper) string {
	up, down := m.st.Turn.Spent.Usage.Prompt(), m.st.Turn.Spent.Usage.Out+m.turn.typed/4
	if up+down == 0 {
		return ""
	}
	return p.Sign(draw.ArrowUp) + " " + count(up) + " " + p.Sign(draw.ArrowDown) + " " + count(down)
}

// spent is what the last turn took. It stands where the spinner was, so that
// the prompt box does not move when a turn ends, until something else is said.
func (m *Model) spent(p paper) draw.Line {
	if m.turn.over == 0 || m.turn.over != len(m.story.Items) || p.Plain || m.screen.size.Rows < 12 {
		return nil
	}
	var facts []string
	if m.turn.took >= time.Second {
		facts = append(facts, story.Seconds(m.turn.took))
	}
	if s := m.tokens(p); s != "" {
		facts = append(facts, s)
	}
	return draw.L(draw.S("  "+strings.Join(facts, " "+p.Sign(draw.Middot)+" "), draw.Quiet)).Truncate(p.Cols(), p.O)
}

// verb is what goes on, in a few words.
func (m *Model) verb() string {
	if w := m.turn.waiting; w != nil {
		return fmt.Sprintf("%s; trying again in %s (%d of %d)", clip.Line(w.Err, 60), story.Span(w.For), w.Attempt, w.Max)
	}
	if s := m.slowHook(); s != "" {
		return s
	}
	for _, t := range m.st.Tasks {
		if t.Status == view.InProgress && t.Active != "" {
			return clip.Line(draw.String(t.Active), 60)
		}
	}
	if c := m.story.Open(); c != nil {
		verb, subject := c.Words()
		if stage := c.Stage(); stage != "" {
			return clip.Line(verb, 20) + ": " + clip.Line(stage, 40)
		}
		if rest, ok := strings.CutPrefix(c.Title, verb+": "); ok {
			return clip.Line(draw.String(rest), 60)
		}
		return clip.Line(strings.TrimSpace(verb+" "+subject), 60)
	}
	if m.turn.writes != "" {
		return clip.Line(draw.String(m.turn.writes), 40) + ", " + clip.Size(int64(m.turn.typed))
	}
	if it := m.story.Last(); it != nil && it.Kind == story.Spoke && !it.Done {
		return "Writing"
	}
	return "Thinking"
}

// count is a number of tokens for people.
func count(n int) string { return clip.Short(n) }

// todos is the todo list, when it is wanted.
func (m *Model) todos(p paper, max int) []draw.Line {
	if !m.screen.todos || len(m.st.Tasks) == 0 || max < 2 || progressDone(m.st.Tasks) && !m.turn.running {
		return nil
	}
	o := p.Inner(2, max, false)
	o.Hint = ""
	return draw.Indent(draw.Block(view.Tasks{Items: m.st.Tasks}, o), draw.S("  ", draw.Plain))
}

func progressDone(items []view.Task) bool {
	for _, t := range items {
		if t.Status != view.Completed {
			return false
		}
	}
	return true
}

// waiting are the prompts that wait.
func (m *Model) waiting(p paper, max int) []draw.Line {
	var out []draw.Line
	for i, q := range m.queue {
		if len(out)+1 >= max && i+1 < len(m.queue) {
			out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %d more wait", p.Sign(draw.Ellipsis), len(m.queue)-i), draw.Quiet)))
			break
		}
		l := draw.L(p.Mark(draw.Prompt, draw.Quiet), draw.S(story.FirstLine(q.prompt.Shown), draw.Quiet))
		about := "with the next step"
		switch {
		case i == 0 && m.awaited():
			about = "not begun"
		case q.left:
			about = "before the next prompt"
		case q.later || m.awaited():
			about = "when the turn is over"
		}
		if i+1 == len(m.queue) {
			if q.later || q.left {
				about += ", Enter: now"
			}
			about += ", " + p.Sign(draw.ArrowUp) + " takes it back"
		}
		out = append(out, draw.Beside(l, draw.L(draw.S(about, draw.Quiet)), p.Cols(), p.O))
	}
	return out
}

// prompt draws the prompt box in at most max rows of text.
func (m *Model) prompt(p paper, max int) ([]draw.Line, term.Cursor) {
	cols := m.screen.size.Cols
	bordered := cols >= 20 && m.screen.size.Rows >= 8
	role, sign := draw.BorderQuiet, p.Sign(draw.Prompt)
	switch m.box.Mode() {
	case edit.Shell:
		role = draw.Shell
	case edit.Memory:
		role = draw.Accent
	case edit.Chat, edit.Command, edit.Background:
		role = modeRole(m.mode(), role)
	}
	inside := cols - 2
	if bordered {
		inside = cols - 6
	}
	lines, row, col := m.box.View(clampLow(inside-1)+1, max)
	above, below := m.box.Hidden(len(lines))
	rows := make([]draw.Line, 0, len(lines))
	for i, l := range lines {
		lead := "  "
		if i == 0 {
			lead = story.Pad(sign, 2)
		}
		if i == 0 && above {
			lead = story.Pad(p.Sign(draw.MoreUp), 2)
		} else if i == len(lines)-1 && below {
			lead = story.Pad(p.Sign(draw.MoreDown), 2)
		}
		rows = append(rows, append(draw.Line{draw.S(lead, draw.Accent)}, l...))
	}
	if m.box.Empty() && len(rows) == 1 {
		rows[0] = append(rows[0], draw.S(m.placeholder(), draw.Quiet))
	}
	if hint := m.argsHint(); hint != "" && len(rows) == 1 {
		rows[0] = append(rows[0], draw.S(hint, draw.Quiet)).Truncate(clampLow(inside-1)+3, p.O)
	}
	if !bordered {
		return rows, term.Cursor{Row: row, Col: min(col+2, cols-1)}
	}
	return p.boxed(rows, role, cols, nil, nil), term.Cursor{Row: row + 1, Col: min(col+4, cols-1)}
}

// argsHint is what may follow the command that was typed, as long as nothing
// does.
func (m *Model) argsHint() string {
	t, ok := m.box.Token()
	if !ok || t.Kind != edit.ArgToken || m.box.Text() != "/"+t.Command+" " {
		return ""
	}
	for _, c := range m.commands() {
		if c.name == t.Command {
			return draw.String(c.args)
		}
	}
	return ""
}

func (m *Model) placeholder() string {
	if m.turn.running || m.story.Printed > 0 || m.s == nil || len(m.queue) > 0 {
		return ""
	}
	return " What shall be done here?"
}

// modeRole is the colour of a permission mode.
func modeRole(md policy.Mode, other draw.Role) draw.Role {
	switch md {
	case policy.PlanMode:
		return draw.Plan
	case policy.AcceptEdits:
		return draw.AcceptEdits
	case policy.Bypass:
		return draw.Danger
	case policy.Auto:
		return draw.Attention
	case policy.Default, policy.DontAsk:
	}
	return other
}

// boxed puts a border around lines. Heading stands in the upper border, below
// in the lower one, at its right.
func (p paper) boxed(lines []draw.Line, r draw.Role, cols int, heading, below draw.Line) []draw.Line {
	if p.Plain {
		out := append([]draw.Line{nil}, heading)
		for _, l := range lines {
			out = append(out, append(draw.L(draw.S("  ", draw.Plain)), l...).Truncate(cols, p.O))
		}
		return out
	}
	s := func(g draw.Glyph) draw.Span { return draw.Span{Text: p.Sign(g), Style: draw.Style{Role: r}} }
	bar := func(n int) draw.Span {
		return draw.Span{Text: strings.Repeat(p.Sign(draw.HBar), clampLow(n)), Style: draw.Style{Role: r}}
	}
	edge := func(from, to draw.Glyph, text draw.Line, right bool) draw.Line {
		text = text.Truncate(clampLow(cols-6), p.O)
		w := text.Width()
		if w == 0 {
			return draw.Line{s(from), bar(cols - 2), s(to)}
		}
		text = append(append(draw.Line{draw.S(" ", draw.Plain)}, text...), draw.S(" ", draw.Plain))
		if right {
			return append(append(draw.Line{s(from), bar(cols - w - 5)}, text...), bar(1), s(to))
		}
		return append(append(draw.Line{s(from)}, text...), bar(cols-w-4), s(to))
	}
	out := []draw.Line{edge(draw.TopLeft, draw.TopRight, heading, false)}
	for _, l := range lines {
		row := append(draw.Line{s(draw.VBar), draw.S(" ", draw.Plain)}, l.Truncate(clampLow(cols-4), p.O).Pad(clampLow(cols-4))...)
		out = append(out, append(row, draw.S(" ", draw.Plain), s(draw.VBar)))
	}
	return append(out, edge(draw.BottomLeft, draw.BottomRight, below, true))
}
