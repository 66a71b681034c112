package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/live"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
)

func newTail(sys System, f *runFlags) *cobra.Command {
	var asJSON, all, turn bool
	detail := event.Durable.String()
	c := &cobra.Command{
		Use: "tail [SESSION]", Short: "Follow a session that runs, as text or JSON", Args: cobra.MaximumNArgs(1),
		Long: "Prints what happens in a session that runs, from its newest prompt on, until the session\nends. It changes nothing there.\n\n" + liveWords,
		RunE: func(cmd *cobra.Command, args []string) error {
			var d event.Detail
			if err := d.UnmarshalText([]byte(detail)); err != nil {
				return usagef("durable, notices or everything", "--detail cannot be %q", detail)
			}
			list, p, err := reached(sys, f, cmd, ask.Watch)
			if err != nil {
				return err
			}
			defer list.Close()
			s, err := meant(list, p, cmp.Or(args...))
			if err != nil {
				return err
			}
			after := event.Seq(s.Prompt)
			if all {
				after = 0
			}
			show := sys.tailText()
			if asJSON {
				show = sys.tailJSON
			} else {
				d = event.Durable
			}
			if turn && s.Doing == ask.Idle && s.Last == 0 {
				return nil
			}
			if turn {
				show = untilTurn(s, show)
			}
			return follow(cmd, sys, s, after, d, show)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one event a line, as docs/clients.md has them")
	c.Flags().BoolVarP(&all, "all", "a", false, "from the beginning of the session")
	c.Flags().BoolVar(&turn, "turn", false, "only until the turn ends that runs now; where none does, what there is")
	c.Flags().StringVar(&detail, "detail", detail, "with --json: durable, notices (also what goes on), or everything (each piece of text and output)")
	return c
}

// errEnough ends a follow before the session does.
var errEnough = errors.New("that is all")

// untilTurn is show until the turn ends that runs, or waits to begin; else up to the
// newest event.
func untilTurn(s live.Session, show func(event.Event) error) func(event.Event) error {
	return func(e event.Event) error {
		err := show(e)
		_, ended := e.Body.(event.TurnEnded)
		if s.Doing == ask.Idle {
			ended = uint64(e.Seq) >= s.Last
		}
		if err == nil && ended && uint64(e.Seq) >= s.Last {
			return errEnough
		}
		return err
	}
}

// follow shows what happens in a session until it is over.
func follow(cmd *cobra.Command, sys System, s live.Session, after event.Seq, d event.Detail, show func(event.Event) error) error {
	s.Client.Note = func(text string) { fmt.Fprintln(sys.Stderr, "adze: "+text) }
	for e, err := range s.Client.Follow(cmd.Context(), s.ID, after, d) {
		if err == nil {
			err = show(e)
		}
		switch {
		case err == nil:
		case errors.Is(err, errEnough):
			return nil
		case errors.Is(err, &op.Refusal{Code: op.NoSession}): // it ended just now, or while this reader was slow
			fmt.Fprintf(sys.Stderr, "adze: the session ended; all of it: adze sessions show %s\n", hint.Shell(s.ID))
			return nil
		default:
			return gone(s, err)
		}
	}
	return cmd.Context().Err()
}

// tailJSON writes an event as clients are sent it.
func (s System) tailJSON(e event.Event) error {
	raw, err := event.AppendLive(nil, e)
	if err != nil {
		return err
	}
	_, err = s.Stdout.Write(append(raw, '\n'))
	return err
}

// tailText writes the conversation as the terminal UI shows it, as far as it is settled.
func (s System) tailText() func(event.Event) error {
	st, color := story.New(), s.painter()
	paper := story.Paper{O: draw.Options{Width: s.columns(), ASCII: term.ASCII(s.Env)}}
	return func(e event.Event) error {
		st.Apply(e)
		if lines := st.Next(paper); len(lines) > 0 {
			_, err := fmt.Fprint(s.Stdout, color.lines(lines))
			return err
		}
		return nil
	}
}
