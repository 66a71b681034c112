package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// extensions are the slash commands about what people brought along.
func (h *uiHost) extensions() map[string]uiReport {
	return map[string]uiReport{
		"mcp":          {about: "MCP servers: state, tools, log; sign in", args: "[NAME | " + strings.Join(desk.ServerVerbs, " NAME | ") + " NAME]", here: mcpAway, run: h.mcp},
		"skills":       {about: "skills and commands, and who brings them", run: h.listed(func(x event.Extended) []event.Offer { return x.Commands }, "skills")},
		"agents":       {about: "definitions of agents", run: h.listed(func(x event.Extended) []event.Offer { return x.Agents }, "agents")},
		"plugin":       {about: "plugins that are active", args: "[list …]", run: h.subcommand("plugin", "list")},
		"output-style": {about: "how the model answers, from the next session on", args: "[name]", choose: h.styles, run: h.setStyle},
	}
}

func (h *uiHost) servers() (*ext.World, error) {
	w := h.desk.Place()
	if w == nil {
		return nil, fmt.Errorf("no session is open")
	}
	return w.MCP(), nil
}

// listed shows things of the newest session as a table.
func (h *uiHost) listed(pick func(event.Extended) []event.Offer, what string) func(context.Context, string, string) (string, error) {
	return func(context.Context, string, string) (string, error) {
		w, err := h.servers()
		if err != nil {
			return "", err
		}
		list := pick(w.Extended())
		if len(list) == 0 {
			return "There are no " + what + ".", nil
		}
		var b strings.Builder
		b.WriteString("| Name | | From |\n|---|---|---|\n")
		for _, o := range list {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(o.Name), cell(o.About), cell(o.From))
		}
		return b.String(), nil
	}
}

// styles are the output styles to choose from.
func (h *uiHost) styles(context.Context) (out []tui.Choice, err error) {
	w, err := h.servers()
	if err != nil {
		return nil, err
	}
	x := w.Extended()
	usual := tui.Choice{ID: usualStyle, Name: usualStyle, About: "The usual one: none of the others."}
	if x.Style == "" {
		usual.Right = "in force"
	}
	out = append(out, usual)
	for _, o := range x.Styles {
		c := tui.Choice{ID: o.Name, Name: o.Name, About: o.About}
		if o.Name == x.Style {
			c.Right = "in force"
		}
		out = append(out, c)
	}
	return out, nil
}

// usualStyle stands for no output style.
const usualStyle = "default"

// setStyle writes the output style into the person's settings, or takes it out of them.
func (h *uiHost) setStyle(ctx context.Context, _ string, name string) (string, error) {
	name = strings.TrimSpace(name)
	styles, err := h.styles(ctx)
	if err != nil {
		return "", err
	}
	var names []string
	known := false
	for _, c := range styles {
		names = append(names, c.ID)
		if strings.EqualFold(c.ID, name) {
			known, name = true, c.ID
		}
	}
	if !known {
		return "", fmt.Errorf("there is no output style %q; there are %s", name, strings.Join(names, ", "))
	}
	value, err := fastjson.Append(nil, name)
	if err != nil {
		return "", err
	}
	p, _, err := h.loaded()
	if err != nil {
		return "", err
	}
	change := confedit.Edit{Op: confedit.Set, Key: "output_style", Value: value}
	if name == usualStyle {
		change = confedit.Edit{Op: confedit.Unset, Key: "output_style"}
	}
	t, _ := p.File("user")
	if err := h.desk.Write(ctx, p, t, change); err != nil {
		return "", err
	}
	return "The output style is " + name + " from the next session on: /clear begins one.", nil
}
