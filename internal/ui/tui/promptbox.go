package tui

import (
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// prompt draws the prompt box in at most max rows of text.
func (m *Model) prompt(p dialog.Paper, max int) ([]draw.Line, term.Cursor) {
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
		rows[0] = append(rows[0], draw.S(m.placeholder(), draw.Quiet))
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
