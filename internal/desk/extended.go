package desk

import (
	"context"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// extended is what there is beside adze's own: of a session, or of the newest one.
func (d *Desk) extended(session string) (x event.Extended, err error) {
	if s, ok := d.seat(session); ok {
		return s.Extended(), nil
	}
	if w := d.ext(""); w != nil {
		return w.Extended(), nil
	}
	return x, errNoSession
}

func (d *Desk) offers(session string, q ask.Offers) (ask.Reply, error) {
	x, err := d.extended(session)
	if err != nil {
		return ask.Reply{}, err
	}
	out, list := ask.With(x), x.Commands
	switch q.Of {
	case ask.Skills:
	case ask.Agents:
		list = x.Agents
	default:
		return out, nil
	}
	if out.Text = "There are no " + string(q.Of) + "."; len(list) == 0 {
		return out, nil
	}
	var b strings.Builder
	b.WriteString("| Name | | From |\n|---|---|---|\n")
	for _, o := range list {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(o.Name), cell(o.About), cell(o.From))
	}
	out.Text = b.String()
	return out, nil
}

// usualStyle stands for no output style.
const usualStyle = "default"

// styles are the output styles to choose from.
func (d *Desk) styles(session string) ([]ask.Choice, error) {
	x, err := d.extended(session)
	if err != nil {
		return nil, err
	}
	out := []ask.Choice{{ID: usualStyle, Name: usualStyle, About: "The usual one: none of the others."}}
	for _, o := range x.Styles {
		out = append(out, ask.Choice{ID: o.Name, Name: o.Name, About: o.About})
	}
	for i, c := range out {
		if c.ID == x.Style || i == 0 && x.Style == "" {
			out[i].Right = "in force"
		}
	}
	return out, nil
}

// style writes the output style into the person's settings, or takes it out of them.
func (d *Desk) style(ctx context.Context, session, name string) (string, error) {
	styles, err := d.styles(session)
	if err != nil {
		return "", err
	}
	var names []string
	known := ""
	for _, c := range styles {
		names = append(names, c.ID)
		if strings.EqualFold(c.ID, name) {
			known = c.ID
		}
	}
	if known == "" {
		return "", fmt.Errorf("there is no output style %q; there are %s", name, strings.Join(names, ", "))
	}
	p, _, err := d.Loaded()
	if err != nil {
		return "", err
	}
	change := confedit.Edit{Op: confedit.Unset, Key: "output_style"}
	if known != usualStyle {
		change.Op = confedit.Set
		if change.Value, err = fastjson.Append(nil, known); err != nil {
			return "", err
		}
	}
	t, _ := p.File("user")
	if err := d.Write(ctx, p, t, change); err != nil {
		return "", err
	}
	return "The output style is " + known + " from the next session on: /clear begins one.", nil
}
