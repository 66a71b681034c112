package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A serverRow is a server in a list. It holds no value that may be secret.
type serverRow struct {
	Name     string            `json:"name"`
	Scope    servers.Scope     `json:"scope"`
	From     string            `json:"from"`
	Type     servers.Transport `json:"type"`
	What     string            `json:"what"`
	Env      []string          `json:"env,omitempty"`     // names
	Headers  []string          `json:"headers,omitempty"` // names
	Approval servers.Approval  `json:"approval"`
	Why      string            `json:"why,omitempty"`
	Problem  string            `json:"problem,omitempty"`
	Hidden   bool              `json:"hidden,omitempty"` // by another one of the same name
	State    string            `json:"state,omitempty"`
	Tools    int               `json:"tools,omitempty"`
	Plugin   string            `json:"plugin,omitempty"`
	Apart    bool              `json:"apart,omitempty"` // its program starts in a folder of its own
}

func rowOf(s servers.Server, hidden bool) serverRow {
	return serverRow{
		Name: s.Name, Scope: s.Scope, From: s.Origin.String(), Type: s.Transport, What: s.Line(), Plugin: s.Plugin,
		Env: slices.Sorted(maps.Keys(s.Env)), Headers: slices.Sorted(maps.Keys(s.Headers)), Approval: s.Approval, Why: s.Why, Problem: s.Problem, Hidden: hidden, Apart: s.Apart,
	}
}

// row is rowOf without the secrets of plugins.
func (c *configured) row(s servers.Server, hidden bool) serverRow {
	r := rowOf(s, hidden)
	for _, v := range c.plugins.Secrets {
		if v != "" && s.Plugin != "" {
			r.What = strings.ReplaceAll(r.What, v, "(secret)")
		}
	}
	return r
}

// state says in a few words whether the server can be used.
func (r serverRow) state() string {
	switch {
	case r.Hidden:
		return "hidden by another one of this name"
	case r.Approval == servers.Pending:
		return "waits for your yes: " + r.Why
	case r.Approval == servers.Refused:
		return "off: " + r.Why
	case r.Problem != "":
		return "cannot be used: " + r.Problem
	case r.State != "":
		return r.State
	case r.Apart:
		return "can be used; " + servers.StartsApart
	}
	return "can be used"
}

func mcpGet(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "get NAME", Short: "Show a server: where it stands, and whether it can be used; starts nothing", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		c, err := f.servers(sys, cmd)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		s, err := c.one(args[0])
		if err != nil {
			return nil, err
		}
		rows := []serverRow{c.row(s, false)}
		for _, h := range c.Hidden {
			if h.Name == s.Name {
				rows = append(rows, c.row(h, true))
			}
		}
		return both{rows, func() error {
			for _, r := range rows {
				fmt.Fprintf(sys.Stdout, "%s (%s, %s)\n", clip.Visible(r.Name), r.Scope, clip.Visible(r.From))
				fmt.Fprintf(sys.Stdout, "  %s\n", r.What)
				for what, names := range map[string][]string{"variables": r.Env, "headers": r.Headers} {
					if len(names) > 0 {
						fmt.Fprintf(sys.Stdout, "  %s: %s\n", what, clip.Visible(strings.Join(names, ", ")))
					}
				}
				fmt.Fprintf(sys.Stdout, "  %s\n", clip.Visible(r.state()))
			}
			return nil
		}}, nil
	})
}
