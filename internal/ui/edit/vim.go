package edit

import (
	"slices"

	"github.com/adze-agent/adze/internal/ui/keymap"
)

// A VimMode is one of vim's modes.
type VimMode uint8

// The modes.
const (
	VimOff VimMode = iota
	VimInsert
	VimReplace
	VimNormal
	VimVisual
	VimVisualLine
)

func (m VimMode) String() string {
	switch m {
	case VimOff:
		return ""
	case VimInsert:
		return "INSERT"
	case VimReplace:
		return "REPLACE"
	case VimNormal:
		return "NORMAL"
	case VimVisual:
		return "VISUAL"
	case VimVisualLine:
		return "V-LINE"
	}
	return ""
}

// vim is the state of vim mode.
type vim struct {
	mode  VimMode
	start int // where a visual selection began
	goal  int // the column of j and k, -1 when unset

	// The command that is being typed.
	count   int  // before the operator, 0 when none
	count2  int  // after it
	op      rune // d c y > <, and u U ~ of gu gU g~; noOps do nothing
	reg     rune // after ", 0 when none
	wait    rune // the key whose second part is missing: " f F t T r g i a, and those of awaiting
	found   found
	regs    map[rune]register
	joined  bool // changes go to one step of undo
	rec     []input
	dot     repeat
	sel     repeat // the selection that the command works on
	replays bool
	failed  bool // the last command could not do what it says

	one     bool // what is deleted goes to register 1
	inserts int  // how often what is typed now is to be inserted
	newline bool
	from    int      // where in rec the insertion starts
	overs   [][]rune // in replace mode: what stood where each character was typed

	marks map[rune]spot
	seen  selected // what is selected now, as the last key left it
	last  selected // and what was selected before
	tapes bool     // q: keys would be recorded, if there were macros
}

// found is the last f, F, t or T.
type found struct {
	r    rune
	back bool
	till bool
}

// An input is a key, text, a paste or a command, as "." has to know it.
type input struct {
	key    keymap.Key
	text   string
	paste  string
	action keymap.Action
}

// A repeat is the last change.
type repeat struct {
	in     []input
	count  int
	visual bool
	lines  int // of the selection that it worked on, less one
	cols   int // characters in the last line, less one
	whole  bool
}

// SetVim turns vim mode on, in insert mode, or off.
func (e *Editor) SetVim(on bool) {
	switch {
	case on && e.vim == nil:
		e.vim = &vim{mode: VimInsert, goal: -1, regs: map[rune]register{}, inserts: 1}
	case !on:
		e.vim = nil
	}
}

// VimMode is the mode that vim mode is in.
func (e *Editor) VimMode() VimMode {
	if e.vim == nil {
		return VimOff
	}
	return e.vim.mode
}

// VimPending is the beginning of a command, for the status line ("2d").
func (e *Editor) VimPending() string {
	v := e.vim
	if v == nil || v.inserting() || !v.pending() {
		return ""
	}
	var out []rune
	if v.reg != 0 {
		out = append(out, '"', v.reg)
	}
	out = append(out, digits(v.count)...)
	switch v.op {
	case 0:
	case 'u', 'U', '~':
		out = append(out, 'g', v.op)
	default:
		out = append(out, v.op)
	}
	out = append(out, digits(v.count2)...)
	if v.wait != 0 {
		out = append(out, v.wait)
	}
	return string(out)
}

func digits(n int) (out []rune) {
	for ; n > 0; n /= 10 {
		out = append([]rune{rune('0' + n%10)}, out...)
	}
	return out
}

func (v *vim) visual() bool    { return v.mode == VimVisual || v.mode == VimVisualLine }
func (v *vim) inserting() bool { return v.mode == VimInsert || v.mode == VimReplace }

func (v *vim) pending() bool {
	return v.count > 0 || v.op != 0 || v.reg != 0 || v.wait != 0
}

// Grabs reports whether vim mode takes a key before any binding does. Esc is
// grabbed where it leaves a mode or a command.
func (e *Editor) Grabs(k keymap.Key) bool {
	v := e.vim
	if v == nil {
		return false
	}
	esc := k.Same(keymap.Key{Name: "esc"}) || k.Same(keymap.Key{Name: "[", Mod: keymap.Ctrl})
	switch {
	case v.inserting():
		return esc
	case esc:
		return v.visual() || v.pending()
	case k.Types() || k.Name == "enter" && k.Mod == 0 && v.wait != 0:
		return true
	case k.Mod == keymap.Ctrl:
		return k.Name == "r"
	case k.Mod == 0:
		_, ok := asRune[k.Name]
		return ok
	}
	return false
}

// asRune are keys that mean what a letter means.
var asRune = map[string]rune{"left": 'h', "right": 'l', "up": 'k', "down": 'j', "home": '0', "end": '$', "backspace": 'h', "delete": 'x'}

// key takes a key that Grabs wants.
func (v *vim) key(e *Editor, k keymap.Key) Result {
	before := e.vimState()
	v.failed = false
	visual := v.visual()
	if visual {
		v.seen = selected{v.mode, spot(v.start), spot(e.at)}
	}
	e.goal, e.anchor = -1, -1
	v.record(input{key: k})
	switch {
	case v.inserting():
		v.leaveInsert(e)
	case k.Name == "esc" || k.Name == "[" && k.Mod == keymap.Ctrl:
		v.escape()
	case k.Mod == keymap.Ctrl: // r
		v.times(func() bool { return v.redo(e) })
		v.finish(false)
	default:
		v.command(e, runeOf(k))
	}
	if visual && !v.visual() {
		v.last = v.seen
	}
	if !v.inserting() {
		v.clamp(e)
	}
	return before.result(e)
}

func runeOf(k keymap.Key) rune {
	if r, ok := asRune[k.Name]; ok && !k.Types() {
		return r
	}
	switch k.Name {
	case "space":
		return ' '
	case "enter":
		return '\n'
	}
	return []rune(k.Text)[0]
}

// vimState is what a key may have changed.
type vimState struct {
	at, changes int
	mode        VimMode
	pending     bool
}

func (e *Editor) vimState() vimState {
	return vimState{e.at, e.undo.changes, e.vim.mode, e.vim.pending()}
}

func (s vimState) result(e *Editor) Result {
	now := e.vimState()
	switch {
	case now.changes != s.changes:
		return Changed
	case now != s || now.pending:
		return Moved
	}
	return Ignored
}

// redo leaves the cursor where the text changed.
func (v *vim) redo(e *Editor) bool {
	if e.Redo() != Changed {
		return false
	}
	last := e.undo.done[len(e.undo.done)-1]
	if len(last.changes) == 0 {
		return true
	}
	e.at = e.t.firstNonBlank(min(last.changes[0].at, e.t.len()))
	return true
}

func (v *vim) times(f func() bool) {
	for n := v.n(); n > 0 && f(); n-- {
	}
}

// n is the count of the command, at least 1.
func (v *vim) n() int { return min(max(v.count, 1)*max(v.count2, 1), maxCount) }

// maxCount bounds counts.
const maxCount = 9999

// escape drops what is pending, or leaves visual mode.
func (v *vim) escape() {
	if !v.pending() && v.visual() {
		v.mode = VimNormal
	}
	v.finish(false)
}

// finish ends a command; a change can be repeated from now on.
func (v *vim) finish(changed bool) {
	if changed && !v.replays {
		v.dot = v.sel
		v.dot.in = slices.Clone(v.rec)
		if v.count > 0 || v.count2 > 0 {
			v.dot.count = v.n()
		}
	}
	v.count, v.count2, v.op, v.reg, v.wait = 0, 0, 0, 0, 0
	v.joined, v.one = false, false
	v.sel = repeat{}
	if !v.replays {
		v.rec = v.rec[:0]
	}
}

// fail ends a command that could do nothing.
func (v *vim) fail() {
	v.finish(false)
	v.failed = true
}

func (v *vim) record(in input) {
	if !v.replays {
		v.rec = append(v.rec, in)
	}
}

// unrecord takes the last key back: counts and registers are kept apart.
func (v *vim) unrecord() {
	if !v.replays && len(v.rec) > 0 {
		v.rec = v.rec[:len(v.rec)-1]
	}
}

// clamp keeps the cursor on a character.
func (v *vim) clamp(e *Editor) {
	e.at = max(0, min(e.at, e.t.len()))
	if v.visual() {
		v.start = max(0, min(v.start, e.t.len()))
		return
	}
	if last := e.t.lastOf(e.at); e.at > last {
		e.at = last
	}
}

// insert goes to insert mode; what is typed is inserted n times.
func (v *vim) insert(e *Editor, at, n int, newline bool) {
	v.mode = VimInsert
	e.at = at
	v.inserts, v.newline, v.from = n, newline, len(v.rec)
	v.overs = nil
}

// leaveInsert is Esc in insert mode.
func (v *vim) leaveInsert(e *Editor) {
	if !v.replays && v.from <= len(v.rec) && v.inserts > 1 {
		typed := slices.Clone(v.rec[v.from : len(v.rec)-1])
		v.again(e, typed, v.inserts-1)
	}
	v.mode = VimNormal
	if from, _ := e.t.bounds(e.at); e.at > from {
		e.at = e.t.prev(e.at)
	}
	v.finish(true)
	v.inserts, v.goal = 1, -1
}

// again inserts what was typed n more times.
func (v *vim) again(e *Editor, typed []input, n int) {
	was := v.replays
	v.replays = true
	for ; n > 0 && e.t.len() < maxGrown; n-- {
		if v.newline {
			e.step(doOther)
			e.insert([]rune{'\n'})
		}
		v.play(e, typed)
	}
	v.replays = was
}

// maxGrown bounds what a count can make of a text, in characters.
const maxGrown = 4 << 20

func (v *vim) play(e *Editor, list []input) {
	from := -1 // where the text of a visit to insert mode begins
	for i, in := range list {
		typing := v.inserting()
		if typing && from >= 0 && v.inserts > 1 && in.key.Name != "" { // Esc
			v.again(e, list[from:i], v.inserts-1)
		}
		switch {
		case in.text != "":
			e.Type(in.text)
		case in.paste != "":
			e.Paste(in.paste)
		case in.action != "":
			e.Do(in.action)
		default:
			if v.key(e, in.key); v.failed {
				return
			}
		}
		if !typing && v.inserting() {
			from = i + 1
		}
	}
}

// repeatLast is ".".
func (v *vim) repeatLast(e *Editor) {
	d := v.dot
	if v.count > 0 {
		d.count = v.count
		v.dot.count = v.count
	}
	v.finish(false)
	if len(d.in) == 0 || v.replays {
		return
	}
	v.replays = true
	v.rec = v.rec[:0]
	v.count = d.count
	if d.visual {
		v.count = 0
		v.reselect(e, d)
	}
	in := d.in
	n := v.inserting
	v.play(e, in)
	if n() { // the last change was left with a click or a submit
		v.mode = VimNormal
	}
	v.replays = false
	v.finish(false)
}

// reselect makes a selection as large as the one that the last change worked on.
func (v *vim) reselect(e *Editor, d repeat) {
	v.mode = VimVisual
	if d.whole {
		v.mode = VimVisualLine
	}
	v.start = e.at
	i := min(e.t.lineOf(e.at)+d.lines, len(e.t.lines)-1)
	at := e.t.lines[i].start
	if d.lines == 0 {
		at = e.at
	}
	for n := d.cols; n > 0 && !e.t.eol(e.t.next(at)); n-- {
		at = e.t.next(at)
	}
	e.at = at
}

// span is the visual selection.
func (v *vim) span(e *Editor) (from, to int) {
	from, to = min(v.start, e.at), max(v.start, e.at)
	if v.mode == VimVisualLine {
		from, _ = e.t.bounds(from)
		_, to = e.t.bounds(to)
		return from, min(to+1, e.t.len())
	}
	return from, e.t.next(to)
}

// Hooks of the editor.

// forPaste: a paste ends what is pending, too.
func (v *vim) forPaste() {
	if v.visual() {
		v.mode = VimNormal
	}
	v.finish(false)
}

func (v *vim) reset() {
	v.count, v.count2, v.op, v.reg, v.wait, v.joined = 0, 0, 0, 0, 0, false
	v.mode = VimInsert
	v.rec, v.from, v.inserts, v.goal = nil, 0, 1, -1
	v.overs, v.marks, v.seen, v.last, v.tapes = nil, nil, selected{}, selected{}, false
}

// submitted: the next prompt starts in insert mode.
func (v *vim) submitted() { v.reset() }

// interrupted: a command that is no vim key ends what is pending.
func (v *vim) interrupted() {
	v.forPaste()
	v.goal = -1
}

func (v *vim) typed(s string)            { v.record(input{text: s}) }
func (v *vim) pasted(s string)           { v.record(input{paste: s}) }
func (v *vim) done(action keymap.Action) { v.record(input{action: action}) }
