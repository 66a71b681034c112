package choose

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// tellLimit is how long a server may take to describe one of its models: the
// most that this delays a start.
const tellLimit = 400 * time.Millisecond

// said is what a server told of one of its models; zero values are what it did
// not tell.
type said struct {
	window   int // what a prompt and its reply have together now
	most     int // what the model could have
	images   bool
	thinking bool
	by       string // which answer it is from
}

// Assumed begins the source of facts that nobody told; the reason follows.
const Assumed = "assumed: "

// contextLength is what Ollama loads a model with that says nothing else. The
// server reads it; where it runs here, it is often ours, too.
const contextLength = "OLLAMA_CONTEXT_LENGTH"

// own reports whether a URL leads to this machine or a private network.
func own(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate())
}

// asks reports whether a provider is asked about its models: one that is here,
// whatever its name, and of which no table knows the model.
func (c *Chooser) asks(p provider, model string) bool {
	if _, known := c.table.Lookup(p.name, model); known {
		return false
	}
	return p.wire == wireCompat && p.near()
}

// ask asks the server that a person configured what it says of a model, and
// nobody else. An answer counts for the chooser's life, silence does not.
func (c *Chooser) ask(ctx context.Context, p provider, model string) {
	if !c.asks(p, model) || c.said(p, model).by != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.tell)
	defer cancel()
	tr := wire.NewTransport(wire.Dial{Connect: c.tell})
	defer tr.CloseIdleConnections()
	a := asker{tr: tr, base: wire.Base(p.baseURL, "/chat/completions", "/v1"), headers: c.headers(p), environ: c.c.env(contextLength)}
	var ways []func(context.Context, string) said
	switch p.name {
	case "ollama":
		ways = append(ways, a.ollama)
	case "lmstudio":
		ways = append(ways, a.studio)
	case "llamacpp":
		ways = append(ways, a.llama)
	case "vllm":
		ways = append(ways, a.listed)
	default: // under a name of one's own it may be any of them
		ways = append(ways, a.probeOllama, a.studio, a.llama, a.listed)
	}
	answers := make(chan said, len(ways))
	for _, way := range ways {
		go func() { answers <- way(ctx, model) }() // ends with the context at the latest
	}
	for range ways {
		if s := <-answers; s.window > 0 || s.most > 0 {
			c.mu.Lock()
			c.told[p.name+"/"+model] = s
			c.mu.Unlock()
			return
		}
	}
}

// said is what the server told of a model when it was asked.
func (c *Chooser) said(p provider, model string) said {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told[p.name+"/"+model]
}

const maxAsked = 32 // models of one list

// askAll asks about the models that local servers have, at once.
func (c *Chooser) askAll(ctx context.Context, ps []provider, found [][]string) {
	var wait sync.WaitGroup
	defer wait.Wait()
	for i, p := range ps {
		for _, model := range found[i][:min(len(found[i]), maxAsked)] {
			wait.Go(func() { c.ask(ctx, p, model) })
		}
	}
}

// over lays what a server said over what was assumed.
func (s said) over(f price.Facts) price.Facts {
	switch {
	case s.by == "":
		return f
	case s.window > 0:
		f.Window, f.Source = s.window, s.by
	default: // not loaded: the server decides when it is
		f.Window, f.Source = min(localWindow, s.most), Assumed+"it is not loaded; "+s.by+" says at most "+strconv.Itoa(s.most)
	}
	f.OutputMax = min(localOutput, f.Window/2)
	f.Output = min(localOutput, f.Window/4)
	if s.images && !f.Can(price.Images) {
		f.Abilities = append(f.Abilities, price.Images)
	}
	if s.thinking {
		f.Thinking, f.Efforts, f.Off = price.Effort, []string{"low", "medium", "high"}, string(llm.EffortNone)
	}
	return f
}

// An asker asks one server.
type asker struct {
	tr      http.RoundTripper
	base    string
	headers map[string]string
	environ string // our value of contextLength
}

// get decodes the answer to one request and reports whether there is one;
// with a body it is a POST.
func (a asker) get(ctx context.Context, path string, body any, into any) bool {
	method, payload := http.MethodGet, io.Reader(nil)
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return false
		}
		method, payload = http.MethodPost, bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, wire.Join(a.base, path), payload)
	if err != nil {
		return false
	}
	for k, v := range a.headers {
		req.Header.Set(k, v)
	}
	resp, err := a.tr.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxTold))
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(text, into) == nil
}

const maxTold = 8 << 20 // Ollama describes a model with its template, its license and its vocabulary

// probeOllama asks a server that may be something else for its version
// first: a question about a model is a POST.
func (a asker) probeOllama(ctx context.Context, model string) said {
	var v struct{ Version string }
	if !a.get(ctx, "/api/version", nil, &v) || v.Version == "" {
		return said{}
	}
	return a.ollama(ctx, model)
}

// ollama: what is loaded has the window it was loaded with; else num_ctx of
// the Modelfile says with which it will be.
func (a asker) ollama(ctx context.Context, model string) said {
	loaded := make(chan int, 1)
	go func() { loaded <- a.loaded(ctx, model) }() // ends with the context at the latest
	var show struct {
		Parameters   string
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
		Capabilities []string
	}
	if !a.get(ctx, "/api/show", map[string]string{"model": model}, &show) {
		return said{}
	}
	s := said{by: "Ollama"}
	for key, raw := range show.ModelInfo {
		if n := 0; strings.HasSuffix(key, ".context_length") && json.Unmarshal(raw, &n) == nil {
			s.most = max(s.most, n)
		}
	}
	for _, c := range show.Capabilities {
		s.images, s.thinking = s.images || c == "vision", s.thinking || c == "thinking"
	}
	for line := range strings.Lines(show.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			s.window, _ = strconv.Atoi(f[1])
		}
	}
	if n, err := strconv.Atoi(a.environ); s.window == 0 && err == nil && n > 0 {
		s.window, s.by = n, contextLength
	}
	if s.most > 0 {
		s.window = min(s.window, s.most)
	}
	if n := <-loaded; n > 0 {
		s.window = n
	}
	return s
}

// loaded is the window of a model that Ollama has in memory.
func (a asker) loaded(ctx context.Context, model string) int {
	var ps struct {
		Models []struct {
			Name, Model   string
			ContextLength int `json:"context_length"`
		}
	}
	if !a.get(ctx, "/api/ps", nil, &ps) {
		return 0
	}
	if !strings.Contains(model, ":") {
		model += ":latest"
	}
	for _, m := range ps.Models {
		if m.Name == model || m.Model == model {
			return m.ContextLength
		}
	}
	return 0
}

// llama asks llama.cpp's server, which has one model.
func (a asker) llama(ctx context.Context, _ string) said {
	var props struct {
		Default struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities struct{ Vision bool }
	}
	if !a.get(ctx, "/props", nil, &props) {
		return said{}
	}
	return said{window: props.Default.Window, images: props.Modalities.Vision, by: "llama.cpp"}
}

// studio asks LM Studio, whose own list says more than the common one.
func (a asker) studio(ctx context.Context, model string) said {
	var list struct {
		Data []struct {
			ID, Type string
			Most     int `json:"max_context_length"`
			Loaded   int `json:"loaded_context_length"`
		}
	}
	if !a.get(ctx, "/api/v0/models", nil, &list) {
		return said{}
	}
	for _, m := range list.Data {
		if m.ID == model {
			return said{window: m.Loaded, most: m.Most, images: m.Type == "vlm", by: "LM Studio"}
		}
	}
	return said{}
}

// listed reads max_model_len of the common list, where vLLM writes it.
func (a asker) listed(ctx context.Context, model string) said {
	var list struct {
		Data []struct {
			ID  string
			Max int `json:"max_model_len"`
		}
	}
	if !a.get(ctx, "/v1/models", nil, &list) {
		return said{}
	}
	for _, m := range list.Data {
		if m.ID == model && m.Max > 0 {
			return said{window: m.Max, by: "its list of models"}
		}
	}
	return said{}
}
