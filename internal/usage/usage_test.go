package usage_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/usage"
)

func TestSpent(t *testing.T) {
	paid := usage.Request{Model: "m", Usage: llm.Usage{In: 100, Out: 10, CacheRead: 300}, Cost: 0.25, Priced: true, First: time.Second, Took: 3 * time.Second, Retries: 1}
	free := usage.Request{Model: "l", For: "title", Usage: llm.Usage{In: 5}}
	tests := []struct {
		of    []usage.Request
		money string
		known bool
	}{
		{nil, "$0.00", true},
		{[]usage.Request{paid}, "$0.25", true},
		{[]usage.Request{free}, "unknown", false},
		{[]usage.Request{paid, free}, "$0.25 and more", true},
		{[]usage.Request{{Priced: true}}, "$0.00", true},
		{[]usage.Request{{Priced: true}, free}, "$0.00 and more", true},
		{[]usage.Request{{Priced: true, Cost: 0.001}}, "< $0.01", true},
	}
	for i, tt := range tests {
		var s usage.Spent
		for _, r := range tt.of {
			s = s.Plus(r)
		}
		if _, known := s.Known(); s.Money() != tt.money || known != tt.known || s.Requests() != len(tt.of) {
			t.Errorf("%d: %s %v, %d requests", i, s.Money(), known, s.Requests())
		}
	}
	s := usage.Spent{}.Plus(paid).Plus(free).Plus(paid)
	want := usage.Spent{
		Usage: llm.Usage{In: 205, Out: 20, CacheRead: 600}, Cost: 0.5, Replies: 2, Helped: 1, Unpriced: 1,
		Took: 6 * time.Second, First: 2 * time.Second, Timed: 2, Retries: 2,
	}
	if s != want || s.FirstChunk() != time.Second || (usage.Spent{}).FirstChunk() != 0 {
		t.Errorf("%+v", s)
	}
	if rate, ok := s.HitRate(); !ok || fmt.Sprintf("%.3f", rate) != "0.745" {
		t.Errorf("%v %v", rate, ok)
	}
	if _, ok := (usage.Spent{}).HitRate(); ok {
		t.Error("a rate of nothing")
	}
}

// Every field of what is added up is added up.
func TestAddLeavesNothingOut(t *testing.T) {
	check := func(one, sum reflect.Value) {
		for i := range one.NumField() {
			if f := one.Field(i); f.CanInt() {
				f.SetInt(int64(i + 1))
			} else if f.CanFloat() {
				f.SetFloat(float64(i + 1))
			}
		}
		out := one.MethodByName("Add").Call([]reflect.Value{one})[0]
		for i := range out.NumField() {
			if f := out.Field(i); f.CanInt() && f.Int() != 2*int64(i+1) || f.CanFloat() && f.Float() != 2*float64(i+1) {
				t.Errorf("%s is %v", out.Type().Field(i).Name, f)
			}
		}
		sum.Set(out)
	}
	var s usage.Spent
	check(reflect.ValueOf(&s).Elem(), reflect.ValueOf(&s).Elem())
	var w usage.Work
	check(reflect.ValueOf(&w).Elem(), reflect.ValueOf(&w).Elem())
}

func TestSheet(t *testing.T) {
	var s usage.Sheet
	at := time.Date(2026, 3, 1, 10, 14, 59, 0, time.UTC)
	for i := range 4 { // 10:14:59, 10:15:00, …
		s.Request(at.Add(time.Duration(i)*time.Second), usage.Request{Model: "a", Usage: llm.Usage{In: 1}})
		s.Request(at.Add(time.Duration(i)*time.Second), usage.Request{Model: "a", For: "title", Usage: llm.Usage{In: 1}})
		s.Call(at.Add(time.Duration(i)*time.Second), "Bash", usage.Work{Calls: 1})
	}
	var b strings.Builder
	for _, q := range s.Requests {
		fmt.Fprintf(&b, "%s %s%s %d; ", q.At.Time().UTC().Format("15:04"), q.Model, q.For, q.Usage.In)
	}
	for _, q := range s.Tools {
		fmt.Fprintf(&b, "%s %s %d; ", q.At.Time().UTC().Format("15:04"), q.Tool, q.Calls)
	}
	if got, want := b.String(), "10:00 a 1; 10:00 atitle 1; 10:15 a 3; 10:15 atitle 3; 10:00 Bash 1; 10:15 Bash 3; "; got != want {
		t.Error(got)
	}
	if usage.At(time.Unix(-1, 0)) != -1 || usage.At(time.Unix(0, 0)) != 0 || usage.At(time.Unix(900, 0)) != 1 {
		t.Error("slots before 1970")
	}
}

func TestReport(t *testing.T) {
	zone := time.FixedZone("x", 5*3600+45*60) // Nepal's
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, zone)
	sheet := func(at time.Time, model, purpose string, cost float64) (s usage.Sheet) {
		s.Request(at, usage.Request{Model: model, For: purpose, Cost: cost, Priced: true, Usage: llm.Usage{In: 10}})
		s.Call(at, "Bash", usage.Work{Calls: 1, Took: time.Second})
		s.Call(at, "Read", usage.Work{Calls: 1, Took: time.Duration(cost * float64(time.Hour))})
		return s
	}
	add := func(p *usage.Reporter) usage.Report {
		p.Add("w", sheet(time.Date(2026, 3, 11, 0, 0, 0, 0, zone), "a", "", 1))   // Wednesday
		p.Add("v", sheet(time.Date(2026, 3, 9, 23, 59, 0, 0, zone), "b", "", 2))  // Monday
		p.Add("w", sheet(time.Date(2026, 3, 8, 23, 59, 0, 0, zone), "a", "t", 4)) // Sunday
		return p.Report()
	}
	show := func(r usage.Report) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s-%s %d $%g %d", r.From.Format("01-02"), r.To.Format("01-02"), r.Sessions, r.Total.Cost, r.Work.Calls)
		for _, list := range [][]usage.Named{r.Models, r.Projects, r.Purposes, r.Days} {
			b.WriteString(" |")
			for _, n := range list {
				fmt.Fprintf(&b, " %s %g", n.Name, n.Cost)
			}
		}
		b.WriteString(" |")
		for _, x := range r.Tools {
			fmt.Fprintf(&b, " %s %d", x.Name, x.Calls)
		}
		b.WriteString(" |")
		for d, hours := range r.Hours {
			for h, s := range hours {
				if s.Requests() > 0 {
					fmt.Fprintf(&b, " %d/%d", d, h)
				}
			}
		}
		return b.String()
	}
	all := "03-08-03-11 3 $7 6 | a 5 b 2 | w 5 v 2 | t 4  3 | 2026-03-08 4 2026-03-09 2 2026-03-10 0 2026-03-11 1 | Read 3 Bash 3 | 0/23 2/0 6/23"
	if got := show(add(usage.NewReporter(now, 0))); got != all {
		t.Error(got)
	}
	three := "03-09-03-11 2 $3 4 | b 2 a 1 | v 2 w 1 |  3 | 2026-03-09 2 2026-03-10 0 2026-03-11 1 | Read 2 Bash 2 | 0/23 2/0"
	if got := show(add(usage.NewReporter(now, 3))); got != three {
		t.Error(got)
	}
	if got, want := show(usage.NewReporter(now, 0).Report()), "03-11-03-11 0 $0 0 | | | | 2026-03-11 0 | |"; got != want {
		t.Error(got)
	}
	// A clock that was wrong does not make a page of empty days.
	p := usage.NewReporter(now, 0)
	p.Add("w", sheet(time.Unix(0, 0), "a", "", 1))
	p.Add("w", sheet(now, "a", "", 1))
	if r := p.Report(); len(r.Days) != 2 || r.Days[0].Name != "1970-01-01" {
		t.Errorf("%d days", len(r.Days))
	}
}
