package ext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
)

// lendWait bounds how long an agent waits for servers of its own.
const lendWait = 10 * time.Second

// Equip has the MCP servers there that the agent names which the session is, for a session that works
// for another one. Servers of its own are started for it alone, and end with it; those that are
// configured are waited for. of, where it is not nil, is the session whose tools it is to have
// instead. bad says which servers it has to do without.
func (x *Session) Equip(ctx context.Context, of *Session) (bad []string, err error) {
	if of != nil {
		x.own = of.own
		return nil, nil
	}
	a := x.conf.Main
	if a == nil || a.Servers == nil {
		return nil, nil
	}
	f := x.conf.Folder
	list, names, wrong := f.agentServers(*a)
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	if len(names) > 0 {
		bad = f.lacks(ctx, *a, names)
	}
	if len(list) > 0 {
		x.own, x.back, err = f.lend(ctx, list)
	}
	return bad, err
}

// lacks waits for servers that an agent names, and says which of them it has to do without.
func (f *Folder) lacks(ctx context.Context, a Agent, names []string) (bad []string) {
	ctx, cancel := context.WithTimeout(ctx, lendWait)
	defer cancel()
	late, bad := Missed(f.Await(ctx, names...))
	for _, name := range late {
		bad = append(bad, fmt.Sprintf("the agent %s begins without the MCP server %s, which still connects", clip.Visible(a.Name), name))
	}
	for _, name := range names {
		if !slices.ContainsFunc(f.Status(), func(s mcp.Status) bool { return s.Server.Name == name }) {
			bad = append(bad, fmt.Sprintf("the agent %s names the MCP server %s, which is not configured", clip.Visible(a.Name), clip.Line(clip.Visible(name), 100)))
		}
	}
	return bad
}

// Return ends what Equip started.
func (x *Session) Return() {
	if x.back != nil {
		x.back()
		x.back = nil
	}
}

// lend starts servers for an agent that works for a session, and returns what they bring,
// which sessions do not have. back ends them.
func (f *Folder) lend(ctx context.Context, list []servers.Given) (brings []extension.Contribution, back func(), err error) {
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
	return view.Contributions(), back, nil
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
