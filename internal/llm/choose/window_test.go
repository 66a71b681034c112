package choose

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
)

// telling answers paths, and keeps what it was asked.
func telling(t *testing.T, answers map[string]string) (base string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var paths []string
	quit := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ua := r.Header.Get("User-Agent"); !strings.HasPrefix(ua, "adze/") {
			t.Errorf("User-Agent %q", ua)
		}
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		switch body, ok := answers[r.URL.Path]; {
		case body == "hang":
			<-quit
		case ok:
			_, _ = io.WriteString(w, body)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() { close(quit); srv.Close() })
	return srv.URL + "/v1", func() []string { mu.Lock(); defer mu.Unlock(); return paths[:len(paths):len(paths)] }
}

func TestWindowOfLocalServers(t *testing.T) {
	show := `{"model_info":{"qwen3.context_length":40960,"general.architecture":"qwen3"},"capabilities":["completion","vision","thinking"],"parameters":"PARAMS"}`
	asIs, small := strings.Replace(show, "PARAMS", "stop \\\"x\\\"", 1), strings.Replace(show, "PARAMS", "stop \\\"x\\\"\\nnum_ctx                        8192\\n", 1)
	for name, c := range map[string]struct {
		provider, model string
		answers         map[string]string
		window, output  int
		source          string
		images          bool
		asks            string // a path that must have been asked
	}{
		"ollama, only known at most": {"ollama", "q", map[string]string{"/api/show": asIs}, 32768, 8192, Assumed + "it is not loaded; Ollama says at most 40960", true, "/api/ps"},
		"ollama, num_ctx":            {"ollama", "q", map[string]string{"/api/show": small}, 8192, 2048, "Ollama", true, "/api/ps"},
		"ollama, loaded": {"ollama", "q", map[string]string{"/api/show": small, "/api/ps": `{"models":[{"name":"other:latest","context_length":1},{"name":"q:latest","context_length":16384}]}`},
			16384, 4096, "Ollama", true, "/api/ps"},
		"llama.cpp":            {"llamacpp", "m", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":4096},"modalities":{"vision":false}}`}, 4096, 1024, "llama.cpp", false, "/props"},
		"LM Studio, loaded":    {"lmstudio", "m", map[string]string{"/api/v0/models": `{"data":[{"id":"m","type":"vlm","max_context_length":131072,"loaded_context_length":65536}]}`}, 65536, 8192, "LM Studio", true, "/api/v0/models"},
		"LM Studio, not":       {"lmstudio", "m", map[string]string{"/api/v0/models": `{"data":[{"id":"m","type":"llm","max_context_length":8000}]}`}, 8000, 2000, Assumed + "it is not loaded; LM Studio says at most 8000", false, "/api/v0/models"},
		"vLLM":                 {"vllm", "m", map[string]string{"/v1/models": `{"data":[{"id":"m","max_model_len":20000}]}`}, 20000, 5000, "its list of models", false, "/v1/models"},
		"one's own name":       {"box", "m", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":9000}}`}, 9000, 2250, "llama.cpp", false, "/props"}, // who else is asked before it answers is open
		"nothing said":         {"ollama", "m", nil, 32768, 8192, Assumed + "its server does not say it", false, "/api/show"},
		"silence":              {"ollama", "m", map[string]string{"/api/show": "hang"}, 32768, 8192, Assumed + "its server does not say it", false, "/api/show"},
		"an answer of no sort": {"llamacpp", "m", map[string]string{"/props": `[]`}, 32768, 8192, Assumed + "its server does not say it", false, "/props"},
	} {
		base, asked := telling(t, c.answers)
		conf := Config{Local: map[string]string{c.provider: base}}
		if c.provider == "vllm" || c.provider == "box" {
			conf = Config{Providers: map[string]Provider{c.provider: {BaseURL: base}}}
		}
		start := time.Now()
		ch := chooser(t, conf)
		if name != "silence" {
			ch.tell = time.Minute // the machine may be busy
		}
		got, err := ch.Choose(context.Background(), c.provider+"/"+c.model)
		if err != nil || got.Facts.Window != c.window || got.Facts.Output != c.output || got.Facts.Source != c.source || got.Facts.Can(price.Images) != c.images || !got.Local {
			t.Errorf("%s: %+v %v", name, got.Facts, err)
		}
		if d := time.Since(start); name == "silence" && d > 30*time.Second {
			t.Errorf("%s: asking took %v", name, d)
		}
		if !strings.Contains(strings.Join(asked(), " ")+" ", c.asks+" ") {
			t.Errorf("%s: asked %v", name, asked())
		}
	}
}

// Only a server that is here is asked, and none whose facts are known.
func TestWindowIsNotAskedElsewhere(t *testing.T) {
	base, asked := telling(t, map[string]string{"/props": `{"default_generation_settings":{"n_ctx":9000}}`})
	ch := chooser(t, Config{Local: map[string]string{"ollama": base}, Facts: map[string]json.RawMessage{"ollama/known": json.RawMessage(`{"window":5000}`)}}, "GROQ_API_KEY", "k")
	for _, name := range []string{"ollama/known", "groq/whatever"} {
		if got, err := ch.Choose(context.Background(), name); err != nil || len(asked()) > 0 {
			t.Errorf("%s: asked %v; %v %v", name, asked(), got, err)
		}
	}
	for url, want := range map[string]bool{"http://127.0.0.1:1/v1": true, "http://localhost:1": true, "http://192.168.1.4/v1": true, "http://[::1]:80/": true,
		"https://api.example.com/v1": false, "http://8.8.8.8/v1": false, "https://gateway/v1": false, ":": false} {
		if own(url) != want {
			t.Errorf("own(%s) = %v", url, !want)
		}
	}
}

// What a person says of a server is what it is asked.
func TestSaidQuirks(t *testing.T) {
	for name, c := range map[string]struct {
		p      Provider
		effort string // a part of the request
		back   string
		images bool
	}{
		"nothing said": {Provider{}, "", "", false},
		"all of it":    {Provider{Effort: "reasoning_effort", Reasoning: "reasoning_content", Images: "true"}, `"reasoning_effort":"high"`, `"reasoning_content":"hm"`, true},
		"other fields": {Provider{Effort: "reasoning", Reasoning: "reasoning", Images: "false"}, `"reasoning":{"effort":"high"}`, `"reasoning":"hm"`, false},
		"thinking":     {Provider{Effort: "thinking"}, `"thinking":{"type":"enabled"}`, "", false},
		"none of it":   {Provider{Effort: "none", Reasoning: "none"}, "", "", false},
	} {
		var body string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" {
				b, _ := io.ReadAll(r.Body)
				body = string(b)
			}
			if r.URL.Path == "/props" { // its window is known, and no effort
				_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":9000}}`)
				return
			}
			http.NotFound(w, r)
		}))
		c.p.BaseURL = srv.URL + "/v1"
		ch := chooser(t, Config{Providers: map[string]Provider{"box": c.p}})
		ch.tell = time.Minute
		got, err := ch.Choose(context.Background(), "box/m")
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range got.Model.Stream(context.Background(), llm.Request{Model: "m", Effort: llm.EffortHigh, Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
			{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm", From: "box/m"}, llm.Text{S: "b"}}},
			{Role: llm.User, Parts: []llm.Part{llm.Text{S: "c"}}}}}) {
		}
		srv.Close()
		if !strings.Contains(body, c.effort) || !strings.Contains(body, c.back) || got.Facts.Can(price.Images) != c.images {
			t.Errorf("%s: %s, images %v", name, body, got.Facts.Can(price.Images))
		}
		if c.effort == "" && strings.Contains(body, "reasoning_effort") || c.back == "" && strings.Contains(body, "hm") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// What Ollama loads models with by itself is read where it is set for us, too.
func TestWindowThatOllamaLoadsWith(t *testing.T) {
	for params, want := range map[string]int{"": 12288, `num_ctx 8192`: 8192} {
		base, _ := telling(t, map[string]string{"/api/show": `{"model_info":{"q.context_length":40960},"parameters":"` + params + `"}`})
		ch := chooser(t, Config{Local: map[string]string{"ollama": base}}, "OLLAMA_CONTEXT_LENGTH", "12288")
		ch.tell = time.Minute
		if got, err := ch.Choose(context.Background(), "ollama/q"); err != nil || got.Facts.Window != want {
			t.Errorf("%q: %+v %v", params, got.Facts, err)
		}
	}
}
