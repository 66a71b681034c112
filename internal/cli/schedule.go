package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/trust"
)

func newSchedule(sys System, f *runFlags) *cobra.Command {
	return group("schedule", "Have prompts come by themselves in this folder", scheduleList(sys, f), scheduleAdd(sys, f), scheduleDelete(sys, f), scheduleAllow(sys, f))
}

// A scheduleRow is a schedule of the folder in a list.
type scheduleRow struct {
	ID      string     `json:"id"`
	When    string     `json:"when"`
	Prompt  string     `json:"prompt"`
	File    string     `json:"file"`
	Allowed bool       `json:"allowed"`
	Next    *time.Time `json:"next,omitempty"`
	Bad     string     `json:"problem,omitempty"`
}

// state says how a schedule is.
func (r scheduleRow) state() string {
	switch {
	case r.Bad != "":
		return r.Bad
	case !r.Allowed:
		return "not allowed"
	case r.Next != nil:
		return r.Next.Format("2006-01-02 15:04:05")
	}
	return ""
}

func scheduleList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the schedules of this folder, and when each comes next", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		p, _, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		list, err := p.Schedules(nil).List()
		if err != nil && len(list) == 0 {
			return nil, failf("mend the file, or move it away", "%v", err)
		}
		if err != nil {
			fmt.Fprintf(sys.Stderr, "adze: %s\n", clip.VisibleText(err.Error()))
		}
		rows := []scheduleRow{}
		for _, s := range list {
			r := scheduleRow{ID: s.ID, When: s.Human, Prompt: s.Prompt, File: s.File, Allowed: s.Allowed, Bad: s.Bad}
			if !s.Next.IsZero() {
				r.Next = &s.Next
			}
			rows = append(rows, r)
		}
		if why := unscheduled(p); why != "" && len(rows) > 0 {
			fmt.Fprintln(sys.Stderr, "adze: "+why)
		}
		return listing[scheduleRow]{rows: rows, none: "this folder has no schedules", row: func(t *table, r scheduleRow) {
			t.row(r.ID, r.When, r.state(), clip.Line(clip.Visible(r.Prompt), 60))
		}}, nil
	})
}

// unscheduled says why no schedule of the folder comes, "" where they do.
func unscheduled(p settings.Paths) string {
	v, err := p.Trust().Check(p.TrustFolder())
	if err == nil && (v.State == trust.Trusted || v.State == trust.Nothing) {
		return ""
	}
	return "no schedule of this folder comes, because it is not trusted as it is now (adze trust)"
}

func scheduleAdd(sys System, f *runFlags) *cobra.Command {
	var once, keep, skip bool
	c := &cobra.Command{
		Use: "add WHEN PROMPT", Short: "Have a prompt come in sessions that are open in this folder", Args: cobra.ExactArgs(2),
		Long: `add writes a schedule into .adze/schedules.json. It comes in one of the
sessions that are open in this folder when it is due. WHEN is a cron expression
in local time (minute hour day-of-month month day-of-week) or an interval (30m,
2h, 1d).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			l, err := p.Schedules(nil).Set(cmd.Context(), args[0], args[1], once, keep, skip)
			if err != nil {
				return failf("WHEN is five fields ('0 9 * * 1-5') or an interval (30m)", "%v", err)
			}
			fmt.Fprintf(sys.Stdout, "%s: %s, next on %s\n", l.ID, l.Human, l.Next.Format("Monday 2006-01-02 at 15:04:05 -07:00"))
			if why := unscheduled(p); why != "" {
				fmt.Fprintln(sys.Stderr, "adze: "+why)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&once, "once", false, "at the first such time only")
	c.Flags().BoolVar(&keep, "keep", false, "do not end it after 30 days")
	c.Flags().BoolVar(&skip, "skip-missed", false, "leave out what is due while no session is open")
	return c
}

func scheduleDelete(sys System, f *runFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID…", Short: "Delete schedules of this folder", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			var bad []error
			for _, id := range args {
				_, left, err := p.Schedules(nil).Delete(cmd.Context(), id)
				switch {
				case err != nil:
					bad = append(bad, fmt.Errorf("%s: %w", clip.Line(clip.Visible(id), 60), err))
				case left != "":
					fmt.Fprintf(sys.Stdout, "%s comes no more here; it still stands in %s\n", clip.Visible(id), left)
				default:
					fmt.Fprintf(sys.Stdout, "deleted %s\n", clip.Visible(id))
				}
			}
			if err := errors.Join(bad...); err != nil {
				return failf("adze schedule list shows those there are", "%v", err)
			}
			return nil
		},
	}
}

func scheduleAllow(sys System, f *runFlags) *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use: "allow ID…", Short: "Have schedules come that this folder brings", Args: cobra.MinimumNArgs(1),
		Long: "allow shows exactly what a schedule says and when it comes, and keeps your yes to it.\nWhen any of that changes, it does not come before you allow it again.",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			of := p.Schedules(nil)
			list, lerr := of.List()
			for _, id := range args {
				i := slices.IndexFunc(list, func(s settings.Standing) bool { return s.ID == id })
				if i < 0 {
					return failf("adze schedule list shows those there are", "%v", errors.Join(fmt.Errorf("this folder has no schedule %s", clip.Line(clip.Visible(id), 60)), lerr))
				}
				s := list[i]
				fmt.Fprintf(sys.Stdout, "%s (%s): %s\n%s\n", s.ID, s.File, s.Human, clip.VisibleText(s.Prompt))
				if err := confirm(cmd.Context(), sys, yes, "Let it come?", "nothing was allowed"); err != nil {
					return err
				}
				l, err := of.Allow(cmd.Context(), s.Entry)
				if err != nil {
					return failf("adze schedule list shows how it is now", "%s: %v", hint.Shell(id), err)
				}
				fmt.Fprintf(sys.Stderr, "%s is allowed: next on %s\n", s.ID, l.Next.Format("Monday 2006-01-02 at 15:04:05 -07:00"))
			}
			if why := unscheduled(p); why != "" {
				fmt.Fprintln(sys.Stderr, "adze: "+why)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "without a question")
	return c
}
