package print

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// A ServerStatus is one server, in the words of hosts.
type ServerStatus struct {
	Name   string       `json:"name"`
	Status string       `json:"status"` // connected, failed, needs-auth, pending or disabled
	Info   *ServerInfo  `json:"serverInfo,omitempty"`
	Error  string       `json:"error,omitempty"`
	Scope  string       `json:"scope,omitempty"`
	Source string       `json:"source,omitempty"`
	Tools  []ServerTool `json:"tools,omitempty"`
}

// A ServerInfo is what a server calls itself.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A ServerTool is a tool of a server.
type ServerTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// HostStatus is what hosts call the state of a server.
func HostStatus(state event.ServerState) string {
	switch state {
	case event.ServerConnected, event.ServerFailed, event.ServerNeedsAuth, event.ServerDisabled:
		return string(state)
	case event.ServerClosed:
		return string(event.ServerFailed)
	}
	return "pending"
}

// definedBy is who defined a server, in the words of hosts.
func definedBy(s ask.Server) string {
	switch {
	case s.Inside:
		return "sdk"
	case s.Scope == "flag":
		return "dynamic"
	}
	return s.Scope
}

// statuses are servers in the words of hosts, with what they say of themselves and their tools.
func statuses(list []ask.Server) any {
	out := []ServerStatus{}
	for _, s := range list {
		x := briefly(s)
		if s.Itself != "" {
			x.Info = &ServerInfo{Name: s.Itself, Version: s.Version}
		}
		if s.State != string(event.ServerConnected) {
			x.Error = s.Why
		}
		for _, t := range s.Tools {
			x.Tools = append(x.Tools, ServerTool{t.Name, t.About})
		}
		out = append(out, x)
	}
	return object{"mcpServers": out}
}

func briefly(s ask.Server) ServerStatus {
	return ServerStatus{Name: s.Name, Status: HostStatus(event.ServerState(s.State)), Scope: s.Scope, Source: definedBy(s)}
}

// servers are the MCP servers as they are now.
func (a About) servers() []ServerStatus {
	list, _ := dataOf[[]ask.Server](context.Background(), a, ask.Servers{}) // without an answer there are none
	out := []ServerStatus{}
	for _, s := range list {
		out = append(out, briefly(s))
	}
	return out
}

// extended is what there is besides adze's own.
func (a About) extended() event.Extended {
	x, _ := dataOf[event.Extended](context.Background(), a, ask.Offers{}) // without an answer there is nothing
	return x
}

// dataOf is the data of an answer.
func dataOf[T any](ctx context.Context, a About, q ask.Query) (v T, err error) {
	if a.Ask == nil {
		return v, errNobody
	}
	r, err := a.Ask(ctx, q)
	if err != nil {
		return v, err
	}
	return ask.Data[T](r)
}

var errNobody = errors.New("nobody is there who could say it")

// asksServers is what is asked for a request about MCP servers.
func (r *runner) asksServers(subtype string, in members) (v asking, ok bool, err error) {
	name := cmp.Or(in.Server, in.Named)
	switch subtype {
	case "mcp_status":
		v = asking{query: ask.Servers{}, body: shaped(statuses)}
	case "mcp_reconnect":
		v = asking{query: ask.Servers{Name: name, Do: ask.Reconnect}, late: true}
	case "mcp_toggle":
		v.query = ask.Servers{Name: name, Do: ask.Disable}
		if in.Enabled {
			v.query = ask.Servers{Name: name, Do: ask.Enable}
		}
	case "mcp_message":
		v.query = ask.Deliver{Server: name, Message: in.Note}
	case "mcp_set_servers":
		r.reset = true
		v = asking{query: ask.Serve{Servers: in.Servers}, body: shaped(func(c ask.ServersChanged) any {
			return object{"added": c.Added, "removed": c.Removed, "errors": object{}}
		})}
	case "mcp_call":
		if in.Inputs != nil || in.Outputs != nil {
			return v, true, errors.New("files are not staged here: leave input_files and output_files out")
		}
		v = asking{query: ask.Call{Tool: in.Tool, Input: in.Arguments, Strict: in.Check}, late: true, body: shaped(func(c ask.Called) any {
			content := []any{object{"type": "text", "text": c.Text}}
			for _, im := range c.Images {
				content = append(content, object{"type": "image", "source": object{"type": "base64", "media_type": im.Media, "data": im.Data}})
			}
			return object{"content": content}
		})}
	case "mcp_read_resource":
		v = asking{query: ask.Resource{Server: in.Server, URI: in.URI}, late: true, body: shaped(func(c ask.Called) any {
			contents := []any{object{"uri": in.URI, "text": c.Text}}
			for _, im := range c.Images {
				contents = append(contents, object{"uri": in.URI, "mimeType": im.Media, "blob": im.Data})
			}
			return object{"contents": contents}
		})}
	default:
		return v, false, nil
	}
	return v, true, nil
}

// offers are the things of a list as hosts read them.
func offers(list []event.Offer) (out []object) {
	out = []object{}
	for _, o := range list {
		out = append(out, object{"name": o.Name, "description": o.About, "argumentHint": o.Args})
	}
	return out
}

func offerNames(list []event.Offer) []string {
	out := []string{}
	for _, o := range list {
		out = append(out, o.Name)
	}
	return out
}

// extended tells of slash commands that are others than those told last.
func (p *projection) extended(b event.Extended) []any {
	if !p.begun || slices.Equal(p.offered, b.Commands) {
		return nil
	}
	p.offered = b.Commands
	return []any{object{"type": "system", "subtype": "commands_changed", "commands": offers(b.Commands), "uuid": p.about.NewID(), "session_id": p.about.SessionID}}
}

// slash makes a prompt that begins with a slash command of the session's one
// that is expanded. What only looks like one stays as it is.
func (r *runner) slash(p op.Prompt) op.Prompt {
	name, isCommand := strings.CutPrefix(p.Text, "/")
	if !isCommand || p.Verbatim {
		return p
	}
	if i := strings.IndexAny(name, " \t\n"); i >= 0 {
		name = name[:i]
	}
	p.Command = slices.ContainsFunc(r.About.extended().Commands, func(o event.Offer) bool { return o.Name == name })
	return p
}

// hold keeps prompts until servers that the host serves are there: it is asked
// for their tools by the same loop.
func (r *runner) hold(in Input) bool {
	_, prompt := in.Op.(op.Prompt)
	if r.ready == nil || !prompt {
		return false
	}
	r.held = append(r.held, in)
	return true
}

// release submits what was held.
func (r *runner) release(ctx context.Context) error {
	held := r.held
	r.ready, r.held = nil, nil
	for _, in := range held {
		if err := r.submit(ctx, in); err != nil {
			return err
		}
	}
	return nil
}
