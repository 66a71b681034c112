package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
)

// ServerVerbs are what /mcp can do with a server. A terminal is needed to login and to approve.
var ServerVerbs = []string{"enable", "disable", "reconnect", "login", "logout", "approve"}

// ext are the extensions around a session, nil before there is any.
func (d *Desk) ext(session string) *ext.Folder {
	if w := d.at(session); w != nil {
		return w.Extensions()
	}
	return nil
}

var errNoSession = errors.New("no session is open")

// servers are the MCP servers, one of them, or what was done with one.
func (d *Desk) servers(ctx context.Context, session string, q ask.Servers) (ask.Reply, error) {
	w := d.ext(session)
	if w == nil {
		return ask.Reply{}, errNoSession
	}
	all := w.Status()
	if len(all) == 0 && q.Do != "" {
		return ask.Reply{}, noServer(q.Name)
	}
	if len(all) == 0 {
		return ask.Reply{Text: "No MCP server is configured. `adze mcp add NAME COMMAND` adds one.", Data: []ask.Server{}}, nil
	}
	out, names := make([]ask.Server, len(all)), make([]string, len(all))
	served := w.Served()
	for i, s := range all {
		out[i], names[i] = serverOf(s, served), s.Server.Name
	}
	if q.Name == "" {
		return ask.Reply{Text: serverTable(out), Data: out}, nil
	}
	i := slices.Index(names, q.Name)
	if i < 0 {
		return ask.Reply{}, fmt.Errorf("there is no MCP server %q%s; there are: %s", clip.Line(q.Name, 60), near.Hint(q.Name, names), strings.Join(names, ", "))
	}
	text, err := "", error(nil)
	switch q.Do {
	case "":
		out[i].Notes, out[i].Log = all[i].Notes, w.Log(q.Name)
		return ask.Reply{Text: aboutServer(out[i]), Data: out[i : i+1]}, nil
	case ask.Enable, ask.Disable:
		text, err = "`"+q.Name+"` is "+string(q.Do)+"d until adze ends", w.Hub().Enable(q.Name, q.Do == ask.Enable)
	case ask.Reconnect:
		text, err = again(ctx, w, q.Name)
	case ask.Logout:
		if d.c.Logout == nil {
			return ask.Reply{}, unsupported(q)
		}
		if err = d.c.Logout(ctx, q.Name); err == nil {
			text, err = again(ctx, w, q.Name)
			text = "Signed out. " + text
		}
	default:
		if slices.Contains(ServerVerbs, string(q.Do)) {
			return ask.Reply{}, &op.Refusal{Code: op.Unsupported, Text: "/mcp " + string(q.Do) + " needs the terminal that adze runs in"}
		}
		err = fmt.Errorf("/mcp knows %s, not %q", strings.Join(ServerVerbs, ", "), clip.Line(string(q.Do), 40))
	}
	return ask.Reply{Text: text}, err
}

// serverOf is a server with what it serves.
func serverOf(s mcp.Status, served []extension.Contribution) ask.Server {
	x := s.Server
	out := ask.Server{
		Name: x.Name, State: string(s.State), Why: s.Why, Scope: string(x.Scope), Origin: x.Origin.String(), Program: x.Line(), Inside: x.Transport == servers.Host,
		Itself: s.Name, Version: s.Version, Protocol: s.Protocol,
	}
	from := extension.OfServer(x.Name, x.Origin.String())
	for _, c := range served {
		if c.From != from {
			continue
		}
		for _, t := range c.Tools {
			spec := t.Spec()
			out.Tools = append(out.Tools, ask.ServerTool{Name: spec.Name, About: spec.Description, Tokens: clip.Tokens(len(spec.Name) + len(spec.Description) + len(spec.Schema))})
		}
	}
	return out
}

// againWait is how long a person is not told what a new connection came to.
const againWait = 15 * time.Second

// again connects to a server anew, and says what that came to.
func again(ctx context.Context, w *ext.Folder, name string) (string, error) {
	ctx, end := context.WithTimeout(ctx, againWait)
	defer end()
	s, err := w.Hub().Anew(ctx, name)
	if err != nil {
		return "", err
	}
	text := "`" + name + "` is " + string(s.State)
	switch {
	case s.State == event.ServerConnected:
		text += ", with " + clip.Count(s.Tools, "tool")
	case s.State == event.ServerNeedsAuth:
		text += ": sign in with `/mcp login " + name + "`"
	case s.Why != "":
		text += ": " + cell(s.Why)
	}
	return text + ".", nil
}

func serverTable(all []ask.Server) string {
	var b strings.Builder
	b.WriteString("| Server | State | Tools | |\n|---|---|---|---|\n")
	for _, s := range all {
		about := s.Why
		switch event.ServerState(s.State) {
		case event.ServerNeedsAuth:
			about = "sign in: /mcp login " + s.Name
		case event.ServerPending:
			if about != servers.Untrusted {
				about = "look at it, and say yes: /mcp approve " + s.Name
			}
		case event.ServerConnected, event.ServerConnecting:
			about = clip.Line(s.Program, 50)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", cell(s.Name), s.State, len(s.Tools), cell(about))
	}
	return b.String() + "\n`/mcp NAME` shows its tools and what it wrote."
}

// cell is a text in a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(clip.Line(clip.Visible(s), 200))
}

// aboutServer is a server with its tools, what each of them costs of the window,
// and the end of its log.
func aboutServer(s ask.Server) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** is %s. %s\n\n%s, configured in %s.\n", cell(s.Name), s.State, cell(s.Why), cell(s.Program), cell(s.Origin))
	if s.Protocol != "" {
		fmt.Fprintf(&b, "\nIt is %s %s, and speaks %s.\n", cell(s.Itself), cell(s.Version), cell(s.Protocol))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\n* %s\n", cell(n))
	}
	if len(s.Tools) > 0 {
		all, prefix := 0, "mcp__"
		if server, _, ok := strings.Cut(strings.TrimPrefix(s.Tools[0].Name, prefix), "__"); ok {
			prefix += server + "__"
		}
		b.WriteString("\n| Tool | Tokens | |\n|---|---|---|\n")
		for _, t := range s.Tools {
			all += t.Tokens
			fmt.Fprintf(&b, "| %s | %d | %s |\n", cell(strings.TrimPrefix(t.Name, prefix)), t.Tokens, clip.Line(cell(t.About), 70))
		}
		fmt.Fprintf(&b, "\n%s, about %s tokens together. The model and rules know them as `%s…`.\n", clip.Count(len(s.Tools), "tool"), clip.Short(all), prefix)
	}
	if len(s.Log) > 0 {
		b.WriteString("\nIts log ends with:\n" + clip.Fenced(clip.VisibleText(strings.Join(s.Log, "\n"))) + "\n")
	}
	return b.String()
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
