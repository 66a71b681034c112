package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/charts"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/usage"
)

// statsBy are what a list can be by.
var statsBy = []string{"model", "project", "day", "tool", "agent"}

// maxStatsDays is a hundred years: more days than that lead to no date a person means.
const maxStatsDays = 36500

func newStats(sys System, f *runFlags) *cobra.Command {
	days, by, page := 0, "", ""
	c := answering(sys, &cobra.Command{
		Use: "stats", Short: "What sessions cost: tokens, money and time by model, project, day or tool", Args: cobra.NoArgs,
		Long: "stats adds up the sessions of all folders that are still kept (cleanup_days).\nWhat has no known price is called unknown; no cost is made up for it. A copy of a\nsession counts what was done in the copy.",
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		switch {
		case by != "" && !slices.Contains(statsBy, by):
			return nil, usagef("one of "+strings.Join(statsBy, ", "), "--by cannot be %q%s", by, near.Hint(by, statsBy))
		case days < 0 || days == 0 && cmd.Flags().Changed("days"):
			return nil, usagef("1 is today; leave it out for all there are", "--days cannot be %d", days)
		case days > maxStatsDays:
			return nil, usagef("leave it out for all there are", "--days cannot be more than %d", maxStatsDays)
		case page != "" && wantsJSON(cmd):
			return nil, usagef("leave one of them out", "--json and --html exclude each other")
		case page != "" && by != "":
			return nil, usagef("leave --by out", "the page shows all of it, by everything")
		case cmd.Flags().Changed("html") && page == "":
			return nil, usagef("give the name of a file", "--html is empty")
		}
		p, _, err := loadSettings(sys, f, cmd)
		if err != nil {
			return nil, err
		}
		r, err := statsOf(cmd.Context(), sys, p, days, time.Now())
		return both{statsAsJSON(r, by), func() error {
			if page != "" {
				return statsPage(page, r)
			}
			return statsText(sys.Stdout, sys.canvas(), r, first(by, "model"))
		}}, err
	})
	c.Flags().IntVar(&days, "days", 0, "only the last N days, today included")
	c.Flags().StringVar(&by, "by", "", "model, project, day, tool or agent")
	c.Flags().Lookup("json").Usage = "as JSON (docs/stats.md)"
	c.Flags().StringVar(&page, "html", "", "write charts to this new file, as one page that needs no network")
	return c
}

// statsOf reads what changed of the sessions, and adds all of them up. Secrets
// in names are masked.
func statsOf(ctx context.Context, sys System, p settings.Paths, days int, now time.Time) (usage.Report, error) {
	hide := secret.New(secret.Environ(sys.Environ)...)
	rep := usage.NewReporter(now, days)
	for u, err := range sessions.In(p.State).Usage(ctx, rep.Since()) {
		if err != nil {
			return usage.Report{}, err
		}
		rep.Add(paths.Tilde(u.Root, p.Home), u.Sheet)
	}
	r := rep.Report()
	for _, list := range [][]usage.Named{r.Models, r.Projects, r.Purposes} {
		for i := range list {
			list[i].Name = hide.String(list[i].Name)
		}
	}
	for i := range r.Tools {
		r.Tools[i].Name = hide.String(r.Tools[i].Name)
	}
	return r, nil
}

// statsPage writes the page to a new file.
func statsPage(path string, r usage.Report) error {
	file, err := newFile("--html", path)
	if err != nil {
		return err
	}
	return errors.Join(charts.Page(file, r), file.Close())
}

// newFile makes the file that a flag names.
func newFile(flag, path string) (*os.File, error) {
	file, err := safe.New(path)
	if errors.Is(err, os.ErrExist) {
		return nil, usagef("give another name, or remove it first", "%s exists already", clip.Visible(path))
	}
	if err != nil {
		return nil, usagef("give a file in a folder that you may write to", "%s %s: %v", flag, clip.Visible(path), hint.Cause(err))
	}
	return file, nil
}

// A canvas is what a list with bars is drawn on.
type canvas struct {
	painter
	width int
	ascii bool
	fits  bool // no row is longer
}

func (s System) canvas() canvas {
	return canvas{s.painter(), s.columns(), term.ASCII(s.Env), s.OutTTY || s.asked() > 0}
}

// A bar is one line of a list.
type bar struct {
	name   string
	facts  []string
	amount float64
}

// statsText writes the sums, then a list with bars.
func statsText(w io.Writer, c canvas, r usage.Report, by string) error {
	var b strings.Builder
	if r.Sessions == 0 {
		fmt.Fprintf(&b, "nothing was used from %s to %s\n", r.From.Format("2006-01-02"), r.To.Format("2006-01-02"))
		_, err := io.WriteString(w, b.String())
		return err
	}
	t := r.Total
	fmt.Fprintf(&b, "%s to %s: %s, %s\n", r.From.Format("2006-01-02"), r.To.Format("2006-01-02"), clip.Count(r.Sessions, "session"), clip.Count(t.Requests(), "request"))
	row := func(name, text string) { b.WriteString("  " + c.cell(draw.Quiet, name, 8) + text + "\n") }
	money := t.Money()
	if t.Unpriced > 0 {
		money += fmt.Sprintf(" (%s without a known price)", clip.Count(t.Unpriced, "request"))
	}
	row("cost", money)
	row("tokens", fmt.Sprintf("%s in (of them %s from cache, %s to cache), %s out", clip.Short(t.Usage.Prompt()), clip.Short(t.Usage.CacheRead), clip.Short(t.Usage.CacheWrite), clip.Short(t.Usage.Out)))
	if rate, ok := t.HitRate(); ok {
		row("cache", fmt.Sprintf("%.0f %% of what was sent came from it", 100*rate))
	}
	row("time", fmt.Sprintf("%s of requests, first chunk after %s, sent again %s", clip.Span(t.Took), unless(t.FirstChunk()), times(t.Retries)))
	row("tools", fmt.Sprintf("%s in %s", clip.Span(r.Work.Took), clip.Count(r.Work.Calls, "call")))
	b.WriteByte('\n')
	head, bars := statsList(r, by)
	drawBars(&b, c, head, bars)
	_, err := io.WriteString(w, b.String())
	return err
}

func unless(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return clip.Span(d)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return clip.Count(n, "time")
}

// statsList is the list by what is asked for. Bars are of money where a price
// is known, else of tokens; those of tools are of time.
func statsList(r usage.Report, by string) (head []string, out []bar) {
	if by == "tool" {
		for _, t := range r.Tools {
			out = append(out, bar{shown(t.Name), []string{
				clip.Thousands(t.Calls), clip.Thousands(t.Errors), clip.Thousands(t.Denied), clip.Span(t.Took),
			}, t.Took.Seconds()})
		}
		return []string{"TOOL", "CALLS", "FAILED", "REFUSED", "TIME"}, out
	}
	list := map[string][]usage.Named{"model": r.Models, "project": r.Projects, "day": r.Days, "agent": r.Purposes}[by]
	for _, n := range list {
		amount := n.Cost
		if r.Total.Cost == 0 {
			amount = float64(n.Usage.Prompt() + n.Usage.Out)
		}
		name := shown(n.Name)
		if by == "agent" {
			name = agentName(name)
		}
		cost := n.Money()
		if n.Requests() == 0 {
			cost = ""
		}
		out = append(out, bar{name, []string{
			cost, clip.Short(n.Usage.Prompt()), clip.Short(n.Usage.Out), clip.Short(n.Usage.CacheRead), clip.Thousands(n.Requests()),
		}, amount})
	}
	return []string{strings.ToUpper(by), "COST", "IN", "OUT", "CACHED", "REQUESTS"}, out
}

// agentName is who made requests, by what they were for.
func agentName(purpose string) string {
	if purpose == "" {
		return "main"
	}
	return purpose
}

// maxBars is how many lines a list has at most.
const maxBars = 400

func drawBars(b *strings.Builder, c canvas, head []string, bars []bar) {
	if n := len(bars) - maxBars; n > 0 {
		bars = bars[n:]
	}
	widths := make([]int, len(head))
	most := 0.0
	for i, h := range head {
		widths[i] = len(h)
	}
	for _, x := range bars {
		most = max(most, x.amount)
		for i, cell := range append([]string{x.name}, x.facts...) {
			widths[i] = max(widths[i], draw.Width(cell))
		}
	}
	facts := 0
	for _, w := range widths[1:] {
		facts += tableGap + w
	}
	if widths[0] = min(widths[0], 44); c.fits {
		widths[0] = min(widths[0], max(c.width-facts, leastCol))
	}
	line := func(role draw.Role, cells []string, tail string) {
		cut := draw.L(draw.S(cells[0], draw.Plain)).Truncate(widths[0], draw.Options{ASCII: c.ascii})
		text := c.cell(role, cut.String(), widths[0])
		for i, cell := range cells[1:] {
			text += "  " + strings.Repeat(" ", widths[i+1]-draw.Width(cell)) + cell
		}
		b.WriteString(strings.TrimRight(text+tail, " ") + "\n")
	}
	line(draw.Heading, head, "")
	room := c.width - 1 - widths[0] - facts - tableGap
	for _, x := range bars {
		tail := ""
		if s := draw.Bar(x.amount/most, min(room, 40), draw.Accent, c.ascii); s.Text != "" && room >= 4 {
			tail = "  " + c.paint(draw.Accent, s.Text)
		}
		line(draw.Plain, append([]string{x.name}, x.facts...), tail)
	}
}
