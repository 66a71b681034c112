package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/live"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
)

// liveWords are those of commands that take a session which runs.
const liveWords = "SESSION is the id of a session that runs, at least four characters of its beginning, or\nits title; left out, it is the only one in this folder. adze ps lists them."

// reached are the sessions that run, and the folders here. Close them.
func reached(sys System, f *runFlags, cmd *cobra.Command, scope ask.Scope) (live.List, settings.Paths, error) {
	p, _, err := loadSettings(sys, f, cmd)
	if err != nil {
		return nil, p, err
	}
	all, mute, err := live.Find(cmd.Context(), p.State, cmd.Name(), scope)
	if err != nil {
		all.Close()
		return nil, p, err
	}
	for _, pid := range mute {
		fmt.Fprintf(sys.Stderr, "adze: process %d does not say which sessions it has\n", pid)
	}
	return all, p, nil
}

// meant is the session that a word names; "" is the only one in this folder.
func meant(all live.List, p settings.Paths, word string) (live.Session, error) {
	const list = "adze ps lists them"
	some := all.Named(word)
	if word == "" {
		some = all.In(p.Dir, p.Root)
	}
	switch {
	case len(some) == 1:
		return some[0], nil
	case word == "" && len(some) == 0 && len(all) > 0:
		return live.Session{}, usagef(list, "no session runs in this folder, %s elsewhere", clip.Count(len(all), "runs"))
	case word == "" && len(some) == 0:
		return live.Session{}, usagef("adze sessions list shows those that can be gone on with", "no session runs")
	case word == "":
		return live.Session{}, usagef("name one of them: "+ids(some), "%d sessions run in this folder", len(some))
	case len(some) == 0:
		return live.Session{}, usagef(list, "no session %q runs", clip.Line(clip.Visible(word), 80))
	}
	return live.Session{}, usagef("give more of the id: "+ids(some), "%d sessions are called so", len(some))
}

// ids are the IDs of sessions, for a person who chooses one.
func ids(some live.List) string {
	var out []string
	for _, s := range some {
		out = append(out, s.ID)
	}
	return hint.Shell(out...)
}

// gone says what can be done when a session cannot be reached any more.
func gone(s live.Session, err error) error {
	if s.Kept {
		return failf("adze --resume "+hint.Shell(s.ID)+" PROMPT goes on with it", "session %s: %v", s.ID, err)
	}
	return failf("", "session %s: %v", s.ID, err)
}

// A runs is a session that runs, as adze ps --json has it.
type runs struct {
	ask.OpenSession
	PID int `json:"pid"`
}

func newPs(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "ps", Short: "List the sessions that run", Args: cobra.NoArgs,
		Long: "Lists the sessions that run in your terminals and programs: what they do, for how long,\nwhere, and with which model. attach shows one, tail follows it, send prompts it.",
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		all, p, err := reached(sys, f, cmd, ask.Watch)
		if err != nil {
			return nil, err
		}
		defer all.Close()
		out := listing[runs]{
			note: "no session runs; adze sessions list shows those that can be gone on with", whole: 1,
			head: []string{"ID", "STATE", "OPEN", "LAST", "MODEL", "FOLDER", "WHAT"},
			row: func(t *table, s runs) {
				last := "-"
				if !s.Changed.IsZero() {
					last = clip.Age(time.Since(s.Changed))
				}
				what := clip.Line(clip.VisibleText(cmp.Or(s.Question, s.Title)), 60)
				t.row(s.ID, string(s.Doing), clip.Age(time.Since(s.Since)), last, s.Model, paths.Tilde(s.Dir, p.Home), what)
			},
		}
		for _, s := range all {
			out.rows = append(out.rows, runs{s.OpenSession, s.PID})
		}
		return out, nil
	})
}
