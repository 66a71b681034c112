package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/pick"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A menu lets a person choose one of several things by typing a few letters of
// it.
type menu struct {
	heading string
	about   string                                     // a line or two above the choices
	above   func(p paper, width, rows int) []draw.Line // what the choice is about, in at most rows lines; nil: nothing
	off     reading                                    // of what is above
	careful bool                                       // it comes by itself, perhaps while somebody types
	yields  bool                                       // so does this one, and what is typed takes its place
	digit   keymap.Key                                 // the one that has just marked a choice in one of these; it may begin a prompt
	was     int                                        // what was marked before
	all     []Choice
	found   []found
	at      int // of found
	top     int
	typed0  *edit.Editor   // what was typed to find something
	fixed   bool           // nothing is searched: letters do nothing
	slash   bool           // a "/" begins the search, as typing does, and is no part of it
	context keymap.Context // asked before that of menus; "": none
	loading bool
	place   rank
	answers string // the call that asked, "" where nobody waits
	hint    string
	none    string                               // why there are no choices, and what to do
	sample  func(p paper, width int) []draw.Line // below the choices, when there is room; nil: nothing
	wrong   string                               // with what was tried
	field   *question                            // a text that is asked for now, in the place of the search

	chosen  func(m *Model, c Choice) []effect
	marked  func(m *Model, c Choice) []effect                // another line is marked; nil: nothing
	sought  func(m *Model) []effect                          // other letters were typed to find something; nil: nothing
	dropped func(m *Model) []effect                          // closed without a choice; nil: nothing
	more    func(m *Model, a keymap.Action) ([]effect, bool) // actions of this menu alone; nil: it has none
	letter  func(m *Model, k keymap.Key) ([]effect, bool)    // keys of this menu alone that type; nil: it has none
	words   []plainWord                                      // what lines can be beside choices, in plain mode
}

// A question is a line of text that a menu asks for.
type question struct {
	label string
	e     *edit.Editor
	done  func(m *Model, text string) []effect
}

// ask has a person write a text; Esc leaves it.
func (d *menu) ask(m *Model, label, text string, done func(*Model, string) []effect) {
	d.wrong, d.field = "", &question{label, field(m, text), done}
}

// now is the marked choice.
func (d *menu) now() (Choice, bool) {
	if d.at < len(d.found) {
		return d.found[d.at].Choice, true
	}
	return Choice{}, false
}

// found is a choice that matched, and where.
type found struct {
	Choice
	at []int
}

func newMenu(m *Model, heading string, all []Choice, chosen func(*Model, Choice) []effect) *menu {
	d := &menu{heading: heading, chosen: chosen, place: rankMenu, typed0: field(m, "")}
	d.set(all)
	return d
}

// set gives the choices, and marks the one that is in force.
func (d *menu) set(all []Choice) {
	d.all = all
	d.find()
	d.at = max(0, slices.IndexFunc(d.found, func(f found) bool { return f.Now }))
}

// find keeps the choices that match, the best first.
func (d *menu) find() {
	q := pick.NewQuery(d.typed0.Text())
	d.found, d.at, d.top = nil, 0, 0
	type rated struct {
		found
		score int
	}
	var hits, loose []rated
	typed := strings.ToLower(strings.TrimSpace(d.typed0.Text()))
	for _, c := range d.all {
		if q.Empty() {
			d.found = append(d.found, found{Choice: c})
			continue
		}
		words := c.Name + " " + c.About + " " + c.Find
		score, at, ok := q.Match(c.Name)
		if !ok {
			if score, _, ok = q.Match(words); !ok {
				continue
			}
			at = nil
		}
		hit := rated{found{c, at}, score}
		switch {
		case strings.ToLower(c.Name) == typed || slices.Contains(c.Also, typed):
			hit.score += 1 << 20
			hits = append(hits, hit)
		case hasWords(strings.ToLower(words), typed):
			hits = append(hits, hit)
		default:
			loose = append(loose, hit)
		}
	}
	if len(hits) == 0 { // letters that are anywhere count where no word does
		hits = loose
	}
	order.By(hits, func(a, b rated) int { return cmp.Compare(b.score, a.score) })
	for _, h := range hits {
		d.found = append(d.found, h.found)
	}
}

// hasWords reports whether each word that was typed stands in s.
func hasWords(s, typed string) bool {
	return !slices.ContainsFunc(strings.Fields(typed), func(w string) bool { return !strings.Contains(s, w) })
}

func (d *menu) asks() bool { return d.careful }
func (d *menu) rank() rank { return d.place }

func (d *menu) in() []keymap.Context {
	if d.field != nil {
		return []keymap.Context{keymap.Edit}
	}
	if d.context != "" {
		return []keymap.Context{d.context, keymap.Select, keymap.Edit}
	}
	return []keymap.Context{keymap.Select, keymap.Edit}
}

func (d *menu) view(m *Model, p paper, rows int) ([]draw.Line, term.Cursor) {
	if rows < tightRows && !p.Plain {
		return d.tight(m, p, rows)
	}
	cols := min(m.screen.size.Cols, story.TextCols)
	inside := clampLow(cols - 4)
	var lines []draw.Line
	cur := term.Cursor{Hidden: true}
	if d.about != "" {
		lines = append(lines, draw.WrapAll(draw.Text(d.about, draw.Style{Role: draw.Quiet}), inside)...)
	}
	if d.above != nil {
		lines = append(lines, d.above(p, inside, rows-len(lines)-len(d.found)-3)...)
	}
	if len(lines) > 0 {
		lines = append(lines, nil)
	}
	if d.wrong != "" {
		lines = append(lines, p.failed(d.wrong, inside)...)
	}
	if p.Plain {
		return d.printed(m, p, lines, inside), cur
	}
	if d.field != nil {
		l, col := p.fieldLine(draw.L(draw.S(d.field.label+": ", draw.Accent)), d.field.e, inside)
		cur = term.Cursor{Row: len(lines) + 1, Col: col + 2}
		lines = append(lines, l)
	} else if !d.fixed {
		l, col := p.fieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), d.typed0, inside)
		cur = term.Cursor{Row: len(lines) + 1, Col: col + 2}
		lines = append(lines, l)
	}
	var sample []draw.Line
	if d.sample != nil {
		if sample = d.sample(p, inside); len(sample) > 0 {
			sample = append([]draw.Line{nil}, sample...)
		}
		if rows-len(lines)-2-len(sample) < min(len(d.found), 4) {
			sample = nil
		}
	}
	room := max(min(rows-len(lines)-2-len(sample), 16), 1)
	d.top = max(min(d.top, d.at), d.at-room+1)
	for i := d.top; i < min(len(d.found), d.top+room); i++ {
		lines = append(lines, p.choice(d.found[i], i, i == d.at, d.fixed, inside))
	}
	switch {
	case d.loading:
		lines = append(lines, draw.L(draw.S("  looking …", draw.Quiet)))
	case len(d.all) == 0 && d.none != "":
		lines = append(lines, draw.WrapAll(draw.Text(d.none, draw.Style{Role: draw.Quiet}), inside)...)
	case len(d.found) == 0:
		lines = append(lines, draw.L(draw.S("  nothing matches", draw.Quiet)))
	}
	lines = append(lines, sample...)
	hint := d.hint
	if hint == "" && d.answers == "" && d.field == nil {
		hint = "Enter takes it, Esc closes"
	}
	if n := len(d.found); n > room {
		hint = fmt.Sprintf("%d of %d", d.at+1, n) + sep(p, hint)
	}
	return p.boxed(lines, draw.Border, cols, draw.L(draw.Span{Text: draw.String(d.heading), Style: draw.Style{Role: draw.Border, Attr: draw.Bold}}), m.hinted(d, hint)), cur
}

func sep(p paper, s string) string {
	if s == "" {
		return ""
	}
	return " " + p.Sign(draw.Middot) + " " + s
}

// lead is what stands before answer i, and how it looks.
func (p paper) lead(i int, marked bool) (draw.Span, draw.Role) {
	switch {
	case p.Plain:
		return draw.S(fmt.Sprintf("%d ", i+1), draw.Plain), draw.Plain
	case marked:
		return p.Mark(draw.Cursor, draw.Accent), draw.Selected
	}
	return draw.S("  ", draw.Plain), draw.Plain
}

// numbered is what stands before answer i where its digit takes it.
func (p paper) numbered(i int, marked bool) (draw.Line, draw.Role) {
	lead, role := p.lead(i, marked)
	l := draw.L(lead)
	switch {
	case p.Plain: // it is there
	case i < 9:
		l = append(l, draw.S(fmt.Sprintf("%d ", i+1), draw.Quiet))
	default: // in line with the others
		l = append(l, draw.S("  ", draw.Plain))
	}
	return l, role
}

// narrowMenu is the width below which a choice keeps its name before what is known of it.
const narrowMenu = 60

// narrowed leaves out facts of a choice, the last first, and then the provider before a
// model's name, as far as the name needs their room.
func (p paper) narrowed(f found, room int) found {
	if f.Now {
		room -= 2
	}
	for f.Right != "" && draw.Width(f.Name)+1+draw.Width(f.Right) > room {
		f.Right = f.Right[:max(0, strings.LastIndex(f.Right, "  "))]
	}
	if i := strings.IndexByte(f.Name, '/'); i > 1 && draw.Width(f.Name) > room && !strings.ContainsAny(f.Name, " (") {
		f.Name, f.at = p.Sign(draw.Ellipsis)+f.Name[i:], nil
	}
	return f
}

// choice draws one line of a menu. With digits each has the one that takes it.
func (p paper) choice(f found, i int, marked, digits bool, width int) draw.Line {
	lead, role := p.lead(i, marked)
	l := draw.L(lead)
	if digits {
		l, role = p.numbered(i, marked)
	}
	if f.Lead != "" {
		l = append(l, draw.S(f.Lead, draw.Quiet))
	}
	if width < narrowMenu {
		f = p.narrowed(f, width-l.Width())
	}
	name, from := draw.String(f.Name), 0
	if name == f.Name {
		for _, i := range f.at {
			if i < from || i >= len(name) {
				continue
			}
			if i > from {
				l = append(l, draw.Span{Text: name[from:i], Style: draw.Style{Role: role}})
			}
			end := i + 1
			for end < len(name) && name[end]&0xc0 == 0x80 {
				end++
			}
			l = append(l, draw.Span{Text: name[i:end], Style: draw.Style{Role: role, Attr: draw.Underline}})
			from = end
		}
	}
	l = append(l, draw.Span{Text: name[from:], Style: draw.Style{Role: role}})
	if f.Now {
		l = append(l, draw.S(" "+p.Sign(draw.Check), draw.OK))
	}
	if f.About != "" {
		l = append(l, draw.S("  "+f.About, draw.Quiet))
	}
	if f.Right == "" {
		return l.Truncate(width, p.O)
	}
	return draw.Beside(l, draw.L(draw.S(f.Right, draw.Quiet)), width, p.O)
}

func (d *menu) act(m *Model, a keymap.Action) ([]effect, bool) {
	if d.field != nil {
		if a.IsEdit() {
			d.field.e.Do(a)
			return nil, true
		}
		return nil, false
	}
	if d.careful || d.yields {
		switch types := m.pressed.Types(); {
		case types: // a letter has no other meaning here
			return nil, false
		case a.IsEdit() && a != keymap.EditUp && a != keymap.EditDown && !m.box.Empty():
			m.hold()
			return m.tooSoon(m.pressed), true
		}
		d.digit = keymap.Key{}
	}
	switch a {
	case keymap.SelectNext, keymap.EditDown, keymap.HistorySearchNext:
		if d.above != nil && d.at+1 >= len(d.found) { // nothing else is below
			d.off.at++
		}
		return d.mark(m, d.at+1), true
	case keymap.SelectPrev, keymap.EditUp, keymap.HistorySearchPrev:
		if d.above != nil && d.at == 0 {
			d.off.at = clampLow(d.off.at - 1)
		}
		return d.mark(m, d.at-1), true
	case keymap.SelectPageDn, keymap.SelectPageUp:
		if d.above != nil { // it is longer than the screen, more often than the choices are
			if a == keymap.SelectPageUp {
				d.off.page(-1)
			} else {
				d.off.page(1)
			}
			return nil, true
		}
		if a == keymap.SelectPageUp {
			return d.mark(m, d.at-10), true
		}
		return d.mark(m, d.at+10), true
	case keymap.EditLineStart, keymap.EditLineEnd: // Home and End
		if d.above != nil && d.off.key(m.pressed) {
			return nil, true
		}
	case keymap.SelectFirst:
		return d.mark(m, 0), true
	case keymap.SelectLast:
		return d.mark(m, len(d.found)-1), true
	case keymap.SelectCancel, keymap.HistorySearchCancel, keymap.Interrupt:
		m.close(d)
		if d.dropped != nil {
			return d.dropped(m), true
		}
		return nil, true
	case keymap.HistorySearchAccept:
		if m.pressed.Name == "right" && d.typed0.Do(keymap.EditRight) != edit.Ignored {
			return nil, true
		}
		return d.accept(m), true
	case keymap.SelectAccept, keymap.HistorySearchExecute:
		return d.accept(m), true
	}
	if d.more != nil {
		if out, done := d.more(m, a); done {
			return out, true
		}
	}
	if a.IsEdit() && !d.fixed {
		if d.typed0.Do(a) == edit.Changed {
			d.find()
			return d.mark(m, 0), true
		}
		return nil, true
	}
	return nil, false
}

// accept takes what is marked.
func (d *menu) accept(m *Model) []effect {
	if d.at >= len(d.found) {
		return nil
	}
	m.close(d)
	return d.chosen(m, d.found[d.at].Choice)
}

func (d *menu) mark(m *Model, i int) []effect {
	d.at = max(0, min(i, len(d.found)-1))
	if d.marked != nil && d.at < len(d.found) {
		return d.marked(m, d.found[d.at].Choice)
	}
	return nil
}

// answer takes a key for the text that is asked for.
func (d *menu) answer(m *Model, k keymap.Key) []effect {
	f := d.field
	switch k.Name {
	case "enter":
		d.field = nil
		return f.done(m, strings.TrimSpace(f.e.Text()))
	case "esc":
		d.field = nil
	default:
		f.e.Key(k)
	}
	return nil
}

func (d *menu) typed(m *Model, k keymap.Key) []effect {
	if d.field != nil {
		return d.answer(m, k)
	}
	if d.slash && k.Text == "/" && d.typed0.Empty() {
		return nil
	}
	if d.letter != nil {
		if out, done := d.letter(m, k); done {
			return out
		}
	}
	switch i := digit(k); {
	case !d.fixed:
	case d.careful || d.yields:
		if k.Types() {
			return d.prompted(m, k)
		}
		return nil
	case i >= 0 && i < len(d.found):
		d.at = i
		return d.accept(m)
	default:
		return nil
	}
	if d.typed0.Key(k) == edit.Changed {
		d.find()
		out := d.mark(m, 0)
		if d.sought != nil {
			out = append(out, d.sought(m)...)
		}
		return out
	}
	return nil
}

func (d *menu) paste(m *Model, text string) bool {
	if d.field != nil {
		d.field.e.Paste(text)
		return true
	}
	if d.fixed {
		return false
	}
	d.typed0.Paste(text)
	d.find()
	return true
}
