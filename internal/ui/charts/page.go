// Package charts draws what sessions came to as one HTML page: SVG and text,
// no script, and nothing that a browser would fetch. It escapes every name and
// adds nothing up.
package charts

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/usage"
)

//go:embed page.css
var style string

// A page is written from its head to its end; errors are kept by the writer.
type page struct{ *bufio.Writer }

func (p page) put(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// esc is a name as text of HTML. Characters that steer what is shown are
// written out.
func esc(s string) string { return html.EscapeString(clip.Visible(s)) }

// Page writes the page of a report.
func Page(w io.Writer, r usage.Report) error {
	p := page{bufio.NewWriter(w)}
	from, to := r.From.Format("2006-01-02"), r.To.Format("2006-01-02")
	p.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.put("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n")
	p.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	p.put("<title>adze: usage from %s to %s</title>\n<style>\n%s</style>\n</head>\n<body>\n", from, to, style)
	p.put("<h1>Usage</h1>\n<p class=\"about\">%s to %s: %s, %s</p>\n", from, to, clip.Count(r.Sessions, "session"), clip.Count(r.Total.Requests(), "request"))
	p.facts(r)
	p.chart("Cost per day", "US dollars, of requests with a known price", func() { p.days(r.Days, dollars, series{"cost", "a", func(s usage.Spent) float64 { return s.Cost }}) })
	p.chart("Tokens per day, by kind", "", func() { p.days(r.Days, short, kinds[:]...) }, kinds[:]...)
	p.chart("Cache hit rate", "how much of what was sent the provider had in its cache", func() { p.rates(r.Days) })
	p.chart("Time of tools", "", func() { p.tools(r.Tools) })
	p.chart("Hours of the week", "requests; the stronger the colour, the more", func() { p.week(r.Hours) })
	p.tables(r)
	p.put("</body>\n</html>\n")
	return p.Flush()
}

// facts are the sums.
func (p page) facts(r usage.Report) {
	t := r.Total
	rate := "unknown"
	if x, ok := t.HitRate(); ok {
		rate = fmt.Sprintf("%.0f %%", 100*x)
	}
	first := "unknown"
	if t.Timed > 0 {
		first = clip.Span(t.FirstChunk())
	}
	p.put("<dl>\n")
	for _, f := range [][2]string{
		{"Cost", t.Money()}, {"Without a known price", clip.Count(t.Unpriced, "request")},
		{"Tokens in", clip.Short(t.Usage.Prompt())}, {"Tokens out", clip.Short(t.Usage.Out)}, {"From cache", rate},
		{"First chunk after", first}, {"Requests took", clip.Span(t.Took)}, {"Sent again", clip.Count(t.Retries, "time")},
		{"Calls of tools", clip.Thousands(r.Work.Calls)}, {"Tools took", clip.Span(r.Work.Took)},
	} {
		p.put("<div><dt>%s</dt><dd>%s</dd></div>\n", f[0], esc(f[1]))
	}
	p.put("</dl>\n")
}

// chart is a section with a chart, and with the names of its colours.
func (p page) chart(title, about string, draw func(), colours ...series) {
	p.put("<section>\n<h2>%s</h2>\n", title)
	if about != "" {
		p.put("<p class=\"about\">%s</p>\n", about)
	}
	p.put("<div class=\"wide\">\n")
	draw()
	p.put("</div>\n")
	if len(colours) > 0 {
		p.put("<p class=\"key\">")
		for _, s := range colours {
			p.put("<span><i class=\"%s\"></i>%s</span>", s.class, s.name)
		}
		p.put("</p>\n")
	}
	p.put("</section>\n")
}

// tables are the numbers behind the charts.
func (p page) tables(r usage.Report) {
	for _, x := range []struct {
		title string
		list  []usage.Named
	}{{"Models", r.Models}, {"Projects", r.Projects}, {"Agents", r.Purposes}} {
		p.put("<section>\n<h2>%s</h2>\n<div class=\"wide\"><table>\n<tr><th></th><th>cost</th><th>in</th><th>out</th><th>from cache</th><th>to cache</th><th>requests</th><th>first chunk</th></tr>\n", x.title)
		for _, n := range x.list {
			first := ""
			if n.Timed > 0 {
				first = clip.Span(n.FirstChunk())
			}
			name := n.Name
			if name == "" {
				name = "main"
			}
			p.put("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", esc(name), esc(n.Money()),
				clip.Short(n.Usage.Prompt()), clip.Short(n.Usage.Out), clip.Short(n.Usage.CacheRead), clip.Short(n.Usage.CacheWrite), clip.Thousands(n.Requests()), first)
		}
		p.put("</table></div>\n</section>\n")
	}
	p.put("<section>\n<h2>Tools</h2>\n<div class=\"wide\"><table>\n<tr><th></th><th>calls</th><th>failed</th><th>refused</th><th>time</th></tr>\n")
	for _, t := range r.Tools {
		p.put("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", esc(t.Name), clip.Thousands(t.Calls), clip.Thousands(t.Errors), clip.Thousands(t.Denied), clip.Span(t.Took))
	}
	p.put("</table></div>\n</section>\n")
}
