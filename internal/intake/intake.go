// Package intake takes over what package importer reads of other agents: sessions are copied
// into the store, servers and rules go into the person's settings, and instructions to the
// end of their own. It asks before anything that would allow something or start a program,
// and says what it left out.
package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
)

// Config is into whose folders it goes.
type Config struct {
	Paths    settings.Paths
	Settings *config.Config
	Env      func(string) string
	Environ  []string
	Version  string
	Out, Err io.Writer // what is taken, and what is said of that
	// Agreed asks whether settings may be written that allow something or start a program.
	Agreed func(ctx context.Context, what, path string) (bool, error)
}

// Agents are those that can be taken over from.
func Agents() []string { return importer.Names() }

// Kinds are what can be taken.
var Kinds = []string{"sessions", "settings", "memory"}

// Options say what to take.
type Options struct {
	Dry, Yes bool
	From     string // "" is all agents
	Only     []string
}

// Check refuses what cannot be taken.
func (o Options) Check() error {
	if names := importer.Names(); o.From != "" && !slices.Contains(names, o.From) {
		return &hint.Mistake{Why: fmt.Sprintf("--from cannot be %q%s", o.From, near.Hint(o.From, names)), What: "one of " + strings.Join(names, ", ")}
	}
	for _, k := range o.Only {
		if !slices.Contains(Kinds, k) {
			return &hint.Mistake{Why: fmt.Sprintf("--only cannot be %q%s", k, near.Hint(k, Kinds)), What: "some of " + strings.Join(Kinds, ", ")}
		}
	}
	return nil
}

func (o Options) agents() []string {
	if o.From != "" {
		return []string{o.From}
	}
	return importer.Names()
}

// All takes over what is asked for. A session or a setting that cannot be taken is named with
// the reason and left out.
func All(ctx context.Context, x Config, opt Options) (err error) {
	p := x.Paths
	temp, err := os.MkdirTemp("", "adze-import")
	if err != nil {
		return hint.With(fmt.Errorf("%v", err), "set TMPDIR to a folder that you may write to")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	agents := importer.At(importer.Place{Home: p.Home, Env: x.Env, Work: p.Root, Temp: temp})
	defer func() { err = errors.Join(err, agents.Close()) }()
	if slices.Contains(opt.Only, "sessions") {
		if err := takeSessions(ctx, x, agents, opt); err != nil {
			return err
		}
	}
	s := agents.Settings()
	s.Servers = slices.DeleteFunc(s.Servers, func(x importer.Server) bool { return !slices.Contains(opt.agents(), x.From) })
	s.Rules = slices.DeleteFunc(s.Rules, func(x importer.Rule) bool { return !slices.Contains(opt.agents(), x.From) })
	s.Notes = slices.DeleteFunc(s.Notes, func(x importer.Note) bool { return !slices.Contains(opt.agents(), x.From) })
	if slices.Contains(opt.Only, "memory") {
		if err := takeNotes(x, s.Notes, opt.Dry); err != nil {
			return err
		}
	}
	if slices.Contains(opt.Only, "settings") {
		return takeSettings(ctx, x, s, opt)
	}
	return nil
}

func takeSessions(ctx context.Context, x Config, agents *importer.Agents, opt Options) error {
	n := 0
	for _, name := range opt.agents() {
		taken, err := takeFrom(ctx, x, agents, name, opt.Dry)
		n += taken
		if err != nil {
			return hint.With(fmt.Errorf("import from %s: %v", name, err), "what was copied by then is there: adze sessions list --all")
		}
	}
	what := "copied"
	if opt.Dry {
		what = "would be copied"
	}
	fmt.Fprintf(x.Err, "%s %s\n", clip.Count(n, "session"), what)
	return nil
}

// takeFrom copies the sessions of one agent. One that cannot be read is named
// and left out.
func takeFrom(ctx context.Context, x Config, agents *importer.Agents, from string, dry bool) (n int, err error) {
	srcs, err := agents.Find(ctx, from)
	if err != nil {
		fmt.Fprintf(x.Err, "left out: %v\n", err)
	}
	p := x.Paths
	c := copier{version: x.Version, p: p, st: sessions.In(p.State), dry: dry}
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
			fmt.Fprintf(x.Err, "left out: %s: %v\n", clip.Visible(src.Path), err)
			continue
		}
		left := s.Left()
		n++
		fmt.Fprintf(x.Out, "%s  %s  %s  %s, %s\n", s.NewID(), from, s.Began.Local().Format("2006-01-02"), clip.Count(s.Prompts, "prompt"), clip.Visible(s.Dir))
		for _, what := range left {
			fmt.Fprintf(x.Out, "    not taken: %s\n", clip.Visible(what))
		}
	}
	if helpers > 0 {
		fmt.Fprintf(x.Err, "left out: %s of sub-agents of %s; their parents have the results\n", clip.Count(helpers, "session"), from)
	}
	if before > 0 {
		fmt.Fprintf(x.Err, "left out: %s of %s that %s copied before\n", clip.Count(before, "session"), from, map[bool]string{true: "was", false: "were"}[before == 1])
	}
	for i, path := range empty {
		if i == mostEmpty && len(empty) > mostEmpty+1 {
			fmt.Fprintf(x.Err, "left out: %d more files of %s without a prompt\n", len(empty)-i, from)
			break
		}
		fmt.Fprintf(x.Err, "left out: %s: there is no prompt in it\n", clip.Visible(path))
	}
	return n, nil
}

// mostEmpty is how many files of an agent without a conversation are named.
const mostEmpty = 10

// A copier copies sessions.
type copier struct {
	version string
	p       settings.Paths
	st      sessions.Store
	dry     bool  // nothing is written
	failed  error // of writing the session
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
			First: event.SessionStarted{Version: c.version, Dir: dir, Root: root},
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
