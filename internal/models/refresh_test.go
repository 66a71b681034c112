package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
)

// keyed is a provider that takes one key.
type keyed struct {
	key   int
	valid *atomic.Int32
}

func (k keyed) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if int(k.valid.Load()) != k.key {
			yield(nil, &llm.Error{Kind: llm.Unauthorized, Err: errors.New("expired")})
			return
		}
		yield(llm.Finished{Stop: llm.EndTurn}, nil)
	}
}

// Fault 46: a key expires under eight sessions at once; it is fetched once.
func TestFault46OneRefreshForAll(t *testing.T) {
	var valid, fetched atomic.Int32
	valid.Store(2)
	m := &refreshed{model: keyed{1, &valid}, renew: func(context.Context) (llm.Model, error) {
		fetched.Add(1)
		return keyed{2, &valid}, nil
	}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, err := range m.Stream(t.Context(), llm.Request{}) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d keys", n)
	}
	valid.Store(3) // the new key is refused, too: the error comes through
	for _, err := range m.Stream(t.Context(), llm.Request{}) {
		if k, _ := llmtest.KindOf(err); err == nil || k != llm.Unauthorized {
			t.Errorf("got %v", err)
		}
	}
}

// A saved key that is refused is read again once: somebody may have logged in
// anew. The same key is not tried twice.
func TestSavedKeyIsReadAgain(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("x-api-key")
		got = append(got, key)
		if key != "second" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	env := map[string]string{"ANTHROPIC_BASE_URL": server.URL}
	o := Config{Home: home, Folders: config.Folders{Config: home, State: home, Cache: home}, Patient: true, Env: func(n string) string { return env[n] }}
	cfg, err := config.Load(config.Options{Files: confedit.Disk{}, Home: home, Folders: o.Folders, Dir: home, Root: home, Env: o.Env})
	if err != nil {
		t.Fatal(err)
	}
	save := func(key string) {
		t.Helper()
		if _, _, err := o.keys().Save(t.Context(), "anthropic", key); err != nil {
			t.Fatal(err)
		}
	}
	save("first")
	m, err := New(o, cfg)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Named(t.Context(), "anthropic/claude-sonnet-4-6")
	if err != nil {
		t.Fatal(err)
	}
	ask := func() llm.Kind {
		t.Helper()
		for _, err := range target.Model.Stream(t.Context(), llm.Request{Model: "claude-sonnet-4-6", MaxTokens: 1, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "x"}}}}}) {
			if k, ok := llmtest.KindOf(err); ok {
				return k
			}
		}
		t.Fatal("no error")
		return 0
	}
	for range 3 {
		if k := ask(); k != llm.Unauthorized {
			t.Errorf("got %v", k)
		}
	}
	save("second")
	if k := ask(); k == llm.Unauthorized {
		t.Errorf("got %v", k)
	}
	// Another session of the process begins with the key that was found.
	if target, err = m.Named(t.Context(), "anthropic/claude-sonnet-4-6"); err != nil {
		t.Fatal(err)
	}
	if k := ask(); k == llm.Unauthorized {
		t.Errorf("got %v", k)
	}
	if want := []string{"first", "first", "first", "first", "first", "second", "second"}; !slices.Equal(got, want) {
		t.Errorf("asked with %v, want %v", got, want)
	}
}

// The person's own command for a key runs once, for all models, sessions and folders of a
// process, and again when its key is refused.
func TestKeyHelperRunsOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it runs a script")
	}
	good := "first"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("x-api-key") == good || r.Header.Get("Authorization") == "Bearer "+good {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	runs, key := filepath.Join(home, "runs"), filepath.Join(home, "key")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	env := map[string]string{"ANTHROPIC_BASE_URL": server.URL, "PATH": os.Getenv("PATH")}
	o := Config{Home: home, Folders: config.Folders{Config: home, State: home, Cache: home}, Environ: []string{"PATH=" + env["PATH"]}, Env: func(n string) string { return env[n] }}
	load := func(more string) *config.Config {
		t.Helper()
		inline := fmt.Sprintf(`{"apiKeyHelper":"echo run >>%s; cat %s","small_model":"anthropic/claude-haiku-4-5"%s}`, runs, key, more)
		cfg, err := config.Load(config.Options{Files: confedit.Disk{}, Home: home, Folders: o.Folders, Dir: home, Root: home, Env: o.Env, Settings: inline})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	m, err := New(o, load(""))
	if err != nil {
		t.Fatal(err)
	}
	other := m.With(load(`,"language":"French"`))
	if other == nil {
		t.Fatal("other models in a folder with another language")
	}
	ask := func(m llm.Model) (refused bool) {
		t.Helper()
		for _, err := range m.Stream(t.Context(), llm.Request{Model: "claude-sonnet-4-6", MaxTokens: 1, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "x"}}}}}) {
			if k, ok := llmtest.KindOf(err); ok {
				return k == llm.Unauthorized
			}
		}
		t.Fatal("no error")
		return false
	}
	ran := func() int {
		t.Helper()
		text, err := os.ReadFile(runs)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "run")
	}
	one, err := m.Named(t.Context(), "anthropic/claude-sonnet-4-6")
	if err != nil {
		t.Fatal(err)
	}
	two, err := other.Named(t.Context(), "anthropic/claude-opus-4-8")
	if err != nil {
		t.Fatal(err)
	}
	small, ok := other.Titles(t.Context(), one.ID())
	if !ok {
		t.Fatal("no small model")
	}
	if ask(one.Model) || ask(two.Model) || ask(small.Model) || ran() != 1 {
		t.Errorf("the command ran %d times", ran())
	}
	good = "second"
	write(good)
	for _, m := range []llm.Model{small.Model, one.Model, two.Model} {
		if ask(m) {
			t.Error("a key that is refused is not fetched anew")
		}
	}
	had := ran()
	if again, err := m.Named(t.Context(), "anthropic/claude-sonnet-4-6"); err != nil || ask(again.Model) || ran() != had {
		t.Errorf("%v; it ran %d times, then %d", err, had, ran())
	}
}
