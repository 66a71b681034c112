package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// plainChoices is how many choices of a menu are printed; letters narrow it to others.
const plainChoices = 40

// A plainWord is what a line that begins with "/" means to a menu.
type plainWord struct {
	word  string
	args  string // what follows it, for people
	about string
	do    func(m *Model, rest string) []effect
}

// printed draws a menu where nothing is drawn anew: what is below the lines about it.
func (d *menu) printed(m *Model, p paper, lines []draw.Line, width int) []draw.Line {
	shown := d.found[:min(len(d.found), plainChoices)]
	for i, f := range shown {
		lines = append(lines, p.spelled(f.Choice, i).Wrap(width, draw.S("    ", draw.Plain))...)
	}
	switch n := len(d.found) - len(shown); {
	case n > 0:
		lines = append(lines, draw.L(draw.S(fmt.Sprintf("%s %d more: letters of a name narrow the list", p.Sign(draw.Ellipsis), n), draw.Quiet)))
	case len(d.all) == 0 && d.none != "":
		lines = append(lines, draw.WrapAll(draw.Text(d.none, draw.Style{Role: draw.Quiet}), width)...)
	case len(d.found) == 0:
		lines = append(lines, draw.L(draw.S("nothing matches", draw.Quiet)))
	}
	return p.boxed(lines, draw.Border, min(m.screen.size.Cols, story.TextCols), draw.L(draw.S(draw.String(d.heading), draw.Border)), nil)
}

// spelled is a choice with all that is known of it.
func (p paper) spelled(c Choice, i int) draw.Line {
	l, role := p.numbered(i, false)
	l = append(l, draw.S(c.Lead+c.Name, role))
	if c.Now {
		l = append(l, draw.S(" "+p.Sign(draw.Check), draw.OK))
	}
	for _, s := range []string{c.About, c.Right} {
		if s != "" {
			l = append(l, draw.S("  "+s, draw.Quiet))
		}
	}
	return l
}

// after is what follows a word in a hint of keys, up to the next key: what it does.
func after(hint, word string) string {
	_, rest, _ := strings.Cut(hint, word)
	rest, _, _ = strings.Cut(rest, ",")
	return strings.TrimSpace(rest)
}

func (d *menu) plain(*Model) (how, asks string) {
	if d.field != nil {
		return "", d.field.label
	}
	takes, leaves := after(d.hint, "Enter "), after(d.hint, "Esc ")
	if takes == "" {
		takes = "takes it"
	}
	if leaves == "" {
		leaves = "leaves"
	}
	switch {
	case len(d.found) == 0 && d.fixed:
		how, asks = "An empty line "+leaves+".", "empty line"
	case len(d.found) == 0:
		how, asks = "An empty line "+leaves+".", "letters"
	case d.answers != "":
		how, asks = "The number of one "+takes+".", upTo(len(d.found))
	case d.fixed:
		how, asks = "The number of one "+takes+", an empty line "+leaves+".", upTo(len(d.found))
	default:
		how, asks = "The number of one "+takes+", letters of some narrow the list and take one that is left alone, an empty line "+leaves+".", "number or letters"
	}
	for _, w := range d.words {
		how += " /" + strings.TrimSpace(w.word+" "+w.args) + ": " + w.about + "."
	}
	return how, asks
}

func (d *menu) line(m *Model, text string) []effect {
	how, _ := d.plain(m)
	if f := d.field; f != nil {
		d.field = nil
		m.again()
		if text == "" {
			return nil
		}
		return f.done(m, text)
	}
	if word, rest, ok := slashed(text); ok {
		if i := slices.IndexFunc(d.words, func(w plainWord) bool { return w.word == word }); i >= 0 {
			return d.words[i].do(m, rest)
		}
		m.tell("“" + draw.String(text) + "” means nothing here. " + how)
		return nil
	}
	n, number := numberIn(text)
	switch {
	case text == "" && d.answers != "", text == "?":
		m.tell(how)
	case text == "":
		m.close(d)
		if d.dropped != nil {
			return d.dropped(m)
		}
	case number && n >= 0 && n < len(d.found):
		m.close(d)
		return d.chosen(m, d.found[n].Choice)
	case number && (d.fixed || n < plainChoices):
		m.tell(fmt.Sprintf("%s is no number of a choice: there are %s.", text, upTo(len(d.found))))
	default:
		return d.named(m, text)
	}
	return nil
}

// named takes the choice that a line names, or has the list narrowed by it.
func (d *menu) named(m *Model, text string) []effect {
	low := strings.ToLower(text)
	hits := func(is func(name string) bool) (out []Choice) {
		for _, f := range d.found {
			if is(strings.ToLower(f.Name)) || slices.Contains(f.Also, low) && is(low) {
				out = append(out, f.Choice)
			}
		}
		return out
	}
	one := hits(func(name string) bool { return name == low })
	if len(one) != 1 && d.fixed && (len(low) > 2 || isYes(low) || isNo(low)) {
		one = hits(func(name string) bool { return strings.HasPrefix(name, low) })
		if isYes(low) || isNo(low) {
			one = hits(func(name string) bool {
				return strings.HasPrefix(name, low[:1]) && (strings.HasPrefix(name, "yes") || strings.HasPrefix(name, "no"))
			})
		}
	}
	how, _ := d.plain(m)
	switch {
	case len(one) == 1:
		m.close(d)
		return d.chosen(m, one[0])
	case d.fixed:
		m.tell("“" + draw.String(text) + "” is none of the choices. " + how)
		return nil
	}
	d.typed0 = field(m, text)
	d.find()
	var out []effect
	if d.sought != nil {
		out = d.sought(m)
	}
	switch len(d.found) {
	case 0:
		if out == nil { // what is looked for elsewhere may still come
			d.typed0 = field(m, "")
			d.find()
			m.tell("Nothing matches “" + draw.String(text) + "”. " + how)
			return nil
		}
	case 1:
		m.close(d)
		m.tell("It is " + draw.String(d.found[0].Name) + ".")
		return append(out, d.chosen(m, d.found[0].Choice)...)
	}
	m.again()
	return out
}

// A sheet is closed when it was printed, and no line is for it.
func (d *sheet) plain(*Model) (how, asks string) { return "", "" }
func (d *sheet) line(*Model, string) []effect    { return nil }

func (d *form) plain(*Model) (how, asks string) {
	r := d.now()
	switch {
	case r == nil:
		n := len(d.plainAnswers())
		return "", upTo(n)
	case r.text != nil && r.value() != nil:
		how, asks = "An empty line keeps “"+clip.Line(r.text.Text(), 60)+"”.", "text"
	case r.text != nil && !r.Required:
		how, asks = "An empty line leaves it out.", "text"
	case r.text != nil:
		how, asks = "", "text"
	case r.Kind == view.BooleanField:
		how, asks = "1 or y is yes, 2 or n is no"+r.orEmpty()+".", "yes or no"
	case r.Kind == view.ChoicesField:
		how, asks = "The numbers of choices, with blanks between them"+r.orEmpty()+".", "numbers"
	default:
		how, asks = "The number of a choice"+r.orEmpty()+".", upTo(len(r.Options))
	}
	if r.text != nil && r.Kind != view.StringField {
		asks = "number"
	}
	if d.at == 0 {
		how = strings.TrimSpace(how + " /back goes back, /decline declines.")
	}
	return how, asks
}

// orEmpty says what an empty line means to a row of choices.
func (r *row) orEmpty() string {
	switch {
	case r.value() != nil:
		return "; an empty line keeps “" + r.summary() + "”"
	case !r.Required:
		return "; an empty line leaves it out"
	}
	return ""
}

// plainAnswers are those at the end of a form.
func (d *form) plainAnswers() []string {
	if d.opened != nil {
		return d.answers()
	}
	return append(d.answers(), "Change something")
}

func (d *form) line(m *Model, text string) []effect {
	switch word, _, _ := slashed(text); {
	case word == "decline":
		return d.answer(m, op.Answer{})
	case word == "back" && d.at > 0:
		d.to(d.at - 1)
		m.again()
		return nil
	}
	r := d.now()
	if r == nil {
		return d.ended(m, text)
	}
	low := strings.ToLower(text)
	how, _ := d.plain(m)
	was, ticks := "", r.ticks
	if r.text != nil {
		was = r.text.Text()
	}
	switch {
	case text == "" && r.value() == nil && !r.Required:
		d.at++
		m.again()
		return nil
	case text == "":
	case r.text != nil:
		r.text.Set(text)
	case r.Kind == view.BooleanField && (isYes(low) || isNo(low)):
		r.ticks = map[int]bool{0: isYes(low), 1: isNo(low)}
	default:
		if r.ticks = r.ticked(text); r.ticks == nil {
			r.ticks = ticks
			m.tell("“" + draw.String(text) + "” is none of the choices. " + how)
			return nil
		}
	}
	if err := r.check(); err != nil {
		r.wrong, r.ticks = "", ticks // it is told here
		if r.text != nil {
			r.text.Set(was)
		}
		m.tell("That cannot be taken: " + draw.String(err.Error()) + ".")
		return nil
	}
	d.at++
	m.again()
	return nil
}

// ticked are the options that a line numbers or names, nil where it does not.
func (r *row) ticked(text string) map[int]bool {
	out := map[int]bool{}
	for i, o := range r.Options {
		if strings.EqualFold(o.Label(), text) || strings.EqualFold(o.Value, text) {
			return map[int]bool{i: true}
		}
	}
	for _, f := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }) {
		n, ok := numberIn(f)
		if !ok || n < 0 || n >= len(r.Options) {
			return nil
		}
		out[n] = true
	}
	if len(out) > 1 && r.Kind != view.ChoicesField {
		return nil
	}
	return out
}

// ended takes what is said at the end of a form.
func (d *form) ended(m *Model, text string) []effect {
	low, n := strings.ToLower(text), len(d.plainAnswers())
	i, ok := numberIn(text)
	switch {
	case isYes(low) && n > 1:
		i, ok = 0, true
	case isNo(low):
		i, ok = n-1, true
		if d.opened == nil {
			i = 1
		}
	}
	switch {
	case !ok || i < 0 || i >= n:
		m.tell("“" + draw.String(text) + "” is none of the answers: there are " + upTo(n) + ".")
	case d.opened == nil && i == 2:
		d.at = 0
		m.again()
	default:
		return d.decided(m, i == 0 && len(d.answers()) > 1)
	}
	return nil
}

// decided sends the form; where something in it cannot be sent, that is asked for again.
func (d *form) decided(m *Model, yes bool) []effect {
	before := d.at
	out := d.decide(m, yes)
	if d.wrong != "" {
		m.tell("It cannot be sent: " + draw.String(d.wrong) + ".")
		d.wrong = ""
	}
	if d.at != before {
		m.again()
	}
	return out
}

// byNumber takes the number of a choice from the beginning of a line.
func (d *menu) byNumber(m *Model, line string) (c Choice, rest string, ok bool) {
	first, rest, _ := strings.Cut(line, " ")
	n, ok := numberIn(first)
	if !ok || n < 0 || n >= len(d.found) {
		m.tell("The number of one has to follow: " + upTo(len(d.found)) + ".")
		return c, "", false
	}
	return d.found[n].Choice, strings.TrimSpace(rest), true
}

// printPreview prints how a session began and ended.
func (k *sessionPicker) printPreview(m *Model, line string) []effect {
	c, _, ok := k.d.byNumber(m, line)
	if !ok {
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, nil, ask.Preview{ID: c.ID})
		return func(m *Model) []effect {
			if err != nil {
				return m.fail(err)
			}
			p := m.paper()
			m.spoken.out = append(m.spoken.out, draw.Indent(draw.Markdown(r.Text, p.Inner(2, 0, false)), draw.S("  ", draw.Plain))...)
			return nil
		}
	}}}
}

// retitled gives a session another title.
func (k *sessionPicker) retitled(m *Model, line string) []effect {
	c, title, ok := k.d.byNumber(m, line)
	switch {
	case !ok:
		return nil
	case title == "":
		m.tell("The title has to follow: /rename 1 The new parser")
		return nil
	}
	return k.rename(m, c.ID, title)
}
