package dialog

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// keeps are how long a rule may hold, in the order of the arrow keys.
var keeps = [...]struct {
	keep op.Keep
	name string
}{
	{op.ForSession, "in this session"},
	{op.ForLocal, "in this folder"},
	{op.ForProject, "in this project, for everybody"},
	{op.ForUser, "everywhere"},
}

// Kept is how long a rule holds, for people.
func Kept(k op.Keep) string {
	for _, x := range keeps {
		if x.keep == k {
			return x.name
		}
	}
	return keeps[0].name
}

// The answers of a permit, in their order.
const (
	yes = iota
	yesRule
	no
)

// ruleFieldRows is what a dialog has at least beside the rule that is edited.
const ruleFieldRows = 11

// optionLines bounds the lines of one answer.
const optionLines = 3

// A permit asks whether a call may run.
type permit struct {
	q        event.Asked
	answers  []int
	at       int // of answers
	keep     int
	rules    []string
	comment  *edit.Editor // while it is written
	said     string
	rule     *edit.Editor // while the rule is edited
	wrong    string       // with what was answered
	draft    string       // the arguments as they were edited, with a mistake in them
	whole    bool
	off      Reading
	from     []string // the commands that may be what connects
	run      string   // the letters typed last, one soon after the other
	lettered bool     // a letter or a digit has just marked an answer
	ranAt    time.Time
	moved    bool // somebody has marked an answer
	scrolls  bool // somebody reads on: nothing is left out in the middle
	hides    int  // the first line that is not shown
	offers   bool // the hint names the key that also accepts further edits
}

// newPermit asks whether a call may run. running are the commands that do.
func newPermit(q event.Asked, running []string) *permit {
	d := &permit{q: q, from: running, rules: q.Verdict.Suggest, answers: []int{yes, no}}
	if len(d.rules) > 0 {
		d.answers = []int{yes, yesRule, no}
	}
	if q.Verdict.Loses { // an Enter that was meant for something else does no harm
		d.at = len(d.answers) - 1
	}
	return d
}

func (d *permit) Kind() Kind { return Kind{Rank: RankPermission, Asks: true, Call: d.q.Call} }

func (d *permit) In() []keymap.Context {
	if d.comment != nil || d.rule != nil {
		return []keymap.Context{keymap.Edit}
	}
	return []keymap.Context{keymap.Confirmation}
}

func (d *permit) View(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	if rows < tightRows && !p.Plain {
		return d.tight(c, rows)
	}
	cols := min(c.O.Width, story.TextCols)
	inside := max(cols-6, 0)
	small := rows < smallRows
	foot, cur := d.options(p, inside, rows)
	if d.wrong != "" {
		foot = append(foot, p.failed(d.wrong, inside)...)
	}
	room := rows - len(foot) - 3
	if small {
		room++
	}
	at := d.at
	body := d.read(p, d.passage(p, inside, c.Dir), max(room, 2))
	if d.at != at { // another answer is marked
		foot, cur = d.options(p, inside, rows)
	}
	lines := draw.Indent(body, draw.S(" ", draw.Plain))
	if !small {
		lines = append(lines, nil)
	}
	cur.Row += len(lines) + 1
	cur.Col += 2
	lines = append(lines, foot...)
	hint := d.hint(c, inside)
	d.offers = strings.Contains(hint, yesToMore)
	return p.Boxed(lines, draw.Border, cols, draw.L(draw.Span{Text: d.heading(), Style: draw.Style{Role: draw.Border, Attr: draw.Bold, Fg: d.color()}}), c.hinted(hint)), cur
}

func (d *permit) heading() string {
	if a := d.q.Agent; a != nil {
		return "The agent " + clip.Line(clip.Visible(cmp.Or(a.Name, a.ID)), 30) + ": " + d.question()
	}
	return d.question()
}

// color is that of the agent that asks, none for the session itself.
func (d *permit) color() draw.Color {
	if d.q.Agent == nil {
		return 0
	}
	return draw.ColorOf(d.q.Agent.Color)
}

func (d *permit) question() string {
	switch d.q.View.(type) {
	case view.Terminal:
		return "Run this command?"
	case view.Diff:
		return "Make this change?"
	case view.Code, view.Form, view.Group, view.Image, view.Meter, view.Questions, view.Table, view.Tasks, view.Text: // named by what is asked about
	}
	for _, x := range d.q.Verdict.Parts {
		switch {
		case x.Effect != policy.Ask:
		case x.Kind == policy.PieceConnect:
			return "Let this connect?"
		case x.Kind == policy.PieceRead || x.Kind == policy.PieceName:
			return "Let this be read?"
		}
	}
	if d.q.Title != "" { // it says who wants what; names of tools are no words for people
		return "Allow this?"
	}
	return "Let " + story.Subject(d.q.Tool) + " do this?"
}

// what is what would happen.
func (d *permit) what(p Paper, width int, dir string) []draw.Line {
	var out []draw.Line
	add := func(lines ...draw.Line) { out = append(out, draw.WrapAll(lines, width)...) }
	switch b := d.q.View.(type) {
	case view.Terminal:
		asking, at := d.asking(), 0
		for l := range strings.SplitSeq(strings.TrimRight(b.Command, "\n"), "\n") {
			add(marked(l, append(linesOf(b.Command, asking, at, len(l)), asking...)))
			at += len(l) + 1
		}
	case view.Diff:
		name := draw.Exact(b.Path, draw.Plain)
		for i := range name {
			name[i].Attr |= draw.Bold
		}
		add(name)
		o := p.Inner(0, 0, false)
		o.Width = width
		out = append(out, draw.Block(b, o)...)
	default:
		if d.connects() {
			add(d.connection()...)
			break
		}
		if d.q.Title != "" {
			add(draw.Exact(d.q.Title, draw.Plain))
		}
		if d.q.View != nil {
			o := p.Inner(0, 0, false)
			o.Width = width
			out = append(out, draw.Block(written(d.q.View), o)...)
		}
		if t, ok := d.q.View.(view.Text); !ok || !says(t.S, d.q.Input) {
			add(d.arguments()...)
		}
	}
	return append(out, d.paths(width, dir)...)
}

// smallRows is the height below which a permit has no blank lines, and answers that are
// not marked take one line.
const smallRows = 14

// options are the answers, of a dialog that has rows lines.
func (d *permit) options(p Paper, width, rows int) ([]draw.Line, term.Cursor) {
	var out []draw.Line
	cur := term.Cursor{Hidden: true}
	for i, a := range d.answers {
		lead, role := p.numbered(i, i == d.at)
		switch a {
		case yes:
			out = append(out, append(lead, draw.S("Yes", role)))
		case yesRule:
			if d.rule != nil {
				lines, at := p.fieldLines(append(lead, draw.S("Yes, and do not ask again for ", role)), d.rule, width, rows-ruleFieldRows)
				cur = term.Cursor{Row: len(out) + at.Row, Col: at.Col}
				if out = append(out, lines...); !p.Plain {
					out = append(out, draw.L(draw.S("    Enter takes the rule, Esc leaves it as it was", draw.Quiet)))
				}
				continue
			}
			l := append(lead, draw.S("Yes, and do not ask again for ", role))
			l = append(l, draw.Exact(strings.Join(d.rules, ", "), draw.Code)...)
			l = append(l, draw.S(" "+keeps[d.keep].name, role))
			if rows < smallRows {
				if i != d.at { // marked, it is shown whole
					l = l.Truncate(width, p.O)
				}
			}
			wrapped := l.Wrap(width, draw.S("    ", draw.Plain))
			if len(wrapped) > optionLines && !p.Plain { // the whole decision shows all of it
				wrapped = wrapped[:optionLines]
				wrapped[optionLines-1] = append(wrapped[optionLines-1], draw.S(" "+p.Sign(draw.Ellipsis)+strings.Repeat(" ", width), draw.Attention)).Truncate(width, p.O)
			}
			out = append(out, wrapped...)
			if i == d.at {
				for _, w := range d.lint() {
					out = append(out, draw.L(draw.S("    "+w, draw.Attention)).Wrap(width, draw.S("    ", draw.Plain))...)
				}
			}
		case no:
			text := "No, and say what to do instead"
			if p.Plain {
				text = "No"
			}
			out = append(out, append(lead, draw.S(text, role)))
		}
		if i != d.at {
			continue
		}
		if d.comment != nil {
			l, col := p.FieldLine(draw.L(draw.S("    "+p.Sign(draw.Prompt)+" ", draw.Accent)), d.comment, width)
			cur = term.Cursor{Row: len(out), Col: col}
			out = append(out, l)
		} else if d.said != "" {
			out = append(out, draw.L(draw.S("    “"+d.said+"”", draw.Quiet)).Truncate(width, p.O))
		}
	}
	return out, cur
}

func (d *permit) Act(c Ctx, a keymap.Action) ([]Effect, bool) {
	if e := d.writing(); e != nil {
		if a.IsEdit() {
			e.Do(a)
			return nil, true
		}
		return nil, false
	}
	types := c.Pressed.Types()
	words := types && d.letter(c, a)
	d.lettered = false
	if words {
		return nil, true
	} else if types && (a == keymap.ConfirmYes || a == keymap.ConfirmNo) {
		d.lettered = true
		d.mark(c, 0) // a letter only marks: it may be the first of a word
		if a == keymap.ConfirmNo {
			d.mark(c, len(d.answers)-1)
		}
		return nil, true
	} else if !types {
		d.run = ""
	}
	switch a {
	case keymap.ConfirmYes:
		return d.choose(c), true
	case keymap.ConfirmNo:
		if c.Pressed.Name == "esc" {
			return d.leave(c), true
		}
		return d.answer(op.Answer{Comment: d.said}), true
	case keymap.ConfirmPrev:
		if d.at == 0 {
			d.off.at = max(d.off.at-1, 0)
		}
		d.mark(c, max(0, d.at-1))
	case keymap.ConfirmNext:
		if d.at+1 == len(d.answers) { // nothing else is below
			d.scroll(keymap.Key{Name: "down"})
			return nil, true
		}
		d.mark(c, d.at+1)
	case keymap.ConfirmComment:
		d.comment = Field(c.Keys, d.said)
	case keymap.ConfirmExplain:
		d.whole, d.off, d.scrolls = !d.whole, Reading{}, false
	case keymap.ConfirmEdit:
		return d.edit(c), true
	case keymap.ConfirmMode:
		if !d.offers || !d.accepts(c) { // a yes is never said by a key that is not named
			return nil, true
		}
		return d.answer(op.Answer{Allow: true, Comment: d.said, Mode: policy.AcceptEdits}), true
	default:
		return nil, false
	}
	return nil, true
}

// wordPause is how soon after another a letter belongs to the same word: as fast as one is
// typed without a look at what the first letter did.
const wordPause = 250 * time.Millisecond

// inWord reports whether a letter was typed so recently that the next belongs to it.
func (d *permit) inWord(c Ctx) bool { return d.run != "" && c.Now.Sub(d.ranAt) <= wordPause }

// letter notes a letter that was typed, with the action it has, and takes several for
// what somebody writes, not knowing that a question stands here: no answer then, but
// the beginning of what to do instead.
func (d *permit) letter(c Ctx, a keymap.Action) bool {
	if !d.inWord(c) || a == keymap.ConfirmExplain {
		d.run = ""
	}
	if a == keymap.ConfirmExplain {
		return false
	}
	before := d.run
	d.run, d.ranAt = d.run+c.Pressed.Text, c.Now
	switch {
	case a == keymap.ConfirmPrev, a == keymap.ConfirmNext:
		return false
	case (a == keymap.ConfirmYes || a == keymap.ConfirmNo) && d.lettered: // another mark
		d.run = c.Pressed.Text
		return false
	case a == keymap.ConfirmEdit && strings.Trim(before, "jk") == "":
		return false
	case a != "" && before == "":
		return false
	}
	d.at, d.comment, d.whole = len(d.answers)-1, Field(c.Keys, strings.TrimLeft(d.run, " ")), false
	d.run = ""
	return true
}

// leave is Esc: it closes the whole decision, takes a comment back, and at last
// stops the turn, as Esc does elsewhere. Without a turn it is a no.
func (d *permit) leave(c Ctx) []Effect {
	switch {
	case d.whole:
		d.whole, d.off, d.scrolls = false, Reading{}, false
	case d.said != "":
		d.said = ""
	case c.Running:
		return []Effect{Interrupt{}}
	default:
		return d.answer(op.Answer{})
	}
	return nil
}

func (d *permit) mark(c Ctx, at int) {
	d.moved = true
	if d.at = at; c.Rows <= tightRows { // something else is read there now
		d.off = Reading{}
	}
}

func (d *permit) writing() *edit.Editor {
	if d.comment != nil {
		return d.comment
	}
	return d.rule
}

// digits implements Dialog: a digit in a word belongs to that.
func (d *permit) digits(c Ctx) int {
	if d.writing() != nil || d.inWord(c) {
		return 0
	}
	return len(d.answers)
}

func (d *permit) pick(c Ctx, i int) []Effect {
	d.lettered = true
	d.mark(c, i)
	return nil
}

func (d *permit) write(c Ctx, k keymap.Key) []Effect {
	d.lettered = false
	if e := d.writing(); e != nil {
		switch k.Name {
		case "enter":
			return d.written(c)
		case "esc", "tab":
			d.comment, d.rule, d.wrong = nil, nil, ""
		default:
			e.Key(k)
		}
		return nil
	}
	if r, _ := utf8.DecodeRuneInString(k.Text); k.Types() && (unicode.IsLetter(r) || d.inWord(c)) && d.letter(c, "") {
		return nil
	}
	switch k.Name {
	case "left", "right":
		if d.answers[d.at] == yesRule {
			step := 1
			if k.Name == "left" {
				step = len(keeps) - 1
			}
			d.keep = (d.keep + step) % len(keeps)
		}
	default:
		d.scroll(k)
	}
	return nil
}

// written takes over a field.
func (d *permit) written(c Ctx) []Effect {
	if d.rule != nil {
		rules := policy.SplitList(d.rule.Text())
		for _, r := range rules {
			if _, err := policy.ParseRule(r, policy.Allow, policy.Session, "", "/"); err != nil {
				d.wrong = err.Error() // and it can be mended
				return nil
			}
		}
		if d.rule = nil; len(rules) > 0 {
			d.rules, d.wrong = rules, ""
		}
		return nil
	}
	d.said, d.comment = strings.TrimSpace(d.comment.Text()), nil
	if d.answers[d.at] == no {
		return d.answer(op.Answer{Comment: d.said})
	}
	return nil
}

// choose answers with what is marked.
func (d *permit) choose(c Ctx) []Effect {
	switch d.answers[d.at] {
	case yes:
		return d.answer(op.Answer{Allow: true, Comment: d.said})
	case yesRule:
		return d.answer(op.Answer{Allow: true, Comment: d.said, Rules: d.rules, Keep: keeps[d.keep].keep})
	}
	if d.said == "" {
		d.comment = Field(c.Keys, "")
		return nil
	}
	return d.answer(op.Answer{Comment: d.said})
}

// lint is what a person should know of the rules before keeping them.
func (d *permit) lint() []string {
	var out []string
	for _, text := range d.rules {
		r, err := policy.ParseRule(text, policy.Allow, policy.Session, "", "/")
		if err != nil {
			continue // the session says why
		}
		if w := policy.Lint(r); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func (d *permit) answer(a op.Answer) []Effect {
	return []Effect{Answer{a, func(why string) { d.wrong = why }}}
}

func (d *permit) Paste(text string) bool {
	if e := d.writing(); e != nil {
		e.Paste(text)
		return true
	}
	return false
}
