package dialog

import (
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// Poll asks for one row after the other, and then for the whole.
func (d *form) Poll(Ctx) Poll {
	p := Poll{Words: []string{"decline"}}
	if d.at > 0 {
		p.Words = append(p.Words, "back")
	}
	r := d.now()
	if r == nil {
		for _, name := range d.plainAnswers() {
			p.Answers = append(p.Answers, Named{Name: name})
		}
		if n := len(d.answers()); n > 1 {
			p.Answers[0].Also, p.Answers[n-1].Also = yesAlso, noAlso
		} else {
			p.Answers[0].Also = noAlso
		}
		p.Wanted = upTo(len(p.Answers))
		return p
	}
	p.Field, p.Empty, p.Many = r.text != nil, true, r.Kind == view.ChoicesField
	for _, o := range r.Options {
		p.Answers = append(p.Answers, Named{o.Label(), []string{strings.ToLower(o.Value)}})
	}
	switch {
	case r.text != nil && r.value() != nil:
		p.How, p.Wanted = "An empty line keeps “"+clip.Line(r.text.Text(), 60)+"”.", "text"
	case r.text != nil && !r.Required:
		p.How, p.Wanted = "An empty line leaves it out.", "text"
	case r.text != nil:
		p.Wanted = "text"
	case r.Kind == view.BooleanField:
		p.Answers[0].Also, p.Answers[1].Also = append(yesAlso, "true"), append(noAlso, "false")
		p.How, p.Wanted = "1 or y is yes, 2 or n is no"+r.orEmpty()+".", "yes or no"
	case r.Kind == view.ChoicesField:
		p.How, p.Wanted = "The numbers of choices, with blanks between them"+r.orEmpty()+".", "numbers"
	default:
		p.How, p.Wanted = "The number of a choice"+r.orEmpty()+".", upTo(len(r.Options))
	}
	if r.text != nil && r.Kind != view.StringField {
		p.Wanted = "number"
	}
	if d.at == 0 {
		p.How = strings.TrimSpace(p.How + " /back goes back, /decline declines.")
	}
	return p
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

func (d *form) Take(_ Ctx, r Reply) []Effect {
	x := d.now()
	switch {
	case r.Word == "decline":
		return d.answer(op.Answer{})
	case r.Word == "back":
		d.to(d.at - 1)
		return []Effect{Again{}}
	case x == nil && d.opened == nil && r.Picks[0] == 2:
		d.at = 0
		return []Effect{Again{}}
	case x == nil:
		return d.decided(r.Picks[0] == 0 && len(d.answers()) > 1)
	case r.Text == "" && len(r.Picks) == 0 && x.value() == nil && !x.Required:
		d.at++
		return []Effect{Again{}}
	}
	was, ticks := "", x.ticks
	if x.text != nil {
		was = x.text.Text()
	}
	if x.text != nil && r.Text != "" {
		x.text.Set(r.Text)
	}
	if len(r.Picks) > 0 {
		x.ticks = map[int]bool{}
		for _, i := range r.Picks {
			x.ticks[i] = true
		}
	}
	if err := x.check(); err != nil {
		x.wrong, x.ticks = "", ticks // it is told here
		if x.text != nil {
			x.text.Set(was)
		}
		return tell("That cannot be taken: " + draw.String(err.Error()) + ".")
	}
	d.at++
	return []Effect{Again{}}
}

// decided sends the form; where something in it cannot be sent, that is asked for again.
func (d *form) decided(yes bool) []Effect {
	before := d.at
	out := d.decide(yes)
	if d.wrong != "" {
		out = append(out, tell("It cannot be sent: "+draw.String(d.wrong)+".")...)
		d.wrong = ""
	}
	if d.at != before {
		out = append(out, Again{})
	}
	return out
}
