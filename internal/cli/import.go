package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/foreign"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
)

func newImport(sys System, f *runFlags) *cobra.Command {
	dry, from := false, ""
	c := &cobra.Command{
		Use: "import", Short: "Copy sessions of other agents, so that they can be resumed here", Args: cobra.NoArgs,
		Long: `Copy the sessions that Claude Code, Codex, Gemini CLI, opencode and Crush keep, so
that they can be listed, searched and resumed here. Theirs are only read, and copies
of their databases are made for that. What was copied before is left as it is.

Instructions and permission settings of Claude Code need no copy: adze reads them
where they are.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := foreign.Names()
			if from != "" {
				if !slices.Contains(names, from) {
					return usagef("one of "+strings.Join(names, ", "), "--from cannot be %q%s", from, near.Hint(from, names))
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
			return importAll(cmd.Context(), sys, p, names, dry)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be copied")
	c.Flags().StringVar(&from, "from", "", "only from this agent: "+strings.Join(foreign.Names(), ", "))
	return c
}

func importAll(ctx context.Context, sys System, p settings.Paths, names []string, dry bool) (err error) {
	temp, err := os.MkdirTemp("", "adze-import")
	if err != nil {
		return failf("set TMPDIR to a folder that you may write to", "%v", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	agents := foreign.At(foreign.Place{Home: p.Home, Env: sys.Env, Work: p.Root, Temp: temp})
	defer func() { err = errors.Join(err, agents.Close()) }()
	n := 0
	for _, name := range names {
		taken, err := importFrom(ctx, sys, p, agents, name, dry)
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
}

// importFrom copies the sessions of one agent. One that cannot be read is named
// and left out.
func importFrom(ctx context.Context, sys System, p settings.Paths, agents *foreign.Agents, from string, dry bool) (n int, err error) {
	srcs, err := agents.Find(ctx, from)
	if err != nil {
		fmt.Fprintf(sys.Stderr, "left out: %v\n", err)
	}
	st := sessions.In(p.State)
	helpers := 0
	for _, src := range srcs {
		s, err := agents.Read(ctx, src)
		switch {
		case ctx.Err() != nil:
			return n, ctx.Err()
		case errors.Is(err, foreign.ErrHelper):
			helpers++
			continue
		case errors.Is(err, foreign.ErrEmpty) || err == nil && st.Has(s.NewID()):
			continue
		case err != nil:
			fmt.Fprintf(sys.Stderr, "left out: %s: %v\n", clip.Visible(src.Path), err)
			continue
		}
		s.Dir = cmp.Or(s.Dir, p.Dir)
		left := s.Left()
		if !dry {
			if err := copySession(ctx, sys, p, st, agents, s); err != nil {
				return n, err
			}
		}
		n++
		fmt.Fprintf(sys.Stdout, "%s  %s  %s  %s, %s\n", s.NewID(), from, s.Began.Local().Format("2006-01-02"), clip.Count(s.Prompts, "prompt"), clip.Visible(s.Dir))
		for _, what := range left {
			fmt.Fprintf(sys.Stdout, "    not taken: %s\n", clip.Visible(what))
		}
	}
	if helpers > 0 {
		fmt.Fprintf(sys.Stderr, "left out: %s of sub-agents of %s; their parents have the results\n", clip.Count(helpers, "session"), from)
	}
	return n, nil
}

func copySession(ctx context.Context, sys System, p settings.Paths, st sessions.Store, agents *foreign.Agents, s foreign.Session) (err error) {
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
	defer func() {
		if err = errors.Join(err, log.Close()); err != nil { // half a copy would be taken for one that was made before
			err = errors.Join(err, st.Remove(context.WithoutCancel(ctx), store.Info{ID: s.NewID(), Key: project}))
		}
	}()
	first := event.SessionStarted{Version: sys.Version, Dir: s.Dir, Root: root}
	if err := agents.Write(ctx, &s, first, log.Spill, func(e event.Event) error { return log.Append(ctx, e) }); err != nil {
		return err
	}
	_ = fulltext.In(p.State, nil).Mark(s.NewID())
	return nil
}
