package charts

import (
	"fmt"
	"math"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/usage"
)

// A chart of days is as wide as the page, in units of the picture.
const (
	width  = 900.0
	height = 220.0
	left   = 64.0 // of the axis
	right  = 8.0
	top    = 10.0
	foot   = 24.0 // below the axis
)

// A series is one kind of what days are made of.
type series struct {
	name, class string
	of          func(usage.Spent) float64
}

// kinds of tokens, from the axis up.
var kinds = [4]series{
	{"from cache", "b", func(s usage.Spent) float64 { return float64(s.Usage.CacheRead) }},
	{"to cache", "c", func(s usage.Spent) float64 { return float64(s.Usage.CacheWrite) }},
	{"in, not cached", "a", func(s usage.Spent) float64 { return float64(s.Usage.In) }},
	{"out", "d", func(s usage.Spent) float64 { return float64(s.Usage.Out) }},
}

func dollars(x float64) string {
	if x != math.Trunc(x) && x < 10 {
		return fmt.Sprintf("$%.2f", x)
	}
	return fmt.Sprintf("$%.0f", x)
}

func short(x float64) string { return clip.Short(int(x)) }

// nice is the smallest of 1, 2, 5, 10, 20, … that is not below x.
func nice(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= x {
			return m * p
		}
	}
	return 10 * p
}

// open begins a picture. What it shows is said for who does not see it.
func (p page) open(h float64, says string) {
	p.put("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", width, h, esc(says))
}

// axes draws lines at parts of most, and the days below.
func (p page) axes(days []usage.Named, most float64, form func(float64) string) {
	for i := range 5 {
		y := top + (height-top-foot)*float64(4-i)/4
		p.put("<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/><text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			left, y, width-right, y, left-8, y+4, form(most*float64(i)/4))
	}
	every := max(1, (len(days)+9)/10)
	for i, d := range days {
		if i%every == 0 {
			p.put("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", column(i, len(days))+step(len(days))/2, height-8, esc(strings.TrimPrefix(d.Name, days[len(days)-1].Name[:5])))
		}
	}
}

func step(n int) float64 { return (width - left - right) / float64(max(n, 1)) }

func column(i, n int) float64 { return left + float64(i)*step(n) }

// days draws a stack of bars for each day.
func (p page) days(days []usage.Named, form func(float64) string, list ...series) {
	most := 0.0
	for _, d := range days {
		sum := 0.0
		for _, s := range list {
			sum += s.of(d.Spent)
		}
		most = max(most, sum)
	}
	most = nice(most)
	p.open(height, fmt.Sprintf("bars for %d days, up to %s", len(days), form(most)))
	p.axes(days, most, form)
	w := step(len(days))
	for i, d := range days {
		y := height - foot
		for _, s := range list {
			h := (height - top - foot) * s.of(d.Spent) / most
			if h <= 0 {
				continue
			}
			y -= h
			p.put("<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>%s: %s %s</title></rect>\n", s.class, column(i, len(days))+w*0.1, y, w*0.8, h, esc(d.Name), s.name, form(s.of(d.Spent)))
		}
	}
	p.put("</svg>\n")
}

// rates draws the part that came from the cache, for days on which something
// was sent.
func (p page) rates(days []usage.Named) {
	percent := func(x float64) string { return fmt.Sprintf("%.0f %%", x) }
	p.open(height, "the cache hit rate of each day, from 0 to 100 %")
	p.axes(days, 100, percent)
	var line, dots strings.Builder
	for i, d := range days {
		rate, ok := d.HitRate()
		if !ok {
			continue
		}
		x, y := column(i, len(days))+step(len(days))/2, height-foot-(height-top-foot)*rate
		fmt.Fprintf(&line, "%.1f,%.1f ", x, y)
		fmt.Fprintf(&dots, "<circle class=\"b\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: %s</title></circle>\n", x, y, esc(d.Name), percent(100*rate))
	}
	p.put("<polyline class=\"line\" points=\"%s\"/>\n%s</svg>\n", strings.TrimSpace(line.String()), dots.String())
}

// mostTools is how many tools a chart shows.
const mostTools = 15

// tools draws the tools that took longest.
func (p page) tools(list []usage.Tool) {
	list = list[:min(len(list), mostTools)]
	const row, names = 24.0, 200.0
	p.open(max(row, row*float64(len(list))), "how long each tool took")
	for i, t := range list {
		y, w := row*float64(i), 0.0
		if list[0].Took > 0 {
			w = (width - names - 200) * float64(t.Took) / float64(list[0].Took)
		}
		p.put("<text class=\"name\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text><rect class=\"c\" x=\"%.0f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\"/><text x=\"%.1f\" y=\"%.1f\">%s, %s</text>\n",
			names-8, y+16, esc(clip.Line(t.Name, 30)), names, y+4, w, row-8, names+w+8, y+16, clip.Span(t.Took), clip.Count(t.Calls, "call"))
	}
	p.put("</svg>\n")
}

// week draws a square for each hour of a week.
func (p page) week(hours [7][24]usage.Spent) {
	most := 0
	for _, day := range hours {
		for _, s := range day {
			most = max(most, s.Requests())
		}
	}
	const row, names = 26.0, 48.0
	cell := (width - names) / 24
	p.open(8*row, "how many requests were made in each hour of the week")
	for d, name := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		p.put("<text x=\"0\" y=\"%.1f\">%s</text>\n", float64(d)*row+17, name)
		for h, s := range hours[d] {
			n := s.Requests()
			look := "class=\"none\""
			if n > 0 {
				look = fmt.Sprintf("class=\"a\" opacity=\"%.2f\"", 0.2+0.8*float64(n)/float64(most))
			}
			p.put("<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"3\"><title>%s %02d:00: %s, %s</title></rect>\n",
				look, names+float64(h)*cell, float64(d)*row, cell-3, row-3, name, h, clip.Count(n, "request"), esc(s.Money()))
		}
	}
	for h := 0; h < 24; h += 3 {
		p.put("<text x=\"%.1f\" y=\"%.1f\">%02d</text>\n", names+float64(h)*cell, 7*row+16, h)
	}
	p.put("</svg>\n")
}
