package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/report"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

func newSessions(sys System, f *runFlags) *cobra.Command {
	return group("sessions", "List, search, show and remove sessions",
		sessionsList(sys, f), sessionsSearch(sys, f), sessionsShow(sys, f), sessionsRemove(sys, f), sessionsReindex(sys, f))
}

// sessionStore finds the sessions and the project of this folder.
func sessionStore(sys System, f *runFlags, cmd *cobra.Command) (sessions.Store, string, error) {
	p, _, err := loadSettings(sys, f, cmd)
	return sessions.In(p.State), sessions.Key(p.Root), err
}

// findSession looks up the session that is named, the newest of this folder
// when none is.
func findSession(sys System, f *runFlags, cmd *cobra.Command, names ...string) (sessions.Store, store.Info, error) {
	query := cmp.Or(names...)
	if len(names) > 0 && strings.TrimSpace(query) == "" {
		return sessions.Store{}, store.Info{}, usagef("adze sessions list shows them", "the name of the session is empty")
	}
	st, key, err := sessionStore(sys, f, cmd)
	if err != nil {
		return st, store.Info{}, err
	}
	st.Unread = noteTo(sys)
	i, err := st.Find(cmd.Context(), key, query)
	var many *store.AmbiguousError
	switch {
	case errors.Is(err, store.ErrNone) && query == "":
		return st, i, usagef("adze sessions list --all shows those of other folders", "there is no session in this folder")
	case errors.Is(err, store.ErrNone):
		return st, i, usagef("adze sessions list --all shows them", "there is no session %q", query)
	case errors.As(err, &many):
		return st, i, usagef("give more of the id", "%v", many)
	}
	return st, i, err
}

func sessionsList(sys System, f *runFlags) *cobra.Command {
	all := false
	c := answering(sys, &cobra.Command{
		Use: "list", Short: "List the sessions of this folder", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		st, key, err := sessionStore(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		if all {
			key = ""
		}
		st.Unread = noteTo(sys)
		list, err := st.List(cmd.Context(), key)
		return listing[store.Info]{
			rows: list, note: "no sessions here yet; adze sessions list --all shows those of other folders",
			head: []string{"ID", "AGE", "TURNS", "SIZE", "COST", "BRANCH", "WHAT"},
			row: func(t *table, i store.Info) {
				name := clip.Line(clip.VisibleText(i.Name()), 60)
				if i.Running {
					name += " (running)"
				}
				t.row(i.ID, clip.Age(time.Since(i.Changed)), fmt.Sprint(i.Turns), clip.Size(i.Size), i.CostText(2), i.Branch, name)
			},
		}, err
	})
	c.Flags().BoolVarP(&all, "all", "a", false, "of all folders")
	return c
}

func sessionsShow(sys System, f *runFlags) *cobra.Command {
	c := answering(sys, &cobra.Command{
		Use: "show [SESSION]", Short: "Show one session: facts, then the conversation", Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		st, i, err := findSession(sys, f, cmd, args...)
		return both{i, func() error {
			t := sys.table()
			for _, r := range [][2]string{
				{"session", i.ID}, {"what", clip.Line(clip.VisibleText(i.Name()), 100)}, {"folder", i.Start}, {"branch", i.Branch}, {"model", i.Model},
				{"turns", fmt.Sprint(i.Turns)}, {"cost", i.CostText(4)}, {"last used", i.Changed.Local().Format("2006-01-02 15:04")},
				{"stored in", i.Dir}, {"forked from", i.Parent},
			} {
				if r[1] != "" {
					t.row(r[:]...)
				}
			}
			if err := t.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(sys.Stdout)
			return report.Export(cmd.Context(), sys.Stdout, st, i, "md", sys.Environ, 2000, false)
		}}, err
	})
	c.Flags().Lookup("json").Usage = "the facts as JSON"
	return c
}

func sessionsRemove(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "rm SESSION…", Aliases: []string{"remove"}, Short: "Remove sessions for good", Args: cobra.MinimumNArgs(1),
		Long: "Removes sessions for good. SESSION is an id, at least four characters of its beginning,\nor a title; words that a session holds are not enough.",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, q := range args {
				st, i, err := findSession(sys, f, cmd, q)
				if err != nil {
					return err
				}
				if !i.Named(q) {
					return usagef("adze sessions rm "+i.ID, "%q is neither the id nor the title of a session; %s holds it (%s)", clip.Visible(q), i.ID, clip.Line(clip.VisibleText(i.Name()), 60))
				}
				err = st.Remove(cmd.Context(), i)
				if errors.Is(err, store.ErrRunning) {
					return failf("end it first", "session %s is running in process %d", i.ID, i.Holder.PID)
				}
				if err != nil {
					return err
				}
				unsearchable(sys, f, cmd)
				fmt.Fprintf(sys.Stderr, "removed %s (%s)\n", i.ID, clip.Line(clip.VisibleText(i.Name()), 60))
			}
			return nil
		},
	}
}

func newExport(sys System, f *runFlags) *cobra.Command {
	format, to, alone := "", "", false
	c := &cobra.Command{
		Use: "export [SESSION]", Short: "Write a session as Markdown, a page or JSON, with secrets masked", Args: cobra.MaximumNArgs(1),
		Long: "Writes a session as Markdown, one page, JSON or JSON lines, to stdout or a new file.\nIts agents follow, each with what it did; jsonl is the log of the session alone.\nWhat looks like a key is masked; read it before you give it away.\n\n" + sessionWords,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !slices.Contains([]string{"md", "html", "json", "jsonl"}, format) {
				return usagef("md, html, json or jsonl", "--format cannot be %q", format)
			}
			st, i, err := findSession(sys, f, cmd, args...)
			if err != nil {
				return err
			}
			out := io.Writer(sys.Stdout)
			if to != "" && to != "-" {
				file, err := newFile("-o", to)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, file.Close()) }()
				out = file
			}
			return report.Export(cmd.Context(), out, st, i, format, sys.Environ, 0, !alone)
		},
	}
	c.Flags().StringVar(&format, "format", "md", "md, html (one page that needs nothing else), json or jsonl")
	c.Flags().StringVarP(&to, "output", "o", "", "write to this new file (- is stdout)")
	c.Flags().BoolVar(&alone, "no-agents", false, "leave out what agents of the session did")
	return c
}

// noteTo says what a store has to tell of a log, to stderr.
func noteTo(sys System) func(string) {
	return func(note string) { fmt.Fprintln(sys.Stderr, "adze: "+note) }
}
