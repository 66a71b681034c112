package charts_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/ui/charts"
	"github.com/adze-agent/adze/internal/usage"
)

const hostile = "</title><script>fetch('//x')</script>\" onload=\"x\u202e\x1b[31m"

func report(days int) usage.Report {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	p := usage.NewReporter(now, days)
	var s usage.Sheet
	s.Request(now, usage.Request{Model: hostile, Cost: 0.25, Priced: true, First: time.Second, Took: time.Minute, Usage: llm.Usage{In: 100, CacheRead: 300, CacheWrite: 50, Out: 20}})
	s.Request(now, usage.Request{Model: "local", For: hostile, Usage: llm.Usage{In: 7}})
	s.Call(now, hostile, usage.Work{Calls: 3, Errors: 1, Took: time.Minute})
	p.Add(hostile, s)
	return p.Report()
}

func write(t *testing.T, r usage.Report) string {
	t.Helper()
	var b strings.Builder
	if err := charts.Page(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	got := write(t, report(30))
	for _, want := range []string{
		"default-src 'none'", "Cost per day", "Tokens per day", "Cache hit rate", "Time of tools", "Hours of the week", "prefers-color-scheme: dark",
		"<title>2026-03-11: cost $0.25</title>", "<title>2026-03-11: from cache 300</title>", "<title>2026-03-11: 66 %</title>", "<title>Wed 09:00: 2 requests, $0.25 and more</title>",
		"$0.25 and more", "unknown", "&lt;script&gt;", ">main<", "1 min 0 s, 3 calls",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Nothing runs, nothing is fetched, and no name ends where it stands.
	for _, bad := range []string{"<script", "http:", "https:", "<img", "<link", "url(", "@import", "src=", "href=", "\u202e", "\x1b", "NaN", "Inf", `" onload`} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(got, "<svg"); n != 5 || strings.Count(got, "</svg>") != n || strings.Count(got, "<section>") != strings.Count(got, "</section>") {
		t.Errorf("%d pictures, %d sections", n, strings.Count(got, "<section>"))
	}
	// What has no known price is never drawn or written as nothing.
	if row := regexp.MustCompile(`<tr><td>local</td><td>([^<]*)</td>`).FindStringSubmatch(got); row == nil || row[1] != "unknown" {
		t.Errorf("a model without a price: %q", row)
	}
}

func TestPageOfNothing(t *testing.T) {
	got := write(t, usage.NewReporter(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC), 0).Report())
	for _, bad := range []string{"NaN", "Inf"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(got, "0 sessions") {
		t.Error("it does not say that there is nothing")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestPageSaysThatItCouldNotBeWritten(t *testing.T) {
	if err := charts.Page(full{}, report(400)); err == nil {
		t.Error("no error")
	}
}
