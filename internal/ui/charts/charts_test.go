package charts_test

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/ui/browsertest"
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

var keep = flag.String("keep", "", "write a page to this file, to look at it")

// busy is a report with something on most days.
func busy() usage.Report {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	p := usage.NewReporter(now, 30)
	for day := range 28 {
		var s usage.Sheet
		at := now.AddDate(0, 0, -day).Add(time.Duration(day%11) * 37 * time.Minute)
		for i := range 1 + day*5%7 {
			s.Request(at, usage.Request{Model: []string{"claude-sonnet", "a-model-with-a-long-name/of-a-provider", "local"}[i%3], Cost: 0.1 * float64(i+1), Priced: i%3 != 2, First: time.Second, Took: time.Minute, Usage: llm.Usage{In: 1000 * (i + 1), CacheRead: 9000 * (i + 1), CacheWrite: 700, Out: 500}})
			s.Request(at, usage.Request{Model: "claude-haiku", For: "title", Cost: 0.001, Priced: true, Usage: llm.Usage{In: 100, Out: 10}})
		}
		s.Call(at, "Bash", usage.Work{Calls: day, Errors: day / 5, Took: time.Duration(day) * time.Second})
		s.Call(at, "Read", usage.Work{Calls: 2 * day, Took: time.Duration(day) * 100 * time.Millisecond})
		p.Add("~/src/project-"+string(rune('a'+day%3)), s)
	}
	return p.Report()
}

func TestPageInABrowser(t *testing.T) {
	if *keep != "" {
		if err := os.WriteFile(*keep, []byte(write(t, busy())), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, page := range map[string]string{"busy": write(t, busy()), "hostile": write(t, report(30))} {
		for _, width := range []int{390, 1200} {
			s := browsertest.Look(t, page, width, width == 390, `
				const e = doc.documentElement, edge = e.clientWidth;
				const out = [...doc.querySelectorAll("svg")].filter(s => [...s.querySelectorAll("rect,text,circle")].some(x => x.getBoundingClientRect().right > s.getBoundingClientRect().right + 1)).length;
				await wait(200);
				return {over: e.scrollWidth - edge, svg: doc.querySelectorAll("svg").length, out, back: win.getComputedStyle(doc.body).backgroundColor,
					small: Math.min(...[...doc.querySelectorAll("svg")].map(s => s.getBoundingClientRect().width)), owned: doc.scripts.length};`)
			want := map[string]any{"over": 0.0, "svg": 5.0, "out": 0.0, "owned": 0.0, "back": "rgb(251, 250, 247)"}
			if width == 390 {
				want["back"] = "rgb(24, 22, 19)"
			}
			for k, w := range want {
				if s.Said[k] != w {
					t.Errorf("%s, %d px: %s is %v, want %v", name, width, k, s.Said[k], w)
				}
			}
			if len(s.Leaks) > 0 {
				t.Errorf("%s: requests leave the page: %v", name, s.Leaks)
			}
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestPageSaysThatItCouldNotBeWritten(t *testing.T) {
	if err := charts.Page(full{}, report(400)); err == nil {
		t.Error("no error")
	}
}
