package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newPrompt(sys System, f *runFlags) *cobra.Command {
	var sizes, asJSON bool
	c := &cobra.Command{
		Use: "prompt", Short: "Print what a model would be told here, with the size of each part", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options(sys, cmd.Flags())
			if err != nil {
				return err
			}
			o.Print, o.spec.Log = true, sessions.Choice{None: true}
			a, err := o.dry(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			if asJSON {
				return printJSON(sys, map[string]any{"model": a.Target().ID(), "parts": sizesOf(a), "system": texts(a), "tools": a.Tools().Specs()})
			}
			if !sizes {
				for _, p := range a.Instructions() {
					fmt.Fprintf(sys.Stdout, "%s\n\n", strings.TrimRight(p.Text, "\n"))
				}
			}
			w := sys.table()
			fmt.Fprintln(w, "PART\tTOKENS\tBYTES")
			total, bytes := 0, 0
			for _, s := range sizesOf(a) {
				fmt.Fprintf(w, "%s\t%d\t%d\n", clip.Visible(s.Name), s.Tokens, s.Bytes)
				total, bytes = total+s.Tokens, bytes+s.Bytes
			}
			fmt.Fprintf(w, "all (estimated for %s)\t%d\t%d\n", clip.Visible(a.Target().ID()), total, bytes)
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&sizes, "sizes", false, "only the sizes")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, with the tools")
	return c
}

// sizesOf are the parts of a request: the instructions, then the tools.
func sizesOf(a running) []app.Size {
	out, tools := a.Sizes()
	for _, s := range tools {
		s.Name = "tool " + s.Name
		out = append(out, s)
	}
	return out
}

func texts(a running) []string {
	out := make([]string, 0, len(a.Instructions()))
	for _, p := range a.Instructions() {
		out = append(out, p.Text)
	}
	return out
}
