package tui

import (
	"fmt"
	"maps"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// A dialog stands in the place of the prompt box until it is answered. One is
// seen at a time, the most urgent first.
type dialog interface {
	// view draws it in at most rows lines.
	view(m *Model, p paper, rows int) ([]draw.Line, term.Cursor)
	in() []keymap.Context
	act(m *Model, a keymap.Action) ([]effect, bool)
	typed(m *Model, k keymap.Key) []effect
	paste(m *Model, text string) bool
	// asks reports whether the session waits for it; then it is guarded against
	// keys that were meant for something else.
	asks() bool
	rank() rank
	// plain says, where lines are printed, how lines answer it, and in a word or two
	// what is wanted now; line takes one that was typed.
	plain(m *Model) (how, wanted string)
	line(m *Model, text string) []effect
}

// rank orders dialogs; the lowest is seen first.
type rank uint8

const (
	rankHelp rank = iota // of a dialog
	rankRewind
	rankPermission
	rankQuestion
	rankForm
	rankPlan
	rankTrust
	rankCost
	rankMenu
	rankWelcome
)

// open shows a dialog, in its place by rank.
func (m *Model) open(d dialog) {
	m.flash = flash{} // it was said of what was there before
	if m.list = nil; d.rank() == rankMenu || d.rank() == rankRewind {
		m.dialogs = slices.DeleteFunc(m.dialogs, func(o dialog) bool { return o.rank() == d.rank() })
	}
	i := slices.IndexFunc(m.dialogs, func(o dialog) bool { return o.rank() > d.rank() })
	if i < 0 {
		i = len(m.dialogs)
	}
	m.dialogs = slices.Insert(m.dialogs, i, d)
}

// close takes a dialog away.
func (m *Model) close(d dialog) {
	m.dialogs = slices.DeleteFunc(m.dialogs, func(o dialog) bool { return o == d })
}

// answer closes the dialog of a question and submits what was said. A refusal is shown
// in it, as what is wrong, and the question stays.
func (m *Model) answer(d dialog, q event.Asked, a op.Answer, wrong *string) []effect {
	a.Call, a.By = q.Call, clientName
	m.close(d)
	return []effect{submit{op: a, urgent: true, then: func(m *Model, err error) []effect {
		if err != nil && m.st.Pending[a.Call].Call != "" {
			*wrong = err.Error()
			m.open(d)
			m.again()
		}
		return nil
	}}}
}

func (m *Model) dialogKey(k keymap.Key) []effect {
	d := m.dialogs[0]
	if m.early(d, k) {
		return m.tooSoon(k)
	}
	return m.press(k, append(slices.Clone(d.in()), keymap.Global), func(m *Model, a keymap.Action) ([]effect, bool) {
		if out, done := d.act(m, a); done {
			return out, true
		}
		switch a {
		case keymap.Interrupt:
			if m.turn.running && m.armed.action != keymap.Interrupt { // the question ends with what asked it
				return m.interrupt(), true
			}
			return m.interruptOrQuit(), true
		case keymap.Exit, keymap.Redraw, keymap.Suspend, keymap.ToggleTranscript:
			return m.anyAct(a)
		case keymap.ShowHelp:
			h := newHelp(m)
			h.above = true // the question goes on when it was read
			m.open(h)
			return nil, true
		}
		return nil, false
	}, d.typed)
}

// ask opens the dialog for a question of the session.
func (m *Model) ask(b event.Asked) []effect {
	if b.About == event.AboutCost {
		m.open(m.dear(b))
		return m.call("adze: " + story.FirstLine(b.Title))
	}
	if f, ok := b.View.(view.Form); ok {
		d := newForm(m, b, f)
		m.open(d)
		return m.call(d.heading())
	}
	if qs, about := questions(b.View); len(qs) > 0 {
		m.open(newSurvey(b, qs, about))
		return m.call("adze asks: " + story.FirstLine(qs[0].Text))
	}
	d := newPermit(b)
	if d.connects() {
		d.from = m.commandsNow()
	}
	m.open(d)
	return m.call("adze asks: " + story.Subject(b.Title))
}

// commandsNow are the commands that run, of this turn and beside it.
func (m *Model) commandsNow() []string {
	out := m.story.Running()
	for _, id := range slices.Sorted(maps.Keys(m.st.Background)) {
		out = append(out, m.st.Background[id].Text)
	}
	return out
}

// questions finds the questions of a view, and what stands around them.
func questions(b view.Block) (qs []view.Question, about []view.Block) {
	switch b := b.(type) {
	case view.Questions:
		return b.Items, nil
	case view.Group:
		for _, x := range b.Blocks {
			if q, _ := questions(x); len(q) > 0 && len(qs) == 0 {
				qs = q
			} else {
				about = append(about, x)
			}
		}
		if len(qs) == 0 {
			return nil, nil
		}
	default: // only these two hold questions
	}
	return qs, about
}

// closeQuestion takes the dialog of a call away: it was answered, here or by
// another client.
func (m *Model) closeQuestion(call string) {
	m.dialogs = slices.DeleteFunc(m.dialogs, func(d dialog) bool { return callOf(d) == call && call != "" })
}

func (m *Model) dropQuestions() {
	m.dialogs = slices.DeleteFunc(m.dialogs, func(d dialog) bool { return callOf(d) != "" })
}

func callOf(d dialog) string {
	switch d := d.(type) {
	case *permit:
		return d.q.Call
	case *survey:
		return d.q.Call
	case *form:
		return d.q.Call
	case *menu:
		return d.answers
	}
	return ""
}

// field is a line of text within a dialog.
func field(m *Model, text string) *edit.Editor {
	e := edit.New(edit.Options{Keys: m.keys, SingleRow: true, FoldLines: -1})
	e.Set(text)
	return e
}

// failed says what is wrong with an answer, in at most three lines.
func (p paper) failed(text string, width int) []draw.Line {
	const most = 3
	lines := draw.WrapAll(draw.Text(text, draw.Style{Role: draw.Wrong}), width)
	if len(lines) > most {
		lines = append(lines[:most-1], draw.L(draw.S(p.Sign(draw.Ellipsis), draw.Wrong)))
	}
	return lines
}

// fieldLine draws a field behind a label, and says where its cursor is.
func (p paper) fieldLine(label draw.Line, e *edit.Editor, width int) (draw.Line, int) {
	w := label.Width()
	lines, _, col := e.View(clampLow(width-w-1)+1, 1)
	if len(lines) == 0 {
		return label, w
	}
	return append(slices.Clone(label), lines[0]...), w + col
}

// fieldLines draws a field behind a label, or below it in at most rows lines where it is
// longer than what is left of a line; and says where its cursor is.
func (p paper) fieldLines(label draw.Line, e *edit.Editor, width, rows int) ([]draw.Line, term.Cursor) {
	indent := draw.L(draw.S("    ", draw.Plain))
	if rows < 2 || label.Width()+draw.Width(e.Text()) < width {
		l, col := p.fieldLine(label, e, width)
		return []draw.Line{l}, term.Cursor{Col: col}
	}
	lines, row, col := e.View(clampLow(width-indent.Width()-1)+1, rows)
	return append([]draw.Line{label}, draw.Indent(lines, indent[0])...), term.Cursor{Row: 1 + row, Col: indent.Width() + col}
}

// scrolled is the part of lines that fits, from off on, with a line that says
// what is left out.
func (p paper) scrolled(lines []draw.Line, off *reading, rows int) []draw.Line {
	if len(lines) <= rows {
		*off = reading{seen: len(lines)}
		return lines
	}
	from, to := off.window(len(lines), max(rows-1, 1))
	out := slices.Clone(lines[from:to])
	return append(out, draw.L(draw.S(fmt.Sprintf("lines %d to %d of %d %s PgUp, PgDn", from+1, to, len(lines), p.Sign(draw.Middot)), draw.Attention)))
}
