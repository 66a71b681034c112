package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A toolRow is a tool in a list.
type toolRow struct {
	Server string          `json:"server"`
	Name   string          `json:"name"`
	As     string          `json:"as"` // what models call it
	About  string          `json:"description,omitempty"`
	Schema json.RawMessage `json:"input_schema,omitempty"`
	Tokens int             `json:"tokens"` // that it takes of a request, about
}

func mcpTools(sys System, f *runFlags) *cobra.Command {
	var u useFlags
	patience := listWait(sys)
	c := answering(sys, &cobra.Command{
		Use: "tools [SERVER]", Short: "List the tools of servers", Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		if err := u.check(); err != nil {
			return nil, err
		}
		if patience <= 0 {
			return nil, usagef("a time such as 30s", "--timeout cannot be %s", patience)
		}
		c, err := f.servers(sys, cmd)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		list := c.Set.Servers
		if len(args) == 1 {
			s, err := c.startable(args[0])
			if err != nil {
				return nil, err
			}
			list = []servers.Server{s}
		}
		c.waiting(sys)
		if len(args) == 1 && !cmd.Flags().Changed("timeout") {
			patience = 0 // until it answers, or does not
		}
		rows, failed := c.toolRows(cmd.Context(), sys, list, patience)
		if cmd.Context().Err() != nil {
			return nil, cmd.Context().Err()
		}
		if len(args) == 1 && failed != nil {
			return nil, &failure{code: sorted(failed).code, hint: sorted(failed).hint}
		}
		return listing[toolRow]{rows: rows, row: func(t *table, r toolRow) {
			t.row(r.Server+"/"+r.Name, clip.Short(r.Tokens)+" tokens", clip.Line(clip.Visible(r.About), 90))
		}}, nil
	})
	u.add(c)
	c.Flags().DurationVar(&patience, "timeout", patience, "how long to wait for servers")
	return c
}

// toolRows lists the tools of these servers together, after patience at the latest (0:
// as long as they may take). What cannot be asked is told, and the last of it
// returned.
func (c *configured) toolRows(ctx context.Context, sys System, list []servers.Server, patience time.Duration) (rows []toolRow, failed error) {
	if patience > 0 {
		within, end := context.WithTimeout(ctx, patience)
		defer end()
		ctx = within
	}
	type answer struct {
		rows []toolRow
		err  error
	}
	answers := make([]answer, len(list))
	var all sync.WaitGroup
	for i, s := range list {
		if answers[i].err = startable(s); answers[i].err == nil {
			all.Go(func() { answers[i].rows, answers[i].err = c.toolsOf(ctx, sys, s) }) // ends with ctx, or the server's own time
		}
	}
	all.Wait()
	for _, a := range answers {
		rows = append(rows, a.rows...)
		if a.err != nil {
			failed = a.err
			fmt.Fprintln(sys.Stderr, "adze: "+oneLine(a.err.Error()))
		}
	}
	return rows, failed
}

// toolsOf lists the tools of a server.
func (c *configured) toolsOf(ctx context.Context, sys System, s servers.Server) ([]toolRow, error) {
	h, err := c.connect(sys, "", []servers.Server{s})
	if err != nil {
		return nil, err
	}
	defer h.close()
	h.Wait(ctx)
	if st := h.Status()[0]; st.State != event.ServerConnected {
		if st.State == event.ServerConnecting {
			st.Why = "it did not answer in time; --timeout waits longer"
		}
		return nil, unreachable(st)
	}
	var out []toolRow
	for _, t := range h.tools() {
		spec := t.Spec()
		out = append(out, toolRow{s.Name, part(t), spec.Name, spec.Description, spec.Schema, (len(spec.Name) + len(spec.Description) + len(spec.Schema)) / 4})
	}
	return out, nil
}
