package ext

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// lendWait bounds how long an agent waits for servers of its own.
const lendWait = 10 * time.Second

// lend starts servers for an agent that works for a session, and returns their tools,
// which sessions do not have. back ends them.
func (f *Folder) lend(ctx context.Context, list []servers.Given) (tools []tool.Tool, back func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lendWait)
	defer cancel()
	set := f.conf.Live.Servers(settings.Servers{Given: list, Strict: true})
	own := slices.DeleteFunc(set.Servers, func(s servers.Server) bool { // an administrator's are there in any case
		return !slices.ContainsFunc(list, func(g servers.Given) bool { return g.Name == s.Name && g.Origin == s.Origin })
	})
	var bad []string
	for _, p := range set.Problems {
		bad = append(bad, p.String())
	}
	for _, x := range f.attached() {
		x.tell(bad)
	}
	if f.conf.Hidden != nil {
		f.conf.Hidden(ServerSecrets(own)...)
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, nil, errNoSession
	}
	view := f.newView()
	f.lent = slices.Concat(f.lent, own)
	f.mu.Unlock()
	back = func() { f.takeBack(view, own) }
	f.protect()
	view.Use(own)
	view.Wait(ctx)
	for _, s := range view.Status() {
		if s.State != event.ServerConnected {
			back()
			return nil, nil, fmt.Errorf("the MCP server %s of the agent cannot be used: %s", clip.Visible(s.Server.Name), cmp.Or(s.Why, string(s.State)))
		}
	}
	for _, c := range view.Contributions() {
		tools = append(tools, c.Tools...)
	}
	return tools, back, nil
}

// takeBack ends servers that were lent, in the background.
func (f *Folder) takeBack(view *mcp.View, list []servers.Server) {
	f.mu.Lock()
	f.lent = slices.Clone(f.lent)
	for _, s := range list {
		i := slices.IndexFunc(f.lent, func(o servers.Server) bool { return o.Name == s.Name && o.Origin == s.Origin })
		f.lent = slices.Delete(f.lent, i, i+1)
	}
	closed := f.closed
	if !closed {
		f.wg.Go(view.Close) // ends when they have ended, which is bounded
	}
	f.mu.Unlock()
	if closed {
		view.Close()
	}
	for _, x := range f.attached() {
		x.reapply() // nothing runs them any more
	}
}
