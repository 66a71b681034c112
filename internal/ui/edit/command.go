package edit

import (
	"slices"
	"unicode"

	"github.com/adze-agent/adze/internal/ui/keymap"
)

// Key takes one press: as vim's, as a key that is bound in Edit (or to what the
// editor does itself in Chat), or as text. Who has contexts and chords of its
// own asks Grabs, its Map, and comes here when neither knows the key.
func (e *Editor) Key(k keymap.Key) Result {
	if e.Grabs(k) {
		defer e.closeStep()
		return e.vim.key(e, k)
	}
	for _, c := range []keymap.Context{keymap.Chat, keymap.Edit} {
		if a, ok := e.o.Keys.Lookup(c, k); ok {
			if r := e.Do(a); r != Ignored {
				return r
			}
		}
	}
	if k.Types() {
		return e.Type(k.Text)
	}
	return Ignored
}

// Type types text: one key's worth.
func (e *Editor) Type(s string) Result {
	if s = e.fit(s); s == "" {
		return Ignored
	}
	if s == "/" {
		e.stepAside()
	}
	if e.vim != nil {
		e.vim.typed(s)
	}
	kind := doType
	if e.anchor >= 0 && e.anchor != e.at {
		kind = doOther
	}
	e.step(kind)
	defer e.closeStep()
	if e.vim != nil && e.vim.mode == VimReplace {
		e.vim.overtype(e, runes(s))
		return Changed
	}
	e.insert(runes(s))
	return Changed
}

// Do runs a command: those of keymap's Edit context, and Submit, Newline,
// Stash, UnfoldPaste and the history's. Any other is Ignored.
func (e *Editor) Do(a keymap.Action) Result {
	defer e.comeBack()
	defer e.closeStep()
	if e.vim != nil {
		if e.vim.inserting() {
			e.vim.done(a)
		} else if a != keymap.Submit {
			e.vim.interrupted()
			defer e.vim.clamp(e)
		}
	}
	if a != keymap.EditYank && a != keymap.EditYankPop {
		e.kills.yanked = false
	}
	if !cuts(a) {
		e.kills.joins = false
	}
	if e.vim != nil && e.vim.mode == VimReplace {
		if a == keymap.EditBackspace {
			return e.vim.untype(e)
		}
		e.vim.overs = nil // the cursor goes elsewhere, or something else changes
	}
	if r, ok := e.move(a); ok {
		return r
	}
	if r, ok := e.erase(a); ok {
		return r
	}
	switch a {
	case keymap.Submit:
		return e.enter()
	case keymap.Newline:
		if e.o.SingleRow {
			return Ignored
		}
		return e.Insert("\n")
	case keymap.Stash:
		return e.ToggleStash()
	case keymap.UnfoldPaste:
		return e.Unfold()
	case keymap.HistoryOlder:
		return e.Older()
	case keymap.HistoryNewer:
		return e.Newer()
	case keymap.EditUndo:
		return e.Undo()
	case keymap.EditRedo:
		return e.Redo()
	case keymap.EditYank:
		return e.yank()
	case keymap.EditYankPop:
		return e.yankPop()
	case keymap.EditTranspose:
		return e.transpose()
	case keymap.EditUpperWord:
		return e.wordCase(func(_ int, r rune) rune { return unicode.ToUpper(r) })
	case keymap.EditLowerWord:
		return e.wordCase(func(_ int, r rune) rune { return unicode.ToLower(r) })
	case keymap.EditCapitalWord:
		return e.wordCase(func(i int, r rune) rune {
			if i == 0 {
				return unicode.ToTitle(r)
			}
			return unicode.ToLower(r)
		})
	}
	return Ignored
}

// enter submits, or breaks the line when a backslash stands before the cursor.
func (e *Editor) enter() Result {
	if !e.o.SingleRow && e.at > 0 && e.t.r[e.at-1] == '\\' && e.at == e.t.lineEnd(e.t.lineOf(e.at)) {
		e.step(doOther)
		e.change(e.at-1, e.at, []rune{'\n'})
		e.anchor, e.goal = -1, -1
		return Changed
	}
	return Submitted
}

// selecting are the commands that move with the selection's end.
var selecting = map[keymap.Action]keymap.Action{
	keymap.EditSelectLeft:  keymap.EditLeft,
	keymap.EditSelectRight: keymap.EditRight,
	keymap.EditSelectUp:    keymap.EditUp,
	keymap.EditSelectDown:  keymap.EditDown,
	keymap.EditSelectWordL: keymap.EditWordLeft,
	keymap.EditSelectWordR: keymap.EditWordRight,
	keymap.EditSelectStart: keymap.EditLineStart,
	keymap.EditSelectEnd:   keymap.EditLineEnd,
}

// move runs a command that moves the cursor; false when a is none.
func (e *Editor) move(a keymap.Action) (Result, bool) {
	if a == keymap.EditSelectAll {
		e.anchor, e.at, e.goal = 0, e.t.len(), -1
		return Moved, true
	}
	base, selects := selecting[a]
	if !selects {
		base = a
	}
	switch base {
	case keymap.EditUp, keymap.EditDown:
		return e.vertical(base == keymap.EditUp, selects), true
	}
	to, ok := e.target(base, selects)
	if !ok {
		return Ignored, false
	}
	e.undo.open = false
	e.goal = -1
	return e.moveTo(to, selects), true
}

// target is where a horizontal command leads.
func (e *Editor) target(a keymap.Action, selects bool) (int, bool) {
	from, to, selected := e.selection()
	if selected && !selects {
		switch a {
		case keymap.EditLeft:
			return from, true
		case keymap.EditRight:
			return to, true
		}
	}
	switch a {
	case keymap.EditLeft:
		return e.t.prev(e.at), true
	case keymap.EditRight:
		return e.t.next(e.at), true
	case keymap.EditLineStart:
		return e.lineStart(), true
	case keymap.EditLineEnd:
		_, end := e.t.bounds(e.at)
		return end, true
	case keymap.EditTextStart:
		return 0, true
	case keymap.EditTextEnd:
		return e.t.len(), true
	case keymap.EditWordLeft:
		return e.wordLeft(), true
	case keymap.EditWordRight:
		return e.wordRight(), true
	}
	return 0, false
}

func (e *Editor) lineStart() int {
	start, _ := e.t.bounds(e.at)
	return start
}

func (e *Editor) moveTo(to int, selects bool) Result {
	was, had := e.at, e.anchor
	switch {
	case selects && e.anchor < 0:
		e.anchor = e.at
	case !selects:
		e.anchor = -1
	}
	e.at = to
	if e.at == was && e.anchor == had {
		return Ignored
	}
	return Moved
}

// vertical moves by a row. In the first and the last row ↑ and ↓ lead through
// the history.
func (e *Editor) vertical(up, selects bool) Result {
	e.undo.open = false
	w := e.width
	i := e.t.lineOf(e.at)
	k := e.t.row(i, e.at, w)
	if e.goal < 0 {
		e.goal = e.t.column(i, k, e.at, w)
	}
	switch {
	case up && k > 0:
		k--
	case up && i > 0:
		i--
		k = len(e.t.rows(i, w))
	case up:
		return e.edge(0, selects, e.Older)
	case k < len(e.t.rows(i, w)):
		k++
	case i+1 < len(e.t.lines):
		i, k = i+1, 0
	default:
		return e.edge(e.t.len(), selects, e.Newer)
	}
	return e.moveTo(e.t.atColumn(i, k, e.goal, w), selects)
}

func (e *Editor) edge(to int, selects bool, past func() Result) Result {
	if !selects {
		if r := past(); r != Ignored {
			return r
		}
	}
	e.goal = -1
	return e.moveTo(to, selects)
}

// letters make a word for the commands on words; a chip is a word of its own.
func letter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || r == '_'
}

func (e *Editor) wordLeft() int {
	at := e.at
	for at > 0 && !letter(e.t.r[at-1]) && !isChip(e.t.r[at-1]) {
		at--
	}
	if at > 0 && isChip(e.t.r[at-1]) {
		return at - 1
	}
	for at > 0 && letter(e.t.r[at-1]) {
		at--
	}
	return e.t.snap(at)
}

func (e *Editor) wordRight() int {
	at, n := e.at, e.t.len()
	for at < n && !letter(e.t.r[at]) && !isChip(e.t.r[at]) {
		at++
	}
	if at < n && isChip(e.t.r[at]) {
		return at + 1
	}
	for at < n && letter(e.t.r[at]) {
		at++
	}
	if s := e.t.snap(at); s < at {
		return e.t.next(s)
	}
	return at
}

// blankLeft is the start of what stands between blanks left of the cursor.
func (e *Editor) blankLeft() int {
	at := e.at
	for at > 0 && unicode.IsSpace(e.t.r[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.t.r[at-1]) {
		at--
	}
	return e.t.snap(at)
}

// erase runs a command that takes text away; false when a is none.
func (e *Editor) erase(a keymap.Action) (Result, bool) {
	from, to := e.at, e.at
	start, end := e.t.bounds(e.at)
	kill, back := true, false
	switch a {
	case keymap.EditBackspace:
		from, kill = e.t.prev(e.at), false
	case keymap.EditDelete:
		to, kill = e.t.next(e.at), false
	case keymap.EditKillLineEnd:
		if to = end; to == e.at {
			to = e.t.next(e.at)
		}
	case keymap.EditKillLineStart:
		if from, back = start, true; from == e.at {
			from = e.t.prev(e.at)
		}
	case keymap.EditKillWordLeft:
		from, back = e.wordLeft(), true
	case keymap.EditKillSpaceLeft:
		from, back = e.blankLeft(), true
	case keymap.EditKillWordRight:
		to = e.wordRight()
	default:
		return Ignored, false
	}
	if f, t, ok := e.selection(); ok {
		from, to = f, t
	}
	e.anchor, e.goal = -1, -1
	if from == to {
		return Ignored, true
	}
	if kill {
		e.step(doOther)
		e.kills.add(e.t.r[from:to], back)
	} else {
		e.step(doErase)
	}
	e.change(from, to, nil)
	e.at = from
	return Changed, true
}

// transpose swaps the characters around the cursor, or the last two at a line's
// end.
func (e *Editor) transpose() Result {
	start, end := e.t.bounds(e.at)
	mid := e.at
	if mid == end {
		mid = e.t.prev(mid)
	}
	if mid <= start || mid >= end {
		return Ignored
	}
	a, b := e.t.prev(mid), e.t.next(mid)
	e.step(doOther)
	e.change(a, b, slices.Concat(e.t.r[mid:b], e.t.r[a:mid]))
	e.at, e.anchor, e.goal = b, -1, -1
	return Changed
}

func (e *Editor) wordCase(f func(i int, r rune) rune) Result {
	from := e.at
	for from < e.t.len() && !letter(e.t.r[from]) {
		from++
	}
	to := e.wordRight()
	if from >= to {
		return Ignored
	}
	out := slices.Clone(e.t.r[from:to])
	for i, r := range out {
		if !isChip(r) {
			out[i] = f(i, r)
		}
	}
	e.step(doOther)
	e.change(from, to, out)
	e.at, e.anchor, e.goal = to, -1, -1
	return Changed
}
