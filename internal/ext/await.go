package ext

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// headStart is how long servers leave the processor to the first prompt and the
// first request, unless somebody waits for them.
const headStart = 60 * time.Millisecond

// begin waits until servers may be started; late is for the first time. It is
// false when there is no time for that any more.
func (f *Folder) begin(ctx context.Context, late bool) bool {
	if !late {
		return true
	}
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.hurry:
		return true
	case <-ctx.Done():
		return false
	}
}

// ready waits until what is configured was looked at: milliseconds.
func (f *Folder) ready() {
	f.start()
	<-f.looked
}

// AwaitTools is AwaitAll for the servers of which a rule names a tool: mcp__server,
// mcp__server__tool, either with * in it. Ones that are there and have no tool are among missing.
func (f *Folder) AwaitTools(ctx context.Context, rules []string) (missing []mcp.Status) {
	return f.await(ctx, true, func(s servers.Server) bool {
		real := "mcp__" + mcp.RealName(s)
		return s.Transport != servers.Host && slices.ContainsFunc(rules, func(rule string) bool {
			return mayName(rule, policy.Nameable(real)) || mayName(rule, real) || mayName(rule, "mcp__"+s.Name)
		})
	})
}

// AwaitAll is Await for all servers but those that the program which drives adze
// serves: it answers them when the session is there, so a start cannot wait for them.
func (f *Folder) AwaitAll(ctx context.Context) (missing []mcp.Status) {
	return f.await(ctx, false, func(s servers.Server) bool { return s.Transport != servers.Host })
}

// mayName reports whether a rule may be of the tools that begin so.
func mayName(rule, tools string) bool {
	rule = policy.WholeServer(rule)
	if before, _, wild := strings.Cut(rule, "*"); wild && len(before) <= len(tools) {
		return strings.HasPrefix(tools, before)
	}
	return rule == tools || strings.HasPrefix(rule, tools+"__")
}

// Await waits until none of these servers is connecting, and returns how those are that
// could be connected and are not by then, or when ctx ends.
func (f *Folder) Await(ctx context.Context, names ...string) (missing []mcp.Status) {
	return f.await(ctx, false, func(s servers.Server) bool { return slices.Contains(names, s.Name) })
}

// Missed says of servers that were waited for in vain, for people, which ones still
// connect, by their names, and what became of each of the others.
func Missed(missing []mcp.Status) (late, why []string) {
	for _, s := range missing {
		name := clip.Visible(s.Server.Name)
		switch {
		case s.State == event.ServerConnecting:
			late = append(late, name)
		case s.State == event.ServerConnected:
			why = append(why, fmt.Sprintf("the MCP server %s offers no tools, and an allow rule names some of it", name))
		case s.State == event.ServerNeedsAuth:
			why = append(why, fmt.Sprintf("the MCP server %s wants you to sign in: adze mcp login %s", name, hint.Shell(s.Server.Name)))
		case s.Why == "":
			why = append(why, fmt.Sprintf("the MCP server %s failed", name))
		default:
			why = append(why, fmt.Sprintf("the MCP server %s failed: %s", name, clip.Visible(s.Why)))
		}
	}
	return late, why
}

func (f *Folder) await(ctx context.Context, tools bool, which func(servers.Server) bool) (missing []mcp.Status) {
	f.start()
	select {
	case f.hurry <- struct{}{}:
	default:
	}
	select {
	case <-f.used:
	case <-ctx.Done():
		return nil
	}
	f.mu.Lock()
	served := f.served
	f.mu.Unlock()
	if served != nil {
		select {
		case <-served:
		case <-ctx.Done():
			return nil
		}
	}
	h := f.Hub()
	if h == nil {
		return nil
	}
	var names []string
	for _, s := range h.Status() {
		if which(s.Server) {
			names = append(names, s.Server.Name)
		}
	}
	if names == nil {
		return nil
	}
	h.Wait(ctx, names...)
	for _, s := range h.Status() {
		// What is wrong with a configuration is told when it is read.
		if slices.Contains(names, s.Server.Name) && s.Server.Problem == "" && (absent(s.State) || tools && s.State == event.ServerConnected && s.Tools == 0) {
			missing = append(missing, s)
		}
	}
	return missing
}

// absent reports whether a server in a state was to be connected and is not.
func absent(state event.ServerState) bool {
	return state == event.ServerConnecting || state == event.ServerFailed || state == event.ServerNeedsAuth
}
