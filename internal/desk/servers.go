package desk

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/text/clip"
)

// ServerVerbs are what /mcp can do with a server.
var ServerVerbs = []string{"enable", "disable", "reconnect", "login", "logout", "approve"}

// ext are the extensions around a session, nil before there is any.
func (d *Desk) ext(session string) *ext.World {
	if w := d.at(session); w != nil {
		return w.MCP()
	}
	return nil
}

// resources are those of MCP servers that may be meant with part of "server:uri".
func (d *Desk) resources(ctx context.Context, session, part string, max int) (out []ask.Choice) {
	w := d.ext(session)
	if w == nil || w.Hub() == nil {
		return nil
	}
	for _, r := range w.Hub().Mentions(ctx, part, max) {
		name := r.Server + ":" + r.URI
		c := ask.Choice{ID: name, Name: name, About: clip.Line(clip.Visible(r.Name), 100)}
		if r.Template {
			c.ID, _, _ = strings.Cut(name, "{")
			c.Part = true
		}
		out = append(out, c)
	}
	return out
}

// arguments are what may stand behind a command: of /mcp, and of servers' prompts.
func (d *Desk) arguments(ctx context.Context, session, command, args string) (out []ask.Choice) {
	w := d.ext(session)
	if w == nil || w.Hub() == nil {
		return nil
	}
	if command != "mcp" {
		if !strings.HasPrefix(command, "mcp__") {
			return nil
		}
		for _, v := range w.Hub().CompletePrompt(ctx, command, args) {
			id := v
			if strings.ContainsAny(v, " \t\"'") {
				id = `"` + strings.ReplaceAll(v, `"`, "'") + `"`
			}
			out = append(out, ask.Choice{ID: id, Name: v})
		}
		return out
	}
	word, name, named := strings.Cut(args, " ")
	begun := word
	if named {
		begun = strings.TrimLeft(name, " ")
	}
	for _, s := range w.Status() {
		if strings.HasPrefix(s.Server.Name, begun) {
			out = append(out, ask.Choice{ID: s.Server.Name, Name: s.Server.Name, About: string(s.State)})
		}
	}
	for _, x := range ServerVerbs {
		if !named && strings.HasPrefix(x, begun) {
			out = append(out, ask.Choice{ID: x, Name: x})
		}
	}
	return out
}
