package ext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/tool"
)

// Extended is what there is besides adze's own, for clients.
func (x *Session) Extended() event.Extended {
	lib := x.desk.Library()
	e := event.Extended{Style: x.style()}
	e.Commands, e.Skills = skills.Offers(lib)
	for _, p := range x.conf.Folder.prompts() {
		e.Commands = append(e.Commands, event.Offer{Name: p.Command, Args: p.Args, About: clip.Line(p.About, 200), From: p.From})
	}
	if x.conf.Folder.conf.NoCommands {
		e.Commands = nil
	}
	plugs := x.conf.Folder.plugins()
	e.PluginErrors = plugs.errs
	for _, p := range plugs.list {
		e.Plugins = append(e.Plugins, event.Offer{Name: p.ID(), Version: p.Version, About: clip.Line(p.About, 200), From: p.Origin(), Path: p.Root})
	}
	for _, a := range lib.Agents() {
		e.Agents = append(e.Agents, offer(a.Thing))
	}
	for _, s := range lib.Styles() {
		e.Styles = append(e.Styles, offer(s.Thing))
	}
	order.By(e.Commands, func(a, b event.Offer) int { return cmp.Compare(a.Name, b.Name) })
	return e
}

func offer(t skill.Thing) event.Offer {
	return event.Offer{Name: t.Name, About: clip.Line(t.Description, 200), From: t.From}
}

// say records what there is, when that is not what was recorded last.
func (x *Session) say() {
	if e := x.Extended(); !reflect.DeepEqual(e, x.s.State().Extensions) {
		x.report(e)
	}
}

// commands are the slash commands of a session. It implements session.Commands.
type commands struct{ *Session }

// Find implements session.Commands.
func (c commands) Find(name string) error {
	if c.conf.Folder.conf.NoCommands {
		return errNoCommands
	}
	if strings.HasPrefix(name, "mcp__") {
		if slices.ContainsFunc(c.conf.Folder.prompts(), func(p mcp.Prompt) bool { return p.Command == name }) {
			return nil
		}
		return fmt.Errorf("there is no command /%s: no MCP server that is connected has that prompt", clip.Line(clip.Visible(name), 100))
	}
	return c.desk.Find(name)
}

// Expand implements session.Commands.
func (c commands) Expand(ctx context.Context, name, args string) (session.Expansion, error) {
	in := hook.ExpansionInput{Type: "slash_command", Name: name, Args: args, Prompt: strings.TrimSpace("/" + name + " " + args)}
	loops := false
	if s, ok := c.desk.Library().Find(name); ok {
		in.Source, loops = s.Scope, s.BuiltIn && s.Name == "loop" && c.conf.Loop != nil
	} else {
		in.Type, in.Source = "mcp_prompt", "mcp"
	}
	if refused := c.gate.Expands(ctx, in); refused != "" {
		return session.Expansion{}, errors.New(refused)
	}
	if h := c.conf.Folder.Hub(); h != nil && strings.HasPrefix(name, "mcp__") {
		env := c.conf.Fork.Loop().Env
		text, images, err := h.Prompt(ctx, name, args, env)
		return session.Expansion{Text: text, Images: images}, err
	}
	if loops {
		if said, prompt, err := c.conf.Loop(args); err != nil || said != "" {
			return c.round(ctx, said, prompt), err
		}
	}
	return c.desk.Expand(ctx, name, args)
}

// round is the first round of a loop. A command that cannot be done now is for the next one.
func (c commands) round(ctx context.Context, said, prompt string) session.Expansion {
	out := session.Expansion{Text: prompt}
	if name, args, _ := strings.Cut(strings.TrimPrefix(prompt, "/"), " "); strings.HasPrefix(prompt, "/") && c.Find(name) == nil {
		x, err := c.Expand(ctx, name, strings.TrimSpace(args))
		if out = x; err != nil {
			out = session.Expansion{Text: fmt.Sprintf("%s cannot be done now: %v", prompt, err)}
		}
	}
	out.Text = said + "\n\n" + out.Text
	return out
}

// ResourceTool is the tool that reads resources of a server; false when there is no
// server of that name, or none that has resources.
func (f *Folder) ResourceTool(server string) (tool.Tool, bool) {
	if f.Hub() == nil || !slices.ContainsFunc(f.Status(), func(s mcp.Status) bool { return s.Server.Name == server }) {
		return nil, false
	}
	for _, c := range f.Served() {
		for _, t := range c.Tools {
			if t.Spec().Name == mcp.ReadResource {
				return t, true
			}
		}
	}
	return nil, false
}

// Readable says why there is nothing to read of a server, nil where there may be: it is
// not there, cannot be reached, or has no resources.
func (f *Folder) Readable(server string) error {
	var names []string
	for _, s := range f.Status() {
		if s.Server.Name != server {
			names = append(names, s.Server.Name)
			continue
		}
		name := clip.Line(clip.Visible(server), 100)
		switch {
		case s.Resources:
			return nil
		case s.State == event.ServerConnected:
			return fmt.Errorf("the MCP server %s has no resources", name)
		case s.Why != "":
			return fmt.Errorf("the MCP server %s is not connected (%s): %s", name, s.State, clip.Visible(s.Why))
		}
		return fmt.Errorf("the MCP server %s is not connected (%s)", name, s.State)
	}
	return mcp.NoServer(server, names)
}
