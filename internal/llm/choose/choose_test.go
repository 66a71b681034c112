package choose

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/hint"
)

// dead are addresses where nobody listens.
func dead() map[string]string {
	return map[string]string{"ollama": "http://127.0.0.1:1/v1", "lmstudio": "http://127.0.0.1:1/v1", "llamacpp": "http://127.0.0.1:1/v1"}
}

func chooser(t *testing.T, c Config, env ...string) *Chooser {
	t.Helper()
	vars := map[string]string{}
	for i := 0; i < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	c.Env = func(name string) string { return vars[name] }
	if c.Local == nil {
		c.Local = dead()
	}
	ch, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ch.wait = time.Minute // the machine may be busy
	return ch
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		env    []string
		wishes []string
		want   string
		source string
	}{
		{[]string{"ANTHROPIC_API_KEY", "k"}, nil, "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"},
		{[]string{"ANTHROPIC_API_KEY", "k", "ANTHROPIC_AUTH_TOKEN", "t"}, nil, "anthropic/claude-sonnet-5-5", "ANTHROPIC_AUTH_TOKEN"},
		{[]string{"OPENAI_API_KEY", "k"}, nil, "openai/gpt-6.1-sol", "OPENAI_API_KEY"},
		{[]string{"GOOGLE_API_KEY", "k"}, []string{""}, "gemini/gemini-4-argon", "GOOGLE_API_KEY"},
		{[]string{"GROQ_API_KEY", "k"}, nil, "groq/openai/gpt-oss-120b", "GROQ_API_KEY"},
		{[]string{"ANTHROPIC_API_KEY", "k"}, []string{"", " ", "anthropic/claude-sonnet-4-6", "openai/x"}, "anthropic/claude-sonnet-4-6", "ANTHROPIC_API_KEY"},
		{[]string{"ANTHROPIC_API_KEY", "k"}, []string{"Opus"}, "anthropic/claude-opus-5-5", "ANTHROPIC_API_KEY"},
		{[]string{"ANTHROPIC_API_KEY", "k"}, []string{"mine"}, "anthropic/claude-haiku-5-5", "ANTHROPIC_API_KEY"},
		{[]string{"OPENAI_API_KEY", "k"}, []string{"default"}, "openai/gpt-6.1-sol", "OPENAI_API_KEY"},
		{[]string{"OPENAI_API_KEY", "k"}, []string{"fast"}, "openai/gpt-6-luna", "OPENAI_API_KEY"},
		{[]string{"OPENROUTER_API_KEY", "k"}, []string{"opus"}, "openrouter/anthropic/claude-opus-5.5", "OPENROUTER_API_KEY"},
		{[]string{"OPENAI_API_KEY", "k"}, []string{"gpt-4.1"}, "openai/gpt-4.1", "OPENAI_API_KEY"},
		{[]string{"ANTHROPIC_API_KEY", "k"}, []string{"claude-from-the-future"}, "anthropic/claude-from-the-future", "ANTHROPIC_API_KEY"},
		{[]string{"GEMINI_API_KEY", "k"}, []string{"google/gemini-2.5-pro"}, "gemini/gemini-2.5-pro", "GEMINI_API_KEY"},
		{nil, []string{"ollama/qwen3:8b"}, "ollama/qwen3:8b", ""},
		{[]string{"ANTHROPIC_BASE_URL", "http://gateway.local"}, []string{"sonnet"}, "anthropic/claude-sonnet-5-5", ""},
		{[]string{"MY_KEY", "k"}, []string{"corp/big"}, "corp/big", "MY_KEY"},
		{nil, []string{"corp"}, "corp/big", ""},
		{nil, []string{"big"}, "corp/big", ""},
	} {
		ch := chooser(t, Config{Aliases: map[string]string{"mine": "haiku"},
			Providers: map[string]Provider{"corp": {BaseURL: "http://corp.local/v1", KeyEnv: "MY_KEY", Wire: "anthropic", Models: []string{"big"}}}}, c.env...)
		got, err := ch.Choose(context.Background(), c.wishes...)
		if err != nil || got.String() != c.want || got.KeySource != c.source || got.Model == nil {
			t.Errorf("%v %q: %v %q %v; want %s", c.env, c.wishes, got, got.KeySource, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	ch := chooser(t, Config{Aliases: map[string]string{"a": "b", "b": "a"}})
	for wish, want := range map[string]string{
		"antropic/claude":    `there is no model provider "antropic" (did you mean anthropic?)`,
		"zzzzzzzzzz/x":       `there is no model provider "zzzzzzzzzz"`,
		"sonet":              `there is no model "sonet" (did you mean sonnet?)`,
		"qqqqqqqqq":          `there is no model "qqqqqqqqq"`,
		"anthropic/":         "names a provider and no model",
		"anthropic/x":        "anthropic: no key is set: ANTHROPIC_API_KEY is empty",
		"a":                  "leads back to itself",
		"bedrock/x":          "not built into this version",
		"script/no/such.txt": "read script:",
		"replay/no/such":     "read cassette:",
		"ollama":             "ollama: no server with a model answers at http://127.0.0.1:1/v1",
	} {
		if _, err := ch.Choose(context.Background(), wish); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", wish, err, want)
		}
	}
	for _, wish := range []string{"antropic/claude", "sonet", "anthropic/", "a", "bedrock/x", "script/no/such.txt", "replay/no/such"} {
		_, err := ch.Choose(context.Background(), wish)
		if name := new(NameError); !errors.As(err, &name) || name.Hint() == "" {
			t.Errorf("%s: %v is no *NameError with a hint", wish, err)
		}
	}
	_, err := ch.Choose(context.Background(), "openai/x")
	if e := new(llm.Error); !errors.As(err, &e) || e.Kind != llm.Unauthorized || !errors.Is(err, ErrNoKey) || !strings.Contains(e.Fix, "OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
	start := time.Now()
	_, err = ch.Choose(context.Background())
	if none := new(NoModelError); !errors.As(err, &none) || time.Since(start) > 30*time.Second {
		t.Errorf("%v", err)
	}
	for _, way := range []string{"ANTHROPIC_API_KEY", "ollama serve", "adze demo"} {
		if !strings.Contains(new(NoModelError).Hint(), way) {
			t.Errorf("%s is not among the ways", way)
		}
	}
}

// A provider of the settings that cannot be used stops those that name it, and nobody else.
func TestBrokenProviders(t *testing.T) {
	for _, bad := range []map[string]Provider{{"x": {}}, {"x": {BaseURL: "http://x", Wire: "morse"}}, {"x": {BaseURL: "http://x", Wire: "bedrock"}}} {
		bad["y"] = Provider{BaseURL: "http://y/v1", KeyEnv: "Y_KEY", Models: []string{"m"}}
		ch, err := New(Config{Providers: bad})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := ch.Choose(context.Background(), "y/m"); err != nil || c.Keyless != "Y_KEY" {
			t.Errorf("%v: %+v, %v", bad, c, err)
		}
		for _, wish := range []string{"x/m", "x"} {
			if _, err := ch.Choose(context.Background(), wish); err == nil || !strings.Contains(err.Error(), `provider "x" in the settings`) {
				t.Errorf("%v: %s: %v", bad, wish, err)
			}
			if ch.Check(wish) == nil || ch.Broken()["x"] == nil {
				t.Errorf("%v: %s is not told", bad, wish)
			}
		}
	}
}

// llama.cpp is found at each of its ports.
func TestSecondPort(t *testing.T) {
	url := server(t, "/v1/models", `{"data":[{"id":"second"}]}`, 0)
	ch, err := New(Config{Local: map[string]string{"ollama": "http://127.0.0.1:1/v1", "lmstudio": "http://127.0.0.1:1/v1"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ch.providers {
		if p := &ch.providers[i]; p.name == "llamacpp" {
			if len(p.also) != 1 || p.also[0] != "http://127.0.0.1:9931/v1" {
				t.Errorf("%q", p.also)
			}
			p.baseURL, p.also = "http://127.0.0.1:1/v1", []string{url}
		}
	}
	ch.wait = time.Minute
	for _, wish := range []string{"llamacpp", "llamacpp/second", ""} {
		p, model, err := ch.find(context.Background(), []string{wish})
		if err != nil || p.baseURL != url || model != "second" {
			t.Errorf("%q: %s at %s, %v", wish, model, p.baseURL, err)
		}
	}
}

func server(t *testing.T, path, body string, wait time.Duration) string {
	t.Helper()
	quit := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ua := r.Header.Get("User-Agent"); !strings.HasPrefix(ua, "adze/") {
			t.Errorf("User-Agent %q", ua)
		}
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-quit:
			}
		}
		if r.URL.Path == path {
			_, _ = io.WriteString(w, body)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(func() { close(quit); srv.Close() })
	return srv.URL + "/v1"
}

func TestLocalServers(t *testing.T) {
	ollama := server(t, "/api/tags", `{"models":[{"name":"nomic-embed-text"},{"name":"qwen3:8b"}]}`, 0)
	studio := server(t, "/v1/models", `{"data":[{"id":"gpt-oss-20b"}]}`, 0)
	silent := server(t, "/v1/models", `{"data":[{"id":"late"}]}`, time.Minute)
	for _, c := range []struct {
		local map[string]string
		wish  string
		want  string
	}{
		{map[string]string{"ollama": ollama, "lmstudio": studio}, "", "ollama/qwen3:8b"},
		{map[string]string{"lmstudio": studio}, "", "lmstudio/gpt-oss-20b"},
		{map[string]string{"llamacpp": studio, "ollama": silent}, "", "llamacpp/gpt-oss-20b"},
		{map[string]string{"ollama": ollama, "lmstudio": studio}, "lmstudio", "lmstudio/gpt-oss-20b"},
	} {
		local := dead()
		for k, v := range c.local {
			local[k] = v
		}
		ch := chooser(t, Config{Local: local})
		if local["ollama"] == silent {
			ch.wait = 2 * time.Second // time for the others to answer
		}
		start := time.Now()
		got, err := ch.Choose(context.Background(), c.wish)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: %v %v", c.want, got, err)
		}
		if d := time.Since(start); d > 30*time.Second { // a minute, if the silent one were waited for
			t.Errorf("%s: probing took %v", c.want, d)
		}
		if usd, known := got.Facts.Cost(llm.Usage{In: 1}); !known || usd != 0 || got.Facts.Window == 0 {
			t.Errorf("%+v", got.Facts)
		}
	}
	keyed := chooser(t, Config{Local: map[string]string{"ollama": ollama}}, "OPENAI_API_KEY", "k")
	if got, err := keyed.Choose(context.Background()); err != nil || got.Provider != "openai" {
		t.Errorf("a key goes before a local server: %v %v", got, err)
	}
}

func TestOllamaHost(t *testing.T) {
	for in, want := range map[string]string{
		"box": "http://box:11434/v1", "box:99": "http://box:99/v1", "https://box/": "https://box:11434/v1", "0.0.0.0": "http://127.0.0.1:11434/v1",
		"http://box:99/v1": "http://box:99/v1", "box/v1/": "http://box:11434/v1", "http://box:99/api": "http://box:99/v1", "http://box/ollama": "http://box:11434/ollama/v1",
	} {
		if got := ollamaURL(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestKeyHelper(t *testing.T) {
	calls := 0
	ch := chooser(t, Config{KeyHelper: func(context.Context) (string, error) { calls++; return "from-helper", nil }})
	if got, err := ch.Choose(context.Background()); err != nil || got.KeySource != "apiKeyHelper" || calls != 1 {
		t.Errorf("%v %v %d", got, err, calls)
	}
	ch = chooser(t, Config{KeyHelper: func(context.Context) (string, error) { return "", errors.New("exit 1") }})
	if _, err := ch.Choose(context.Background(), "sonnet"); err == nil || !strings.Contains(err.Error(), "apiKeyHelper: exit 1") {
		t.Errorf("%v", err)
	}
}

func TestScriptAndSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.txt")
	if err := os.WriteFile(path, []byte("> hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ch := chooser(t, Config{}, "ANTHROPIC_API_KEY", "k")
	main, err := ch.Choose(context.Background(), "script/"+path)
	if err != nil || main.Provider != "script" || main.Name != path {
		t.Fatalf("%v %v", main, err)
	}
	if small, err := ch.Small(context.Background(), main); err != nil || small.Model != nil {
		t.Errorf("a script has no sibling: %v %v", small, err)
	}
	if main, err = ch.Choose(context.Background(), "opus"); err != nil {
		t.Fatal(err)
	}
	if small, err := ch.Small(context.Background(), main); err != nil || small.String() != "anthropic/claude-haiku-5-5" {
		t.Errorf("%v %v", small, err)
	}
	if small, err := ch.Small(context.Background(), main, "", "sonnet"); err != nil || small.String() != "anthropic/claude-sonnet-5-5" {
		t.Errorf("%v %v", small, err)
	}
}

func TestUserFacts(t *testing.T) {
	ch := chooser(t, Config{Facts: map[string]json.RawMessage{"anthropic/claude-sonnet-5-5": json.RawMessage(`{"window":42}`)}}, "ANTHROPIC_API_KEY", "k")
	got, err := ch.Choose(context.Background(), "sonnet")
	if err != nil || got.Facts.Window != 42 || got.Facts.Source != "settings" {
		t.Errorf("%+v %v", got.Facts, err)
	}
}

func TestList(t *testing.T) {
	local := dead()
	local["ollama"], _ = telling(t, map[string]string{"/api/tags": `{"models":[{"name":"qwen3:8b"}]}`, "/api/show": `{"parameters":"num_ctx 12000"}`})
	rows := chooser(t, Config{Local: local, Aliases: map[string]string{"big": "openai/gpt-4.1"}}, "OPENAI_API_KEY", "secret").List(context.Background())
	if len(rows) < 300 || rows[0].Provider != "openai" || !rows[0].HasKey || rows[0].KeySource != "OPENAI_API_KEY" {
		t.Fatalf("%d rows, %+v", len(rows), rows[0])
	}
	var ollama, big bool
	for i, r := range rows {
		if i > 0 && r.HasKey && !rows[i-1].HasKey {
			t.Errorf("%s/%s with a key after one without", r.Provider, r.Model)
		}
		ollama = ollama || r.Provider == "ollama" && r.Model == "qwen3:8b" && r.Local && r.Facts.Window == 12000
		big = big || r.Model == "gpt-4.1" && r.Provider == "openai" && len(r.Aliases) == 1
	}
	if !ollama || !big {
		t.Errorf("ollama %v, alias %v", ollama, big)
	}
}

// What a person's own server says it has is listed, and so are the names that the
// settings give one; without a key, only where none is configured.
func TestListOfOwnProviders(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/x/v4/models" {
			asked = append(asked, r.Header.Get("Authorization")+" "+r.Header.Get("X-Team")+" "+r.UserAgent())
			_, _ = io.WriteString(w, `{"data":[{"id":"one"},{"id":"text-embed"}]}`)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	c := chooser(t, Config{Version: "7", Local: dead(), Providers: map[string]Provider{
		"mine":   {BaseURL: server.URL + "/x/v4/", Key: "k", Headers: map[string]string{"X-Team": "a"}},
		"named":  {BaseURL: server.URL + "/x/v4", Models: []string{"two"}},
		"keyed":  {BaseURL: "https://keyed.invalid", KeyEnv: "KEYED", Models: []string{"three"}},
		"silent": {BaseURL: strings.Replace(server.URL, "http://", "http://x:secret@", 1) + "/nothing"},
	}})
	got := map[string]Row{}
	for _, r := range c.List(t.Context()) {
		if _, own := c.c.Providers[r.Provider]; own {
			got[r.Provider+"/"+r.Model] = r
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
	for name, want := range map[string]Row{
		"mine/one":    {HasKey: true, KeySource: "the settings (provider mine)", Local: true, Found: true, Usable: true},
		"named/two":   {Local: true, Usable: true},
		"keyed/three": {},
	} {
		r := got[name]
		if r.HasKey != want.HasKey || r.KeySource != want.KeySource || r.Local != want.Local || r.Found != want.Found || r.Usable != want.Usable {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if !slices.Equal(asked, []string{"Bearer k a adze/7"}) {
		t.Errorf("asked %q", asked)
	}
	if c, err := c.Choose(t.Context(), "mine"); err != nil || c.String() != "mine/one" {
		t.Errorf("%v %v", c, err)
	}
	if _, err := c.Choose(t.Context(), "silent"); err == nil || !strings.Contains(hint.Of(err), "--model silent/MODEL") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v: %s", err, hint.Of(err))
	}
}
