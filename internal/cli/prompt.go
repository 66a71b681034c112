package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/report"
	"github.com/adze-agent/adze/internal/store/sessions"
)

func newPrompt(sys System, f *runFlags) *cobra.Command {
	sizes := false
	c := answering(sys, &cobra.Command{
		Use: "prompt", Short: "Print what a model would be told here, with the size of each part", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		o.Print, o.spec.Log = true, sessions.Choice{None: true}
		a, err := o.dry(cmd.Context())
		if err != nil {
			return nil, err
		}
		defer a.Close()
		parts, all, model := report.Instructions(a.Running), sizesOf(a), a.Target().ID()
		return both{map[string]any{"model": model, "parts": all, "system": parts, "tools": a.Tools().Specs()}, func() error {
			for _, s := range parts {
				if !sizes {
					fmt.Fprintf(sys.Stdout, "%s\n\n", strings.TrimRight(s, "\n"))
				}
			}
			t, tokens, bytes := sys.table(), 0, 0
			t.row("PART", "TOKENS", "BYTES")
			for _, s := range all {
				t.row(s.Name, fmt.Sprint(s.Tokens), fmt.Sprint(s.Bytes))
				tokens, bytes = tokens+s.Tokens, bytes+s.Bytes
			}
			t.row("all (estimated for "+model+")", fmt.Sprint(tokens), fmt.Sprint(bytes))
			return t.Flush()
		}}, nil
	})
	c.Flags().BoolVar(&sizes, "sizes", false, "only the sizes")
	c.Flags().Lookup("json").Usage = "as JSON, with the tools"
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
