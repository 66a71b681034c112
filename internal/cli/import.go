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

	"github.com/adze-agent/adze/internal/config"
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
	var opt importOptions
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
			if err := opt.check(); err != nil {
				return err
			}
			p, cfg, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			if p.Home == "" {
				return usagef("set HOME", "there is no home folder to look in")
			}
			return importAll(cmd.Context(), sys, p, cfg, opt)
		},
	}
	c.Flags().BoolVar(&opt.dry, "dry-run", false, "only show what would be taken")
	c.Flags().BoolVar(&opt.yes, "yes", false, "take what allows something or starts a program without a question")
	c.Flags().StringVar(&opt.from, "from", "", "only from this agent: "+strings.Join(foreign.Names(), ", "))
	c.Flags().StringSliceVar(&opt.only, "only", importKinds, "what to take")
	return c
}

// importKinds are what can be taken.
var importKinds = []string{"sessions", "settings", "memory"}

// importOptions say what to take.
type importOptions struct {
	dry, yes bool
	from     string // "" is all agents
	only     []string
}

func (o importOptions) check() error {
	if names := foreign.Names(); o.from != "" && !slices.Contains(names, o.from) {
		return usagef("one of "+strings.Join(names, ", "), "--from cannot be %q%s", o.from, near.Hint(o.from, names))
	}
	for _, k := range o.only {
		if !slices.Contains(importKinds, k) {
			return usagef("some of "+strings.Join(importKinds, ", "), "--only cannot be %q%s", k, near.Hint(k, importKinds))
		}
	}
	return nil
}

func (o importOptions) agents() []string {
	if o.from != "" {
		return []string{o.from}
	}
	return foreign.Names()
}

func importAll(ctx context.Context, sys System, p settings.Paths, cfg *config.Config, opt importOptions) (err error) {
	temp, err := os.MkdirTemp("", "adze-import")
	if err != nil {
		return failf("set TMPDIR to a folder that you may write to", "%v", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	agents := foreign.At(foreign.Place{Home: p.Home, Env: sys.Env, Work: p.Root, Temp: temp})
	defer func() { err = errors.Join(err, agents.Close()) }()
	if slices.Contains(opt.only, "sessions") {
		if err := importSessions(ctx, sys, p, agents, opt); err != nil {
			return err
		}
	}
	s := agents.Settings()
	s.Servers = slices.DeleteFunc(s.Servers, func(x foreign.Server) bool { return !slices.Contains(opt.agents(), x.From) })
	s.Rules = slices.DeleteFunc(s.Rules, func(x foreign.Rule) bool { return !slices.Contains(opt.agents(), x.From) })
	s.Notes = slices.DeleteFunc(s.Notes, func(x foreign.Note) bool { return !slices.Contains(opt.agents(), x.From) })
	if slices.Contains(opt.only, "memory") {
		if err := importNotes(sys, p, s.Notes, opt.dry); err != nil {
			return err
		}
	}
	if slices.Contains(opt.only, "settings") {
		return importSettings(ctx, sys, p, cfg, s, opt)
	}
	return nil
}

func importSessions(ctx context.Context, sys System, p settings.Paths, agents *foreign.Agents, opt importOptions) error {
	n := 0
	for _, name := range opt.agents() {
		taken, err := importFrom(ctx, sys, p, agents, name, opt.dry)
		n += taken
		if err != nil {
			return failf("what was copied by then is there: adze sessions list --all", "import from %s: %v", name, err)
		}
	}
	what := "copied"
	if opt.dry {
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
