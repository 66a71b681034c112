// Package edit is the prompt box's editor: text with grapheme clusters and
// wrapped lines, readline's keys, selection, undo, a kill ring, folded pastes
// and images, history, and vim's modes. It is a pure state machine: keys go in
// as values, what to draw comes out as lines. It reads no terminal, no file and
// no clock.
package edit

import (
	"slices"

	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// A Result is what a key, a command or a paste did.
type Result uint8

// The results.
const (
	Ignored   Result = iota // it has no meaning here, somebody else may take it
	Moved                   // the cursor, the selection or the vim mode changed, at most
	Changed                 // the text changed
	Submitted               // Enter: the prompt can be had from Take
)

// Past gives the earlier prompts, the newest first; false ends them. It is asked
// for one after the other, as far back as somebody goes. Renew is called before a
// walk begins: what others added since is there then.
type Past interface {
	Entry(i int) (history.Entry, bool)
	Renew()
}

// Options are what an Editor depends on. The zero Options make a plain editor.
type Options struct {
	Keys      *keymap.Map              // nil: the defaults
	Past      Past                     // nil: none
	Skip      func(history.Entry) bool // entries of Past that ↑ passes over; nil: none
	Vim       bool
	SingleRow bool // a field for one line: Enter submits, newlines become spaces
	FoldLines int  // pastes with more lines are folded; 0: 8, less than 0: never
	FoldRunes int  // or with more characters; 0: 1000
}

// An Editor holds one prompt. It serves one goroutine.
type Editor struct {
	o      Options
	t      text
	at     int // the cursor
	anchor int // where the selection began, -1 without
	goal   int // the column that ↑ and ↓ keep to, -1 when unset
	// literal: the text began with a paste, which never chooses a mode.
	literal bool

	undo  undo
	kills kills
	past  past
	stash []draft
	// given is what Restore put into an empty box. While nobody changed it, a "/" behind it
	// begins a command: it steps aside into the stash, and aside says that the newest there
	// is that one.
	given []rune
	aside bool
	vim   *vim

	width int   // of the text, from the last View
	top   rowAt // the first row that is drawn
}

// A rowAt is a row: a line and a row of it.
type rowAt struct{ line, row int }

// New makes an empty editor.
func New(o Options) *Editor {
	if o.Keys == nil {
		o.Keys = keymap.Default(keymap.Terminal{})
	}
	if o.FoldLines == 0 {
		o.FoldLines = defaultFoldLines
	}
	if o.FoldRunes == 0 {
		o.FoldRunes = defaultFoldRunes
	}
	e := &Editor{o: o, t: newText(), anchor: -1, goal: -1, width: 79}
	e.SetVim(o.Vim)
	return e
}

// SetKeys gives the editor another map of keys.
func (e *Editor) SetKeys(m *keymap.Map) { e.o.Keys = m }

// Text is the prompt with its pastes unfolded. Images stay as labels.
func (e *Editor) Text() string { return e.t.expand(e.t.r, false) }

// Shown is the prompt as it is seen, with labels.
func (e *Editor) Shown() string { return e.t.expand(e.t.r, true) }

// Empty reports whether nothing is entered.
func (e *Editor) Empty() bool { return e.t.len() == 0 }

func (e *Editor) selection() (from, to int, ok bool) {
	if e.vim != nil && e.vim.visual() {
		from, to = e.vim.span(e)
		return from, to, true
	}
	if e.anchor < 0 || e.anchor == e.at {
		return 0, 0, false
	}
	return min(e.anchor, e.at), max(e.anchor, e.at), true
}

// Set puts a text in the place of all. It can be undone. The cursor goes behind
// it.
func (e *Editor) Set(s string) {
	e.step(doOther)
	defer e.closeStep()
	e.put(runes(e.fit(s)))
	e.literal = false
}

// SetEntry puts an entry of the history in the place of all, pastes folded.
func (e *Editor) SetEntry(h history.Entry, images ...Image) {
	e.step(doOther)
	defer e.closeStep()
	e.put(e.t.withImages(e.t.fromEntry(h), images))
	e.literal = false
}

// put replaces the whole text.
func (e *Editor) put(rs []rune) {
	e.change(0, e.t.len(), rs)
	e.at, e.anchor, e.goal = e.t.len(), -1, -1
}

// fit makes text from outside fit for the field.
func (e *Editor) fit(s string) string {
	s = sanitize(s)
	if e.o.SingleRow {
		b := []byte(s)
		for i, c := range b {
			if c == '\n' {
				b[i] = ' '
			}
		}
		return string(b)
	}
	return s
}

// Insert types text at the cursor, in the place of the selection. Unlike a
// paste it is never folded.
func (e *Editor) Insert(s string) Result {
	if s = e.fit(s); s == "" {
		return Ignored
	}
	e.step(doOther)
	defer e.closeStep()
	e.insert(runes(s))
	return Changed
}

// insert puts runes in the place of the selection and the cursor behind them.
func (e *Editor) insert(rs []rune) {
	from, to := e.at, e.at
	if e.anchor >= 0 {
		from, to = min(e.anchor, e.at), max(e.anchor, e.at)
	}
	e.change(from, to, rs)
	e.at, e.anchor, e.goal = from+len(rs), -1, -1
}

// Paste takes what the terminal pasted. A long text is folded to a label that
// is edited as one character. A paste never chooses a mode: "!" that comes from
// a clipboard is text.
func (e *Editor) Paste(s string) Result {
	if s = e.fit(s); s == "" {
		return Ignored
	}
	if e.vim != nil {
		if !e.vim.inserting() {
			e.vim.forPaste()
			defer e.vim.clamp(e)
		} else {
			e.vim.pasted(s)
		}
	}
	e.step(doOther)
	defer e.closeStep()
	first := e.t.len() == 0
	rs := runes(s)
	if e.folds(rs) {
		rs = []rune{e.t.addChip(Chip{Label: pasteLabel(s), Text: s})}
	}
	e.insert(rs)
	if first {
		e.literal = rs[0] == '!' || rs[0] == '#' || rs[0] == '&'
	}
	return Changed
}

func (e *Editor) folds(rs []rune) bool {
	if e.o.FoldLines < 0 {
		return false
	}
	if len(rs) > e.o.FoldRunes {
		return true
	}
	n := 1
	for _, r := range rs[:max(len(rs)-1, 0)] { // a newline at the end begins no line
		if r == '\n' {
			n++
		}
	}
	return n > e.o.FoldLines
}

// Attach puts an image at the cursor, as "[Image 1]".
func (e *Editor) Attach(img Image) Result {
	e.step(doOther)
	defer e.closeStep()
	e.insert([]rune{e.t.addChip(Chip{Label: e.t.imageLabel(), Image: &img})})
	return Changed
}

// Unfold puts the text of the folded paste at or before the cursor in its place.
func (e *Editor) Unfold() Result {
	for _, at := range []int{e.at, e.at - 1} {
		if at < 0 || at >= e.t.len() {
			continue
		}
		if c, ok := e.t.chip(e.t.r[at]); ok && c.Image == nil {
			e.step(doOther)
			defer e.closeStep()
			rs := runes(c.Text)
			e.change(at, at+1, rs)
			e.at, e.anchor, e.goal = at+len(rs), -1, -1
			return Changed
		}
	}
	return Ignored
}

// A draft is a prompt that is not being edited now.
type draft struct {
	r       []rune
	at      int
	literal bool
}

func (e *Editor) draft() draft { return draft{slices.Clone(e.t.r), e.at, e.literal} }

func (e *Editor) show(d draft) {
	e.step(doOther)
	defer e.closeStep()
	e.change(0, e.t.len(), d.r)
	e.at, e.anchor, e.goal, e.literal = d.at, -1, -1, d.literal
}

// ToggleStash puts the prompt aside, or gets the last one back when the box is
// empty.
func (e *Editor) ToggleStash() Result {
	e.aside = false
	switch {
	case !e.Empty():
		e.stash = append(e.stash, e.draft())
		e.show(draft{})
	case len(e.stash) > 0:
		d := e.stash[len(e.stash)-1]
		e.stash = e.stash[:len(e.stash)-1]
		e.show(d)
	default:
		return Ignored
	}
	e.past.leave()
	return Changed
}

// stepAside makes room for a command, where the box has what was put back and no more.
func (e *Editor) stepAside() {
	if len(e.given) == 0 || !slices.Equal(e.given, e.t.r) || e.at != e.t.len() || e.anchor >= 0 && e.anchor != e.at {
		return
	}
	e.given = nil
	e.ToggleStash()
	e.aside = true
}

// comeBack undoes stepAside when nothing is left of the command. The next "/" is text.
func (e *Editor) comeBack() {
	if e.aside && e.Empty() {
		e.ToggleStash()
	}
}

// Resume gets back what stepped aside for a command that was carried out. Another command
// may be typed at once.
func (e *Editor) Resume() {
	if e.aside && e.Empty() {
		e.ToggleStash()
		e.given = slices.Clone(e.t.r)
	}
}

// Stashed is how many prompts are put aside.
func (e *Editor) Stashed() int { return len(e.stash) }

// Clear empties the box; undo brings the text back.
func (e *Editor) Clear() Result {
	if e.Empty() {
		return Ignored
	}
	e.show(draft{})
	e.past.leave()
	if e.vim != nil {
		e.vim.reset()
	}
	e.comeBack()
	return Changed
}
