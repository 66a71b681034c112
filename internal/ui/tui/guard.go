package tui

import (
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/term"
)

const (
	// guard is how long a dialog is seen before a key counts for it.
	guard = 250 * time.Millisecond
	// typingPause is how long the keyboard must have been quiet when somebody was
	// typing as a dialog came up.
	typingPause = 500 * time.Millisecond
	// draftPause is how long, where a prompt stands half written in the box: people
	// stop to think in the middle of one.
	draftPause = 2 * time.Second
)

// guarded is what is known of the first dialog: keys count for it only when a
// person can have meant them for it. Until then they go on into the prompt box.
type guarded struct {
	d       dialog.Dialog
	painted time.Time // when the terminal had it, zero before
	quiet   bool      // the keyboard was, for long enough
	listens bool      // and the terminal had a frame since, with what was typed until then
	held    bool      // a key came that it did not take
	writing bool      // something stood in the prompt box before
}

// painted is told when the terminal has taken a frame: from now on the person
// can see the first dialog as it is now.
func (m *Model) painted(d dialog.Dialog) {
	if d == nil || len(m.dialogs) == 0 || m.dialogs[0] != d {
		return
	}
	switch g := m.guards(d); {
	case g.painted.IsZero():
		g.painted = m.now
	case g.quiet:
		g.listens = true
	}
}

// unseen is the first dialog when the terminal has it not yet as it is now.
func (m *Model) unseen() dialog.Dialog {
	if len(m.dialogs) == 0 || m.pager != nil { // it is behind that
		return nil
	}
	d := m.dialogs[0]
	if g := m.guards(d); g.painted.IsZero() || g.quiet && !g.listens {
		return d
	}
	return nil
}

// guards is what is known of d, which is the first dialog.
func (m *Model) guards(d dialog.Dialog) *guarded {
	if m.guarded.d != d {
		m.guarded = guarded{d: d, writing: !m.box.Empty()}
	}
	return &m.guarded
}

// listensAt is when the first dialog takes keys if none comes until then; zero
// when it does already, or is not seen yet.
func (m *Model) listensAt() time.Time {
	if !m.waitsForPerson() {
		return time.Time{}
	}
	g := m.guards(m.dialogs[0])
	if g.quiet || g.painted.IsZero() {
		return time.Time{}
	}
	at := g.painted.Add(guard)
	pause := typingPause
	if !m.box.Empty() {
		pause = draftPause
	}
	if typed := m.keyed.Add(pause); typed.After(at) {
		return typed
	}
	return at
}

// listen has the first dialog take keys when it is time for that.
func (m *Model) listen() {
	if at := m.listensAt(); !at.IsZero() && !m.now.Before(at) {
		m.guarded.quiet, m.guarded.held = true, false
	}
}

// early reports whether a key may have been meant for what was seen before the
// dialog: it was not painted, or not for long, or the person is in the middle
// of typing, however long that takes. Keys that no prompt needs are meant for choices
// that are seen.
func (m *Model) early(d dialog.Dialog, k keymap.Key) bool {
	if !d.Is().Asks {
		return false
	}
	g := m.guards(d)
	_, chooses := d.(*menu)
	if chooses && (k.Name == "down" || k.Name == "up" || k.Name == "esc" || k.Mod == keymap.Ctrl && k.Name == "c") && !g.painted.IsZero() && !m.now.Before(g.painted.Add(guard)) {
		g.quiet, g.listens, g.held = true, true, false
	}
	if g.listens {
		return false
	}
	g.quiet, g.held = false, true
	return true
}

// tooSoon takes a key that came too early for a dialog: what was being typed goes
// on, and to stop is safe.
func (m *Model) tooSoon(k keymap.Key) []effect {
	m.keyed = m.now
	switch {
	case m.turn.running && (k.Name == "esc" || k.Mod == keymap.Ctrl && k.Name == "c"):
		return m.interrupt()
	case k.Mod == keymap.Ctrl && k.Name == "c":
		return m.interruptOrQuit()
	case k.Types(), k.Name == "backspace", k.Name == "enter", k.Mod == keymap.Ctrl && (k.Name == "w" || k.Name == "u" || k.Name == "j"):
		// Without a session nothing can be sent, and the dialog is about that.
		if m.box.Key(k) == edit.Submitted && m.guarded.writing && !m.box.Empty() && m.s != nil {
			m.guarded.writing = false
			return m.enter()
		}
	}
	return nil
}

// hold has the first dialog take no key until somebody stops typing.
func (m *Model) hold() {
	if m.waitsForPerson() {
		g := m.guards(m.dialogs[0])
		g.quiet, g.listens, g.held = false, false, true
	}
}

// typedOn takes keys of a dialog that belong to the prompt; of one that is gone, what they
// do there.
func (m *Model) typedOn(d dialog.Dialog, keys []keymap.Key) (out []effect) {
	m.hold()
	for _, k := range keys {
		if slices.Contains(m.dialogs, d) {
			out = append(out, m.tooSoon(k)...)
		} else {
			out = append(out, m.goesTo(k)...)
		}
	}
	return out
}

// drafts reports whether a prompt stands half written in the box while the first dialog
// asks: it stays in view.
func (m *Model) drafts() bool { return m.waitsForPerson() && !m.box.Empty() }

// holds reports whether the first dialog waits for the end of what somebody is typing.
func (m *Model) holds() bool { return m.waitsForPerson() && m.guards(m.dialogs[0]).held }

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
