package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/report"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/usage"
)

// mixed is what models with a price and without one came to.
func mixed() usage.Report {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.FixedZone("", 3600))
	p := usage.NewReporter(now, 2)
	var s usage.Sheet
	s.Request(now, usage.Request{Model: "p/\x1b[31mpaid", Cost: 0.25, Priced: true, First: time.Second, Took: time.Minute, Retries: 1, Usage: llm.Usage{In: 100, CacheRead: 300, Out: 20}})
	s.Request(now, usage.Request{Model: "local", For: "title", Usage: llm.Usage{In: 7}})
	s.Call(now, "Bash", usage.Work{Calls: 3, Errors: 1, Denied: 2, Took: time.Minute})
	p.Add("~/w", s)
	return p.Report()
}

func TestStatsText(t *testing.T) {
	c := canvas{System{}.painter(), 80, true, true}
	tests := map[string]string{
		"model": "p/\\x1b[31mpaid    $0.25  400   20     300         1  ##########################\n" +
			"local           unknown    7    0       0         1\n",
		"day":   "2026-03-10                    0    0       0         0\n2026-03-11  $0.25 and more  407   20     300         2  #######################\n",
		"agent": "title  unknown    7    0       0         1\n",
		"tool":  "TOOL  CALLS  FAILED  REFUSED       TIME\nBash      3       1        2  1 min 0 s  ######",
	}
	for by, want := range tests {
		var b bytes.Buffer
		if err := statsText(&b, c, report.Stats{Report: mixed()}, by); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || strings.ContainsRune(b.String(), 0x1b) {
			t.Errorf("by %s:\n%s\nlacks\n%s", by, b.String(), want)
		}
		for _, want := range []string{"cost    $0.25 and more (1 request without a known price)", "first chunk after 1.0 s, sent again once\n", "tools   1 min 0 s in 3 calls", "74 % of what was sent came from it"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s\nlacks %s", b.String(), want)
			}
		}
		for line := range strings.Lines(b.String()) {
			if len([]rune(line)) > 81 {
				t.Errorf("%d characters: %s", len([]rune(line)), line)
			}
		}
	}
}

// A long name gives way to the figures where lines have a width.
func TestStatsFit(t *testing.T) {
	list := []report.Bar{{Name: strings.Repeat("name", 20), Facts: []string{"$123.45", "1,234.5k"}, Amount: 1}}
	for width, most := range map[int]int{80: 63, 40: 40, 10: 12 + 2 + 7 + 2 + 8} {
		var b strings.Builder
		drawBars(&b, canvas{System{}.painter(), width, true, true}, []string{"NAME", "COST", "IN"}, list)
		for l := range strings.Lines(b.String()) {
			if w := draw.Width(strings.TrimRight(l, " #\n")); w > most {
				t.Errorf("%d columns: %d: %q", width, w, l)
			}
		}
	}
}

// What is not known is null in JSON, never 0.
func TestStatsJSON(t *testing.T) {
	raw, err := json.Marshal(report.Stats{Report: mixed()}.JSON(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"from":"2026-03-10","to":"2026-03-11","zone":"+01:00","sessions":1,"total":{"requests":2,"cost_usd":0.25,"unpriced_requests":1,"input_tokens":107,"output_tokens":20,"cache_read_tokens":300,"cache_write_tokens":0,`,
		`{"name":"local","requests":1,"cost_usd":null,"unpriced_requests":1,"input_tokens":7,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"cache_hit_rate":0,"first_chunk_ms":null,"took_ms":0,"retries":0}`,
		`{"name":"2026-03-10","requests":0,"cost_usd":0,"unpriced_requests":0,"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"cache_hit_rate":null,`,
		`"agents":[{"name":"main",`, `"tools":[{"name":"Bash","calls":3,"failed":1,"denied":2,"took_ms":60000}]`,
		`"hours":[{"weekday":3,"hour":9,"requests":2,`,
	} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("%s\nlacks %s", raw, want)
		}
	}
	raw, err = json.Marshal(report.Stats{Report: mixed()}.JSON("tool"))
	if err != nil || !bytes.Contains(raw, []byte(`"tools"`)) || bytes.Contains(raw, []byte(`"models"`)) || bytes.Contains(raw, []byte(`"hours"`)) {
		t.Errorf("%s, %v", raw, err)
	}
}
