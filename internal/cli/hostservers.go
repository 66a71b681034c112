package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/print"
)

// fromHost is where things come from that the program which drives adze names.
var fromHost = config.Origin{Scope: config.Flag, From: "the program that drives adze"}

// hostServers are the MCP servers of a session, for the program that drives adze.
// It implements print.Servers.
type hostServers struct {
	world *ext.World
	// given are those that the program named when it began, named by its newest Set.
	given, named []servers.Given
}

// Status implements print.Servers.
func (h *hostServers) Status() (out []print.ServerStatus) {
	tools := map[contrib.Origin][]print.ServerTool{}
	for _, c := range h.world.Served() {
		for _, t := range c.Tools {
			s := t.Spec()
			tools[c.From] = append(tools[c.From], print.ServerTool{Name: s.Name, Description: s.Description})
		}
	}
	for _, s := range h.world.Status() {
		x := briefly(s)
		if s.Name != "" {
			x.Info = &print.ServerInfo{Name: s.Name, Version: s.Version}
		}
		if s.State != event.ServerConnected {
			x.Error = s.Why
		}
		x.Tools = tools[contrib.OfServer(s.Server.Name, s.Server.Origin.String())]
		out = append(out, x)
	}
	return out
}

// briefly is a server without what it says of itself.
func briefly(s mcp.Status) print.ServerStatus {
	return print.ServerStatus{Name: s.Server.Name, Status: print.HostStatus(s.State), Scope: string(s.Server.Scope), Source: source(s.Server)}
}

// source is who defined a server, in the words of hosts.
func source(s servers.Server) string {
	switch {
	case s.Transport == servers.Host:
		return "sdk"
	case s.Scope == servers.Flag:
		return "dynamic"
	}
	return string(s.Scope)
}

// Set implements print.Servers.
func (h *hostServers) Set(list map[string]json.RawMessage) (added, removed []string, errs map[string]string) {
	var next []servers.Given
	for _, name := range slices.Sorted(maps.Keys(list)) {
		next = append(next, givenByHost(name, list[name]))
	}
	has := func(list []servers.Given, name string) bool {
		return slices.ContainsFunc(list, func(g servers.Given) bool { return g.Name == name })
	}
	was := slices.Concat(h.given, h.named)
	for _, g := range next {
		if !has(was, g.Name) {
			added = append(added, g.Name)
		}
	}
	for _, g := range was {
		if !has(next, g.Name) {
			removed = append(removed, g.Name)
		}
	}
	h.given, h.named = nil, next
	select {
	case <-h.world.Further(next): // so that a question that follows is answered by what is now
	case <-time.After(hostWait):
	}
	return added, removed, nil
}

func givenByHost(name string, raw json.RawMessage) servers.Given {
	var kind struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &kind) // what cannot be read says so when it is used
	return servers.Given{Name: name, JSON: raw, Origin: fromHost, Inside: kind.Type == "sdk"}
}

// Reconnect implements print.Servers.
func (h *hostServers) Reconnect(name string) error {
	return h.hub(name, func(x ext.Hub) error { return x.Reconnect(name) })
}

// Enable implements print.Servers.
func (h *hostServers) Enable(name string, on bool) error {
	return h.hub(name, func(x ext.Hub) error { return x.Enable(name, on) })
}

// FromHost implements print.Servers.
func (h *hostServers) FromHost(name string, message json.RawMessage) error {
	return h.hub(name, func(x ext.Hub) error { return x.FromHost(name, message) })
}

func (h *hostServers) hub(name string, do func(ext.Hub) error) error {
	if x := h.world.Hub(); x != nil {
		return do(x)
	}
	return fmt.Errorf("there is no MCP server %q: none is configured", name)
}

// hostWait is how long the first prompt of a program waits for servers that the
// program itself serves.
const hostWait = 5 * time.Second

// inside puts what a program decides before the session begins into the options:
// servers, agents, plugins and skills.
func (o *invocation) inside(s print.Setup) error {
	x := &o.Extensions
	var mine []servers.Given
	for _, name := range s.Inside {
		g := servers.Given{Name: name, Inside: true, Origin: fromHost}
		if ms := s.Timeouts[name]; ms > 0 {
			g.JSON = json.RawMessage(fmt.Sprintf(`{"type":"sdk","timeout":%d}`, int64(ms)))
		}
		mine = append(mine, g)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Servers)) {
		mine = append(mine, givenByHost(name, s.Servers[name]))
	}
	// Older hosts name those that they serve in --mcp-config, alone or besides.
	x.Servers = slices.DeleteFunc(x.Servers, func(g servers.Given) bool {
		h := givenByHost(g.Name, g.JSON)
		if h.Inside && !slices.ContainsFunc(mine, func(m servers.Given) bool { return m.Name == g.Name }) {
			mine = append(mine, h)
		}
		return h.Inside
	})
	if len(mine) > 0 {
		x.Further = mine
	}
	if len(s.Agents) > 0 {
		text, err := json.Marshal(s.Agents)
		if err != nil {
			return err
		}
		list, problems := skill.ParseAgents(text, "initialize")
		for _, p := range problems {
			if !p.Used {
				return fmt.Errorf("agents: %s", p.Text)
			}
			o.Note("initialize: " + p.Text)
		}
		x.Agents = append(x.Agents, list...)
	}
	for _, dir := range s.Plugins {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Dir, dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("plugins: %s is no folder", clip.Visible(dir))
		}
		x.PluginDirs = append(x.PluginDirs, dir)
	}
	x.Skills = s.Skills
	o.spec.Redirects, o.spec.InPlan, o.unused = s.Redirects, s.InPlan, s.Unused
	return nil
}

// ready is closed when the servers that the program serves are there, or after
// hostWait; nil when it serves none.
func (o invocation) ready(ctx context.Context, a running) <-chan struct{} {
	var names []string
	for _, g := range o.Extensions.Further {
		names = append(names, g.Name)
	}
	if len(names) == 0 {
		return nil
	}
	done := make(chan struct{})
	go func() { // ends with ctx, or after hostWait
		defer close(done)
		ctx, cancel := context.WithTimeout(ctx, hostWait)
		defer cancel()
		a.Place().MCP().Await(ctx, names...)
		a.Offer()
	}()
	return done
}
