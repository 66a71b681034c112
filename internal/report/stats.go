package report

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/ui/charts"
	"github.com/adze-agent/adze/internal/usage"
)

// Stats are what sessions cost.
type Stats struct{ usage.Report }

// By is what a list of them can be by.
var By = []string{"model", "project", "day", "tool", "agent"}

// A Bar is one line of a list.
type Bar struct {
	Name   string
	Facts  []string
	Amount float64
}

// Spent reads what changed of the sessions, and adds up those of the last days, 0 for all.
// Secrets in names are masked.
func Spent(ctx context.Context, p settings.Paths, environ []string, days int, now time.Time) (Stats, error) {
	hide := secret.New(secret.Environ(environ)...)
	rep := usage.NewReporter(now, days)
	for u, err := range sessions.In(p.State).Usage(ctx, rep.Since()) {
		if err != nil {
			return Stats{}, err
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
	return Stats{r}, nil
}

// Page writes all of them as one page with charts.
func (s Stats) Page(w io.Writer) error { return charts.Page(w, s.Report) }

// Period is from when to when they are, as days.
func (s Stats) Period() (from, to string) {
	return s.From.Format(time.DateOnly), s.To.Format(time.DateOnly)
}

// Facts are the sums, each with its name.
func (s Stats) Facts() (out [][2]string) {
	row := func(name, text string) { out = append(out, [2]string{name, text}) }
	t := s.Total
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
	row("tools", fmt.Sprintf("%s in %s", clip.Span(s.Work.Took), clip.Count(s.Work.Calls, "call")))
	return out
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

// List is the list by what is asked for, one of By. Bars are of money where a price
// is known, else of tokens; those of tools are of time.
func (s Stats) List(by string) (head []string, out []Bar) {
	if by == "tool" {
		for _, t := range s.Tools {
			out = append(out, Bar{t.Name, []string{
				clip.Thousands(t.Calls), clip.Thousands(t.Errors), clip.Thousands(t.Denied), clip.Span(t.Took),
			}, t.Took.Seconds()})
		}
		return []string{"TOOL", "CALLS", "FAILED", "REFUSED", "TIME"}, out
	}
	list := map[string][]usage.Named{"model": s.Models, "project": s.Projects, "day": s.Days, "agent": s.Purposes}[by]
	for _, n := range list {
		amount := n.Cost
		if s.Total.Cost == 0 {
			amount = float64(n.Usage.Prompt() + n.Usage.Out)
		}
		name := n.Name
		if by == "agent" {
			name = agentName(name)
		}
		cost := n.Money()
		if n.Requests() == 0 {
			cost = ""
		}
		out = append(out, Bar{name, []string{
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
