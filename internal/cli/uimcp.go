package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// mcp are the MCP servers in the terminal UI. Where a person is asked, it needs the terminal.
func (h *uiHost) mcp() tui.Report {
	return tui.Report{
		About: "MCP servers: state, tools, log; sign in", Args: "[NAME | " + strings.Join(desk.ServerVerbs, " NAME | ") + " NAME]",
		Here: func(args string) bool {
			q, _ := ask.Slash("mcp", args).(ask.Servers)
			return q.Do == "login" || q.Do == "approve"
		},
		Run: h.mcpHere,
	}
}

// mcpHere runs the command of adze that signs in to a server or asks about it, and has
// what it came to count here.
func (h *uiHost) mcpHere(ctx context.Context, args string) (string, error) {
	q, _ := ask.Slash("mcp", args).(ask.Servers)
	all, err := h.desk.Ask(ctx, "", ask.Servers{Name: q.Name})
	if err != nil {
		return "", err
	}
	list, err := ask.Data[[]ask.Server](all)
	if err != nil || len(list) == 0 {
		return all.Text, err
	}
	words := []string{"mcp", string(q.Do)}
	if scope := servers.Scope(list[0].Scope); scope == servers.Flag || scope == servers.FromPlugin { // it may be this start's own
		x := h.f.extensions
		for _, v := range x.mcpConfig {
			words = append(words, "--mcp-config", v)
		}
		for _, dir := range x.pluginDirs {
			words = append(words, "--plugin-dir", dir)
		}
	}
	err = h.inTerminal(ctx, "adze "+hint.Shell("mcp", string(q.Do)), append(words, "--", q.Name)...)
	if left := new(endedError); q.Do == "approve" && errors.As(err, &left) && left.code == exitRefused {
		return "`" + q.Name + "` was not approved.", nil
	}
	if err != nil {
		return "", err
	}
	if q.Do == "approve" {
		h.desk.Place().Extensions().Refresh()
		return "", nil
	}
	now, err := h.desk.Ask(ctx, "", ask.Servers{Name: q.Name, Do: ask.Reconnect})
	return now.Text, err
}

// mcpLogout signs out of a server.
func (h *uiHost) mcpLogout(ctx context.Context, name string) error {
	if _, err := h.command(ctx, "", "mcp", "logout", "--", name); err != nil {
		f := sorted(err)
		return hint.With(errors.New(f.cause), f.hint)
	}
	return nil
}
