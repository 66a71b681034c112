package llmtest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
)

// Via is a transport that sends what is for a provider's own API to the server
// of a test at this address.
type Via string

// RoundTrip implements http.RoundTripper.
func (v Via) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(string(v))
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// Facts are what is known of a provider's models.
func Facts(t testing.TB, provider string) price.Lookup {
	t.Helper()
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return func(m string) (price.Facts, bool) { return tab.Lookup(provider, m) }
}

// LoadingRefused checks that a model which turns out not to know its provider's
// way of loading tools, and says so with this message, is told of them in words
// from the next attempt on. dial makes the model whose requests take a transport.
func LoadingRefused(t *testing.T, w Wire, model, message string, dial func(http.RoundTripper) llm.Model) {
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(body)) // one request at a time
		if len(bodies) == 1 {
			out.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(out, w.ErrorBody(http.StatusBadRequest, message))
			return
		}
		out.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(out, strings.Join(w.Frames(Say("ok")), ""))
	}))
	defer srv.Close()
	m := dial(Via(srv.URL))
	r := llm.Request{Model: model, Tools: []llm.Spec{{Name: "ToolSearch", Loads: true}, {Name: "x", Deferred: true}}, Messages: []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c", Name: "ToolSearch", Input: []byte(`{"query":"x"}`)}}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c", Text: "found", Loaded: []llm.Spec{{Name: "x"}}}}},
	}}
	for range 2 {
		if g := Collect(t, context.Background(), m, r); g.Err != nil || g.Text != "ok" {
			t.Fatalf("%q %v", g.Text, g.Err)
		}
	}
	if len(bodies) != 3 || !strings.Contains(bodies[0], "defer_loading") || strings.Contains(bodies[1], "defer_loading") || !strings.Contains(bodies[1], "CallTool") || bodies[1] != bodies[2] {
		t.Errorf("%q", bodies)
	}
}

// Deltas measures how a model decodes 200,000 deltas of five bytes: 1 MB of text.
func Deltas(b *testing.B, w Wire, dial func(http.RoundTripper) llm.Model) {
	m := dial(Body(strings.Join(w.Frames(Say(strings.Repeat("word ", 200_000))), "")))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for c, err := range m.Stream(context.Background(), llm.Request{Model: "m"}) {
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := c.(llm.TextDelta); ok {
				n++
			}
		}
		if n != 200_000 {
			b.Fatalf("%d deltas", n)
		}
	}
}

// Body is a transport that answers each request with these events.
type Body string

// RoundTrip implements http.RoundTripper.
func (s Body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}
