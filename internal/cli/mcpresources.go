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
	return f.using(sys, &cobra.Command{
		Use: "resources SERVER", Short: "List the resources of a server", Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, _ []string, h *hub, s servers.Server) (answer, error) {
		env, _ := h.env(sys, f, true)
		if err := h.deniedResource(mcp.ListResources, map[string]string{"server": s.Name}, env); err != nil {
			return nil, err
		}
		list, err := h.Resources(cmd.Context(), mcp.Caller{}, s.Name)
		return listing[mcp.Resource]{
			rows: list, note: "adze: the MCP server " + clip.Visible(s.Name) + " has no resources",
			row: func(t *table, r mcp.Resource) { t.row(r.URI, r.Media, clip.Line(clip.Visible(r.Name), 80)) },
		}, err
	})
}

func mcpRead(sys System, f *runFlags) *cobra.Command {
	return f.using(sys, &cobra.Command{
		Use: "read SERVER URI", Short: "Print a resource of a server", Args: cobra.ExactArgs(2),
	}, func(cmd *cobra.Command, args []string, h *hub, s servers.Server) (answer, error) {
		env, done := h.env(sys, f, wantsJSON(cmd))
		if err := h.deniedResource(mcp.ReadResource, map[string]string{"server": s.Name, "uri": args[1]}, env); err != nil {
			return nil, err
		}
		res, err := h.Read(cmd.Context(), s.Name, args[1], env)
		done()
		if err != nil {
			return nil, failf("adze mcp resources "+hint.Shell(s.Name)+" lists them", "%v", err)
		}
		return resultOf(sys, res), nil
	})
}

func mcpInfo(sys System, f *runFlags) *cobra.Command {
	return f.using(sys, &cobra.Command{
		Use: "info SERVER", Short: "Say what a server says of itself", Args: cobra.ExactArgs(1),
	}, func(_ *cobra.Command, _ []string, h *hub, _ servers.Server) (answer, error) {
		st := h.Status()[0]
		return both{map[string]any{
			"server": st.Server.Name, "name": st.Name, "version": st.Version, "protocol": st.Protocol, "instructions": st.Instructions,
			"tools": st.Tools, "prompts": st.Prompts, "resources": st.Resources, "notes": append([]string{}, st.Notes...),
		}, func() error {
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
		}}, nil
	})
}
