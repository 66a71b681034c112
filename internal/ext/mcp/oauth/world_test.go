package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/text/hint"
)

func TestMain(m *testing.M) {
	switch os.Getenv("ADZE_OAUTH_TEST") {
	case "race":
		os.Exit(raceChild())
	case "conformance":
		os.Exit(conformanceClient())
	}
	goleak.VerifyTestMain(m)
}

// A world is an MCP server and its authorization server, over real HTTP.
type world struct {
	t  *testing.T
	rs *httptest.Server // the MCP server, at /mcp
	as *httptest.Server

	mu       sync.Mutex
	meta     map[string]any // of the authorization server
	prm      map[string]any // of the MCP server
	scope    string         // of its challenges
	need     string         // a scope that calls need
	path     string         // of the issuer
	lifetime any
	rotate   bool
	clients  map[string]string // id → secret
	codes    map[string]url.Values
	refresh  map[string]url.Values // refresh token → what it was given for
	access   map[string]string     // access token → scopes
	secrets  []string
	seen     []string // method and path of every request, at the authorization server
	counts   map[string]int
	forms    []url.Values // of the token endpoint

	// Faults. Each replaces what is answered.
	onToken     func(w http.ResponseWriter, form url.Values) bool
	onAuthorize func(q url.Values, back url.Values)
	onMCP       func(w http.ResponseWriter, r *http.Request) bool
	idp         *world
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, clients: map[string]string{}, codes: map[string]url.Values{}, refresh: map[string]url.Values{}, access: map[string]string{},
		counts: map[string]int{}, lifetime: 3600, rotate: true,
	}
	w.as = httptest.NewServer(http.HandlerFunc(w.serveAS))
	w.rs = httptest.NewServer(http.HandlerFunc(w.serveRS))
	t.Cleanup(w.as.Close)
	t.Cleanup(w.rs.Close)
	w.meta = map[string]any{
		"issuer": w.as.URL, "authorization_endpoint": w.as.URL + "/authorize", "token_endpoint": w.as.URL + "/token",
		"registration_endpoint": w.as.URL + "/register", "revocation_endpoint": w.as.URL + "/revoke",
		"code_challenge_methods_supported": []string{"plain", "S256"}, "authorization_response_iss_parameter_supported": true,
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
	}
	w.prm = map[string]any{"resource": w.rs.URL + "/mcp", "authorization_servers": []string{w.as.URL}, "scopes_supported": []string{"base"}}
	return w
}

func (w *world) settings() Settings { return Settings{Name: "srv", ServerURL: w.rs.URL + "/mcp"} }

// new makes a secret that must never be seen.
func (w *world) new(kind string) string {
	s := kind + "-" + rand.Text()
	w.secrets = append(w.secrets, s)
	return s
}

func (w *world) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[what]
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (w *world) serveRS(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.onMCP != nil && w.onMCP(rw, r) {
		return
	}
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		if w.prm == nil {
			http.NotFound(rw, r)
			return
		}
		reply(rw, 200, w.prm)
		return
	}
	if r.URL.Path != "/mcp" {
		http.NotFound(rw, r)
		return
	}
	has, ok := w.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	meta := `resource_metadata="` + w.rs.URL + `/.well-known/oauth-protected-resource/mcp"`
	if w.prm == nil {
		meta = `realm="x"`
	}
	switch {
	case !ok:
		rw.Header().Set("WWW-Authenticate", `Bearer `+meta+`, scope="`+w.scope+`"`)
		rw.WriteHeader(401)
	case w.need != "" && !slices.Contains(strings.Fields(has), w.need):
		rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+w.need+`", `+meta)
		rw.WriteHeader(403)
	default:
		_, _ = io.WriteString(rw, "hello")
	}
}

func (w *world) serveAS(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, r.Method+" "+r.URL.Path)
	w.counts[r.URL.Path]++
	switch {
	case slices.Contains([]string{"/.well-known/oauth-authorization-server" + w.path, "/.well-known/openid-configuration" + w.path, w.path + "/.well-known/openid-configuration"}, r.URL.Path):
		if w.meta == nil {
			http.NotFound(rw, r)
			return
		}
		reply(rw, 200, w.meta)
	case r.URL.Path == "/register":
		var m map[string]any
		_ = json.NewDecoder(r.Body).Decode(&m)
		id := "client-" + rand.Text()
		out := map[string]any{"client_id": id, "token_endpoint_auth_method": m["token_endpoint_auth_method"]}
		w.clients[id] = ""
		if m["token_endpoint_auth_method"] != "none" {
			w.clients[id] = w.new("secret")
			out["client_secret"] = w.clients[id]
		}
		if m["application_type"] != "native" || len(m["redirect_uris"].([]any)) != 1 {
			reply(rw, 400, map[string]any{"error": "invalid_client_metadata"})
			return
		}
		reply(rw, 201, out)
	case r.URL.Path == "/authorize":
		w.authorize(rw, r)
	case r.URL.Path == "/token":
		_ = r.ParseForm()
		w.forms = append(w.forms, r.PostForm)
		if w.onToken != nil && w.onToken(rw, r.PostForm) {
			return
		}
		w.token(rw, r)
	case r.URL.Path == "/revoke":
		_ = r.ParseForm()
		delete(w.refresh, r.PostForm.Get("token"))
		delete(w.access, r.PostForm.Get("token"))
		rw.WriteHeader(200)
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if _, ok := w.clients[q.Get("client_id")]; !ok || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" {
		http.Error(rw, "bad request", 400)
		return
	}
	code := w.new("code")
	w.codes[code] = q
	w.secrets = append(w.secrets, q.Get("state"))
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {w.as.URL + w.path}}
	if w.onAuthorize != nil {
		w.onAuthorize(q, back)
	}
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// who is the client of a request, "" when it is not who it says.
func (w *world) who(r *http.Request) string {
	id, pass, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		pass, _ = url.QueryUnescape(pass)
	} else {
		id, pass = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if want, ok := w.clients[id]; !ok || want != pass {
		return ""
	}
	return id
}

func (w *world) token(rw http.ResponseWriter, r *http.Request) {
	f := r.PostForm
	fail := func(status int, code string) {
		reply(rw, status, map[string]any{"error": code, "error_description": "no " + f.Get("refresh_token")})
	}
	id := w.who(r)
	if id == "" && f.Get("client_assertion") == "" {
		fail(401, "invalid_client")
		return
	}
	for _, k := range []string{"code_verifier", "client_assertion", "assertion", "subject_token"} {
		if v := f.Get(k); v != "" {
			w.secrets = append(w.secrets, v)
		}
	}
	out := map[string]any{"token_type": "bearer", "expires_in": w.lifetime}
	scope := f.Get("scope")
	keep := url.Values{"client_id": {id}, "scope": {scope}}
	switch f.Get("grant_type") {
	case "authorization_code":
		q, ok := w.codes[f.Get("code")]
		delete(w.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !ok || q.Get("redirect_uri") != f.Get("redirect_uri") || q.Get("client_id") != id || q.Get("resource") != f.Get("resource") ||
			q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			fail(400, "invalid_grant")
			return
		}
		scope = q.Get("scope")
		keep.Set("scope", scope)
		if strings.Contains(scope, "openid") {
			out["id_token"] = w.idToken(id, q.Get("nonce"))
		}
	case "refresh_token":
		k, ok := w.refresh[f.Get("refresh_token")]
		if !ok || k.Get("client_id") != id {
			w.counts["reused"]++
			fail(400, "invalid_grant")
			return
		}
		if w.rotate {
			delete(w.refresh, f.Get("refresh_token"))
		}
		w.counts["refreshed"]++
		scope, keep = k.Get("scope"), k
		if strings.Contains(scope, "openid") {
			out["id_token"] = w.idToken(id, "")
		}
	case "client_credentials":
	case "urn:ietf:params:oauth:grant-type:token-exchange":
		if f.Get("subject_token_type") != kindID || f.Get("requested_token_type") != kindJAG || f.Get("audience") == "" || f.Get("resource") == "" {
			fail(400, "invalid_request")
			return
		}
		jag := w.new("jag")
		w.access[jag] = f.Get("audience")
		reply(rw, 200, map[string]any{"access_token": jag, "issued_token_type": kindJAG, "token_type": "N_A", "expires_in": 300})
		return
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		w.idp.mu.Lock()
		aud := w.idp.access[f.Get("assertion")]
		w.idp.mu.Unlock()
		if aud != w.as.URL {
			fail(400, "invalid_grant")
			return
		}
	default:
		fail(400, "unsupported_grant_type")
		return
	}
	at, rt := w.new("at"), w.new("rt")
	w.access[at] = scope
	if w.rotate || f.Get("grant_type") != "refresh_token" {
		w.refresh[rt] = keep
		out["refresh_token"] = rt
	}
	out["access_token"], out["scope"] = at, scope
	reply(rw, 200, out)
}

func (w *world) idToken(client, nonce string) string {
	exp := int64(4102444800) // 2100
	if n, ok := w.meta["test_exp"].(int64); ok {
		exp = n
	}
	body, _ := json.Marshal(map[string]any{"iss": w.as.URL, "aud": client, "exp": exp, "nonce": nonce, "jti": rand.Text()})
	t := "e30." + base64.RawURLEncoding.EncodeToString(body) + ".c2ln"
	w.secrets = append(w.secrets, t)
	return t
}

// A robot is a browser that agrees to everything.
type robot struct {
	t     *testing.T
	pages []string
	paste chan string // nil: it is on this machine
	probs []string
	open  func(page string) error
}

func (b *robot) Open(_ context.Context, page string) error {
	b.pages = append(b.pages, page)
	if b.open != nil {
		return b.open(page)
	}
	return follow(page)
}

// follow goes where a page leads.
func follow(page string) error {
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr}).Get(page)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close()
}

// last goes where a page leads, up to the redirect to this machine.
func last(t *testing.T, page string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.Header.Get("Location")
}

func (b *robot) Paste(ctx context.Context, problem error) (string, error) {
	if problem != nil {
		b.probs = append(b.probs, problem.Error())
	}
	if b.paste == nil {
		return "", io.EOF
	}
	select {
	case s := <-b.paste:
		return s, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// newClient is one of a process with a home of its own.
func (w *world) newClient(dir string, edit ...func(*Config)) *Client {
	cfg := Config{Store: auth.Store{Dir: dir}, Version: "test", Secret: func(_ context.Context, ref string) (string, error) {
		if ref == "broken" {
			return "", errors.New("no such variable")
		}
		return ref, nil
	}}
	for _, e := range edit {
		e(&cfg)
	}
	c := New(cfg)
	w.t.Cleanup(c.Close)
	return c
}

// call does what a connection does: one try, and another after Authorize.
func call(ctx context.Context, c *Client, s Settings) (int, error) {
	h := c.Handler(s)
	hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for again := false; ; again = true {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.ServerURL, strings.NewReader("{}"))
		if err != nil {
			return 0, err
		}
		ts, err := h.TokenSource(ctx)
		if err != nil {
			return 0, err
		}
		if ts != nil {
			tok, err := ts.Token()
			if err != nil {
				return 0, err
			}
			req.Header.Set("Authorization", "Bearer "+tok.AccessToken)
		}
		resp, err := hc.Do(req)
		if err != nil {
			return 0, err
		}
		if resp.StatusCode != 401 && resp.StatusCode != 403 || again {
			_ = resp.Body.Close()
			return resp.StatusCode, nil
		}
		if err := h.Authorize(ctx, req, resp); err != nil {
			return resp.StatusCode, err
		}
	}
}

// scan finds secrets in what people or logs could see.
func (w *world) scan(texts ...any) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range texts {
		if x == nil {
			continue
		}
		all := fmt.Sprintf("%v\n%+v\n%#v\n%q", x, x, x, x)
		if err, ok := x.(error); ok {
			all += hint.Of(err)
			for e := err; e != nil; e = errors.Unwrap(e) {
				all += fmt.Sprintf("%v %+v %#v", e, e, e)
			}
		}
		for _, s := range w.secrets {
			if strings.Contains(all, s) || strings.Contains(all, url.QueryEscape(s)) {
				w.t.Errorf("a secret (%s…) is in %.200s", s[:5], all)
			}
		}
		if strings.ContainsAny(all, "\x1b\x07") {
			w.t.Errorf("control characters in %q", all)
		}
	}
}

// login signs in and fails the test when it does not.
func (w *world) login(c *Client, s Settings) *robot {
	w.t.Helper()
	b := &robot{t: w.t}
	if err := c.Login(w.t.Context(), s, b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

func needs(err error) *ErrNeedsSignIn {
	need := (*ErrNeedsSignIn)(nil)
	errors.As(err, &need)
	return need
}
