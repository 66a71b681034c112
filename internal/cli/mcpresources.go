package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func mcpResources(sys System, f *runFlags) *cobra.Command {
	var u useFlags
	c := &cobra.Command{
		Use: "resources SERVER", Short: "List the resources of a server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(sys, cmd, &u, args[0], func(h *hub, s servers.Server) error {
				env, _ := h.env(sys, f, true)
				if err := h.deniedResource(mcp.ListResources, map[string]string{"server": s.Name}, env); err != nil {
					return err
				}
				list, err := h.Resources(cmd.Context(), mcp.Caller{}, s.Name)
				if err != nil {
					return err
				}
				if u.asJSON {
					return printJSON(sys, append([]mcp.Resource{}, list...))
				}
				if len(list) == 0 {
					fmt.Fprintf(sys.Stderr, "adze: the MCP server %s has no resources\n", clip.Visible(s.Name))
				}
				w := sys.table()
				for _, r := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\n", clip.Visible(r.URI), clip.Visible(r.Media), clip.Line(clip.Visible(r.Name), 80))
				}
				return w.Flush()
			})
		},
	}
	u.add(c)
	return c
}

func mcpRead(sys System, f *runFlags) *cobra.Command {
	var u useFlags
	c := &cobra.Command{
		Use: "read SERVER URI", Short: "Print a resource of a server", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(sys, cmd, &u, args[0], func(h *hub, s servers.Server) error {
				env, done := h.env(sys, f, u.asJSON)
				if err := h.deniedResource(mcp.ReadResource, map[string]string{"server": s.Name, "uri": args[1]}, env); err != nil {
					return err
				}
				res, err := h.Read(cmd.Context(), s.Name, args[1], env)
				done()
				if err != nil {
					return failf("adze mcp resources "+hint.Shell(s.Name)+" lists them", "%v", err)
				}
				return printResult(sys, res, u.asJSON)
			})
		},
	}
	u.add(c)
	return c
}

func mcpInfo(sys System, f *runFlags) *cobra.Command {
	var u useFlags
	c := &cobra.Command{
		Use: "info SERVER", Short: "Say what a server says of itself", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(sys, cmd, &u, args[0], func(h *hub, _ servers.Server) error {
				st := h.Status()[0]
				if u.asJSON {
					return printJSON(sys, map[string]any{
						"server": st.Server.Name, "name": st.Name, "version": st.Version, "protocol": st.Protocol, "instructions": st.Instructions,
						"tools": st.Tools, "prompts": st.Prompts, "resources": st.Resources, "notes": append([]string{}, st.Notes...),
					})
				}
				out := sys.Stdout
				fmt.Fprintf(out, "%s %s, protocol %s\n", clip.Visible(st.Name), clip.Visible(st.Version), clip.Visible(st.Protocol))
				fmt.Fprintf(out, "%s, %s", clip.Count(st.Tools, "tool"), clip.Count(st.Prompts, "prompt"))
				if st.Resources {
					fmt.Fprint(out, ", resources")
				}
				fmt.Fprintln(out)
				for _, n := range st.Notes {
					fmt.Fprintf(out, "note: %s\n", clip.Visible(n))
				}
				if st.Instructions != "" {
					fmt.Fprintf(out, "\n%s\n", clip.VisibleText(st.Instructions))
				}
				return nil
			})
		},
	}
	u.add(c)
	return c
}
