package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/trust"
)

func mcpList(sys System, f *runFlags) *cobra.Command {
	var u useFlags
	offline, patience := false, listWait(sys)
	c := answering(sys, &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the servers and how they are", Args: cobra.NoArgs,
		Long: "list connects to the servers that may be started, and to no other, and says how\nthey are. One that does not answer in time is listed as such.",
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		if err := u.check(); err != nil {
			return nil, err
		}
		if patience <= 0 {
			return nil, usagef("a time such as 30s; --offline connects to none", "--timeout cannot be %s", patience)
		}
		c, err := f.servers(sys, cmd)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		for _, p := range c.unread() {
			fmt.Fprintln(sys.Stderr, "adze: "+oneLine(p.String()))
		}
		c.waiting(sys)
		states := map[string]mcp.Status{}
		if !offline {
			if states, err = c.states(cmd.Context(), sys, patience); err != nil {
				return nil, err
			}
		}
		var rows []serverRow
		for _, s := range c.Set.Servers {
			r := c.row(s, false)
			if st, ok := states[s.Name]; ok {
				r.State, r.Tools = health(st), st.Tools
			}
			rows = append(rows, r)
		}
		for _, s := range c.Hidden {
			rows = append(rows, c.row(s, true))
		}
		none := "no MCP server is configured; adze mcp add configures one"
		if c.Extensions.Strict {
			none = "--mcp-config names no MCP server, and --strict-mcp-config leaves out all others"
		}
		return listing[serverRow]{rows: rows, none: none, row: func(t *table, r serverRow) {
			t.row(r.Name, string(r.Scope), clip.Line(r.What, 60), clip.Line(clip.Visible(r.state()), 120))
		}}, nil
	})
	u.add(c)
	c.Flags().BoolVar(&offline, "offline", false, "connect to none")
	c.Flags().DurationVar(&patience, "timeout", patience, "how long to wait for servers")
	return c
}

// waiting says on stderr what of plugins cannot be used, and that servers of the
// folder are not read because nobody trusts it.
func (c *configured) waiting(sys System) {
	for _, s := range c.plugins.Problems {
		fmt.Fprintln(sys.Stderr, "adze: "+oneLine(s))
	}
	tellUntrusted(sys, c.Live, trust.Settings) // those of .mcp.json are in the list, and say what they wait for
}

// listWait is how long a list waits for servers, unless a flag says otherwise: one
// that hangs is not to keep the others from being shown.
func listWait(sys System) time.Duration {
	connect, _ := ext.ServerTimeouts(sys.Env)
	return max(connect, 5*time.Second)
}

// states are how the servers are that may be started, after patience at the latest.
func (c *configured) states(ctx context.Context, sys System, patience time.Duration) (map[string]mcp.Status, error) {
	var list []servers.Server
	for _, s := range c.Set.Servers {
		if startable(s) == nil {
			list = append(list, s)
		}
	}
	out := map[string]mcp.Status{}
	if len(list) == 0 {
		return out, nil
	}
	h, err := c.connect(sys, "", list)
	if err != nil {
		return nil, err
	}
	defer h.close()
	waiting, end := context.WithTimeout(ctx, patience)
	defer end()
	h.Wait(waiting)
	for _, st := range h.Status() {
		if st.State == event.ServerConnecting {
			st.Why = fmt.Sprintf("no answer after %s, --timeout waits longer", patience)
		}
		out[st.Server.Name] = st
	}
	return out, ctx.Err()
}

// health says in a few words how a server is.
func health(st mcp.Status) string {
	switch {
	case st.State == event.ServerConnected:
		return "connected, " + clip.Count(st.Tools, "tool")
	case st.State == event.ServerNeedsAuth:
		return "wants you to sign in: adze mcp login " + hint.Shell(st.Server.Name)
	case st.Why != "":
		return string(st.State) + ": " + st.Why
	}
	return string(st.State)
}
