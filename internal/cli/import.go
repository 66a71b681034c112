package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/intake"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newImport(sys System, f *runFlags) *cobra.Command {
	opt := intake.Options{}
	c := &cobra.Command{
		Use: "import", Short: "Take over sessions and settings of other agents", Args: cobra.NoArgs,
		Long: `Take over what Claude Code, Codex, Gemini CLI, opencode and Crush keep. Theirs is only
read, and copies of their databases are made for that.

  sessions   are copied, to be listed, searched and resumed here; what was copied
             before is left as it is
  settings   MCP servers and permission rules, into your own settings; what would allow
             something or start a program is asked about first
  memory     instructions for all projects, to the end of your own AGENTS.md

Instructions and permission rules of Claude Code need no copy: adze reads them where
they are. docs/import.md says what is taken of each, and what is not.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.Check(); err != nil {
				return openError(cmd.Context(), err)
			}
			p, cfg, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			if p.Home == "" {
				return usagef("set HOME", "there is no home folder to look in")
			}
			return intake.All(cmd.Context(), intake.Config{
				Paths: p, Settings: cfg, Env: sys.Env, Environ: sys.Environ, Version: sys.Version, Out: sys.Stdout, Err: sys.Stderr,
				Agreed: func(ctx context.Context, what, path string) (bool, error) {
					return importAgreed(ctx, sys, opt.Yes, what, path)
				},
			}, opt)
		},
	}
	c.Flags().BoolVar(&opt.Dry, "dry-run", false, "only show what would be taken")
	c.Flags().BoolVar(&opt.Yes, "yes", false, "take what allows something or starts a program without a question")
	c.Flags().StringVar(&opt.From, "from", "", "only from this agent: "+strings.Join(intake.Agents(), ", "))
	c.Flags().StringSliceVar(&opt.Only, "only", intake.Kinds, "what to take")
	c.Flags().Lookup("only").DefValue = strings.Join(intake.Kinds, ",")
	return c
}

// importAgreed asks a person who is there; nobody else agrees to anything.
func importAgreed(ctx context.Context, sys System, yes bool, what, path string) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !sys.InTTY || !sys.ErrTTY:
		fmt.Fprintf(sys.Stderr, "not taken: %s that allow something or start a program, because nobody is here to ask (look at the list, then: adze import --yes)\n", what)
		return false, nil
	}
	return agrees(ctx, sys, fmt.Sprintf("Write %s that allow something or start a program, marked with +, to %s?", what, clip.Visible(path)))
}
