package desk

import (
	"context"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// definitions are those of agents, and what is done with one.
func (d *Desk) definitions(ctx context.Context, session string, q ask.Definitions) (ask.Reply, error) {
	s, err := d.in(session)
	if err != nil {
		return ask.Reply{}, err
	}
	p, cfg, err := d.Loaded()
	if err != nil {
		return ask.Reply{}, err
	}
	if q.Do == ask.BeginDefinition {
		file, err := ext.BeginAgent(p, string(q.Scope), q.Name)
		if err != nil {
			return ask.Reply{}, err
		}
		text := "began " + file
		if q.Scope != "user" {
			text += "; it counts once this folder is trusted with it"
		}
		return ask.Reply{Text: text, Names: []string{file}}, nil
	}
	rules := settings.ReadingRules(cfg, p)
	var all []ask.Definition
	for _, a := range s.Definitions() {
		x := ask.Definition{
			Name: a.Name, About: a.Description, Model: a.Model, Tools: a.Tools, From: a.From, Scope: a.Scope, File: a.File, Denied: rules.DeniesAgent(a.Name), Person: a.NoModel,
		}
		all = append(all, x)
	}
	if q.Do == "" {
		return ask.With(all), nil
	}
	i := slices.IndexFunc(all, func(x ask.Definition) bool { return x.Name == q.Name })
	if i < 0 {
		return ask.Reply{}, fmt.Errorf("there is no agent %q", clip.Line(clip.Visible(q.Name), 100))
	}
	text, err := d.denied(ctx, p, all[i], q.Do)
	return ask.Reply{Text: text}, err
}

// denied has a rule of the person's settings deny an agent, or takes that back.
func (d *Desk) denied(ctx context.Context, p settings.Paths, x ask.Definition, do ask.DefinitionDo) (string, error) {
	rule := "Agent(" + x.Name + ")"
	raw, err := fastjson.Append(nil, rule)
	if err != nil {
		return "", err
	}
	t, _ := p.File("user")
	switch {
	case do == ask.DenyDefinition && x.Denied:
		return "the agent " + x.Name + " is denied already", nil
	case do == ask.DenyDefinition:
		return "no model starts the agent " + x.Name + " any more: your settings deny " + rule, d.Write(ctx, p, t, confedit.Edit{Op: confedit.Add, Key: "permissions.deny", Value: raw})
	case do != ask.AllowDefinition:
		return "", fmt.Errorf("nobody knows what %q is to do with an agent", clip.Line(clip.Visible(string(do)), 60))
	case !x.Denied:
		return "the agent " + x.Name + " is not denied", nil
	}
	if err := d.Write(ctx, p, t, confedit.Edit{Op: confedit.Drop, Key: "permissions.deny", Value: raw}); err != nil {
		return "", err
	}
	_, cfg, err := d.Loaded()
	if err == nil && settings.ReadingRules(cfg, p).DeniesAgent(x.Name) {
		err = fmt.Errorf("another rule than %s of your settings denies the agent %s: /permissions shows the rules", rule, x.Name)
	}
	return "models can start the agent " + x.Name + " again", err
}
