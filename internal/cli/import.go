package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/foreign"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newImport(sys System, f *runFlags) *cobra.Command {
	dry, from := false, ""
	c := &cobra.Command{
		Use: "import", Short: "Copy sessions of other agents, so that they can be resumed here", Args: cobra.NoArgs,
		Long: `Copy the sessions that Claude Code and Codex keep in the home folder, so that
they can be listed, searched and resumed here. Theirs are only read. What was copied
before is left as it is.

Instructions and permission settings of Claude Code need no copy: adze reads them
where they are.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := foreign.Names()
			if from != "" {
				if !slices.Contains(names, from) {
					return usagef(strings.Join(names, " or "), "--from cannot be %q", from)
				}
				names = []string{from}
			}
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			if p.Home == "" {
				return usagef("set HOME", "there is no home folder to look in")
			}
			n := 0
			for _, name := range names {
				taken, err := importFrom(cmd.Context(), sys, p, name, dry)
				n += taken
				if err != nil {
					return failf("what was copied by then is there: adze sessions list --all", "import from %s: %v", name, err)
				}
			}
			what := "copied"
			if dry {
				what = "would be copied"
			}
			fmt.Fprintf(sys.Stderr, "%s %s\n", clip.Count(n, "session"), what)
			return nil
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be copied")
	c.Flags().StringVar(&from, "from", "", "only from this agent: "+strings.Join(foreign.Names(), ", "))
	return c
}

// importFrom copies the sessions of one agent. One that cannot be read is named
// and left out.
func importFrom(ctx context.Context, sys System, p settings.Paths, from string, dry bool) (n int, err error) {
	files, err := foreign.Find(p.Home, from)
	if err != nil {
		return 0, err
	}
	st := sessions.In(p.State)
	for _, path := range files {
		s, err := foreign.Read(from, path)
		switch {
		case ctx.Err() != nil:
			return n, ctx.Err()
		case errors.Is(err, foreign.ErrEmpty) || err == nil && st.Has(s.NewID()):
			continue
		case err != nil:
			fmt.Fprintf(sys.Stderr, "left out: %v\n", err)
			continue
		}
		s.Dir = cmp.Or(s.Dir, p.Dir)
		if !dry {
			if err := copySession(ctx, sys, p, st, s); err != nil {
				return n, err
			}
		}
		n++
		fmt.Fprintf(sys.Stdout, "%s  %s  %s  %s, %s\n", s.NewID(), from, s.Began.Local().Format("2006-01-02"), clip.Count(s.Prompts, "prompt"), clip.Visible(s.Dir))
	}
	return n, nil
}

func copySession(ctx context.Context, sys System, p settings.Paths, st sessions.Store, s foreign.Session) (err error) {
	root := cmp.Or(conf.Root(s.Dir), s.Dir)
	project := sessions.Key(root)
	if err := st.Ready(project); err != nil {
		return err
	}
	st.Key, _ = seal.Key(p.State)
	log, err := st.Create(ctx, project, s.NewID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, e := range s.Events(event.SessionStarted{Version: sys.Version, Dir: s.Dir, Root: root}) {
		if err := log.Append(ctx, e); err != nil {
			return err
		}
	}
	_ = fulltext.In(p.State, nil).Mark(s.NewID())
	return nil
}
