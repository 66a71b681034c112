package oauth

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What servers say is not believed. Each of these ends the sign-in with a
// reason, before a page is opened unless opened says otherwise.
func TestHostile(t *testing.T) {
	big := strings.Repeat("x", 20<<20)
	for name, c := range map[string]struct {
		edit   func(*world)
		want   string
		opened bool
	}{
		"nothing is said":      {func(w *world) { w.prm, w.meta = nil, nil }, "does not say where to sign in", false},
		"another issuer":       {func(w *world) { w.meta["issuer"] = "https://honest.example" }, "says that it is another one", false},
		"no issuer":            {func(w *world) { delete(w.meta, "issuer") }, "says that it is another one", false},
		"issuer in upper case": {func(w *world) { w.meta["issuer"] = strings.ToUpper(w.as.URL) }, "says that it is another one", false},
		"another server":       {func(w *world) { w.prm["resource"] = "https://evil.example.com/mcp" }, "says that it is another server", false},
		"another path":         {func(w *world) { w.prm["resource"] = w.rs.URL + "/mc" }, "says that it is another server", false},
		"all of the host, said by a part": {func(w *world) {
			w.prm["resource"] = w.rs.URL
			w.onMCP = func(rw http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/mcp" {
					rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.rs.URL+`/mcp/says"`)
					rw.WriteHeader(http.StatusUnauthorized)
				} else {
					reply(rw, http.StatusOK, w.prm)
				}
				return true
			}
		}, "says that it is another server", false},
		"path with dots":          {func(w *world) { w.prm["resource"] = w.rs.URL + "/x/../mcp" }, "says that it is another server", false},
		"no resource":             {func(w *world) { delete(w.prm, "resource") }, "says that it is another server", false},
		"no authorization server": {func(w *world) { w.prm["authorization_servers"] = []string{} }, "but not where", false},
		"http issuer":             {func(w *world) { w.prm["authorization_servers"] = []string{"http://as.example.com"} }, "not encrypted", false},
		"file issuer":             {func(w *world) { w.prm["authorization_servers"] = []string{"file:///etc/passwd"} }, "no web address", false},
		"issuer with a password":  {func(w *world) { w.prm["authorization_servers"] = []string{"https://a:b@as.example.com"} }, "a name or a password", false},
		"issuer with dots":        {func(w *world) { w.prm["authorization_servers"] = []string{w.as.URL + "/../x"} }, "has . or ..", false},
		"http token endpoint":     {func(w *world) { w.meta["token_endpoint"] = "http://as.example.com/token" }, "not encrypted", false},
		"http registration":       {func(w *world) { w.meta["registration_endpoint"] = "http://as.example.com/register" }, "not encrypted", false},
		"http revocation":         {func(w *world) { w.meta["revocation_endpoint"] = "http://as.example.com/r" }, "not encrypted", false},
		"javascript page":         {func(w *world) { w.meta["authorization_endpoint"] = "javascript:alert(1)" }, "no web address", false},
		"javascript with slashes": {func(w *world) { w.meta["authorization_endpoint"] = "javascript://x/%0aalert(1)" }, "neither https nor http", false},
		"data page":               {func(w *world) { w.meta["authorization_endpoint"] = "data:text/html,x" }, "no web address", false},
		"page with a fragment":    {func(w *world) { w.meta["authorization_endpoint"] = w.as.URL + "/authorize#x" }, "fragment", false},
		"page is a command":       {func(w *world) { w.meta["authorization_endpoint"] = "-rf /" }, "no web address", false},
		"commands in the page":    {func(w *world) { w.meta["authorization_endpoint"] = w.as.URL + "/authorize/$(calc)" }, "shells", false},
		"a quote in the page":     {func(w *world) { w.meta["authorization_endpoint"] = w.as.URL + "/authorize/';calc;'" }, "shells", false},
		"commands in the host":    {func(w *world) { w.meta["authorization_endpoint"] = "https://a$(calc).example/authorize" }, "shells", false},
		"commands in the query": {func(w *world) {
			w.meta["authorization_endpoint"] = w.as.URL + "/authorize?x=$(calc)`calc`';&redirect_uri=https://evil.example&state=x"
			w.onAuthorize = func(_, back url.Values) { back.Del("code"); back.Set("error", "access_denied") }
		}, "the sign-in was refused", true},
		"long page":               {func(w *world) { w.meta["authorization_endpoint"] = w.as.URL + "/" + strings.Repeat("a", 5000) }, "longer than", false},
		"no page":                 {func(w *world) { delete(w.meta, "authorization_endpoint") }, "no page to sign in", false},
		"no token endpoint":       {func(w *world) { delete(w.meta, "token_endpoint") }, "no token endpoint", false},
		"escapes in an endpoint":  {func(w *world) { w.meta["token_endpoint"] = "ftp://\x1b]0;x\x07/" }, "token endpoint", false},
		"no PKCE":                 {func(w *world) { delete(w.meta, "code_challenge_methods_supported") }, "PKCE", false},
		"plain PKCE":              {func(w *world) { w.meta["code_challenge_methods_supported"] = []string{"plain", "s256"} }, "PKCE", false},
		"20 MB of metadata":       {func(w *world) { w.meta["x"] = big }, "more than 1024 KiB", false},
		"20 MB of description":    {func(w *world) { w.prm["x"] = big }, "more than 1024 KiB", false},
		"metadata of other types": {func(w *world) { w.meta["token_endpoint"] = []int{1} }, "does not describe itself", false},
		"redirect elsewhere": {func(w *world) {
			w.as.Config.Handler = http.RedirectHandler("https://evil.example.com/x", http.StatusFound)
		}, "redirects to another host (evil.example.com)", false},
		"redirect to its neighbour": {func(w *world) {
			w.as.Config.Handler = http.RedirectHandler(w.rs.URL+"/x", http.StatusTemporaryRedirect)
		}, "redirects to another host", false},
		"redirect without end": {func(w *world) {
			w.as.Config.Handler = http.RedirectHandler("/.well-known/oauth-authorization-server", http.StatusFound)
		}, "redirects without end", false},
		"registration redirects": {func(w *world) { w.meta["registration_endpoint"] = w.as.URL + "/moved"; redirect(w, "/moved") }, "holds secrets", false},
		"registration refused":   {func(w *world) { w.meta["registration_endpoint"] = w.as.URL + "/none" }, "could not be registered", false},
		"another state": {func(w *world) {
			w.onAuthorize = func(_, back url.Values) { back.Set("state", "x") }
		}, "belongs to another sign-in", true},
		"no state":    {func(w *world) { w.onAuthorize = func(_, back url.Values) { back.Del("state") } }, "belongs to another sign-in", true},
		"two states":  {func(w *world) { w.onAuthorize = func(_, back url.Values) { back.Add("state", "x") } }, "belongs to another sign-in", true},
		"another iss": {func(w *world) { w.onAuthorize = func(_, back url.Values) { back.Set("iss", "https://honest.example") } }, "(iss)", true},
		"no iss":      {func(w *world) { w.onAuthorize = func(_, back url.Values) { back.Del("iss") } }, "(iss)", true},
		"iss with a slash": {func(w *world) {
			w.onAuthorize = func(_, back url.Values) { back.Set("iss", w.as.URL+"/") }
		}, "(iss)", true},
		"another iss, not announced": {func(w *world) {
			delete(w.meta, "authorization_response_iss_parameter_supported")
			w.onAuthorize = func(_, back url.Values) { back.Set("iss", "https://honest.example") }
		}, "(iss)", true},
		"an error of another iss is not shown": {func(w *world) {
			w.onAuthorize = func(_, back url.Values) {
				back.Set("iss", "https://honest.example")
				back.Set("error", "call-this-number")
			}
		}, "nothing of it is used", true},
		"refused": {func(w *world) {
			w.onAuthorize = func(_, back url.Values) { back.Del("code"); back.Set("error", "access_denied") }
		}, "the sign-in was refused", true},
		"an error with escapes": {func(w *world) {
			w.onAuthorize = func(q, back url.Values) {
				back.Set("error", "server_error")
				back.Set("error_description", "\x1b[2J\x1b]0;x\x07state "+q.Get("state")+" code "+back.Get("code")+strings.Repeat("x", 3000))
			}
		}, "server_error", true},
		"no code": {func(w *world) { w.onAuthorize = func(_, back url.Values) { back.Del("code") } }, "no code", true},
		"a long code": {func(w *world) {
			w.onAuthorize = func(_, back url.Values) { back.Set("code", strings.Repeat("x", 9000)) }
		}, "no code", true},
		"the code of another": {func(w *world) {
			w.onAuthorize = func(_, back url.Values) { back.Set("code", "other") }
		}, "invalid_grant", true},
		"token endpoint redirects": {func(w *world) { w.meta["token_endpoint"] = w.as.URL + "/moved"; redirect(w, "/moved") }, "holds secrets", true},
		"token endpoint echoes": {func(w *world) {
			w.onToken = func(rw http.ResponseWriter, f url.Values) bool {
				w.secrets = append(w.secrets, f.Get("code_verifier"))
				reply(rw, 400, map[string]any{"error": "bad " + f.Get("code"), "error_description": "you sent " + f.Encode()})
				return true
			}
		}, "[hidden]", true},
		"token of another kind":    {answers(`{"access_token":"x","token_type":"DPoP"}`), "a kind that adze cannot use", true},
		"a JWT that is no token":   {answers(`{"access_token":"x","token_type":"N_A","issued_token_type":"` + kindJAG + `"}`), "a kind that adze cannot use", true},
		"no token":                 {answers(`{"token_type":"bearer","id_token":"x"}`), "without a token", true},
		"huge token":               {answers(`{"access_token":"` + strings.Repeat("a", maxToken+1) + `"}`), "longer than", true},
		"huge refresh token":       {answers(`{"access_token":"a","refresh_token":"` + strings.Repeat("a", maxToken+1) + `"}`), "longer than", true},
		"all tokens huge":          {answers(`{"access_token":"` + strings.Repeat("a", maxToken) + `","refresh_token":"` + strings.Repeat("a", maxToken) + `"}`), "too long to be kept", true},
		"a token that is a header": {answers(`{"access_token":"a\r\nHost: evil"}`), "no token has", true},
		"a token with escapes":     {answers(`{"access_token":"a\u001b[2J"}`), "no token has", true},
		"form instead of JSON":     {answers(`access_token=x&token_type=bearer`), "in JSON", true},
		"deep JSON":                {answers(strings.Repeat("[", 500_000)), "in JSON", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.edit(w)
			cl := w.newClient(t.TempDir())
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			b := &robot{t: t}
			b.open = func(page string) error {
				err := follow(page)
				if strings.Contains(c.want, "another sign-in") {
					cancel() // nobody would come any more
				}
				return err
			}
			err := cl.Login(ctx, w.settings(), b)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 700 {
				t.Fatalf("%v", err)
			}
			for _, p := range b.pages {
				if strings.ContainsAny(p, "$`'\"();|<>\\ {}^") || strings.Contains(p, "evil") {
					t.Errorf("opened %s", p)
				}
			}
			if (len(b.pages) > 0) != c.opened {
				t.Errorf("%d pages were opened", len(b.pages))
			}
			w.scan(err)
			if strings.Contains(err.Error(), "call-this-number") {
				t.Error(err)
			}
			if st, err := cl.Status(t.Context(), w.settings()); err != nil || st.SignedIn {
				t.Errorf("signed in: %v", err)
			}
		})
	}
}

// Servers that do not come to an end.
func TestSlow(t *testing.T) {
	drip := func(rw http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(rw, " "); err != nil {
				return
			}
			_ = http.NewResponseController(rw).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	mute := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, h := range map[string]http.HandlerFunc{"drips": drip, "says nothing": mute} {
		for _, at := range []string{"/.well-known/oauth-authorization-server", "/register", "/token"} {
			w := newWorld(t)
			inner := w.as.Config.Handler
			w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == at {
					_, _ = io.Copy(io.Discard, r.Body) // the server sees that nobody is there any more when it reads
					h(rw, r)
					return
				}
				inner.ServeHTTP(rw, r)
			})
			c := w.newClient(t.TempDir())
			c.wait = 100 * time.Millisecond
			err := c.Login(t.Context(), w.settings(), &robot{})
			if err == nil || !strings.Contains(err.Error(), "not within the time limit") {
				t.Errorf("%s %s: %v", name, at, err)
			}
			w.scan(err)
		}
	}
	// A server that streams where it should refuse is left after a while.
	w := newWorld(t)
	w.onMCP = func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/mcp" {
			return false
		}
		w.mu.Unlock()
		defer w.mu.Lock()
		drip(rw, r)
		return true
	}
	c := w.newClient(t.TempDir())
	c.wait = 100 * time.Millisecond
	if err := c.Login(t.Context(), w.settings(), &robot{}); err != nil {
		t.Error(err)
	}
}

func redirect(w *world, path string) {
	inner := w.as.Config.Handler
	w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			http.Redirect(rw, r, w.rs.URL+"/steal", http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(rw, r)
	})
}

func answers(body string) func(*world) {
	return func(w *world) {
		w.onToken = func(rw http.ResponseWriter, _ url.Values) bool { _, _ = io.WriteString(rw, body); return true }
	}
}

// A server of the internet is not a way into the network around this machine.
func TestInside(t *testing.T) {
	names := map[string][]string{
		"example.com":     {"93.184.216.34"},
		"localhost":       {"127.0.0.1"},
		"inside.example":  {"10.0.0.7"},
		"cloud.example":   {"169.254.169.254"},
		"here.example":    {"127.0.0.1"},
		"here6.example":   {"::1"},
		"nat64.example":   {"64:ff9b::a00:7"},
		"both.example":    {"10.0.0.7", "93.184.216.34"},
		"corp.example":    {"10.1.1.1"},
		"rebound.example": {"93.184.216.34", "127.0.0.1"},
	}
	const path = "/.well-known/oauth-authorization-server"
	for _, c := range []struct {
		server, target string
		ok             bool // a connection is made
	}{
		{"https://example.com/mcp", "https://example.com", true},
		{"https://example.com/mcp", "https://both.example", true}, // at its public address only
		{"https://example.com/mcp", "https://10.0.0.7", false},
		{"https://example.com/mcp", "https://inside.example", false},
		{"https://example.com/mcp", "https://cloud.example", false},
		{"https://example.com/mcp", "https://169.254.169.254", false},
		{"https://example.com/mcp", "https://[fe80::1]", false},
		{"https://example.com/mcp", "https://[::ffff:169.254.169.254]", false},
		{"https://example.com/mcp", "https://here.example", false},
		{"https://example.com/mcp", "https://here6.example", false},
		{"https://example.com/mcp", "https://nat64.example", false},
		{"https://example.com/mcp", "http://127.0.0.1:631", false},
		{"https://example.com/mcp", "http://localhost:631", false},
		{"https://example.com/mcp", "https://localhost", false},
		{"https://example.com/mcp", "https://0.0.0.0", false},
		{"https://example.com/mcp", "https://2130706433", false}, // 127.0.0.1, to some resolvers
		{"https://example.com/mcp", "https://100.64.0.1", false},
		{"https://rebound.example/mcp", "http://127.0.0.1:631", false},
		{"https://rebound.example/mcp", "https://10.0.0.7", false},
		{"https://corp.example/mcp", "https://inside.example", true},
		{"https://corp.example/mcp", "https://example.com", true},
		{"https://corp.example/mcp", "http://127.0.0.1:631", false},
		{"https://corp.example/mcp", "https://169.254.169.254", false},
		{"https://here.example/mcp", "http://127.0.0.1:631", false}, // a name is nobody's word for this machine
		{"http://127.0.0.1:9/mcp", "http://localhost:631", true},
		{"http://127.0.0.1:9/mcp", "https://inside.example", true},
		{"http://127.0.0.1:9/mcp", "https://169.254.169.254", false},
	} {
		t.Run(c.server+" "+c.target, func(t *testing.T) {
			w := newWorld(t)
			cl := w.newClient(t.TempDir())
			var mu sync.Mutex
			var dialled []string
			cl.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
				var out []netip.Addr
				for _, a := range names[host] {
					out = append(out, netip.MustParseAddr(a))
				}
				if out == nil {
					return nil, errors.New("no such host")
				}
				return out, nil
			}
			cl.dial = func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				dialled = append(dialled, to.Addr().String())
				return nil, errors.New("the network is down")
			}
			web := cl.web(t.Context(), c.server)
			defer web.end()
			_, err := web.get(t.Context(), "the authorization server", c.target+path, &issuer{})
			if err == nil {
				t.Fatal("an answer")
			}
			if (len(dialled) > 0) != c.ok {
				t.Errorf("dialled %v: %v", dialled, err)
			}
			if strings.Contains(c.target, "both") && !reflect.DeepEqual(dialled, []string{"93.184.216.34"}) {
				t.Errorf("%v", dialled)
			}
			// The page that a browser is sent to, as far as its name says where it is.
			if _, name := named(mustParse(t, c.target).Hostname()); name {
				as := issuer{Issuer: "x", Token: "https://example.com/t", Authorize: c.target + "/a"}
				if err := as.check(web, "x"); (err == nil) != c.ok {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// All of it over TLS, with a server of the internet (its name leads here only in
// this test), and behind a proxy.
func TestPublicServer(t *testing.T) {
	for _, proxied := range []bool{false, true} {
		w := newWorld(t)
		for _, s := range []**httptest.Server{&w.rs, &w.as} {
			h := (*s).Config.Handler
			*s = httptest.NewTLSServer(h)
			t.Cleanup((*s).Close)
		}
		base := "https://example.com"
		for k, v := range w.meta {
			if text, ok := v.(string); ok {
				u := mustParse(t, text)
				w.meta[k] = base + u.Path
			}
		}
		w.meta["issuer"] = base
		w.prm = map[string]any{"resource": base + "/mcp", "authorization_servers": []string{base}}
		w.onAuthorize = func(_, back url.Values) { back.Set("iss", base) }
		to := func(path string) string { // one host, two servers
			if path == "/mcp" || strings.Contains(path, "protected-resource") {
				return w.rs.Listener.Addr().String()
			}
			return w.as.Listener.Addr().String()
		}
		inner := w.as.Config.Handler
		w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if to(r.URL.Path) == w.rs.Listener.Addr().String() {
				if strings.Contains(r.URL.Path, "protected") {
					w.serveRS(rw, r)
					return
				}
				rw.WriteHeader(401)
				return
			}
			inner.ServeHTTP(rw, r)
		})
		pool := x509.NewCertPool()
		pool.AddCert(w.as.Certificate())
		connects := 0
		proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			connects++
			if r.Method != http.MethodConnect || r.Host != "example.com:443" {
				t.Errorf("%s %s", r.Method, r.Host)
			}
			up, err := net.Dial("tcp", w.as.Listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer up.Close()
			down, _, err := rw.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer down.Close()
			_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
			go func() { _, _ = io.Copy(up, down); _ = up.Close() }()
			_, _ = io.Copy(down, up)
		}))
		t.Cleanup(proxy.Close)
		cl := w.newClient(t.TempDir(), func(c *Config) {
			c.Roots = pool
			if proxied {
				c.Proxy = http.ProxyURL(mustParse(t, proxy.URL))
			}
		})
		cl.lookup = func(context.Context, string) ([]netip.Addr, error) {
			if proxied {
				return nil, errors.New("only the proxy knows names")
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		cl.dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if to.String() != "93.184.216.34:443" {
				t.Errorf("dialled %s", to)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", w.as.Listener.Addr().String())
		}
		b := &robot{open: func(page string) error {
			c := &http.Client{
				Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: w.as.Client().Transport.(*http.Transport).TLSClientConfig},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
			resp, err := c.Get(strings.Replace(page, base, w.as.URL, 1))
			if err != nil {
				return err
			}
			_ = resp.Body.Close()
			return follow(resp.Header.Get("Location"))
		}}
		s := Settings{Name: "srv", ServerURL: base + "/mcp"}
		if err := cl.Login(t.Context(), s, b); err != nil {
			t.Fatal(err)
		}
		if st, err := cl.Status(t.Context(), s); !st.SignedIn || err != nil || proxied != (connects > 0) {
			t.Errorf("%+v %v, %d through the proxy", st, err, connects)
		}
		if proxied { // the proxy resolves names; what is written as an address is still seen
			web := cl.web(t.Context(), s.ServerURL)
			before := connects
			if _, err := web.get(t.Context(), "x", "https://169.254.169.254/x", &issuer{}); err == nil || connects != before {
				t.Error(err)
			}
			web.end()
		}
	}
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		s    Settings
		want string
	}{
		"http":          {Settings{ServerURL: "http://example.com/mcp"}, "not encrypted"},
		"no URL":        {Settings{ServerURL: "mcp"}, "no web address"},
		"key in it":     {Settings{ServerURL: "http://example.com/mcp?key=s3cret"}, "not encrypted"},
		"dots":          {Settings{ServerURL: "https://example.com/a/../b"}, ". or .."},
		"port":          {Settings{ServerURL: "https://example.com", CallbackPort: 70000}, "not a port"},
		"flow":          {Settings{ServerURL: "https://example.com", Flow: "implicit"}, "implicit"},
		"no secret":     {Settings{ServerURL: "https://example.com", Flow: Credentials, ClientID: "x"}, "not complete"},
		"no provider":   {Settings{ServerURL: "https://example.com", Flow: CrossApp, ClientID: "x"}, "not complete"},
		"http provider": {Settings{ServerURL: "https://example.com", Flow: CrossApp, ClientID: "x", IdP: IdP{Issuer: "http://idp.example", ClientID: "y"}}, "not encrypted"},
		"http metadata": {Settings{ServerURL: "https://example.com", MetadataURL: "http://x.example"}, "not encrypted"},
	} {
		err := c.s.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, ok := range []string{"http://localhost:1/x", "WSS://example.com/x", "ws://127.0.0.1:1"} {
		if err := (Settings{ServerURL: ok}).Check(); err != nil {
			t.Error(err)
		}
	}
	if a, b := (Settings{ServerURL: "wss://example.com/x"}), (Settings{ServerURL: "https://example.com/x"}); a.web().key() != b.key() {
		t.Error("a WebSocket is another server")
	}
	// No token goes to a server that anybody on the way can read.
	w := newWorld(t)
	c := w.newClient(t.TempDir())
	req := httptest.NewRequest(http.MethodPost, "http://example.com/mcp", nil)
	err := c.Handler(Settings{ServerURL: "http://example.com/mcp"}).Authorize(t.Context(), req, &http.Response{StatusCode: 401, Body: http.NoBody, Header: http.Header{}})
	if err == nil || needs(err) != nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Error(err)
	}
	// A secret that cannot be had is said, by its name at most.
	s := w.settings()
	s.Flow, s.ClientID, s.ClientSecretRef = Credentials, "x", "broken"
	if _, err := call(t.Context(), c, s); err == nil || !strings.Contains(err.Error(), "no such variable") {
		t.Error(err)
	}
	s.ClientSecretRef, s.PrivateKeyRef = "", "no key"
	if _, err := call(t.Context(), c, s); err == nil || !strings.Contains(err.Error(), "private key") {
		t.Error(err)
	}
}

func TestLogoutWithoutTheServer(t *testing.T) {
	for name, edit := range map[string]func(*world){
		"gone":    func(w *world) { w.as.Close() },
		"refuses": func(w *world) { w.as.Config.Handler = http.NotFoundHandler() },
	} {
		w := newWorld(t)
		c, s := w.newClient(t.TempDir()), w.settings()
		w.login(c, s)
		edit(w)
		told, err := c.Logout(t.Context(), s)
		if told == nil || err != nil {
			t.Errorf("%s: %v %v", name, told, err)
		}
		w.scan(told)
		if st, err := c.Status(t.Context(), s); st.SignedIn || err != nil {
			t.Errorf("%s: %v %v", name, st, err)
		}
	}
	w := newWorld(t)
	c, s := w.newClient(t.TempDir()), w.settings()
	if told, err := c.Logout(t.Context(), s); told != nil || err != nil { // nobody was signed in
		t.Errorf("%v %v", told, err)
	}
	delete(w.meta, "revocation_endpoint")
	w.login(c, s)
	if told, err := c.Logout(t.Context(), s); told == nil || err != nil {
		t.Errorf("%v %v", told, err)
	}
}

func TestChallenges(t *testing.T) {
	for text, want := range map[string]challenge{
		`Bearer resource_metadata="https://x/y", scope="a b", error="invalid_token"`: {"https://x/y", []string{"a", "b"}, "invalid_token", ""},
		`bearer RESOURCE_METADATA=https://x/y,scope=a`:                               {"https://x/y", []string{"a"}, "", ""},
		`Basic realm="a, b=c", Bearer scope = "a \"b\" c"`:                           {"", []string{"a", "c"}, "", ""},
		`Negotiate abc==, Bearer error="x"`:                                          {"", nil, "x", ""},
		`Bearer`:                                                                     {},
		`Bearer scope="a`:                                                            {"", []string{"a"}, "", ""},
		`Bearer scope="a", scope="b", Bearer error="x", error="y"`:                   {"", []string{"a"}, "x", ""},
		`Basic error="x", scope="y"`:                                                 {},
		`DPoP resource_metadata="https://x"`:                                         {metadata: "https://x"},
		"Bearer error=\"x\", error_description=\"\\a\tb\"":                           {code: "x", text: "a\tb"},
		`"`:          {},
		`,,,===""""`: {},
		``:           {},
	} {
		if got := challengeOf(http.Header{"Www-Authenticate": {text}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v", text, got)
		}
	}
	many := challengeOf(http.Header{"Www-Authenticate": {"Basic x=y", `Bearer scope="` + strings.Repeat("ab ", 100_000) + `"`}})
	if !reflect.DeepEqual(many.scopes, []string{"ab"}) {
		t.Errorf("%d scopes", len(many.scopes))
	}
	var all []string
	for i := range 3000 {
		all = append(all, "s"+strings.Repeat("x", i%300)+string(rune('a'+i%26)))
	}
	if got := together(all); len(got) != maxScopes || slices.ContainsFunc(got, func(s string) bool { return len(s) > maxScope }) {
		t.Errorf("%d scopes", len(got))
	}
}

func FuzzChallenge(f *testing.F) {
	for _, s := range []string{`Bearer resource_metadata="https://x/y", scope="a b"`, `Basic realm="\"", Bearer a=b`, `Negotiate a==`, `"`, "Bearer \x00=\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := challengeOf(http.Header{"Www-Authenticate": {s}})
		if len(c.metadata)+len(c.code)+len(c.text) > maxChallenge {
			t.Error("longer than what was read")
		}
		for _, s := range c.scopes {
			if !isScope(s) {
				t.Errorf("%q", s)
			}
		}
		if c2 := challengeOf(http.Header{"Www-Authenticate": {`Bearer scope="` + strings.Join(c.scopes, " ") + `"`}}); !reflect.DeepEqual(c2.scopes, c.scopes) {
			t.Errorf("%q became %q", c.scopes, c2.scopes)
		}
	})
}

func FuzzGrant(f *testing.F) {
	for _, s := range []string{`{"access_token":"x","token_type":"bearer","expires_in":1e400}`, `{"error":{}}`, `{"ok":false,"error":"token_expired"}`, `{"access_token":"a","scope":["b",1]}`, `null`} {
		f.Add(200, s)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		g, err := grantOf(answer{status: status, body: []byte(body)}, []secret{"hunter2hunter2"}, url.Values{})
		if err != nil {
			if strings.Contains(err.Error(), "hunter2hunter2") || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 1500 {
				t.Errorf("%q", err)
			}
			return
		}
		if g.access == "" || g.access.usable() != nil || g.refresh.usable() != nil || g.lifetime < 0 || g.lifetime > maxLifetime {
			t.Errorf("%v", g.lifetime)
		}
	})
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://a/b", "http://localhost:1", "http://[::1]", "https://a@b", "javascript:x", "https:\\\\x", "HTTPS://X:443/", "http://127.1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := address("x", s)
		if err != nil {
			return
		}
		if at, ok := named(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || !ok || at != local) || u.User != nil || u.Host == "" {
			t.Errorf("%q", s)
		}
	})
}

func FuzzCallback(f *testing.F) {
	f.Add("code=a&state=s&iss=https://x")
	f.Add("state=s&state=s&code=a")
	f.Add("error=a&state=s")
	f.Fuzz(func(t *testing.T, q string) {
		v, err := url.ParseQuery(q)
		if err != nil {
			return
		}
		c := &callback{state: "s", issuer: "https://x", iss: true}
		r, err := c.take(v)
		if r.code != "" && (err != nil || r.err != nil || v.Get("state") != "s" || v.Get("iss") != "https://x" || len(v["code"]) != 1) {
			t.Errorf("%q", q)
		}
	})
}

// Nothing that is printed of this package's types has a secret in it.
func TestFormats(t *testing.T) {
	w := newWorld(t)
	w.secrets = []string{"hunter2hunter2"}
	r := record{Access: "hunter2hunter2", Refresh: "hunter2hunter2", ClientSecret: "hunter2hunter2"}
	w.scan(r, &r, r.Access, []secret{"hunter2hunter2"}, map[secret]secret{"hunter2hunter2": "hunter2hunter2"})
	var b bytes.Buffer
	_, _ = b.WriteString(said("a hunter2hunter2 b", "hunter2hunter2"))
	w.scan(b.String())
}
