package usage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/text/order"
)

// A Report is what many sessions came to from one day to another.
type Report struct {
	From, To time.Time // the first and the last day, at 00:00 in Zone
	Zone     *time.Location
	Sessions int // in which a request was made or a tool called
	Total    Spent
	Work     Work
	Models   []Named // the dearest first
	Projects []Named
	Purposes []Named // "" is the conversation itself
	Days     []Named // "2006-01-02", every day from From to To
	Tools    []Tool  // the one that took longest first
	Hours    [7][24]Spent
}

// Named is what something of a name came to.
type Named struct {
	Name string
	Spent
}

// A Tool is what calls of a tool came to.
type Tool struct {
	Name string
	Work
}

// A Reporter makes a Report of sheets, one after the other.
type Reporter struct {
	r                         Report
	first                     time.Time // nothing before it counts; zero: everything does
	oldest                    time.Time
	models, projects, purpose map[string]Spent
	days                      map[string]Spent
	tools                     map[string]Work
}

const day = "2006-01-02"

// NewReporter begins a report of the last days, today included, in now's time
// zone; 0 days are all there are.
func NewReporter(now time.Time, days int) *Reporter {
	p := &Reporter{models: map[string]Spent{}, projects: map[string]Spent{}, purpose: map[string]Spent{}, days: map[string]Spent{}, tools: map[string]Work{}}
	p.r.Zone, p.r.To = now.Location(), midnight(now)
	if days > 0 {
		p.first = p.r.To.AddDate(0, 0, 1-days)
	}
	return p
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// Since is the time before which nothing counts, zero when everything does.
func (p *Reporter) Since() time.Time { return p.first }

// Add adds a session's sheet.
func (p *Reporter) Add(project string, s Sheet) {
	used := false
	for _, q := range s.Requests {
		t, ok := p.counts(q.At)
		if !ok {
			continue
		}
		used = true
		p.r.Total = p.r.Total.Add(q.Spent)
		h := &p.r.Hours[(int(t.Weekday())+6)%7][t.Hour()]
		*h = h.Add(q.Spent)
		for m, k := range map[*map[string]Spent]string{&p.models: q.Model, &p.projects: project, &p.purpose: q.For, &p.days: t.Format(day)} {
			(*m)[k] = (*m)[k].Add(q.Spent)
		}
	}
	for _, q := range s.Tools {
		if _, ok := p.counts(q.At); ok {
			used = true
			p.tools[q.Tool] = p.tools[q.Tool].Add(q.Work)
			p.r.Work = p.r.Work.Add(q.Work)
		}
	}
	if used {
		p.r.Sessions++
	}
}

// counts is when a slot was, and whether it is in the report.
func (p *Reporter) counts(at Slot) (time.Time, bool) {
	t := at.Time().In(p.r.Zone)
	if t.Before(p.first) {
		return t, false
	}
	if p.oldest.IsZero() || t.Before(p.oldest) {
		p.oldest = t
	}
	return t, true
}

// Report returns what was added.
func (p *Reporter) Report() Report {
	r := p.r
	r.From = p.first
	if r.From.IsZero() {
		r.From = r.To
		if !p.oldest.IsZero() && p.oldest.Before(r.To) {
			r.From = midnight(p.oldest)
		}
	}
	r.Models, r.Projects, r.Purposes = dearest(p.models), dearest(p.projects), dearest(p.purpose)
	days := 0
	for d := r.From; !d.After(r.To) && days < maxDays; d = d.AddDate(0, 0, 1) {
		days++
		r.Days = append(r.Days, Named{d.Format(day), p.days[d.Format(day)]})
	}
	if days == maxDays { // a clock that was wrong once must not make years of empty days
		r.Days = r.Days[:0]
		for _, d := range slices.Sorted(maps.Keys(p.days)) {
			r.Days = append(r.Days, Named{d, p.days[d]})
		}
	}
	for name, w := range p.tools {
		r.Tools = append(r.Tools, Tool{name, w})
	}
	order.By(r.Tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return r
}

// maxDays bounds the days that are listed whether or not anything was done.
const maxDays = 1200

func dearest(m map[string]Spent) []Named {
	out := make([]Named, 0, len(m))
	for name, s := range m {
		out = append(out, Named{name, s})
	}
	order.By(out, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Usage.Prompt()+b.Usage.Out, a.Usage.Prompt()+a.Usage.Out), cmp.Compare(a.Name, b.Name))
	})
	return out
}
