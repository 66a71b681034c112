package print

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// Servers are the MCP servers of a session, as hosts ask about them
// (compat.md 4.5).
type Servers interface {
	Status() []ServerStatus
	// Set has these servers, and only these, beside those that are configured.
	Set(list map[string]json.RawMessage) (added, removed []string, errs map[string]string)
	Reconnect(name string) error
	Enable(name string, on bool) error
	// FromHost takes a message of a server that the host serves.
	FromHost(server string, message json.RawMessage) error
}

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

var errNoServers = errors.New("there is no MCP server: this session has none")

// servers answers the requests about MCP servers.
func (r *runner) servers(subtype, name string, on bool, list map[string]json.RawMessage, message json.RawMessage) (any, error) {
	if r.Servers == nil {
		return nil, errNoServers
	}
	switch subtype {
	case "mcp_status":
		return object{"mcpServers": append([]ServerStatus{}, r.Servers.Status()...)}, nil
	case "mcp_reconnect":
		return object{}, r.Servers.Reconnect(name)
	case "mcp_toggle":
		return object{}, r.Servers.Enable(name, on)
	case "mcp_message":
		return object{}, r.Servers.FromHost(name, message)
	}
	added, removed, errs := r.Servers.Set(list)
	if errs == nil {
		errs = map[string]string{}
	}
	return object{"added": append([]string{}, added...), "removed": append([]string{}, removed...), "errors": errs}, nil
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
	if !isCommand || p.Verbatim || r.About.Extended == nil {
		return p
	}
	if i := strings.IndexAny(name, " \t\n"); i >= 0 {
		name = name[:i]
	}
	p.Command = slices.ContainsFunc(r.About.Extended().Commands, func(o event.Offer) bool { return o.Name == name })
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
