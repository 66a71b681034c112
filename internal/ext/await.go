package ext

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ext/mcp"
)

// headStart is how long servers leave the processor to the first prompt and the
// first request, unless somebody waits for them.
const headStart = 60 * time.Millisecond

// begin waits until servers may be started; late is for the first time. It is
// false when there is no time for that any more.
func (w *World) begin(ctx context.Context, late bool) bool {
	if !late {
		return true
	}
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.hurry:
		return true
	case <-ctx.Done():
		return false
	}
}

// ready waits until what is configured was looked at: milliseconds.
func (w *World) ready() {
	w.Refresh()
	<-w.looked
}

// AwaitTools is Await for the servers of which a rule names a tool: mcp__server,
// mcp__server__tool, either with * in it.
func (w *World) AwaitTools(ctx context.Context, rules []string) (late []string) {
	return w.await(ctx, func(h *mcp.Hub) []string {
		var names []string
		for _, s := range h.Status() {
			if tools := nameable("mcp__" + s.Server.Name); slices.ContainsFunc(rules, func(rule string) bool { return mayName(rule, tools) || mayName(rule, "mcp__"+s.Server.Name) }) {
				names = append(names, s.Server.Name)
			}
		}
		if names == nil {
			return nil
		}
		return h.Wait(ctx, names...)
	})
}

// mayName reports whether a rule may be of the tools that begin so.
func mayName(rule, tools string) bool {
	if before, _, wild := strings.Cut(rule, "*"); wild && len(before) <= len(tools) {
		return strings.HasPrefix(tools, before)
	}
	return rule == tools || strings.HasPrefix(rule, tools+"__")
}

// Await waits until none of these servers is connecting, and returns those that
// still are when ctx ends; no names are all.
func (w *World) Await(ctx context.Context, names ...string) (late []string) {
	return w.await(ctx, func(h *mcp.Hub) []string { return h.Wait(ctx, names...) })
}

func (w *World) await(ctx context.Context, wait func(*mcp.Hub) []string) (late []string) {
	w.Refresh()
	select {
	case w.hurry <- struct{}{}:
	default:
	}
	select {
	case <-w.used:
	case <-ctx.Done():
		return nil
	}
	w.mu.Lock()
	served := w.served
	w.mu.Unlock()
	if served != nil {
		select {
		case <-served:
		case <-ctx.Done():
			return nil
		}
	}
	if h := w.Hub(); h != nil {
		return wait(h)
	}
	return nil
}
