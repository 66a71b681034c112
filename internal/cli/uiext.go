package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// extensions are the slash commands about what people brought along.
func (h *uiHost) extensions() map[string]tui.Report {
	return map[string]tui.Report{
		"mcp":          {About: "MCP servers: state, tools, log", Args: "[NAME | enable NAME | disable NAME | reconnect NAME]", Run: h.mcp},
		"skills":       {About: "skills and commands, and who brings them", Run: h.listed(func(x event.Extended) []event.Offer { return x.Commands }, "skills")},
		"agents":       {About: "definitions of agents", Run: h.listed(func(x event.Extended) []event.Offer { return x.Agents }, "agents")},
		"plugin":       {About: "plugins that are active", Args: "[list …]", Run: h.subcommand("plugin", "list")},
		"output-style": {About: "how the model answers, from the next session on", Args: "[name]", Choose: h.styles, Run: h.setStyle},
	}
}

func (h *uiHost) servers() (*ext.World, error) {
	w := h.world.Load()
	if w == nil {
		return nil, fmt.Errorf("no session is open")
	}
	return w.MCP(), nil
}

// resources are those of MCP servers that may be meant with part of "server:uri".
func (h *uiHost) resources(ctx context.Context, part string, max int) (out []tui.Choice) {
	w, err := h.servers()
	if err != nil || w.Hub() == nil {
		return nil
	}
	for _, r := range w.Hub().Mentions(ctx, part, max) {
		name := r.Server + ":" + r.URI
		out = append(out, tui.Choice{ID: name, Name: name, About: clip.Line(clip.Visible(r.Name), 100)})
	}
	return out
}

// mcp shows servers, or turns one on or off.
func (h *uiHost) mcp(_ context.Context, _ *tui.Session, args string) (string, error) {
	w, err := h.servers()
	if err != nil {
		return "", err
	}
	all := w.Status()
	if len(all) == 0 {
		return "No MCP server is configured. `adze mcp add NAME COMMAND` adds one.", nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Server.Name)
	}
	word, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	if name == "" {
		name = word
	}
	if name != "" && !slices.Contains(names, name) {
		return "", fmt.Errorf("there is no MCP server %q%s; there are: %s", clip.Line(name, 60), near.Hint(name, names), strings.Join(names, ", "))
	}
	switch {
	case args == "":
		return serverTable(all), nil
	case word == name:
		return h.aboutServer(w, all[slices.Index(names, name)]), nil
	case word == "enable", word == "disable":
		return "`" + name + "` is " + word + "d until adze ends", w.Hub().Enable(name, word == "enable")
	case word == "reconnect":
		return "`" + name + "` is connecting anew", w.Hub().Reconnect(name)
	}
	return "", fmt.Errorf("/mcp knows enable, disable and reconnect, not %q", clip.Line(word, 40))
}

func serverTable(all []mcp.Status) string {
	var b strings.Builder
	b.WriteString("| Server | State | Tools | |\n|---|---|---|---|\n")
	for _, s := range all {
		about := s.Why
		switch s.State {
		case event.ServerNeedsAuth:
			about = "sign in: adze mcp login " + s.Server.Name
		case event.ServerPending:
			about = "look at it, and say yes: adze mcp approve " + s.Server.Name
		case event.ServerConnected:
			about = s.Server.Line()
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", cell(s.Server.Name), s.State, s.Tools, cell(about))
	}
	return b.String() + "\n`/mcp NAME` shows its tools and what it wrote."
}

// cell is a text in a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(clip.Line(clip.Visible(s), 200))
}

// aboutServer is a server with its tools, what each of them costs of the window,
// and the end of its log.
func (h *uiHost) aboutServer(w *ext.World, s mcp.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** is %s. %s\n\n%s, configured in %s.\n", cell(s.Server.Name), s.State, cell(s.Why), cell(s.Server.Line()), cell(s.Server.Origin.String()))
	if s.Protocol != "" {
		fmt.Fprintf(&b, "\nIt is %s %s, and speaks %s.\n", cell(s.Name), cell(s.Version), cell(s.Protocol))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\n* %s\n", cell(n))
	}
	if tools := toolsOf(w, s); len(tools) > 0 {
		b.WriteString("\n| Tool | Tokens | |\n|---|---|---|\n")
		for _, t := range tools {
			fmt.Fprintf(&b, "| %s | %d | %s |\n", cell(t.name), t.tokens, cell(t.about))
		}
	}
	if lines := w.Log(s.Server.Name); len(lines) > 0 {
		b.WriteString("\nIts log ends with:\n" + fenced(clip.VisibleText(strings.Join(lines, "\n"))) + "\n")
	}
	return b.String()
}

type serverTool struct {
	name, about string
	tokens      int
}

func toolsOf(w *ext.World, s mcp.Status) (out []serverTool) {
	from := contrib.Origin("the MCP server " + s.Server.Name + " (" + s.Server.Origin.String() + ")")
	for _, c := range w.Contributions() {
		if c.From != from {
			continue
		}
		for _, t := range c.Tools {
			spec := t.Spec()
			out = append(out, serverTool{spec.Name, spec.Description, clip.Tokens(len(spec.Name) + len(spec.Description) + len(spec.Schema))})
		}
	}
	return out
}

// listed shows things of the newest session as a table.
func (h *uiHost) listed(pick func(event.Extended) []event.Offer, what string) func(context.Context, *tui.Session, string) (string, error) {
	return func(context.Context, *tui.Session, string) (string, error) {
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
	for _, o := range x.Styles {
		c := tui.Choice{ID: o.Name, Name: o.Name, About: o.About}
		if o.Name == x.Style {
			c.Right = "in force"
		}
		out = append(out, c)
	}
	return out, nil
}

// setStyle writes the output style into the person's settings.
func (h *uiHost) setStyle(ctx context.Context, s *tui.Session, name string) (string, error) {
	value, err := json.Marshal(strings.TrimSpace(name))
	if err != nil {
		return "", err
	}
	out, err := h.subcommand("config")(ctx, s, "set output_style "+string(value))
	return out + "\nIt counts from the next session on: /clear begins one.", err
}
