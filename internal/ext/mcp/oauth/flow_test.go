package oauth

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestSignIn(t *testing.T) {
	w := newWorld(t)
	w.scope = "read write"
	dir := filepath.Join(t.TempDir(), "mcp")
	c, s := w.newClient(dir), w.settings()
	status, err := call(t.Context(), c, s)
	if n := needs(err); status != 401 || n == nil || n.Server != "srv" || n.Hint() != "adze mcp login srv" || n.More {
		t.Fatalf("%d %v", status, err)
	}
	if st, err := c.Status(t.Context(), s); err != nil || st.SignedIn {
		t.Errorf("%+v %v", st, err)
	}
	b := w.login(c, s)
	q := page(t, b)
	for k, want := range map[string]string{"resource": w.rs.URL + "/mcp", "scope": "read write", "response_type": "code", "code_challenge_method": "S256"} {
		if q.Get(k) != want {
			t.Errorf("%s is %q, not %q", k, q.Get(k), want)
		}
	}
	if len(q.Get("state")) < 20 || len(q.Get("code_challenge")) != 43 || !strings.HasPrefix(q.Get("redirect_uri"), "http://localhost:") {
		t.Errorf("%v", q)
	}
	if status, err := call(t.Context(), c, s); status != 200 || err != nil {
		t.Fatalf("%d %v", status, err)
	}
	st, err := c.Status(t.Context(), s)
	if err != nil || !st.SignedIn || !st.Renews || st.Issuer != w.as.URL || !reflect.DeepEqual(st.Scopes, []string{"read", "write"}) || st.Expires.IsZero() {
		t.Errorf("%+v %v", st, err)
	}
	w.scan(st, c.Handler(s), c.server(s).r)

	// Another process uses what this one saved.
	if status, err := call(t.Context(), w.newClient(dir), s); status != 200 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	info, err := os.Stat(filepath.Join(dir, "credentials.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}

	// Nobody is signed in any more, and the server knows.
	told, err := c.Logout(t.Context(), s)
	if told != nil || err != nil || len(w.refresh)+len(w.access) != 0 || w.count("/revoke") != 2 {
		t.Errorf("%v %v %d %d", told, err, len(w.refresh), len(w.access))
	}
	if _, err := call(t.Context(), c, s); needs(err) == nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "credentials.json"))
	w.scan(string(raw), err)
}

func page(t *testing.T, b *robot) url.Values {
	t.Helper()
	if len(b.pages) != 1 {
		t.Fatalf("%d pages were opened", len(b.pages))
	}
	u, err := url.Parse(b.pages[0])
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// Each place where a server and an authorization server may describe themselves.
func TestDiscovery(t *testing.T) {
	only := func(paths ...string) func(*world) {
		return func(w *world) {
			rs, as := w.rs.Config.Handler, w.as.Config.Handler
			pass := func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, ".well-known") {
						for _, p := range paths {
							if p == r.URL.Path {
								next.ServeHTTP(rw, r)
								return
							}
						}
						http.NotFound(rw, r)
						return
					}
					next.ServeHTTP(rw, r)
				})
			}
			w.rs.Config.Handler, w.as.Config.Handler = pass(rs), pass(as)
		}
	}
	at := func(path string) func(*world) {
		return func(w *world) {
			w.path = path
			w.meta["issuer"] = w.as.URL + path
			w.prm["authorization_servers"] = []string{w.as.URL + path}
		}
	}
	const prm, prmPath, oas, oidc = "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	for name, edits := range map[string][]func(*world){
		"path, RFC 8414":         {only(prmPath, oas)},
		"path, OpenID":           {only(prmPath, oidc)},
		"root":                   {only(prm, oas), func(w *world) { w.prm["resource"] = w.rs.URL }},
		"root with a slash":      {only(prm, oas), func(w *world) { w.prm["resource"] = w.rs.URL + "/" }},
		"tenant, inserted":       {at("/tenant"), only(prmPath, oas+"/tenant")},
		"tenant, OpenID":         {at("/tenant"), only(prmPath, oidc+"/tenant")},
		"tenant, OpenID at end":  {at("/tenant"), only(prmPath, "/tenant"+oidc)},
		"the second of two":      {func(w *world) { w.prm["authorization_servers"] = []string{w.as.URL + "/none", w.as.URL} }},
		"issuer ends in a slash": {func(w *world) { w.prm["authorization_servers"] = []string{w.as.URL + "/"} }},
		"set by a person":        {func(w *world) { w.prm = nil }},
		"set by a person, instead of what the server says": {func(w *world) { w.prm["resource"] = "https://other.example" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, e := range edits {
				e(w)
			}
			s := w.settings()
			if strings.HasPrefix(name, "set by a person") {
				s.MetadataURL = w.as.URL + oas
			}
			c := w.newClient(t.TempDir())
			w.login(c, s)
			if status, err := call(t.Context(), c, s); status != 200 || err != nil {
				t.Errorf("%d %v", status, err)
			}
		})
	}
}

// A server of 2025-03-26 is its own authorization server, with metadata or at the
// endpoints that the revision names.
func TestOldServers(t *testing.T) {
	for _, described := range []string{"as its root", "below its root", ""} {
		w := newWorld(t)
		w.prm = nil
		inner := w.rs.Config.Handler
		w.rs.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp" || strings.Contains(r.URL.Path, "protected-resource") {
				inner.ServeHTTP(rw, r)
				return
			}
			w.serveAS(rw, r)
		})
		iss := w.rs.URL
		switch described {
		case "below its root":
			iss += "/oauth"
		case "":
			w.meta = nil
		}
		for k, v := range w.meta {
			if text, ok := v.(string); ok {
				w.meta[k] = strings.Replace(text, w.as.URL, w.rs.URL, 1)
			}
		}
		if w.meta != nil {
			w.meta["issuer"] = iss
		}
		w.onAuthorize = func(_, back url.Values) { back.Set("iss", iss) }
		s := w.settings()
		c := w.newClient(t.TempDir())
		w.login(c, s)
		if status, err := call(t.Context(), c, s); status != 200 || err != nil {
			t.Errorf("described %s: %d %v", described, status, err)
		}
	}
}

func TestClients(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*world, *Settings, *Config)
		check  func(*testing.T, *world, url.Values)
		method string
	}{
		"registered, public": {func(*world, *Settings, *Config) {}, func(t *testing.T, w *world, q url.Values) {
			if w.counts["/register"] != 1 || !strings.HasPrefix(q.Get("client_id"), "client-") {
				t.Error(q)
			}
		}, ""},
		"registered, basic": {func(w *world, _ *Settings, _ *Config) {
			w.meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
		}, nil, ""},
		"registered, post": {func(w *world, _ *Settings, _ *Config) {
			w.meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		}, nil, ""},
		"by its document": {func(w *world, _ *Settings, c *Config) {
			w.meta["client_id_metadata_document_supported"] = true
			c.ClientDocument = "https://adze.example/client.json"
			w.clients[c.ClientDocument] = ""
		}, func(t *testing.T, w *world, q url.Values) {
			if q.Get("client_id") != "https://adze.example/client.json" || w.counts["/register"] != 0 {
				t.Error(q)
			}
		}, ""},
		"documents are not taken": {func(w *world, _ *Settings, c *Config) { c.ClientDocument = "https://adze.example/client.json" }, func(t *testing.T, w *world, _ url.Values) {
			if w.counts["/register"] != 1 {
				t.Error("not registered")
			}
		}, ""},
		"of the settings": {func(w *world, s *Settings, c *Config) {
			w.meta["client_id_metadata_document_supported"] = true
			c.ClientDocument = "https://adze.example/client.json"
			s.ClientID = "mine"
			w.clients["mine"] = ""
		}, func(t *testing.T, w *world, q url.Values) {
			if q.Get("client_id") != "mine" || w.counts["/register"] != 0 {
				t.Error(q)
			}
		}, ""},
		"of the settings, with a secret": {func(w *world, s *Settings, _ *Config) {
			s.ClientID, s.ClientSecretRef = "mine:x", "pass word/+%"
			w.clients["mine:x"] = "pass word/+%"
			w.secrets = append(w.secrets, "pass word/+%")
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.settings()
			cl := w.newClient(t.TempDir(), func(cfg *Config) { c.edit(w, &s, cfg) })
			b := w.login(cl, s)
			if c.check != nil {
				c.check(t, w, page(t, b))
			}
			if status, err := call(t.Context(), cl, s); status != 200 || err != nil {
				t.Errorf("%d %v", status, err)
			}
			// The same client refreshes.
			v := cl.server(s)
			if err := v.renew(t.Context(), v.r.Access); err != nil || w.count("refreshed") != 1 {
				t.Errorf("%v", err)
			}
			// And is forgotten with its tokens.
			if told, err := cl.Logout(t.Context(), s); told != nil || err != nil {
				t.Errorf("%v %v", told, err)
			}
		})
	}
	w := newWorld(t)
	delete(w.meta, "registration_endpoint")
	err := w.newClient(t.TempDir()).Login(t.Context(), w.settings(), &robot{})
	if err == nil || !strings.Contains(err.Error(), "registers no programs") {
		t.Error(err)
	}
}

// Scopes: of the settings, of the challenge, of the metadata, or none.
func TestScopes(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*world, *Settings)
		want string
	}{
		"challenge": {func(w *world, _ *Settings) { w.scope = "a b" }, "a b"},
		"metadata":  {func(*world, *Settings) {}, "base"},
		"none":      {func(w *world, _ *Settings) { delete(w.prm, "scopes_supported") }, ""},
		"settings":  {func(w *world, s *Settings) { w.scope, s.Scopes = "a b", []string{"mine"} }, "mine"},
		"offline":   {func(w *world, _ *Settings) { w.meta["scopes_supported"] = []string{"offline_access", "z"} }, "base offline_access"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.settings()
			c.edit(w, &s)
			q := page(t, w.login(w.newClient(t.TempDir()), s))
			if q.Get("scope") != c.want || q.Has("scope") != (c.want != "") || (q.Get("prompt") == "consent") != (name == "offline") {
				t.Errorf("%v", q)
			}
		})
	}
}

// The server has another authorization server since: nothing of the first is
// taken there, and its tokens are not renewed.
func TestMoved(t *testing.T) {
	w, next := newWorld(t), newWorld(t)
	now := time.Now()
	c, s := w.newClient(t.TempDir(), func(cfg *Config) { cfg.Now = func() time.Time { return now } }), w.settings()
	w.login(c, s)
	now = now.Add(time.Minute)
	w.mu.Lock()
	first := c.server(s).r
	clear(w.access)
	w.prm["authorization_servers"] = []string{next.as.URL}
	w.mu.Unlock()
	if _, err := call(t.Context(), c, s); needs(err) == nil || !strings.Contains(err.Error(), "another authorization server") || w.count("refreshed") != 0 {
		t.Fatal(err)
	}
	b := &robot{}
	if err := c.Login(t.Context(), s, b); err != nil {
		t.Fatal(err)
	}
	if q := page(t, b); next.count("/register") != 1 || q.Get("client_id") == first.ClientID || c.server(s).r.Issuer != next.as.URL {
		t.Errorf("%v", q)
	}
	for _, f := range next.forms {
		if f.Get("client_id") == first.ClientID || f.Get("refresh_token") != "" {
			t.Errorf("%v", f)
		}
	}
	list, err := c.store.List()
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// What the first request of a connection is refused for is not hidden by the
// second, which the SDK sends to older servers.
func TestDiscoverIsRefused(t *testing.T) {
	w := newWorld(t)
	c, s := w.newClient(t.TempDir()), w.settings()
	h := c.Handler(s)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.ServerURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Method", "server/discover")
	refused := func() error {
		return h.Authorize(t.Context(), req, &http.Response{StatusCode: 401, Body: http.NoBody, Header: http.Header{}})
	}
	if err := refused(); needs(err) == nil {
		t.Fatal(err)
	}
	if _, err := h.TokenSource(t.Context()); needs(err) == nil {
		t.Error(err)
	}
	if ts, err := h.TokenSource(t.Context()); ts != nil || err != nil {
		t.Error("it is said twice", err)
	}
}

func TestMoreRights(t *testing.T) {
	w := newWorld(t)
	w.scope = "read"
	dir := t.TempDir()
	c, s := w.newClient(dir), w.settings()
	w.login(c, s)
	w.need = "write"
	status, err := call(t.Context(), c, s)
	n := needs(err)
	if status != 403 || n == nil || !n.More || !reflect.DeepEqual(n.Scopes, []string{"read", "write"}) {
		t.Fatalf("%d %+v", status, err)
	}
	if want := "the MCP server srv wants more rights for that, read write: sign in again"; n.Error() != want {
		t.Errorf("%q", n)
	}
	w.scan(err)
	b := w.login(w.newClient(dir), s) // in another process
	if q := page(t, b); q.Get("scope") != "read write" {
		t.Errorf("%v", q)
	}
	if status, err := call(t.Context(), c, s); status != 200 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	// A server that is given what it wants, and refuses all the same, is not asked
	// for ever.
	for k := range w.access {
		w.access[k] = "read"
	}
	if _, err := call(t.Context(), c, s); err == nil || needs(err) != nil {
		t.Errorf("%v", err)
	}
	w.onMCP = func(rw http.ResponseWriter, _ *http.Request) bool { rw.WriteHeader(403); return true }
	if _, err := call(t.Context(), c, s); err == nil || needs(err) != nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("%v", err)
	}
}

// The browser is on another machine: the address that it ended at is pasted.
func TestPaste(t *testing.T) {
	w := newWorld(t)
	c, s := w.newClient(t.TempDir()), w.settings()
	b := &robot{paste: make(chan string, 4)}
	b.open = func(page string) error {
		end := last(t, page)
		u, _ := url.Parse(end)
		q := u.Query()
		q.Set("state", "another")
		b.paste <- "what?"
		b.paste <- u.Path + "?" + q.Encode()
		b.paste <- "  " + end + "\n"
		return nil
	}
	if err := c.Login(t.Context(), s, b); err != nil {
		t.Fatal(err)
	}
	if len(b.probs) != 2 || !strings.Contains(b.probs[0], "not the address") || !strings.Contains(b.probs[1], "state") {
		t.Errorf("%q", b.probs)
	}
	if status, err := call(t.Context(), c, s); status != 200 || err != nil {
		t.Errorf("%d %v", status, err)
	}
}

func TestLoginEnds(t *testing.T) {
	w := newWorld(t)
	c, s := w.newClient(t.TempDir()), w.settings()
	ctx, cancel := context.WithCancel(t.Context())
	err := c.Login(ctx, s, &robot{open: func(string) error { cancel(); return nil }, paste: make(chan string)})
	if err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
	b := &robot{open: func(page string) error { // what comes to the port from anybody
		u, _ := url.Parse(page)
		at := u.Query().Get("redirect_uri")
		for _, path := range []string{"?code=x&state=wrong", "?code=x", "/other", "?error=x"} {
			if err := follow(at + path); err != nil {
				t.Error(err)
			}
		}
		req, _ := http.NewRequest(http.MethodGet, at+"?code=x&state="+u.Query().Get("state"), nil)
		req.Host = "evil.example:80" // a name that was made to lead here
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil || resp.StatusCode != 404 {
			t.Errorf("%v %v", resp, err)
		}
		_ = resp.Body.Close()
		return follow(page)
	}}
	if err := c.Login(t.Context(), s, b); err != nil {
		t.Errorf("strangers ended the sign-in: %v", err)
	}
	l, err := listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(l.address)
	for _, x := range l.all {
		defer x.Close()
	}
	s.CallbackPort = atoi(t, u.Port())
	if err := c.Login(t.Context(), s, &robot{}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
}

func TestCredentials(t *testing.T) {
	for _, method := range []string{"client_secret_basic", "client_secret_post", "private_key_jwt"} {
		w := newWorld(t)
		w.meta["token_endpoint_auth_methods_supported"] = []string{method}
		w.clients["robot"] = "pass"
		s := w.settings()
		s.Flow, s.ClientID, s.ClientSecretRef = Credentials, "robot", "pass"
		if method == "private_key_jwt" {
			s.ClientSecretRef, s.PrivateKeyRef = "", testKey(t)
			w.secrets = append(w.secrets, s.PrivateKeyRef)
		}
		c := w.newClient(t.TempDir())
		if status, err := call(t.Context(), c, s); status != 200 || err != nil {
			t.Fatalf("%s: %d %v", method, status, err)
		}
		if f := w.forms[0]; f.Get("grant_type") != "client_credentials" || f.Get("resource") == "" || f.Get("scope") != "base" {
			t.Errorf("%v", f)
		}
		// More rights need no person here.
		w.need = "write"
		if status, err := call(t.Context(), c, s); status != 200 || err != nil {
			t.Errorf("%s: %d %v", method, status, err)
		}
		// Nor does a token whose time is over.
		v := c.server(s)
		v.mu.Lock()
		v.r.Issued = v.r.Issued.Add(-time.Hour)
		old := v.r
		v.mu.Unlock()
		if err := c.write(t.Context(), s.key(), old); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		clear(w.access)
		w.mu.Unlock()
		if status, err := call(t.Context(), c, s); status != 200 || err != nil {
			t.Errorf("%s: %d %v", method, status, err)
		}
	}
}

// One sign-in with the company's provider is good for all servers.
func TestCrossApp(t *testing.T) {
	idp := newWorld(t)
	idp.clients["adze"] = "idp pass"
	dir := t.TempDir()
	var all []Settings
	for i := range 2 {
		w := newWorld(t)
		w.idp = idp
		w.clients["app"] = "app pass"
		s := w.settings()
		s.Flow, s.ClientID, s.ClientSecretRef = CrossApp, "app", "app pass"
		s.IdP = IdP{Issuer: idp.as.URL, ClientID: "adze", ClientSecretRef: "idp pass", Scopes: []string{"email"}}
		all = append(all, s)
		c := w.newClient(dir)
		status, err := call(t.Context(), c, s)
		if i == 0 {
			if n := needs(err); n == nil || !strings.Contains(n.Why, "nobody is signed in") {
				t.Fatalf("%d %v", status, err)
			}
			b := w.login(c, s)
			if q := page(t, b); q.Get("scope") != "openid email" || q.Get("nonce") == "" {
				t.Errorf("%v", q)
			}
			status, err = call(t.Context(), c, s)
		}
		if status != 200 || err != nil {
			t.Fatalf("%d: %d %v", i, status, err)
		}
		w.scan(c.server(s).r)
		if f := idp.forms[len(idp.forms)-1]; f.Get("audience") != w.as.URL || f.Get("resource") != s.ServerURL {
			t.Errorf("%v", f)
		}
	}
	if n := idp.count("/authorize"); n != 1 {
		t.Errorf("%d sign-ins", n)
	}
	w := newWorld(t)
	if told, err := w.newClient(dir).LogoutIdP(t.Context(), all[0]); told != nil || err != nil {
		t.Errorf("%v %v", told, err)
	}
	r, _, err := w.newClient(dir).read(t.Context(), all[0].IdP.key())
	if r.ID != "" || err != nil {
		t.Errorf("%v %v", r, err)
	}
}

// The provider's ID token is renewed, checked, and a person is asked when it can
// not be.
func TestIdentity(t *testing.T) {
	idp, w := newWorld(t), newWorld(t)
	w.idp = idp
	idp.clients["adze"], w.clients["app"] = "", ""
	s := w.settings()
	s.Flow, s.ClientID, s.IdP = CrossApp, "app", IdP{Issuer: idp.as.URL, ClientID: "adze"}
	now := time.Now()
	idp.meta["test_exp"] = now.Add(10 * time.Minute).Unix()
	c := w.newClient(t.TempDir(), func(cfg *Config) { cfg.Now = func() time.Time { return now } })
	w.login(c, s)
	now = now.Add(time.Hour)
	idp.meta["test_exp"] = now.Add(time.Hour).Unix()
	w.mu.Lock()
	clear(w.access)
	w.mu.Unlock()
	if status, err := call(t.Context(), c, s); status != 200 || err != nil || idp.count("refreshed") != 1 {
		t.Errorf("%d %v", status, err)
	}
	now = now.Add(2 * time.Hour)
	clear(idp.refresh)
	w.mu.Lock()
	clear(w.access)
	w.mu.Unlock()
	if _, err := call(t.Context(), c, s); needs(err) == nil || !strings.Contains(err.Error(), "is over") {
		t.Error(err)
	}
	for name, token := range map[string]string{
		"another issuer": `{"iss":"https://evil.example","aud":"adze","exp":4102444800}`,
		"another client": `{"iss":"I","aud":["x"],"exp":4102444800}`,
		"time is over":   `{"iss":"I","aud":"adze","exp":1}`,
		"no ID token":    `[]`,
	} {
		_, err := identity(jwtOf(strings.Replace(token, `"I"`, `"`+idp.as.URL+`"`, 1)), idp.as.URL, "adze", now)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
