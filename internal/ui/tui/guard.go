package tui

import (
	"slices"

	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/term"
)

// tooSoon takes a key that came too early for a dialog: what was being typed goes
// on, and to stop is safe.
func (m *Model) tooSoon(k keymap.Key) []effect {
	m.keyed = m.now
	switch {
	case m.turn.running && (k.Name == "esc" || k.Mod == keymap.Ctrl && k.Name == "c"):
		return m.interrupt()
	case k.Mod == keymap.Ctrl && k.Name == "c":
		return m.interruptOrQuit()
	case types(k), k.Name == "enter":
		// Without a session nothing can be sent, and the dialog is about that.
		if m.box.Key(k) == edit.Submitted && m.guarded.writing && !m.box.Empty() && m.s != nil {
			m.guarded.writing = false
			return m.enter()
		}
	}
	return nil
}

// typedOn takes keys of a dialog that belong to the prompt; of one that is gone, what they
// do there.
func (m *Model) typedOn(d dialog.Dialog, keys []keymap.Key) (out []effect) {
	m.hold()
	for _, k := range keys {
		if slices.Contains(m.shown, d) {
			out = append(out, m.tooSoon(k)...)
		} else {
			out = append(out, m.goesTo(k)...)
		}
	}
	return out
}

// unseen is the first dialog when the terminal has it not yet as it is now.
func (m *Model) unseen() dialog.Dialog {
	if m.pager != nil { // it is behind that
		return nil
	}
	return m.dialogs.unseen()
}

// stillTyped is the line of the prompt that is being typed, below a dialog that
// waits.
func (m *Model) stillTyped(p dialog.Paper) (draw.Line, term.Cursor) {
	lines, _, col := m.box.View(clampLow(m.screen.size.Cols-5)+1, 1)
	l := draw.L(draw.S("  ", draw.Plain), p.Mark(draw.Prompt, draw.Accent))
	if len(lines) > 0 {
		l = append(l, lines[0]...)
	}
	return l.Truncate(m.screen.size.Cols, p.O), term.Cursor{Col: min(col+4, m.screen.size.Cols-1)}
}
