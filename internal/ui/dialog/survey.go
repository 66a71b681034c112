package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// A survey puts the model's questions, one page each. With something to read
// before them, such as a plan, a no says what to change; without, every
// question can be answered with words of one's own.
type survey struct {
	q     event.Asked
	about []view.Block
	pages []page
	at    int
	off   Reading
	wrong string
	since time.Time // when the page was turned to
}

// A page is one question and its answer.
type page struct {
	view.Question
	at    int // the marked option; the last one is for words of one's own
	ticks map[int]bool
	words *edit.Editor
	own   string
}

func newSurvey(q event.Asked, qs []view.Question, about []view.Block) *survey {
	d := &survey{q: q, about: about}
	for _, x := range qs {
		d.pages = append(d.pages, page{Question: x, ticks: map[int]bool{}})
	}
	return d
}

func (d *survey) Kind() Kind {
	if len(d.about) > 0 {
		return Kind{Rank: RankPlan, Asks: true, Call: d.q.Call}
	}
	return Kind{Rank: RankQuestion, Asks: true, Call: d.q.Call}
}

func (d *survey) In() []keymap.Context {
	if d.pages[d.at].words != nil {
		return []keymap.Context{keymap.Edit}
	}
	return []keymap.Context{keymap.Confirmation}
}

// other is what the last option of each page says.
func (d *survey) other() string {
	if len(d.about) > 0 {
		return "No, and say what to change"
	}
	return "Something else"
}

func (d *survey) View(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	if rows < tightRows && !p.Plain {
		return d.tight(c, rows)
	}
	cols := min(c.O.Width, story.TextCols)
	inside := max(cols-6, 0)
	pg := &d.pages[d.at]
	var body []draw.Line
	for _, b := range d.about {
		o := p.Inner(0, 0, false)
		o.Width = inside
		if t, ok := b.(view.Text); ok {
			body = append(body, draw.Markdown(t.S, o)...)
		} else {
			body = append(body, draw.Block(b, o)...)
		}
	}
	if len(body) > 0 {
		body = append(body, nil)
	}
	body = append(body, draw.WrapAll(draw.Text(pg.Text, draw.Style{Attr: draw.Bold}), inside)...)
	var foot []draw.Line
	var cur term.Cursor
	for _, told := range []describing{describeAll, describeMarked, describeNone} { // what is asked about gets half of the rows, if it needs them
		if foot, cur = d.options(p, pg, inside, told); p.Plain || len(foot) <= (rows-3)/2 || len(body)+len(foot)+3 <= rows {
			break
		}
	}
	if d.wrong != "" {
		foot = append(foot, p.failed(d.wrong, inside)...)
	}
	body = p.Scrolled(body, &d.off, max(rows-len(foot)-3, 2))
	lines := draw.Indent(body, draw.S(" ", draw.Plain))
	if rows >= 14 {
		lines = append(lines, nil)
	}
	cur.Row += len(lines) + 1
	cur.Col += 2
	lines = append(lines, foot...)
	head := pg.Header
	if head == "" {
		head = "A question"
	}
	if len(d.pages) > 1 {
		head += fmt.Sprintf(" (%d of %d)", d.at+1, len(d.pages))
	}
	hint := "Enter answers " + p.Sign(draw.Middot) + " Esc declines"
	if i := d.file(c); i >= 0 {
		hint = c.Keys.Hint(keymap.ConfirmEdit) + " edits it " + p.Sign(draw.Middot) + " " + hint
	}
	switch {
	case pg.words != nil: // digits are words
	case pg.Multi:
		hint = "Space or a digit ticks " + p.Sign(draw.Middot) + " " + hint
	default:
		hint += " " + p.Sign(draw.Middot) + " a digit marks"
	}
	return p.Boxed(lines, draw.Border, cols, draw.L(draw.Span{Text: draw.String(head), Style: draw.Style{Role: draw.Border, Attr: draw.Bold}}), c.hinted(hint)), cur
}

// file is the block that a person can change here, such as a plan; -1 without.
func (d *survey) file(c Ctx) int {
	if !c.Files {
		return -1
	}
	return slices.IndexFunc(d.about, func(b view.Block) bool { t, ok := b.(view.Text); return ok && t.File != "" })
}

// edit has it changed in the person's editor, and shows what it is then.
func (d *survey) edit(c Ctx) []Effect {
	i := d.file(c)
	if i < 0 {
		return nil
	}
	path := d.about[i].(view.Text).File
	return []Effect{EditFile{path, func(text string, err error) []Effect {
		if err != nil {
			return []Effect{Say{Text: draw.String(err.Error()), Role: draw.Wrong}}
		}
		d.about[i], d.off = view.Text{S: text, File: path}, Reading{}
		return nil
	}}}
}

// leastField is how many columns a field has at least beside its label.
const leastField = 20

// describing is which options are shown with what is said about them.
type describing uint8

const (
	describeAll describing = iota
	describeMarked
	describeNone
)

func (d *survey) options(p Paper, pg *page, width int, told describing) ([]draw.Line, term.Cursor) {
	var out []draw.Line
	cur := term.Cursor{Hidden: true}
	for i := range len(pg.Options) + 1 {
		l, role := p.numbered(i, i == pg.at)
		if pg.Multi && !p.Plain {
			g := draw.CheckBox
			if pg.ticks[i] {
				g = draw.CheckBoxOn
			}
			l = append(l, draw.S(story.Pad(p.Sign(g), 2), draw.Accent))
		}
		if i == len(pg.Options) {
			if pg.words != nil {
				l = append(l, draw.S(d.other()+": ", role))
				if width-l.Width() < leastField { // on a line of its own
					out = append(out, l)
					l = draw.L(draw.S("    ", draw.Plain))
				}
				f, col := p.FieldLine(l, pg.words, width)
				cur = term.Cursor{Row: len(out), Col: col}
				return append(out, f), cur
			}
			l = append(l, draw.S(d.other(), role))
			if pg.own != "" {
				l = append(l, draw.S(": "+pg.own, draw.Plain))
			}
			return append(out, l.Truncate(width, p.O)), cur
		}
		o := pg.Options[i]
		l = append(l, draw.S(o.Label, role))
		if o.About != "" && (told == describeAll || told == describeMarked && i == pg.at) {
			l = append(l, draw.S("  "+o.About, draw.Quiet))
		}
		out = append(out, l.Wrap(width, draw.S("    ", draw.Plain))...)
	}
	return out, cur
}

func (d *survey) Act(c Ctx, a keymap.Action) ([]Effect, bool) {
	pg := &d.pages[d.at]
	if pg.words != nil {
		if a == keymap.EditUp { // the choices above; what was typed stays
			pg.written()
			pg.at = max(0, pg.at-1)
			return nil, true
		}
		if a.IsEdit() {
			pg.words.Do(a)
			return nil, true
		}
		return nil, false
	}
	if c.Pressed.Types() && (a == keymap.ConfirmYes || a == keymap.ConfirmNo || a == keymap.ConfirmEdit && len(d.about) == 0) {
		return nil, false // the first letter of an answer, perhaps
	}
	switch a {
	case keymap.ConfirmYes:
		if c.Now.Sub(d.since) < turnPause {
			return nil, true
		}
		if pg.Multi && pg.at < len(pg.Options) && len(pg.labels()) == 0 {
			d.wrong = noTick
			return nil, true
		}
		return d.choose(c), true
	case keymap.ConfirmNo:
		return d.answer(op.Answer{Comment: "closed without an answer"}), true
	case keymap.ConfirmPrev:
		if pg.at == 0 {
			d.off.at = max(d.off.at-1, 0)
		}
		pg.at = max(0, pg.at-1)
	case keymap.ConfirmNext:
		if pg.at == len(pg.Options) { // nothing else is below
			d.off.at++
		}
		pg.at = min(len(pg.Options), pg.at+1)
	case keymap.ConfirmEdit:
		return d.edit(c), true
	case keymap.ConfirmComment:
		pg.at = len(pg.Options)
		pg.words = Field(c.Keys, pg.own)
	default:
		return nil, false
	}
	return nil, true
}

// digits implements Dialog: the last answer is one of a person's own.
func (d *survey) digits(Ctx) int {
	if pg := &d.pages[d.at]; pg.words == nil {
		return len(pg.Options) + 1
	}
	return 0
}

func (d *survey) pick(_ Ctx, i int) []Effect {
	pg := &d.pages[d.at]
	if pg.at = i; pg.Multi {
		d.ticking()
		pg.ticks[i] = !pg.ticks[i]
	}
	return nil
}

func (d *survey) write(c Ctx, k keymap.Key) []Effect {
	pg := &d.pages[d.at]
	if pg.words != nil {
		switch k.Name {
		case "enter":
			pg.written()
			if pg.own != "" && !pg.Multi || len(d.about) > 0 {
				return d.choose(c)
			}
		case "esc":
			pg.words = nil
		default:
			pg.words.Key(k)
		}
		return nil
	}
	switch {
	case k.Name == "space" && pg.Multi:
		d.ticking()
		if pg.at == len(pg.Options) {
			pg.words = Field(c.Keys, pg.own)
			return nil
		}
		pg.ticks[pg.at] = !pg.ticks[pg.at]
	case k.Name == "left" && d.at > 0:
		d.at--
	case k.Name == "right" && d.at+1 < len(d.pages):
		d.at++
	case d.off.key(k):
	case k.Types():
		if r, _ := utf8.DecodeRuneInString(k.Text); unicode.IsLetter(r) { // an answer of one's own
			pg.at, pg.words = len(pg.Options), Field(c.Keys, pg.own+k.Text)
		}
	}
	return nil
}

// turnPause is how long a page is seen before Enter counts for it: an Enter of the page
// before may be held down.
const turnPause = 250 * time.Millisecond

// noTick is what Enter says where several answers can be ticked, and none is: the marked
// one was not chosen.
const noTick = "nothing is ticked: Space or a digit ticks an answer, Esc declines"

// ticking takes that back.
func (d *survey) ticking() {
	if d.wrong == noTick {
		d.wrong = ""
	}
}

// written ends the writing of an answer of one's own.
func (pg *page) written() {
	pg.own, pg.words = strings.TrimSpace(pg.words.Text()), nil
	pg.ticks[len(pg.Options)] = pg.own != ""
}

// choose answers the page with what is marked, and goes to the next.
func (d *survey) choose(c Ctx) []Effect {
	pg := &d.pages[d.at]
	last := len(pg.Options)
	if pg.at == last && pg.own == "" && !(pg.Multi && len(pg.labels()) > 0) {
		if len(d.about) > 0 && pg.words == nil && d.wrong != "" {
			return d.answer(op.Answer{})
		}
		pg.words = Field(c.Keys, "")
		return nil
	}
	if pg.at == last && len(d.about) > 0 {
		return d.answer(op.Answer{Comment: pg.own})
	}
	if !pg.Multi {
		pg.ticks = map[int]bool{pg.at: true}
	}
	if d.at+1 < len(d.pages) {
		d.at++
		d.off, d.since = Reading{}, c.Now
		return nil
	}
	a := op.Answer{Allow: true}
	for i := range d.pages {
		a.Choices = append(a.Choices, d.pages[i].labels())
	}
	return d.answer(a)
}

// labels are the answers of a page.
func (pg *page) labels() []string {
	var out []string
	for i, o := range pg.Options {
		if pg.ticks[i] {
			out = append(out, o.Label)
		}
	}
	if pg.ticks[len(pg.Options)] && pg.own != "" {
		out = append(out, pg.own)
	}
	return out
}

func (d *survey) answer(a op.Answer) []Effect {
	return []Effect{Answer{a, func(why string) { d.wrong = why }}}
}

func (d *survey) Paste(text string) bool {
	if e := d.pages[d.at].words; e != nil {
		e.Paste(text)
		return true
	}
	return false
}

func (d *survey) Poll(Ctx) Poll {
	pg := &d.pages[d.at]
	n := len(pg.Options)
	p := Poll{Many: pg.Multi, Begun: true, Text: true, Words: []string{"skip"}, More: "/skip declines to answer. Ctrl+C stops the turn."}
	for _, o := range pg.Options {
		p.Answers = append(p.Answers, Named{Name: o.Label})
	}
	p.Answers = append(p.Answers, Named{}) // words of one's own
	if d.at > 0 {
		p.Words = append(p.Words, "back")
		p.More = "/back goes back to the question before. " + p.More
	}
	switch {
	case pg.words != nil && len(d.about) > 0:
		return Poll{How: "Say what to change. An empty line is a no without words.", Wanted: "what to change", Field: true}
	case pg.words != nil:
		return Poll{How: "Say it in your own words. An empty line goes back to the answers.", Wanted: "your answer", Field: true}
	case len(d.about) > 0:
		p.How, p.Wanted = fmt.Sprintf("%s: yes. %d or n: no. A sentence: no, and change that. ?: more.", upTo(n), n+1), upTo(n+1)
	case pg.Multi:
		p.How, p.Wanted = fmt.Sprintf("The numbers of answers, with blanks between them (such as 1 %d), or an answer in your own words. ?: more.", max(n, 2)), "numbers or words"
	default:
		p.How, p.Wanted = "The number of an answer, or an answer in your own words. ?: more.", "number or words"
	}
	return p
}

func (d *survey) Take(c Ctx, r Reply) []Effect {
	pg := &d.pages[d.at]
	plan := len(d.about) > 0
	switch {
	case r.Word == "skip":
		return d.answer(op.Answer{Comment: "closed without an answer"})
	case r.Word == "back":
		d.at--
		return []Effect{Again{}}
	case pg.words != nil && r.Text == "" && !plan:
		pg.words = nil
		return []Effect{Again{}}
	case pg.words != nil && r.Text == "", pg.words == nil && plan && isNo(strings.ToLower(r.Text)):
		return d.answer(op.Answer{})
	case len(r.Picks) > 0:
		pg.ticks, pg.own, pg.at = map[int]bool{}, "", r.Picks[0]
		for _, i := range r.Picks {
			if pg.ticks[i] = i < len(pg.Options); !pg.ticks[i] {
				pg.words = Field(c.Keys, "")
			}
		}
		if pg.words != nil {
			return tell(d.Poll(c).How)
		}
		return d.next(c)
	case pg.words == nil && (plan && !sentence(r.Text) || len([]rune(r.Text)) < 2):
		return tell("Nothing was answered: “" + draw.String(r.Text) + "” is none of the answers. " + d.Poll(c).How)
	}
	pg.words, pg.at = Field(c.Keys, r.Text), len(pg.Options)
	pg.written()
	said := "Your answer: “"
	if plan {
		said = "No, and: “"
	}
	return append(tell(said+draw.String(r.Text)+"”"), d.next(c)...)
}

// next takes the page, and shows the one after it.
func (d *survey) next(c Ctx) []Effect {
	before := d.at
	out := d.choose(c)
	if d.at != before {
		out = append(out, Again{})
	}
	return out
}
