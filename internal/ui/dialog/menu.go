package dialog

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

// A Menu lets a person choose one of several things by typing a few letters of
// it.
type Menu struct {
	Heading string
	About   string                                     // a line or two above the choices
	Above   func(p Paper, width, rows int) []draw.Line // what the choice is about, in at most rows lines; nil: nothing
	Off     Reading                                    // of what is above
	Careful bool                                       // it comes by itself, perhaps while somebody types
	Yields  bool                                       // so does this one, and what is typed takes its place
	Fixed   bool                                       // nothing is searched: letters do nothing
	Slash   bool                                       // a "/" begins the search, as typing does, and is no part of it
	Deletes bool                                       // Delete takes what is marked, as Enter does
	Context keymap.Context                             // asked before that of menus; "": none
	Loading bool
	Rank    Rank
	Call    string // that asked, "" where nobody waits
	Hint    string
	None    string                               // why there are no choices, and what to do
	Sample  func(p Paper, width int) []draw.Line // below the choices, when there is room; nil: nothing
	Wrong   string                               // with what was tried
	Own     []keymap.Action                      // of this menu alone: see Own
	Letters string                               // keys of this menu alone that type: see Own
	Words   []Word                               // what lines can be beside choices

	all   []Choice
	found []Found
	at    int // of found
	top   int
	typed *edit.Editor // what was typed to find something
	field *question    // a text that is asked for now, in the place of the search
	digit keymap.Key   // the one that has just marked a choice of careful ones; it may begin a prompt
	was   int          // what was marked before
}

// A Word is what a line that begins with "/" is to a menu: see Said.
type Word struct {
	Word  string
	Args  string // what follows it, for people; with N first, the number of a choice
	About string
}

// A question is a line of text that a menu asks for.
type question struct {
	label string
	e     *edit.Editor
}

// Ask has a person write a text; Esc leaves it. See Wrote.
func (d *Menu) Ask(keys *keymap.Map, label, text string) {
	d.Wrong, d.field = "", &question{label, Field(keys, text)}
}

// Now is the marked choice.
func (d *Menu) Now() (Choice, bool) {
	if d.at < len(d.found) {
		return d.found[d.at].Choice, true
	}
	return Choice{}, false
}

// A Found is a choice that matched, and where.
type Found struct {
	Choice
	At []int
}

// NewMenu makes one of these choices.
func NewMenu(keys *keymap.Map, heading string, all []Choice) *Menu {
	d := &Menu{Heading: heading, Rank: RankMenu, typed: Field(keys, "")}
	d.Set(all)
	return d
}

// Set gives the choices, and marks the one that is in force.
func (d *Menu) Set(all []Choice) {
	d.all = all
	d.find()
	d.at = max(0, slices.IndexFunc(d.found, func(f Found) bool { return f.Choice.Now }))
}

// Mark marks a choice, the first one where it is not there.
func (d *Menu) Mark(id string) {
	d.at = max(0, slices.IndexFunc(d.found, func(f Found) bool { return f.ID == id }))
}

// Sought is what was typed to find something.
func (d *Menu) Sought() string { return strings.TrimSpace(d.typed.Text()) }

// find keeps the choices that match, the best first.
func (d *Menu) find() {
	q := pick.NewQuery(d.typed.Text())
	d.found, d.at, d.top = nil, 0, 0
	type rated struct {
		Found
		score int
	}
	var hits, loose []rated
	typed := strings.ToLower(strings.TrimSpace(d.typed.Text()))
	for _, c := range d.all {
		if q.Empty() {
			d.found = append(d.found, Found{Choice: c})
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
		hit := rated{Found{c, at}, score}
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
		d.found = append(d.found, h.Found)
	}
}

// hasWords reports whether each word that was typed stands in s.
func hasWords(s, typed string) bool {
	return !slices.ContainsFunc(strings.Fields(typed), func(w string) bool { return !strings.Contains(s, w) })
}

func (d *Menu) Kind() Kind { return Kind{d.Rank, d.Careful, d.Call} }

func (d *Menu) In() []keymap.Context {
	if d.field != nil {
		return []keymap.Context{keymap.Edit}
	}
	if d.Context != "" {
		return []keymap.Context{d.Context, keymap.Select, keymap.Edit}
	}
	return []keymap.Context{keymap.Select, keymap.Edit}
}

func (d *Menu) View(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	if rows < tightRows && !p.Plain {
		return d.tight(c, rows)
	}
	cols := min(c.O.Width, story.TextCols)
	inside := max(cols-4, 0)
	var lines []draw.Line
	cur := term.Cursor{Hidden: true}
	if d.About != "" {
		lines = append(lines, draw.WrapAll(draw.Text(d.About, draw.Style{Role: draw.Quiet}), inside)...)
	}
	if d.Above != nil {
		lines = append(lines, d.Above(p, inside, rows-len(lines)-len(d.found)-3)...)
	}
	if len(lines) > 0 {
		lines = append(lines, nil)
	}
	if d.Wrong != "" {
		lines = append(lines, p.failed(d.Wrong, inside)...)
	}
	if p.Plain {
		return d.printed(p, lines, inside), cur
	}
	if d.field != nil {
		l, col := p.FieldLine(draw.L(draw.S(d.field.label+": ", draw.Accent)), d.field.e, inside)
		cur = term.Cursor{Row: len(lines) + 1, Col: col + 2}
		lines = append(lines, l)
	} else if !d.Fixed {
		l, col := p.FieldLine(draw.L(p.Mark(draw.Prompt, draw.Accent)), d.typed, inside)
		cur = term.Cursor{Row: len(lines) + 1, Col: col + 2}
		lines = append(lines, l)
	}
	var sample []draw.Line
	if d.Sample != nil {
		if sample = d.Sample(p, inside); len(sample) > 0 {
			sample = append([]draw.Line{nil}, sample...)
		}
		if rows-len(lines)-2-len(sample) < min(len(d.found), 4) {
			sample = nil
		}
	}
	room := max(min(rows-len(lines)-2-len(sample), 16), 1)
	d.top = max(min(d.top, d.at), d.at-room+1)
	for i := d.top; i < min(len(d.found), d.top+room); i++ {
		lines = append(lines, p.choice(d.found[i], i, i == d.at, d.Fixed, inside))
	}
	switch {
	case d.Loading:
		lines = append(lines, draw.L(draw.S("  looking …", draw.Quiet)))
	case len(d.all) == 0 && d.None != "":
		lines = append(lines, draw.WrapAll(draw.Text(d.None, draw.Style{Role: draw.Quiet}), inside)...)
	case len(d.found) == 0:
		lines = append(lines, draw.L(draw.S("  nothing matches", draw.Quiet)))
	}
	lines = append(lines, sample...)
	hint := d.Hint
	if hint == "" && d.Call == "" && d.field == nil {
		hint = "Enter takes it, Esc closes"
	}
	if len(d.found) == 0 && d.field == nil {
		hint = without(hint, "Enter ")
	}
	if n := len(d.found); n > room {
		hint = fmt.Sprintf("%d of %d", d.at+1, n) + sep(p, hint)
	}
	return p.Boxed(lines, draw.Border, cols, draw.L(draw.Span{Text: draw.String(d.Heading), Style: draw.Style{Role: draw.Border, Attr: draw.Bold}}), c.hinted(hint)), cur
}

func sep(p Paper, s string) string {
	if s == "" {
		return ""
	}
	return " " + p.Sign(draw.Middot) + " " + s
}

func (d *Menu) Act(c Ctx, a keymap.Action) ([]Effect, bool) {
	if d.field != nil {
		if a.IsEdit() {
			d.field.e.Do(a)
			return nil, true
		}
		return nil, false
	}
	if d.Careful || d.Yields {
		if c.Pressed.Types() { // a letter has no other meaning here
			return nil, false
		}
		d.digit = keymap.Key{}
	}
	switch a {
	case keymap.SelectNext, keymap.EditDown, keymap.HistorySearchNext:
		if d.Above != nil && d.at+1 >= len(d.found) { // nothing else is below
			d.Off.at++
		}
		return d.mark(d.at + 1), true
	case keymap.SelectPrev, keymap.EditUp, keymap.HistorySearchPrev:
		if d.Above != nil && d.at == 0 {
			d.Off.at = max(d.Off.at-1, 0)
		}
		return d.mark(d.at - 1), true
	case keymap.SelectPageDn, keymap.SelectPageUp:
		if d.Above != nil { // it is longer than the screen, more often than the choices are
			if a == keymap.SelectPageUp {
				d.Off.page(-1)
			} else {
				d.Off.page(1)
			}
			return nil, true
		}
		if a == keymap.SelectPageUp {
			return d.mark(d.at - 10), true
		}
		return d.mark(d.at + 10), true
	case keymap.EditLineStart, keymap.EditLineEnd: // Home and End
		if d.Above != nil && d.Off.key(c.Pressed) {
			return nil, true
		}
	case keymap.SelectFirst:
		return d.mark(0), true
	case keymap.SelectLast:
		return d.mark(len(d.found) - 1), true
	case keymap.SelectCancel, keymap.HistorySearchCancel, keymap.Interrupt:
		return []Effect{Dropped{}}, true
	case keymap.HistorySearchAccept:
		if c.Pressed.Name == "right" && d.typed.Do(keymap.EditRight) != edit.Ignored {
			return nil, true
		}
		return d.accept(), true
	case keymap.SelectAccept, keymap.HistorySearchExecute:
		return d.accept(), true
	}
	if now, ok := d.Now(); ok && d.Deletes && a == keymap.EditDelete && c.Pressed.Name == "delete" {
		return []Effect{Chosen{now}}, true
	}
	if slices.Contains(d.Own, a) {
		return []Effect{Own{a}}, true
	}
	if a.IsEdit() && !d.Fixed {
		if d.typed.Do(a) == edit.Changed {
			d.find()
			return d.mark(0), true
		}
		return nil, true
	}
	return nil, false
}

// accept takes what is marked.
func (d *Menu) accept() []Effect {
	if c, ok := d.Now(); ok {
		return []Effect{Chosen{c}}
	}
	return nil
}

func (d *Menu) mark(i int) []Effect {
	d.at = max(0, min(i, len(d.found)-1))
	if c, ok := d.Now(); ok {
		return []Effect{Marked{c}}
	}
	return nil
}

// answer takes a key for the text that is asked for.
func (d *Menu) answer(k keymap.Key) []Effect {
	f := d.field
	switch k.Name {
	case "enter":
		d.field = nil
		return []Effect{Wrote{strings.TrimSpace(f.e.Text())}}
	case "esc":
		d.field = nil
	default:
		f.e.Key(k)
	}
	return nil
}

// digits implements Dialog. Where nobody looked for the choices, a digit that has just marked
// one of them may be the beginning of a prompt.
func (d *Menu) digits(Ctx) int {
	if d.field != nil || !d.Fixed || d.digit.Text != "" {
		return 0
	}
	return len(d.found)
}

func (d *Menu) pick(_ Ctx, i int) []Effect {
	if d.Careful || d.Yields {
		d.digit, d.was = keymap.Rune(string(rune('1'+i))), d.at
	}
	return d.mark(i)
}

func (d *Menu) write(c Ctx, k keymap.Key) []Effect {
	if d.field != nil {
		return d.answer(k)
	}
	if d.Slash && k.Text == "/" && d.typed.Empty() {
		return nil
	}
	if k.Text != "" && strings.Contains(d.Letters, k.Text) {
		return []Effect{Own{}}
	}
	switch {
	case !d.Fixed:
	case (d.Careful || d.Yields) && k.Types():
		return d.prompted(k)
	default:
		return nil
	}
	if d.typed.Key(k) == edit.Changed {
		d.find()
		return append(d.mark(0), Sought{})
	}
	return nil
}

func (d *Menu) Paste(text string) bool {
	if d.field != nil {
		d.field.e.Paste(text)
		return true
	}
	if d.Fixed {
		return false
	}
	d.typed.Paste(text)
	d.find()
	return true
}

// prompted takes a key that types, in front of choices that nobody looked for: it begins a
// prompt, of which the digit that has just marked a choice is a part.
func (d *Menu) prompted(k keymap.Key) []Effect {
	begun, was := d.digit, d.was
	d.digit = keymap.Key{}
	keys, out := []keymap.Key{k}, []Effect(nil)
	if begun.Text != "" {
		keys, out = []keymap.Key{begun, k}, d.mark(was)
	}
	if d.Yields {
		out = append(out, Dropped{})
	}
	return append(out, Keys{keys})
}
