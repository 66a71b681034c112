package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/live"
	"github.com/adze-agent/adze/internal/machine"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/tui"
)

func newAttach(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "attach [SESSION|AGENT]", Short: "Show a session or an agent that runs elsewhere in the terminal UI", Args: cobra.MaximumNArgs(1),
		Long: "Opens the terminal UI on a session that runs in another terminal or program. Both show\nthe same; the first answer to a question counts, and leaving one ends nothing.\n\nAn agent of a session is named by its ID or its name: what you type goes to it, and Esc\nshows the session that it works for.\n\n" + liveWords,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, p, err := reached(sys, f, cmd, ask.Admin)
			if err != nil {
				return err
			}
			defer all.Close()
			s, agent, err := meantAgent(cmd.Context(), all, p, cmp.Or(args...))
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
			return atTerminal(cmd.Context(), sys, f, o, &s, tui.Options{Start: tui.Start{Agent: agent}})
		},
	}
}

// meantAgent is the session that a word names, or the one of the agent that it names by an ID
// or a name, with that agent.
func meantAgent(ctx context.Context, all live.List, p settings.Paths, word string) (s live.Session, agent ask.Task, err error) {
	if s, err = meant(all, p, word); err == nil || word == "" || len(all.Named(word)) > 0 {
		return s, agent, err
	}
	var in live.List
	var found []string
	for _, s := range all {
		r, no := s.Client.Ask(ctx, s.ID, ask.Tasks{})
		list, bad := ask.Data[[]ask.Task](r)
		if no != nil || bad != nil { // of an older version, or over by now
			continue
		}
		for _, t := range list {
			if t.Session != "" && (t.ID == word || t.Name == word || t.Session == word) {
				in, agent, found = append(in, s), t, append(found, t.ID)
			}
		}
	}
	switch {
	case len(in) == 0:
		return s, agent, err
	case len(in) > 1:
		return s, ask.Task{}, usagef("name one by its id: "+hint.Shell(found...), "%d agents are called so", len(in))
	}
	return in[0], agent, nil
}

// attached is what the terminal UI can have done on a session of another process. What is of
// this terminal (its editor, clipboard, history, themes) stays.
func (h *uiHost) attached(s live.Session) tui.Host {
	t := h.host()
	s.Client.Note = h.o.Note
	t.Client = s.Client
	t.Dir = paths.Tilde(s.Dir, s.Home)
	t.End, t.First = nil, nil
	h.machine.Away = &machine.Away{Dir: s.Dir, Root: s.Root}
	if h.machine.Forgets = h.machine.Forgets || !s.Kept; h.machine.Forgets {
		t.Keep, t.Lost = nil, nil
	}
	t.Open = func(ctx context.Context, start tui.Start) (*tui.Session, error) {
		r, err := s.Client.Ask(ctx, s.ID, ask.Status{})
		if err != nil {
			return nil, err
		}
		facts, err := ask.Data[ask.Facts](r)
		if err != nil {
			return nil, err
		}
		h.machine.Watch()
		ui, err := h.machine.Look(ctx)
		return &tui.Session{Facts: facts, After: event.Seq(facts.Last), UI: ui, Elsewhere: true, Agent: start.Agent}, err
	}
	servers := t.Reports["mcp"]
	servers.Here = nil // they are the other process's
	t.Reports["mcp"] = servers
	return t
}

// detached says how a session of another process that was left is come back to.
func (h *uiHost) detached(ctx context.Context, s live.Session) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lastKey)
	defer stop()
	_, err := s.Client.Ask(ctx, s.ID, ask.Status{})
	switch over := errors.Is(err, &op.Refusal{Code: op.NoSession}) || errors.Is(err, &op.Refusal{Code: op.Closed}); {
	case err == nil:
		fmt.Fprintf(h.sys.Stderr, "adze: the session goes on; adze attach %s shows it again\n", hint.Shell(s.ID))
	case s.Kept && over:
		fmt.Fprintf(h.sys.Stderr, "adze: the session ended; adze --resume %s goes on with it\n", hint.Shell(s.ID))
	case s.Kept:
		fmt.Fprintf(h.sys.Stderr, "adze: the process that has the session cannot be reached; where it is gone, adze --resume %s goes on with the session\n", hint.Shell(s.ID))
	}
}
