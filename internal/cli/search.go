package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/fulltext"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A foundSession is a line of the search's JSON.
type foundSession struct {
	store.Info
	Seq     uint64 `json:"at"` // the event with the words
	Snippet string `json:"snippet"`
}

func sessionsSearch(sys System, f *runFlags) *cobra.Command {
	all, limit := false, 20
	c := answering(sys, &cobra.Command{
		Use: "search WORDS…", Short: "Find sessions by the words in them: titles, prompts, replies, commands and paths", Args: cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		if limit < 1 || limit > 1000 {
			return nil, usagef("a number from 1 to 1000", "--limit cannot be %d", limit)
		}
		p, _, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		q := fulltext.Query{Words: strings.Join(args, " "), Project: sessions.Key(p.Root), Limit: limit}
		if all {
			q.Project = ""
		}
		found, err := searchSessions(cmd.Context(), sys, p, q)
		return both{found, func() error { printFound(sys, found, all); return nil }}, err
	})
	c.Flags().BoolVarP(&all, "all", "a", false, "in all folders")
	c.Flags().IntVar(&limit, "limit", limit, "most sessions")
	return c
}

func printFound(sys System, found []foundSession, all bool) {
	switch {
	case len(found) == 0 && all:
		fmt.Fprintln(sys.Stderr, "no session has these words")
	case len(found) == 0:
		fmt.Fprintln(sys.Stderr, "no session of this folder has these words; --all looks through those of other folders")
	}
	for n, s := range found {
		if n > 0 {
			fmt.Fprintln(sys.Stdout)
		}
		where := ""
		if all {
			where = "  " + clip.Visible(s.Start)
		}
		fmt.Fprintf(sys.Stdout, "%s  %s  %s%s\n    %s\n", s.ID, clip.Age(time.Since(s.Changed)), clip.Line(clip.VisibleText(s.Name()), 60), where, clip.Visible(s.Snippet))
	}
}

// searchIndex is the index of what all sessions say, without secrets.
func searchIndex(sys System, p settings.Paths) fulltext.Folder {
	return fulltext.In(p.State, secret.New(secret.Environ(sys.Environ)...).String)
}

// searchSessions reads what is new into the index, and searches. When the index
// cannot be written to now, it is searched as it is.
func searchSessions(ctx context.Context, sys System, p settings.Paths, q fulltext.Query) ([]foundSession, error) {
	st, ix := sessions.In(p.State), searchIndex(sys, p)
	stale := ix.Update(ctx, st, indexing(sys))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	hits, err := ix.Search(ctx, q)
	switch {
	case errors.Is(err, fulltext.ErrBusy):
		return nil, failf("try again in a moment", "%v", fulltext.ErrBusy)
	case errors.Is(err, fulltext.ErrNewer):
		return nil, failf(`use that version, or make it anew with this one: adze sessions reindex`, "%v", fulltext.ErrNewer)
	case errors.Is(err, fulltext.ErrNone) && stale != nil:
		return nil, failf("adze sessions list shows them", "the sessions cannot be searched: %v", stale)
	case err != nil:
		return nil, failf("adze sessions reindex makes the index anew", "search the sessions: %v", err)
	case stale != nil:
		fmt.Fprintf(sys.Stderr, "the newest sessions may be missing: %v\n", stale)
	}
	out := []foundSession{}
	for _, h := range hits {
		i, err := st.At(h.Project, h.ID)
		if errors.Is(err, store.ErrNone) { // removed by hand
			_ = ix.Mark(h.ID)
			continue
		}
		if err == nil {
			out = append(out, foundSession{i, uint64(h.Seq), h.Snippet})
		}
	}
	return out, nil
}

// indexing tells of a long reading, once for each tenth.
func indexing(sys System) func(done, all int) {
	told := 0
	return func(done, all int) {
		if tenth := done * 10 / all; tenth > told && all >= 200 {
			told = tenth
			fmt.Fprintf(sys.Stderr, "reading the sessions for the search: %d of %d\n", done, all)
		}
	}
}

func sessionsReindex(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "reindex", Short: "Make the index of the search anew from all sessions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			n := 0
			tell := indexing(sys)
			err = searchIndex(sys, p).Rebuild(cmd.Context(), sessions.In(p.State), func(done, all int) { n = all; tell(done, all) })
			if err != nil {
				return failf("end other searches and try again", "make the search index: %v", err)
			}
			fmt.Fprintf(sys.Stderr, "%s can be searched\n", clip.Count(n, "session"))
			return nil
		},
	}
}

// unsearchable takes sessions that were removed out of the index, where there
// is one. What cannot be done now, the next search does.
func unsearchable(sys System, f *runFlags, cmd *cobra.Command) {
	p, _, err := loadSettings(sys, f, cmd)
	if err != nil {
		return
	}
	ix := searchIndex(sys, p)
	if ix.Built(cmd.Context()) {
		_ = ix.Update(cmd.Context(), sessions.In(p.State), nil)
	}
}
