package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/report"
	"github.com/adze-agent/adze/internal/text/clip"
)

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
		found, stale, err := report.SearchIn(p, sys.Environ).Sessions(cmd.Context(), strings.Join(args, " "), all, limit, indexing(sys))
		if stale != nil {
			fmt.Fprintf(sys.Stderr, "the newest sessions may be missing: %v\n", stale)
		}
		return both{found, func() error { printFound(sys, found, all); return nil }}, err
	})
	c.Flags().BoolVarP(&all, "all", "a", false, "in all folders")
	c.Flags().IntVar(&limit, "limit", limit, "most sessions")
	return c
}

func printFound(sys System, found []report.Found, all bool) {
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
		by := ""
		if a := s.Agent; a != nil {
			by = fmt.Sprintf("agent %s (%s): ", clip.Visible(cmp.Or(a.Agent.Name, a.ID)), clip.Visible(a.Type))
		}
		fmt.Fprintf(sys.Stdout, "%s  %s  %s%s\n    %s%s\n", s.ID, clip.Age(time.Since(s.Changed)), clip.Line(clip.VisibleText(s.Info.Name()), 60), where, by, clip.Visible(s.Snippet))
	}
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
			err = report.SearchIn(p, sys.Environ).Rebuild(cmd.Context(), func(done, all int) { n = all; tell(done, all) })
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
	report.SearchIn(p, sys.Environ).Forget(cmd.Context())
}
