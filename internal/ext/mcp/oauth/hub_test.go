package oauth

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/tool"
)

// serveMCP makes the world's server one that speaks MCP, to those who may.
func (w *world) serveMCP() {
	s := sdk.NewServer(&sdk.Implementation{Name: "protected", Version: "1"}, nil)
	s.AddResource(&sdk.Resource{URI: "test://greeting", Name: "greeting"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "test://greeting", Text: "hello"}}}, nil
	})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	w.t.Cleanup(func() { // of connections that could not say goodbye
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	gate := w.rs.Config.Handler
	w.rs.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			probe := httptest.NewRecorder()
			gate.ServeHTTP(probe, r)
			if probe.Code == http.StatusOK {
				inner.ServeHTTP(rw, r)
				return
			}
			for k, v := range probe.Header() {
				rw.Header()[k] = v
			}
			rw.WriteHeader(probe.Code)
			return
		}
		gate.ServeHTTP(rw, r)
	})
}

// A hub and a person, from the first refusal to the last.
func TestWithHub(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	w.serveMCP()
	now := time.Now()
	c, s := w.newClient(t.TempDir(), func(cfg *Config) { cfg.Now = func() time.Time { return now } }), w.settings()
	tells := make(chan mcp.Status, 100)
	all := mcp.New(mcp.Config{Version: "test", Auth: func(servers.Server) auth.OAuthHandler { return c.Handler(s) }})
	defer all.Close()
	hub := all.View(mcp.ViewConfig{Tell: func(st mcp.Status) { tells <- st }})
	state := func(want event.ServerState) mcp.Status {
		t.Helper()
		timeout := time.After(time.Minute)
		for {
			select {
			case st := <-tells:
				w.scan(st.Why)
				if st.State == want {
					return st
				}
			case <-timeout:
				t.Fatalf("never %s: %+v", want, hub.Status())
			}
		}
	}
	hub.Use([]servers.Server{{Name: "srv", Transport: servers.HTTP, URL: s.ServerURL, Approval: servers.Approved}})
	if st := state(event.ServerNeedsAuth); st.Why != (&ErrNeedsSignIn{Server: "srv"}).Error() {
		t.Errorf("%q", st.Why)
	}
	if n := w.count("/authorize"); n != 0 {
		t.Errorf("a browser was opened in the background (%d)", n)
	}
	w.login(c, s)
	if err := hub.Reconnect("srv"); err != nil {
		t.Fatal(err)
	}
	state(event.ServerConnected)
	read := func() (string, error) {
		r, err := hub.Read(t.Context(), "srv", "test://greeting", tool.Env{})
		w.scan(err)
		return fmt.Sprint(r), err
	}
	if got, err := read(); err != nil || !strings.Contains(got, "hello") {
		t.Fatalf("%s %v", got, err)
	}

	// Its token is renewed near its end, and when the server forgot it.
	now = now.Add(56 * time.Minute)
	if _, err := read(); err != nil || w.count("refreshed") != 1 {
		t.Errorf("%v, %d refreshes", err, w.count("refreshed"))
	}
	w.mu.Lock()
	clear(w.access)
	w.mu.Unlock()
	now = now.Add(time.Minute)
	if _, err := read(); err != nil || w.count("refreshed") != 2 {
		t.Errorf("%v, %d refreshes", err, w.count("refreshed"))
	}

	// It wants more for this than for connecting.
	w.mu.Lock()
	w.need = "write"
	w.mu.Unlock()
	if got, err := read(); err == nil || !strings.HasSuffix(err.Error(), "wants more rights for that, read write: sign in again") || hint.Of(err) != "adze mcp login srv" {
		t.Errorf("%s %v", got, err)
	}
	if st := hub.Status()[0]; st.State != event.ServerConnected {
		t.Errorf("%+v", st)
	}
	w.login(c, s)
	if err := hub.Reconnect("srv"); err != nil {
		t.Fatal(err)
	}
	state(event.ServerConnected)
	if _, err := read(); err != nil {
		t.Error(err)
	}

	// Given all it wanted, it refuses: there is no more to sign in for.
	w.mu.Lock()
	for token := range w.access {
		w.access[token] = "read"
	}
	w.mu.Unlock()
	if got, err := read(); err == nil || needs(err) != nil || !strings.HasPrefix(err.Error(), "the MCP server srv refuses that: it wants the rights write") {
		t.Errorf("%s %v", got, err)
	}
	if err := hub.Reconnect("srv"); err != nil {
		t.Fatal(err)
	}
	if st := state(event.ServerFailed); !strings.HasPrefix(st.Why, "the MCP server srv refuses that") || strings.Contains(st.Why, "attempt") {
		t.Errorf("%+v", st)
	}
	for token := range w.access {
		w.access[token] = "read write"
	}
	if err := hub.Reconnect("srv"); err != nil {
		t.Fatal(err)
	}
	state(event.ServerConnected)

	// The sign-in was taken back elsewhere.
	w.mu.Lock()
	clear(w.access)
	clear(w.refresh)
	w.mu.Unlock()
	now = now.Add(time.Minute)
	if got, err := read(); err == nil || needs(err) == nil || hint.Of(err) != "adze mcp login srv" {
		t.Errorf("%s %v", got, err)
	}
	if st := state(event.ServerNeedsAuth); !strings.Contains(st.Why, "does not count any more") {
		t.Errorf("%+v", st)
	}
	w.login(c, s)
	if err := hub.Reconnect("srv"); err != nil {
		t.Fatal(err)
	}
	state(event.ServerConnected)
	if _, err := read(); err != nil {
		t.Error(err)
	}
}
