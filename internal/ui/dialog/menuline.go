package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// plainChoices is how many choices of a menu are printed; letters narrow it to others.
const plainChoices = 40

// printed draws a menu where nothing is drawn anew: what is below the lines about it.
func (d *Menu) printed(p Paper, lines []draw.Line, width int) []draw.Line {
	shown := d.found[:min(len(d.found), plainChoices)]
	for i, f := range shown {
		lines = append(lines, p.spelled(f.Choice, i).Wrap(width, draw.S("    ", draw.Plain))...)
	}
	switch n := len(d.found) - len(shown); {
	case n > 0:
		lines = append(lines, draw.L(draw.S(fmt.Sprintf("%s %d more: letters of a name narrow the list", p.Sign(draw.Ellipsis), n), draw.Quiet)))
	case len(d.all) == 0 && d.None != "":
		lines = append(lines, draw.WrapAll(draw.Text(d.None, draw.Style{Role: draw.Quiet}), width)...)
	case len(d.found) == 0:
		lines = append(lines, draw.L(draw.S("nothing matches", draw.Quiet)))
	}
	return p.Boxed(lines, draw.Border, min(p.O.Width, story.TextCols), draw.L(draw.S(draw.String(d.Heading), draw.Border)), nil)
}

// without is a hint of keys without what one of them does: there is nothing to do it to.
func without(hint, key string) string {
	parts := slices.DeleteFunc(strings.Split(hint, ", "), func(s string) bool { return strings.HasPrefix(s, key) })
	return cmp.Or(strings.Join(parts, ", "), "Esc closes")
}

// after is what follows a word in a hint of keys, up to the next key: what it does.
func after(hint, word string) string {
	_, rest, _ := strings.Cut(hint, word)
	rest, _, _ = strings.Cut(rest, ",")
	return strings.TrimSpace(rest)
}

func (d *Menu) Poll(Ctx) Poll {
	if d.field != nil {
		return Poll{Wanted: d.field.label, Field: true}
	}
	p := Poll{Begun: d.Fixed, Text: !d.Fixed, Letters: !d.Fixed, Empty: d.Call == "", Waits: d.Loading, Read: !d.Loading && len(d.all) == 0 && d.None != ""}
	for _, f := range d.found {
		p.Answers = append(p.Answers, Named{f.Name, f.Also})
	}
	takes, leaves := cmp.Or(after(d.Hint, "Enter "), "takes it"), cmp.Or(after(d.Hint, "Esc "), "leaves")
	p.How, p.Wanted = "The number of one "+takes, upTo(len(d.found))
	if !d.Fixed {
		p.How, p.Wanted = p.How+", letters of some narrow the list and take one that is left alone", "number or letters"
	}
	if d.Call == "" {
		p.How += ", an empty line " + leaves
	}
	switch p.How += "."; {
	case len(d.found) == 0 && d.Fixed:
		p.How, p.Wanted = "An empty line "+leaves+".", "empty line"
	case len(d.found) == 0:
		p.How, p.Wanted = "An empty line "+leaves+".", "letters"
	}
	for _, w := range d.Words {
		p.Words = append(p.Words, w.Word)
		p.How += " /" + strings.TrimSpace(w.Word+" "+w.Args) + ": " + w.About + "."
	}
	return p
}

func (d *Menu) Take(c Ctx, r Reply) []Effect {
	switch {
	case d.field != nil && r.Text == "":
		d.field = nil
		return []Effect{Again{}}
	case d.field != nil:
		d.field = nil
		return []Effect{Again{}, Wrote{r.Text}}
	case r.Word != "":
		return d.said(r)
	case len(r.Picks) > 0:
		return []Effect{Chosen{d.found[r.Picks[0]].Choice}}
	case r.Text == "":
		return []Effect{Dropped{}}
	}
	d.typed.Set(r.Text)
	d.find()
	switch len(d.found) {
	case 0: // what is looked for elsewhere may still come
		return []Effect{Sought{func() []Effect {
			d.typed.Set("")
			d.find()
			return tell("Nothing matches “" + draw.String(r.Text) + "”. " + d.Poll(c).How)
		}}}
	case 1:
		return []Effect{Sought{}, Say{Text: "It is " + draw.String(d.found[0].Name) + "."}, Chosen{d.found[0].Choice}}
	}
	return []Effect{Sought{}}
}

// said is a word with the choice that its line numbers, where one has to be.
func (d *Menu) said(r Reply) []Effect {
	i := slices.IndexFunc(d.Words, func(w Word) bool { return w.Word == r.Word })
	if !strings.HasPrefix(d.Words[i].Args, "N") {
		return []Effect{Said{Word: r.Word, Rest: r.Rest}}
	}
	first, rest, _ := strings.Cut(r.Rest, " ")
	n, ok := numberIn(first)
	if !ok || n < 0 || n >= len(d.found) {
		return tell("The number of one has to follow: " + upTo(len(d.found)) + ".")
	}
	return []Effect{Said{r.Word, d.found[n].Choice, strings.TrimSpace(rest)}}
}
