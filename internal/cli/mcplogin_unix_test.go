//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A guarded is an MCP server with one tool, hello, that wants people to sign in,
// and the authorization server that it names.
type guarded struct {
	*httptest.Server
	mu     sync.Mutex
	codes  map[string]string // to the challenge that they were given for
	tokens map[string]bool
}

func newGuarded(t *testing.T) *guarded {
	g := &guarded{codes: map[string]string{}, tokens: map[string]bool{}}
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "hello"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "from the inside"}}}, nil, nil
	})
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	say := func(w http.ResponseWriter, v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		known := g.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		g.mu.Unlock()
		if !known {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/prm"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	mux.HandleFunc("/prm", func(w http.ResponseWriter, _ *http.Request) {
		say(w, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		say(w, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
			"revocation_endpoint": g.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		say(w, map[string]any{"client_id": "adze"})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q, code := r.URL.Query(), rand.Text()
		g.mu.Lock()
		g.codes[code] = q.Get("code_challenge")
		g.mu.Unlock()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		sum, token := sha256.Sum256([]byte(r.PostFormValue("code_verifier"))), rand.Text()
		g.mu.Lock()
		defer g.mu.Unlock()
		if want := g.codes[r.PostFormValue("code")]; want == "" || want != base64.RawURLEncoding.EncodeToString(sum[:]) {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		g.tokens[token] = true
		say(w, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
	})
	mux.HandleFunc("/revoke", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.tokens, r.PostFormValue("token"))
	})
	return g
}

// browse is a browser: it opens the page that stands in a text, and goes where it
// is led.
func (g *guarded) browse(t *testing.T, text string) {
	t.Helper()
	page := regexp.MustCompile(regexp.QuoteMeta(g.URL) + `/authorize\?[^\s\x1b]+`).FindString(text)
	if page == "" {
		t.Fatalf("no page to sign in is named: %s", text)
	}
	resp, err := g.Client().Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || !strings.Contains(string(b), "adze has the answer") {
		t.Errorf("%d %s", resp.StatusCode, b)
	}
}

// A person signs in and out from inside a session; a sign-in of another process
// counts from the next prompt on.
func TestUISignsInToServers(t *testing.T) {
	p, g := newPlace(t), newGuarded(t)
	p.startedBefore()
	settings, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"notes": map[string]any{"type": "http", "url": g.URL + "/mcp"}}, "permissions": map[string]any{"allow": []string{"mcp__notes"}}})
	model := p.put("model.txt", "@ mcp__notes__hello {}\n---\n? result contains \"from the inside\"\n> First, that is it.\n---\n? else\n> First failed.\n---\n@ mcp__notes__hello {}\n---\n? result contains \"from the inside\"\n> Second, that is it.\n---\n? else\n> Second failed.\n")
	if err := os.WriteFile(filepath.Join(p.home, ".adze", "settings.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	x := p.inTerminal(p.adze("--model", "script/"+model, "--sandbox", "off"), 80, 24)
	x.until(`needs you to sign in: /mcp login notes`)
	x.keys("/mcp login notes", enter)
	x.until(`paste the address`)
	x.mu.Lock()
	written := string(x.bytes)
	x.mu.Unlock()
	g.browse(t, written)
	x.until("notes is connected, with 1 tool")
	x.keys("say hello", enter)
	x.until(`First, that is it\.`)
	x.keys("/mcp logout notes", enter)
	x.until(`Signed out\. notes is needs-auth: sign in with /mcp login notes`)
	g.mu.Lock()
	left := len(g.tokens)
	g.mu.Unlock()
	if left != 0 {
		t.Errorf("%d tokens were not revoked", left)
	}
	c := p.adze("mcp", "login", "notes")
	stdin, err := c.StdinPipe() // nobody types
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), g.URL) {
	}
	g.browse(t, lines.Text())
	for lines.Scan() {
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	x.keys("hello again", enter)
	x.until(`Second, that is it\.`)
	x.keys("/mcp", enter)
	x.until(`notes\W+connected\W+1 `)
}
