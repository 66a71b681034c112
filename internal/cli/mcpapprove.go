package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/trust"
)

func mcpApprove(sys System, f *runFlags) *cobra.Command {
	yes, no := false, false
	c := &cobra.Command{
		Use: "approve NAME…", Short: "Say yes or no to servers that this folder brings", Args: cobra.MinimumNArgs(1),
		Long: "approve shows exactly what a server runs or connects to, and keeps your answer to it.\nWhen any of that changes, it is asked again.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.servers(sys, cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			answers, err := c.Paths.Answers().Of(c.Paths.Root)
			if err != nil {
				return failf("repair it, or move it away", "%v", err)
			}
			var list []servers.Server
			for _, name := range args {
				s, err := c.brought(name)
				if err != nil {
					return err
				}
				s.Programs = c.Paths.ProgramsOf(s)
				list = append(list, s)
				fmt.Fprintf(sys.Stdout, "%s (%s)\n%s", clip.Visible(s.Name), clip.Visible(s.Origin.String()), s.Describe())
				if d := servers.Changed(s, answers[s.Name]); d != "" {
					fmt.Fprintf(sys.Stdout, "since your last answer:\n%s", sys.painter().marked(d))
				}
			}
			if !no {
				if err := confirm(cmd.Context(), sys, yes, "Let it run?", "nothing was approved"); err != nil {
					return err
				}
			}
			for _, s := range list {
				if err := c.Paths.Answers().Say(cmd.Context(), c.Paths.Root, s, !no); err != nil {
					return failf("make "+filepath.Dir(c.Paths.Answers().Path)+" writable", "%v", err)
				}
				fmt.Fprintf(sys.Stderr, "%s: %s\n", clip.Visible(s.Name), map[bool]string{true: "refused", false: "approved"}[no])
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "without a question")
	c.Flags().BoolVar(&no, "no", false, "refuse them")
	return c
}

// brought is a server of this folder's own files that a person may answer to.
func (c *configured) brought(name string) (servers.Server, error) {
	for _, s := range append(slices.Clone(c.Set.Servers), c.Hidden...) {
		if s.Name != name || !s.Origin.Scope.Repo() {
			continue
		}
		v, err := c.Paths.Trust().Check(c.Paths.TrustFolder())
		if !c.Trusted && (err != nil || v.State != trust.Trusted) {
			return s, &failure{exitRefused, "this folder is not trusted as it is now", "look at what it brings first: adze trust"}
		}
		return s, nil
	}
	s, err := c.one(name)
	if err == nil {
		err = failf("adze mcp get "+hint.Shell(s.Name)+" says more", "%s is not of this folder's files, so it needs no yes", clip.Visible(s.Name))
	}
	return s, err
}

func mcpReset(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "reset-choices", Short: "Forget what you said to the servers of this folder", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			n, err := p.Answers().Forget(cmd.Context(), p.Root)
			if err != nil {
				return failf("repair the file, or remove it: "+p.Answers().Path, "%v", err)
			}
			_, err = fmt.Fprintf(sys.Stdout, "forgot %s to the servers of %s\n", clip.Count(n, "answer"), clip.Visible(p.Root))
			return err
		},
	}
}
