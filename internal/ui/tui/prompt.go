package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A prompt is what is being typed, and what of it waits.
type prompt struct {
	box      *edit.Editor
	list     *list // the @ or / picker above the prompt box
	files    fileList
	kept     kept
	queue    []queued  // that wait, in the session or for one
	returned time.Time // when what waited came back into the prompt box, because of an interrupt
	aside    func()    // stops the question of /btw that is being asked, nil when none is
}

// queued is a prompt that waits.
type queued struct {
	id     string
	prompt edit.Prompt
	sent   bool // the session has it
	later  bool // it waits for the end of the turn
	left   bool // an earlier process left it in the session, and no turn begins because of it alone
	at     time.Time
}

// typing draws the prompt box in at most max rows of text.
func (m *Model) typing(p dialog.Paper, max int) ([]draw.Line, term.Cursor) {
	cols := m.screen.size.Cols
	bordered := cols >= 20 && m.screen.size.Rows >= 8
	role, sign := draw.BorderQuiet, p.Sign(draw.Prompt)
	var label draw.Line // what Enter does, where that is something else than asking the model
	switch m.box.Mode() {
	case edit.Shell:
		role = draw.Shell
		label = draw.L(draw.S("shell: "+m.keys.Hint(keymap.Submit)+" runs it", role))
	case edit.Memory:
		role = draw.Accent
		label = draw.L(draw.S("memory: "+m.keys.Hint(keymap.Submit)+" adds it to a file", role))
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
		rows[0] = append(rows[0], draw.S(m.placeholder(), draw.Quiet)).Truncate(clampLow(inside-1)+3, p.O)
	}
	if hint := m.argsHint(); hint != "" && len(rows) == 1 {
		rows[0] = append(rows[0], draw.S(hint, draw.Quiet)).Truncate(clampLow(inside-1)+3, p.O)
	}
	if !bordered {
		return rows, term.Cursor{Row: row, Col: min(col+2, cols-1)}
	}
	return p.Boxed(rows, role, cols, nil, label), term.Cursor{Row: row + 1, Col: min(col+4, cols-1)}
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

// suggested is what may be said next, as long as nothing is typed and nothing runs.
func (m *Model) suggested() string {
	if m.turn.running || m.s == nil || len(m.queue) > 0 || !m.box.Empty() || m.box.Mode() != edit.Chat {
		return ""
	}
	return m.turn.next
}

func (m *Model) placeholder() string {
	if s := m.suggested(); s != "" {
		return " " + draw.String(s) + "  " + m.keys.Hint(keymap.SubmitLater)
	}
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

func (b *prompt) unqueue(id string) {
	for i, q := range b.queue {
		if q.id == id {
			b.queue = append(b.queue[:i:i], b.queue[i+1:]...)
			return
		}
	}
}

// underway marks the prompts of an earlier process as ones that a turn takes
// now, and returns their IDs.
func (b *prompt) underway(now time.Time) (ids []string) {
	for i, q := range b.queue {
		if q.left {
			b.queue[i].left, b.queue[i].at = false, now
			ids = append(ids, q.id)
		}
	}
	return ids
}

// stillWaits reports whether a prompt of the history is one that waits: sent from
// there it would be sent twice.
func (b *prompt) stillWaits(e history.Entry) bool {
	return slices.ContainsFunc(b.queue, func(q queued) bool { return q.prompt.Shown == e.Text })
}

// waiting are the prompts that wait.
func (b *prompt) waiting(p dialog.Paper, max int, awaited bool) []draw.Line {
	var out []draw.Line
	for i, q := range b.queue {
		if len(out)+1 >= max && i+1 < len(b.queue) {
			out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %d more wait", p.Sign(draw.Ellipsis), len(b.queue)-i), draw.Quiet)))
			break
		}
		l := draw.L(p.Mark(draw.Prompt, draw.Quiet), draw.S(story.FirstLine(q.prompt.Shown), draw.Quiet))
		about := "with the next step"
		switch {
		case i == 0 && awaited:
			about = "not begun"
		case q.left:
			about = "before the next prompt"
		case q.later || awaited:
			about = "when the turn is over"
		}
		if i+1 == len(b.queue) && b.box.Empty() { // these keys are the box's while something stands in it
			if q.later || q.left {
				about += ", Enter: now"
			}
			about += ", " + p.Sign(draw.ArrowUp) + " takes it back"
		}
		out = append(out, draw.Beside(l, draw.L(draw.S(about, draw.Quiet)), p.Cols(), p.O))
	}
	return out
}
