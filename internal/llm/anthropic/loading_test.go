package anthropic

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/price"
)

// to sends what is for the provider's own API to a server of the test.
type to struct{ url string }

func (s to) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

func facts(t testing.TB) price.Lookup {
	t.Helper()
	tab, err := price.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return func(m string) (price.Facts, bool) { return tab.Lookup("anthropic", m) }
}

// On the provider's own API, models that know how are given tools in the
// provider's own way.
func TestLoadingNatively(t *testing.T) {
	llmtest.Loading(t, llmtest.Adapter{
		Provider: "anthropic", Model: "claude-sonnet-4-6", Wire: llmtest.Anthropic{},
		New: func(t testing.TB, s llmtest.Server) llm.Model {
			return New(Config{Key: s.Key, Idle: s.Idle, Facts: facts(t), Transport: to{s.URL}})
		},
	}, true)
}

// A model that turns out not to know it is told in words, from the next attempt on.
func TestLoadingRefused(t *testing.T) {
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(body)) // one request at a time
		if len(bodies) == 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, llmtest.Anthropic{}.ErrorBody(http.StatusBadRequest, "tools.1.defer_loading: Extra inputs are not permitted"))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(llmtest.Anthropic{}.Frames(llmtest.Say("ok")), ""))
	}))
	defer srv.Close()
	m := New(Config{Facts: facts(t), Transport: to{srv.URL}})
	r := llm.Request{Model: "claude-sonnet-4-6", Tools: []llm.Spec{{Name: "ToolSearch", Loads: true}, {Name: "x", Deferred: true}}, Messages: []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c", Name: "ToolSearch", Input: []byte(`{"query":"x"}`)}}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c", Text: "found", Loaded: []llm.Spec{{Name: "x"}}}}},
	}}
	for range 2 {
		if g := llmtest.Collect(t, context.Background(), m, r); g.Err != nil || g.Text != "ok" {
			t.Fatalf("%q %v", g.Text, g.Err)
		}
	}
	if len(bodies) != 3 || !strings.Contains(bodies[0], "defer_loading") || strings.Contains(bodies[1], "defer_loading") || !strings.Contains(bodies[1], "CallTool") || bodies[1] != bodies[2] {
		t.Errorf("%q", bodies)
	}
}
