package ext

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// lendWait bounds how long an agent waits for servers of its own.
const lendWait = 10 * time.Second

// lend starts servers for an agent that works for a session, and returns their tools,
// which sessions do not have. back ends them.
func (w *World) lend(ctx context.Context, list []servers.Given) (tools []tool.Tool, back func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lendWait)
	defer cancel()
	looked := make(chan struct{})
	w.mu.Lock()
	w.lent, w.waiting = append(slices.Clip(w.lent), list...), append(w.waiting, looked)
	w.mu.Unlock()
	end := func() {
		w.mu.Lock()
		for _, g := range list {
			if i := slices.IndexFunc(w.lent, func(o servers.Given) bool { return o.Name == g.Name && o.Origin == g.Origin }); i >= 0 {
				w.lent = slices.Delete(slices.Clone(w.lent), i, i+1)
			}
		}
		w.mu.Unlock()
		w.Refresh()
	}
	w.Refresh()
	select {
	case <-looked:
	case <-ctx.Done():
		end()
		return nil, func() {}, ctx.Err()
	}
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	if h := w.Hub(); h != nil {
		h.Wait(ctx, names...)
	}
	for _, s := range w.Status() {
		if slices.Contains(names, s.Server.Name) && s.State != event.ServerConnected {
			end()
			return nil, func() {}, fmt.Errorf("the MCP server %s of the agent cannot be used: %s", clip.Visible(s.Server.Name), cmp.Or(s.Why, string(s.State)))
		}
	}
	_, lent := w.apart()
	for _, c := range lent {
		for _, t := range c.Tools {
			n := t.Spec().Name
			if slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(n, "mcp__"+nameable(s)+"__") }) {
				tools = append(tools, t)
			}
		}
	}
	return tools, end, nil
}

// apart is what servers bring, and apart from that what those have which are
// lent to agents.
func (w *World) apart() (own, lent []contrib.Contribution) {
	h := w.Hub()
	if h == nil {
		return nil, nil
	}
	all := h.Contributions()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lent) == 0 {
		return all, nil
	}
	for _, c := range all {
		if slices.ContainsFunc(w.lent, func(g servers.Given) bool {
			return c.From == contrib.OfServer(g.Name, g.Origin.String())
		}) {
			lent = append(lent, c)
		} else {
			own = append(own, c)
		}
	}
	return own, lent
}
