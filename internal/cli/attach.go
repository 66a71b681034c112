package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/live"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/tui"
)

func newAttach(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "attach [SESSION]", Short: "Show a session that runs elsewhere in the terminal UI", Args: cobra.MaximumNArgs(1),
		Long: "Opens the terminal UI on a session that runs in another terminal or program. Both show\nthe same; the first answer to a question counts, and leaving one ends nothing.\n\n" + liveWords,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, p, err := reached(sys, f, cmd, ask.Admin)
			if err != nil {
				return err
			}
			defer all.Close()
			s, err := meant(all, p, first(args...))
			if err != nil {
				return err
			}
			if !sys.InTTY || !sys.OutTTY {
				return usagef("adze tail "+hint.Shell(s.ID)+" follows it without one", "adze attach needs a terminal")
			}
			o, err := f.options(sys, cmd.Flags())
			if err != nil {
				return err
			}
			return atTerminal(cmd.Context(), sys, f, o, &s, tui.Options{})
		},
	}
}

// attached is what the terminal UI can have done on a session of another process. What is of
// this terminal (its editor, clipboard, history, themes) stays.
func (h *uiHost) attached(t tui.Host, s live.Session) tui.Host {
	t.Client, t.Dir = s.Client, paths.Tilde(s.Dir, s.Home)
	t.End, t.Keep, t.Lost, t.Trust, t.First = nil, nil, nil, nil, nil
	t.Open = func(ctx context.Context, _ tui.Start) (*tui.Session, error) {
		r, err := s.Client.Ask(ctx, s.ID, ask.Status{})
		if err != nil {
			return nil, err
		}
		facts, err := ask.Data[ask.Facts](r)
		if err != nil {
			return nil, err
		}
		h.watch()
		ui, err := h.look(ctx)
		return &tui.Session{Facts: facts, After: event.Seq(s.Last), UI: ui, Elsewhere: true}, err
	}
	t.Hooks = func(ctx context.Context) (string, error) {
		r, err := s.Client.Ask(ctx, s.ID, ask.Hooks{})
		return r.Text, err
	}
	for name, r := range t.Reports {
		here := r.Run
		r.Run = func(ctx context.Context, session, args string) (string, error) {
			if r.Away != nil && r.Away(args) { // it needs this terminal
				return here(ctx, "", args)
			}
			reply, err := s.Client.Ask(ctx, session, ask.Report{Name: name, Args: args})
			return reply.Text, err
		}
		if r.Choose != nil {
			r.Choose = func(ctx context.Context) ([]ask.Choice, error) {
				reply, err := s.Client.Ask(ctx, s.ID, ask.Pick{Name: name})
				return reply.Choices, err
			}
		}
		t.Reports[name] = r
	}
	return t
}

// detached says how the session of another process is shown again.
func detached(ctx context.Context, sys System, s live.Session) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lastKey)
	defer stop()
	if _, err := s.Client.Ask(ctx, s.ID, ask.Status{}); err == nil {
		fmt.Fprintf(sys.Stderr, "adze: the session goes on; adze attach %s shows it again\n", hint.Shell(s.ID))
	}
}
