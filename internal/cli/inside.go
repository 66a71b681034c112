package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/print"
)

// inside puts what a program decides before the session begins into the options:
// servers, agents, plugins and skills.
func (o *invocation) inside(s print.Setup) error {
	x := &o.Extensions
	var mine []servers.Given
	for _, name := range s.Inside {
		g := servers.Given{Name: name, Inside: true, Origin: desk.FromHost}
		if ms := s.Timeouts[name]; ms > 0 {
			g.JSON = json.RawMessage(fmt.Sprintf(`{"type":"sdk","timeout":%d}`, int64(ms)))
		}
		mine = append(mine, g)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Servers)) {
		mine = append(mine, desk.GivenByHost(name, s.Servers[name]))
	}
	// Older hosts name those that they serve in --mcp-config, alone or besides.
	x.Servers = slices.DeleteFunc(x.Servers, func(g servers.Given) bool {
		h := desk.GivenByHost(g.Name, g.JSON)
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
// desk.HostWait; nil when it serves none.
func (o invocation) ready(ctx context.Context, a running) <-chan struct{} {
	var names []string
	for _, g := range o.Extensions.Further {
		names = append(names, g.Name)
	}
	if len(names) == 0 {
		return nil
	}
	done := make(chan struct{})
	go func() { // ends with ctx, or after desk.HostWait
		defer close(done)
		ctx, cancel := context.WithTimeout(ctx, desk.HostWait)
		defer cancel()
		a.Place().Extensions().Await(ctx, names...)
		a.Offer()
	}()
	return done
}
