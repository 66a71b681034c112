package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newSend(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "send [SESSION] TEXT…", Short: "Prompt a session that runs", Args: cobra.ArbitraryArgs,
		Long: "Gives a session that runs a prompt, as if it was typed there. While a turn runs, the\nmodel reads it after its current step. What is piped in follows the text.\n\n" + liveWords,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, p, err := reached(sys, f, cmd, ask.Prompt)
			if err != nil {
				return err
			}
			defer list.Close()
			word := ""
			if len(args) > 0 && len(list.Named(args[0])) > 0 {
				word, args = args[0], args[1:]
			}
			s, err := meant(list, p, word)
			if err != nil {
				return err
			}
			text, typed, err := withStdin(cmd.Context(), sys, clip.Clean(strings.Join(args, " ")))
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return usagef(`adze send "what changed?"`, "there is no prompt")
			}
			in, err := slash(text, typed)
			if err != nil {
				return err
			}
			if p, is := in.Op.(op.Prompt); is && looksCommand().MatchString(strings.Fields(p.Text)[0]) {
				p.Command = true
				in.Op = p
			}
			err = s.Client.Submit(cmd.Context(), s.ID, in.Op)
			r, refused := errors.AsType[*op.Refusal](err)
			switch {
			case refused && r.Code == op.NoCommand:
				return usagef("a prompt that is none begins with another word", "%v", r)
			case refused:
				return err
			case err != nil:
				return gone(s, err)
			}
			fmt.Fprintf(sys.Stderr, "sent to session %s; adze tail %s follows it\n", s.ID, s.ID)
			return nil
		},
	}
}
