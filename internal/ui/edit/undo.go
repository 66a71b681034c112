package edit

import (
	"slices"
	"unicode"
)

// A doing is what kind of step a command makes; steps of one kind that follow
// each other in one place are undone as one.
type doing uint8

const (
	doOther doing = iota // never joined
	doType
	doErase
)

// Bounds of what can be undone.
const (
	maxSteps     = 2000
	maxStepRunes = 8 << 20
)

// A change is old at a position become ins.
type change struct {
	at       int
	old, ins []rune
}

type step struct {
	changes    []change
	before     int // cursor
	after      int
	wasLiteral bool
	nowLiteral bool
	kind       doing
	counts     bool // also without changes: a command of vim that changed nothing
}

// void: undoing it would be nothing.
func (s step) void() bool { return len(s.changes) == 0 && !s.counts }

type undo struct {
	done, undone []step
	open         bool // the last of done takes more changes
	runes        int  // in all changes of done
	changes      int  // ever made, undone or made again
}

// step begins a command that changes text. Commands that belong together share
// one step.
func (e *Editor) step(kind doing) {
	u := &e.undo
	if e.vim != nil { // a command, or a visit to insert mode, is one step
		if !u.open || !e.vim.joined {
			u.open = false
			u.pending(kind, e)
			e.vim.joined = true
			if !e.vim.inserting() {
				u.done[len(u.done)-1].counts = true
				u.undone = nil
			}
		}
		return
	}
	if n := len(u.done); n > 0 && u.open {
		last := &u.done[n-1]
		if kind != doOther && last.kind == kind && last.after == e.at && !e.wordStart(kind) {
			return
		}
	}
	u.open = false
	u.pending(kind, e)
}

// pending makes the step that the next change goes to.
func (u *undo) pending(kind doing, e *Editor) {
	if n := len(u.done); n > 0 && u.done[n-1].void() {
		u.done = u.done[:n-1]
	}
	u.done = append(u.done, step{
		before: e.at, after: e.at, kind: kind, wasLiteral: e.literal, nowLiteral: e.literal,
	})
	u.open = true
}

// wordStart: a new word begins at the cursor, which typing undoes on its own.
func (e *Editor) wordStart(kind doing) bool {
	return kind == doType && e.at > 0 && unicode.IsSpace(e.t.r[e.at-1]) && !(e.at > 1 && unicode.IsSpace(e.t.r[e.at-2]))
}

// change replaces text and keeps what was there for undo.
func (e *Editor) change(from, to int, ins []rune) {
	if from == to && len(ins) == 0 {
		return
	}
	u := &e.undo
	if len(u.done) == 0 || !u.open {
		u.pending(doOther, e)
	}
	s := &u.done[len(u.done)-1]
	if !s.join(from, to, ins) {
		s.changes = append(s.changes, change{from, slices.Clone(e.t.r[from:to]), slices.Clone(ins)})
	}
	u.runes += to - from + len(ins)
	u.undone = nil
	u.changes++
	e.replace(from, to, ins)
	if e.t.len() == 0 {
		e.literal = false
	}
	u.trim()
}

// replace puts ins in the place of a part of the text.
func (e *Editor) replace(from, to int, ins []rune) {
	e.t.replace(from, to, ins)
	if e.vim != nil {
		e.vim.shifted(from, to, len(ins))
	}
}

// join adds typed characters to the change before them.
func (s *step) join(from, to int, ins []rune) bool {
	if from != to || len(s.changes) == 0 {
		return false
	}
	c := &s.changes[len(s.changes)-1]
	if c.at+len(c.ins) != from {
		return false
	}
	c.ins = append(c.ins, ins...)
	return true
}

func (u *undo) trim() {
	for len(u.done) > 1 && (len(u.done) > maxSteps || u.runes > maxStepRunes) {
		for _, c := range u.done[0].changes {
			u.runes -= len(c.old) + len(c.ins)
		}
		u.done = slices.Delete(u.done, 0, 1)
	}
}

// close ends the step: the next command begins another.
func (e *Editor) closeStep() {
	if n := len(e.undo.done); n > 0 && e.undo.open {
		s := &e.undo.done[n-1]
		s.after, s.nowLiteral = e.at, e.literal
	}
}

// Undo takes the last step back.
func (e *Editor) Undo() Result {
	u := &e.undo
	for n := len(u.done); n > 0 && u.done[n-1].void(); n = len(u.done) {
		u.done = u.done[:n-1]
	}
	u.open = false
	if len(u.done) == 0 {
		return Ignored
	}
	s := u.done[len(u.done)-1]
	u.done = u.done[:len(u.done)-1]
	u.changes++
	for i := len(s.changes) - 1; i >= 0; i-- {
		c := s.changes[i]
		e.replace(c.at, c.at+len(c.ins), c.old)
		u.runes -= len(c.old) + len(c.ins)
	}
	u.undone = append(u.undone, s)
	e.at, e.anchor, e.goal, e.literal = s.before, -1, -1, s.wasLiteral
	return Changed
}

// Redo makes the step again that was undone last.
func (e *Editor) Redo() Result {
	u := &e.undo
	if len(u.undone) == 0 {
		return Ignored
	}
	s := u.undone[len(u.undone)-1]
	u.undone = u.undone[:len(u.undone)-1]
	u.changes++
	for _, c := range s.changes {
		e.replace(c.at, c.at+len(c.old), c.ins)
		u.runes += len(c.old) + len(c.ins)
	}
	if n := len(u.done); n > 0 && u.done[n-1].void() {
		u.done = u.done[:n-1]
	}
	u.done = append(u.done, s)
	u.open = false
	e.at, e.anchor, e.goal, e.literal = s.after, -1, -1, s.nowLiteral
	return Changed
}
