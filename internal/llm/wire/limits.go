package wire

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// limits reads the rate limits that an answer tells of. Anthropic's API says
// "Anthropic-Ratelimit-Tokens-Limit", "-Remaining" and "-Reset" (a time), for
// subscriptions "Anthropic-Ratelimit-Unified-5h-Utilization" (a share) and "-Reset"
// (seconds since 1970); OpenAI's and many that speak like it "X-Ratelimit-Limit-Tokens",
// "X-Ratelimit-Remaining-Tokens" and "X-Ratelimit-Reset-Tokens" (a duration). What
// cannot be read is left out.
func limits(h http.Header, now time.Time) (out []llm.Limit) {
	for _, w := range []struct{ part, name string }{{"5h", "five_hour"}, {"7d", "seven_day"}} {
		head := "Anthropic-Ratelimit-Unified-" + w.part + "-"
		if used, err := strconv.ParseFloat(h.Get(head+"Utilization"), 64); err == nil && used >= 0 && !math.IsInf(used, 0) {
			out = append(out, llm.Limit{Name: w.name, Used: used, Resets: resets(h.Get(head+"Reset"), now)})
		}
	}
	for _, w := range []struct{ part, name string }{
		{"Requests", "requests"}, {"Tokens", "tokens"}, {"Input-Tokens", "input_tokens"}, {"Output-Tokens", "output_tokens"},
	} {
		anthropic := func(what string) string { return "Anthropic-Ratelimit-" + w.part + "-" + what }
		common := func(what string) string { return "X-Ratelimit-" + what + "-" + w.part }
		for _, key := range []func(string) string{anthropic, common} {
			most, err1 := strconv.ParseInt(h.Get(key("Limit")), 10, 64)
			left, err2 := strconv.ParseInt(h.Get(key("Remaining")), 10, 64)
			if err1 != nil || err2 != nil || most <= 0 || left < 0 {
				continue
			}
			left = min(left, most)
			out = append(out, llm.Limit{Name: w.name, Used: float64(most-left) / float64(most), Most: most, Left: left, Resets: resets(h.Get(key("Reset")), now)})
			break
		}
	}
	return out
}

// resets reads when a limit begins anew: a time, seconds since 1970, or a
// duration from now; zero when it is none of them.
func resets(s string, now time.Time) time.Time {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at
	}
	if sec, err := strconv.ParseInt(s, 10, 64); err == nil && sec > 1e9 && sec < 1e11 {
		return time.Unix(sec, 0)
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 && d < 400*24*time.Hour {
		return now.Add(d)
	}
	return time.Time{}
}
