package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/report"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/term"
)

// maxStatsDays is a hundred years: more days than that lead to no date a person means.
const maxStatsDays = 36500

func newStats(sys System, f *runFlags) *cobra.Command {
	days, by, page := 0, "", ""
	c := answering(sys, &cobra.Command{
		Use: "stats", Short: "What sessions cost: tokens, money and time by model, project, day or tool", Args: cobra.NoArgs,
		Long: "stats adds up the sessions of all folders that are still kept (cleanup_days).\nWhat has no known price is called unknown; no cost is made up for it. A copy of a\nsession counts what was done in the copy.",
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		switch {
		case by != "" && !slices.Contains(report.By, by):
			return nil, usagef("one of "+strings.Join(report.By, ", "), "--by cannot be %q%s", by, near.Hint(by, report.By))
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
		r, err := report.Spent(cmd.Context(), p, sys.Environ, days, time.Now())
		return both{r.JSON(by), func() error {
			if page != "" {
				return statsPage(page, r)
			}
			return statsText(sys.Stdout, sys.canvas(), r, cmp.Or(by, "model"))
		}}, err
	})
	c.Flags().IntVar(&days, "days", 0, "only the last N days, today included")
	c.Flags().StringVar(&by, "by", "", "model, project, day, tool or agent")
	c.Flags().Lookup("json").Usage = "as JSON (docs/stats.md)"
	c.Flags().StringVar(&page, "html", "", "write charts to this new file, as one page that needs no network")
	return c
}

// statsPage writes the page to a new file.
func statsPage(path string, r report.Stats) error {
	file, err := newFile("--html", path)
	if err != nil {
		return err
	}
	return errors.Join(r.Page(file), file.Close())
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

// statsText writes the sums, then a list with bars.
func statsText(w io.Writer, c canvas, r report.Stats, by string) error {
	var b strings.Builder
	from, to := r.Period()
	if r.Sessions == 0 {
		_, err := fmt.Fprintf(w, "nothing was used from %s to %s\n", from, to)
		return err
	}
	fmt.Fprintf(&b, "%s to %s: %s, %s\n", from, to, clip.Count(r.Sessions, "session"), clip.Count(r.Total.Requests(), "request"))
	for _, f := range r.Facts() {
		b.WriteString("  " + c.cell(draw.Quiet, f[0], 8) + f[1] + "\n")
	}
	b.WriteByte('\n')
	head, bars := r.List(by)
	drawBars(&b, c, head, bars)
	_, err := io.WriteString(w, b.String())
	return err
}

// maxBars is how many lines a list has at most.
const maxBars = 400

func drawBars(b *strings.Builder, c canvas, head []string, bars []report.Bar) {
	if n := len(bars) - maxBars; n > 0 {
		bars = bars[n:]
	}
	widths := make([]int, len(head))
	most := 0.0
	for i, h := range head {
		widths[i] = len(h)
	}
	for i, x := range bars {
		bars[i].Name = shown(x.Name)
		most = max(most, x.Amount)
		for i, cell := range append([]string{bars[i].Name}, x.Facts...) {
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
		if s := draw.Bar(x.Amount/most, min(room, 40), draw.Accent, c.ascii); s.Text != "" && room >= 4 {
			tail = "  " + c.paint(draw.Accent, s.Text)
		}
		line(draw.Plain, append([]string{x.Name}, x.Facts...), tail)
	}
}
