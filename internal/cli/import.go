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
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/importer"
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
	c.Flags().StringVar(&opt.from, "from", "", "only from this agent: "+strings.Join(importer.Names(), ", "))
	c.Flags().StringSliceVar(&opt.only, "only", importKinds, "what to take")
	c.Flags().Lookup("only").DefValue = strings.Join(importKinds, ",")
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
	if names := importer.Names(); o.from != "" && !slices.Contains(names, o.from) {
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
	return importer.Names()
}

func importAll(ctx context.Context, sys System, p settings.Paths, cfg *config.Config, opt importOptions) (err error) {
	temp, err := os.MkdirTemp("", "adze-import")
	if err != nil {
		return failf("set TMPDIR to a folder that you may write to", "%v", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	agents := importer.At(importer.Place{Home: p.Home, Env: sys.Env, Work: p.Root, Temp: temp})
	defer func() { err = errors.Join(err, agents.Close()) }()
	if slices.Contains(opt.only, "sessions") {
		if err := importSessions(ctx, sys, p, agents, opt); err != nil {
			return err
		}
	}
	s := agents.Settings()
	s.Servers = slices.DeleteFunc(s.Servers, func(x importer.Server) bool { return !slices.Contains(opt.agents(), x.From) })
	s.Rules = slices.DeleteFunc(s.Rules, func(x importer.Rule) bool { return !slices.Contains(opt.agents(), x.From) })
	s.Notes = slices.DeleteFunc(s.Notes, func(x importer.Note) bool { return !slices.Contains(opt.agents(), x.From) })
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

func importSessions(ctx context.Context, sys System, p settings.Paths, agents *importer.Agents, opt importOptions) error {
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
func importFrom(ctx context.Context, sys System, p settings.Paths, agents *importer.Agents, from string, dry bool) (n int, err error) {
	srcs, err := agents.Find(ctx, from)
	if err != nil {
		fmt.Fprintf(sys.Stderr, "left out: %v\n", err)
	}
	c := copier{sys: sys, p: p, st: sessions.In(p.State), dry: dry}
	if !dry {
		c.st.Key, _ = seal.Key(p.State)
		if err := c.st.Sweep(ctx); err != nil {
			return 0, err
		}
	}
	helpers, before := 0, 0
	var empty []string
	for _, src := range srcs {
		s, err := c.copy(ctx, agents, src)
		switch {
		case ctx.Err() != nil:
			return n, ctx.Err()
		case errors.Is(err, importer.ErrHelper):
			helpers++
			continue
		case errors.Is(err, importer.ErrEmpty):
			empty = append(empty, src.Path)
			continue
		case errors.Is(err, store.ErrExists):
			before++
			continue
		case c.failed != nil && !errors.Is(err, store.ErrRunning): // that one is another import's
			return n, c.failed
		case err != nil:
			fmt.Fprintf(sys.Stderr, "left out: %s: %v\n", clip.Visible(src.Path), err)
			continue
		}
		left := s.Left()
		n++
		fmt.Fprintf(sys.Stdout, "%s  %s  %s  %s, %s\n", s.NewID(), from, s.Began.Local().Format("2006-01-02"), clip.Count(s.Prompts, "prompt"), clip.Visible(s.Dir))
		for _, what := range left {
			fmt.Fprintf(sys.Stdout, "    not taken: %s\n", clip.Visible(what))
		}
	}
	if helpers > 0 {
		fmt.Fprintf(sys.Stderr, "left out: %s of sub-agents of %s; their parents have the results\n", clip.Count(helpers, "session"), from)
	}
	if before > 0 {
		fmt.Fprintf(sys.Stderr, "left out: %s of %s that %s copied before\n", clip.Count(before, "session"), from, map[bool]string{true: "was", false: "were"}[before == 1])
	}
	for i, path := range empty {
		if i == mostEmpty && len(empty) > mostEmpty+1 {
			fmt.Fprintf(sys.Stderr, "left out: %d more files of %s without a prompt\n", len(empty)-i, from)
			break
		}
		fmt.Fprintf(sys.Stderr, "left out: %s: there is no prompt in it\n", clip.Visible(path))
	}
	return n, nil
}

// mostEmpty is how many files of an agent without a conversation are named.
const mostEmpty = 10

// A copier copies sessions.
type copier struct {
	sys    System
	p      settings.Paths
	st     sessions.Store
	dry    bool  // nothing is written
	failed error // of writing the session
}

// copy copies a session, and returns it with the folder that it belongs to.
func (c *copier) copy(ctx context.Context, agents *importer.Agents, src importer.Source) (importer.Session, error) {
	var draft *sessions.Draft
	c.failed = nil
	s, err := agents.Copy(ctx, src, func(s importer.Session) (importer.Sink, error) {
		if c.st.Has(s.NewID()) {
			return importer.Sink{}, store.ErrExists
		}
		if c.dry {
			return importer.Sink{Put: func(event.Event) error { return nil }}, nil
		}
		dir := cmp.Or(s.Dir, c.p.Dir)
		root := cmp.Or(conf.Root(dir), dir)
		if draft, c.failed = c.st.Draft(sessions.Key(root), s.NewID()); c.failed != nil {
			return importer.Sink{}, c.failed
		}
		return importer.Sink{
			First: event.SessionStarted{Version: c.sys.Version, Dir: dir, Root: root},
			Spill: func(text string) (path string, err error) {
				path, err = draft.Spill(text)
				c.failed = err
				return path, err
			},
			Put: func(e event.Event) error {
				c.failed = draft.Append(ctx, e)
				return c.failed
			},
		}, nil
	})
	s.Dir = cmp.Or(s.Dir, c.p.Dir)
	if draft == nil {
		return s, err
	}
	if err != nil {
		return s, errors.Join(err, draft.Discard())
	}
	if c.failed = draft.Done(); c.failed != nil {
		return s, c.failed
	}
	_ = fulltext.In(c.p.State, nil).Mark(s.NewID())
	return s, nil
}
