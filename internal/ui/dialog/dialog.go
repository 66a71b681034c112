// Package dialog is what stands in the place of a terminal's prompt box until it is
// answered: questions of a session, menus, and texts to be read. A dialog is drawn as
// lines, and answered by keys or, where lines are printed, by lines. It knows what Ctx
// tells, changes nothing but itself, and returns what else it wants done: it sees no
// session, no host, and not the UI that shows it.
package dialog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// A Dialog stands in the place of the prompt box until it is answered. One is seen at a
// time, the most urgent first. It knows what Ctx tells, and changes nothing but itself:
// what else is to be done it returns.
type Dialog interface {
	// Kind does not change.
	Kind() Kind
	// View draws it in at most rows lines.
	View(c Ctx, rows int) ([]draw.Line, term.Cursor)
	// In are the contexts in which keys are looked up. Act does what a key means, false
	// when that is nothing here. Keys that no action has come through Typed: see there.
	In() []keymap.Context
	Act(c Ctx, a keymap.Action) ([]Effect, bool)
	// digits is how many answers a digit marks now, 0 where it is written, and pick marks
	// the one with this index. write takes any other key.
	digits(c Ctx) int
	pick(c Ctx, i int) []Effect
	write(c Ctx, k keymap.Key) []Effect
	Paste(text string) bool
	// Poll is what it asks for where lines are printed and typed, Take takes what one
	// was to it: see AnswerLine.
	Poll(c Ctx) Poll
	Take(c Ctx, r Reply) []Effect
}

// Typed gives a dialog a key that no action has. In every dialog a digit marks the answer
// that it stands before, and only Enter gives that: who types both leaves no Enter for
// what is asked next.
func Typed(c Ctx, d Dialog, k keymap.Key) []Effect {
	if i := digit(k); i >= 0 && i < d.digits(c) {
		return d.pick(c, i)
	}
	return d.write(c, k)
}

// digit is the index of the answer that a key marks, -1 for none.
func digit(k keymap.Key) int {
	if len(k.Name) != 1 || k.Name[0] < '1' || k.Name[0] > '9' || !k.Types() {
		return -1
	}
	return int(k.Name[0] - '1')
}

// A Kind is what is known of a dialog before it is seen.
type Kind struct {
	Rank Rank
	// Asks says that somebody waits for it; then it is guarded against keys that were
	// meant for something else.
	Asks bool
	Call string // that asked, "" without
}

// Rank orders dialogs; the lowest is seen first.
type Rank uint8

// The ranks.
const (
	RankHelp Rank = iota // of a dialog
	RankRewind
	RankPermission
	RankQuestion
	RankForm
	RankPlan
	RankTrust
	RankCost
	RankMenu
	RankWelcome
)

// A Ctx is what a dialog may know of what is around it.
type Ctx struct {
	Paper
	Keys    *keymap.Map
	Pressed keymap.Key // now
	Rows    int        // of the terminal
	Dir     string     // where the session works
	Mode    policy.Mode
	Running bool // a turn does
	Held    bool // somebody is typing, and no key counts for the dialog yet
	Aside   bool // what is typed goes on in the prompt that stands half written in the box, not here
	Editor  bool // there is one for a text, and one for files
	Files   bool
}

// An Effect is what a dialog wants done.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Answer closes it and answers the call. Refused is told why an answer was not taken,
	// and the dialog stands there again.
	Answer struct {
		op.Answer
		Refused func(why string)
	}
	// Chosen closes a menu, and Dropped closes a dialog without a choice.
	Chosen  struct{ Choice Choice }
	Dropped struct{}
	// Marked is another choice of a menu.
	Marked struct{ Choice Choice }
	// Sought says that other letters are looked for in a menu. Else is done where nothing
	// but the menu itself is looked through.
	Sought struct{ Else func() []Effect }
	// Own is an action of a dialog alone, or none for a letter of its own, and Said a word
	// of a line: with the choice that it numbers, and what follows. Wrote is a text that
	// the menu was to ask for.
	Own  struct{ Action keymap.Action }
	Said struct {
		Word   string
		Choice Choice
		Rest   string
	}
	Wrote struct{ Text string }
	// Keys belong to the prompt.
	Keys struct{ List []keymap.Key }
	// Interrupt stops what asked.
	Interrupt struct{}
	// Browse opens a page.
	Browse struct{ Address string }
	// Edit has a person edit a text in their editor, EditFile a file.
	Edit struct {
		Text string
		Then func(text string, err error) []Effect
	}
	EditFile struct {
		Path string
		Then func(text string, err error) []Effect
	}
	// Say tells a person something, Again has the dialog printed once more where lines
	// are: it is another one now.
	Say struct {
		Text string
		Role draw.Role
	}
	Again struct{}
)

func (Answer) effect()    {}
func (Chosen) effect()    {}
func (Dropped) effect()   {}
func (Marked) effect()    {}
func (Sought) effect()    {}
func (Own) effect()       {}
func (Said) effect()      {}
func (Wrote) effect()     {}
func (Keys) effect()      {}
func (Interrupt) effect() {}
func (Browse) effect()    {}
func (Edit) effect()      {}
func (EditFile) effect()  {}
func (Say) effect()       {}
func (Again) effect()     {}

// tell says something and nothing else.
func tell(text string) []Effect { return []Effect{Say{Text: text}} }

// A Choice is one line of a menu.
type Choice = ask.Choice

// A Paper is what dialogs are drawn on.
type Paper struct{ story.Paper }

// hinted is what a dialog says in its lower border: its keys, or that none counts
// yet.
func (c Ctx) hinted(keys string) draw.Line {
	switch on := " " + c.Sign(draw.Middot) + " what you type goes into your prompt"; {
	case c.Aside && c.Held:
		return draw.L(draw.S("the arrows choose here"+on, draw.Attention))
	case c.Aside:
		return draw.L(draw.S("Enter answers"+on, draw.Quiet))
	case c.Held:
		return draw.L(draw.S("waits for a pause in your typing", draw.Attention))
	}
	return draw.L(draw.S(keys, draw.Quiet))
}

// Ask is the dialog for a question of a session, and what it asks in a line. running are
// the commands that run.
func Ask(keys *keymap.Map, q event.Asked, running []string) (d Dialog, says string) {
	if f, ok := q.View.(view.Form); ok {
		d := newForm(keys, q, f)
		return d, d.heading()
	}
	if qs, about := questions(q.View); len(qs) > 0 {
		return newSurvey(q, qs, about), "adze asks: " + story.FirstLine(qs[0].Text)
	}
	return newPermit(q, running), "adze asks: " + story.Subject(q.Title)
}

// Words are those that somebody has written in a dialog and not given yet, "" for none.
func Words(d Dialog) string {
	said := func(e *edit.Editor, kept string) string {
		if e != nil {
			kept = e.Text()
		}
		return strings.TrimSpace(kept)
	}
	switch d := d.(type) {
	case *permit:
		return said(d.comment, d.said)
	case *survey:
		return said(d.pages[d.at].words, d.pages[d.at].own)
	}
	return ""
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

// Field is a line of text within a dialog.
func Field(keys *keymap.Map, text string) *edit.Editor {
	e := edit.New(edit.Options{Keys: keys, SingleRow: true, FoldLines: -1})
	e.Set(text)
	return e
}

// failed says what is wrong with an answer, in at most three lines.
func (p Paper) failed(text string, width int) []draw.Line {
	const most = 3
	lines := draw.WrapAll(draw.Text(text, draw.Style{Role: draw.Wrong}), width)
	if len(lines) > most {
		lines = append(lines[:most-1], draw.L(draw.S(p.Sign(draw.Ellipsis), draw.Wrong)))
	}
	return lines
}

// FieldLine draws a field behind a label, and says where its cursor is.
func (p Paper) FieldLine(label draw.Line, e *edit.Editor, width int) (draw.Line, int) {
	w := label.Width()
	lines, _, col := e.View(max(width-w-1, 0)+1, 1)
	if len(lines) == 0 {
		return label, w
	}
	return append(slices.Clone(label), lines[0]...), w + col
}

// fieldLines draws a field behind a label, or below it in at most rows lines where it is
// longer than what is left of a line; and says where its cursor is.
func (p Paper) fieldLines(label draw.Line, e *edit.Editor, width, rows int) ([]draw.Line, term.Cursor) {
	indent := draw.L(draw.S("    ", draw.Plain))
	if rows < 2 || label.Width()+draw.Width(e.Text()) < width {
		l, col := p.FieldLine(label, e, width)
		return []draw.Line{l}, term.Cursor{Col: col}
	}
	lines, row, col := e.View(max(width-indent.Width()-1, 0)+1, rows)
	return append([]draw.Line{label}, draw.Indent(lines, indent[0])...), term.Cursor{Row: 1 + row, Col: indent.Width() + col}
}

// Scrolled is the part of lines that fits, from off on, with a line that says
// what is left out.
func (p Paper) Scrolled(lines []draw.Line, off *Reading, rows int) []draw.Line {
	if len(lines) <= rows {
		*off = Reading{seen: len(lines)}
		return lines
	}
	from, to := off.window(len(lines), max(rows-1, 1))
	out := slices.Clone(lines[from:to])
	return append(out, draw.L(draw.S(fmt.Sprintf("lines %d to %d of %d %s PgUp, PgDn", from+1, to, len(lines), p.Sign(draw.Middot)), draw.Attention)))
}

// Boxed puts a border around lines. Heading stands in the upper border, below
// in the lower one, at its right.
func (p Paper) Boxed(lines []draw.Line, r draw.Role, cols int, heading, below draw.Line) []draw.Line {
	if p.Plain {
		out := append([]draw.Line{nil}, heading)
		for _, l := range lines {
			if strings.TrimSpace(l.String()) == "" {
				out = append(out, nil)
				continue
			}
			out = append(out, append(draw.L(draw.S("  ", draw.Plain)), l...).Truncate(cols, p.O))
		}
		return out
	}
	s := func(g draw.Glyph) draw.Span { return draw.Span{Text: p.Sign(g), Style: draw.Style{Role: r}} }
	bar := func(n int) draw.Span {
		return draw.Span{Text: strings.Repeat(p.Sign(draw.HBar), max(n, 0)), Style: draw.Style{Role: r}}
	}
	edge := func(from, to draw.Glyph, text draw.Line, right bool) draw.Line {
		text = text.Truncate(max(cols-6, 0), p.O)
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
		row := append(draw.Line{s(draw.VBar), draw.S(" ", draw.Plain)}, l.Truncate(max(cols-4, 0), p.O).Pad(max(cols-4, 0))...)
		out = append(out, append(row, draw.S(" ", draw.Plain), s(draw.VBar)))
	}
	return append(out, edge(draw.BottomLeft, draw.BottomRight, below, true))
}
