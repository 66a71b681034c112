package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

func TestLimits(t *testing.T) {
	now := time.Unix(1_800_000_000, 0).UTC()
	for _, c := range []struct {
		headers map[string]string
		want    string
	}{
		{nil, ""},
		{map[string]string{
			"anthropic-ratelimit-tokens-limit": "80000", "anthropic-ratelimit-tokens-remaining": "60000", "anthropic-ratelimit-tokens-reset": "2027-01-15T08:00:30Z",
			"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "70",
		}, "requests 0 50/50 -; tokens 0.25 60000/80000 30s; "},
		{map[string]string{
			"anthropic-ratelimit-unified-5h-utilization": "0.42", "anthropic-ratelimit-unified-5h-reset": "1800000060", "anthropic-ratelimit-unified-7d-utilization": "1.1",
		}, "five_hour 0.42 0/0 1m0s; seven_day 1.1 0/0 -; "},
		{map[string]string{
			"x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "250", "x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-limit-requests": "9", "x-ratelimit-remaining-requests": "x",
		}, "tokens 0.75 250/1000 6m0s; "},
		{map[string]string{
			"anthropic-ratelimit-tokens-limit": "0", "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-unified-5h-utilization": "+Inf",
			"x-ratelimit-limit-tokens": "-4", "x-ratelimit-remaining-tokens": "1",
		}, ""},
	} {
		h := http.Header{}
		for k, v := range c.headers {
			h.Set(k, v)
		}
		got := ""
		for _, l := range limits(h, now) {
			in := "-"
			if !l.Resets.IsZero() {
				in = l.Resets.Sub(now).String()
			}
			got += fmt.Sprintf("%s %v %d/%d %s; ", l.Name, l.Used, l.Left, l.Most, in)
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.headers, got, c.want)
		}
	}
}

// What the headers tell of is there before the first word of a reply, also
// where the decoder says nothing of its progress.
func TestLimitsComeFirst(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/limited" {
			w.Header().Set("X-Ratelimit-Limit-Tokens", "10")
			w.Header().Set("X-Ratelimit-Remaining-Tokens", "4")
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: one\n\ndata: two\n\ndata: end\n\n")
	}))
	defer srv.Close()
	for path, want := range map[string]string{"": "{one} {two} ", "/limited": "[{tokens 0.6 10 4 0001-01-01 00:00:00 +0000 UTC}] {one} {two} "} {
		got := ""
		for c, err := range NewClient(Config{Provider: "test"}).Stream(context.Background(), Call{URL: srv.URL + path, Body: Body{[][]byte{[]byte("{}")}}}, lines{}) {
			switch c := c.(type) {
			case llm.Progress:
				got += fmt.Sprint(c.Limits) + " "
			case llm.TextDelta:
				got += fmt.Sprint(c) + " "
			default: // the end
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
