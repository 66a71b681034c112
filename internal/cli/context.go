package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/report"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// newContext says what fills the window of a session's model.
func newContext(sys System, f *runFlags) *cobra.Command {
	c := answering(sys, &cobra.Command{
		Use: "context [SESSION]", Short: "Show what fills the model's window in a session", Args: cobra.MaximumNArgs(1),
		Long: "Shows what the next request would hold: instructions, tools, memory, messages by kind,\n" +
			"the biggest items, what was cleared, and why the last request missed the provider's\ncache. Nothing is sent, and no key is needed.\n\n" + sessionWords,
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		var st report.Kept
		all, info, err := findSession(sys, f, cmd, args...)
		var none *failure
		switch {
		case len(args) == 0 && errors.As(err, &none) && none.code == exitUsage: // what a first request would hold
		case err != nil:
			return nil, err
		default:
			if st, err = report.Read(cmd.Context(), all, info); err != nil {
				return nil, err
			}
		}
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		o.Print, o.spec.Log, o.spec.Model = true, sessions.Choice{None: true}, st.Model
		a, err := o.dry(cmd.Context())
		if err != nil {
			return nil, err
		}
		defer a.Close()
		model := cmp.Or(st.Model, a.Target().ID())
		if cmd.Flags().Changed("model") {
			model = a.Target().ID()
		}
		m := st.Window(a.Running, model)
		return both{m, func() error {
			_, err := fmt.Fprint(sys.Stdout, sys.painter().lines(draw.Block(m.View(), draw.Options{Width: sys.columns()})))
			return err
		}}, nil
	})
	c.Flags().Lookup("json").Usage = "as JSON (docs/context.md)"
	return c
}
