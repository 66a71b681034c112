package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/adze-agent/adze/internal/text/hint"
)

// loginTime bounds how long a person may take.
const loginTime = 15 * time.Minute

// maxPastes bounds how often a wrong address may be pasted.
const maxPastes = 5

// A Browser is how a person is led to a page and back.
type Browser interface {
	// Open shows the page: in a browser, or as text where there is none. The
	// address holds no secret that lasts, and belongs in no log.
	Open(ctx context.Context, address string) error
	// Paste waits for the address that the browser was led to at the end, for when
	// that is on another machine. problem says what was wrong with the last one.
	// It returns when ctx ends; after an error it is not called again.
	Paste(ctx context.Context, problem error) (string, error)
}

// Login signs a person in to a server. Tokens of before are replaced when it
// succeeds, and those of another registration revoked.
func (c *Client) Login(ctx context.Context, s Settings, b Browser) error {
	s = s.web()
	if err := s.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, errors.New("nobody signed in within "+loginTime.String()))
	defer cancel()
	v := c.server(s)
	w := c.forSettings(ctx, s)
	defer w.end()
	ch, err := v.ask(ctx, w)
	if err != nil {
		return err
	}
	p, err := w.discover(ctx, s, ch)
	if err != nil {
		return err
	}
	v.mu.Lock()
	want := together(v.want)
	v.mu.Unlock()
	if old, _, err := c.load(ctx, s); err == nil { // what cannot be read is replaced
		want = together(want, old.Want)
	}
	if len(want) == 0 {
		want = firstScopes(s, ch, p)
	}
	var r record
	switch s.Flow {
	case Code:
		if slices.Contains(p.Scopes, "offline_access") {
			want = together(want, []string{"offline_access"})
		}
		r, _, err = w.code(ctx, s, p, want, b)
	case CrossApp:
		if err = c.loginIdP(ctx, w, s, b); err == nil {
			r, err = w.fetch(ctx, s, p, want)
		}
	default:
		r, err = w.fetch(ctx, s, p, want)
	}
	if err != nil {
		return err
	}
	old, err := c.replace(ctx, s, r)
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.r, v.loaded, v.lost, v.want, v.after = r, true, false, nil, time.Time{}
	v.mu.Unlock()
	// Of one client some servers end all tokens when one is revoked.
	if old.Registered && old.ClientID != r.ClientID {
		_ = w.revoke(ctx, s, old) // it is replaced in any case
	}
	return nil
}

// replace writes the record of a sign-in, and returns the one before.
func (c *Client) replace(ctx context.Context, s Settings, r record) (old record, err error) {
	unlock, err := c.lock(ctx, s.key())
	if err != nil {
		return record{}, err
	}
	defer unlock()
	if old, _, err = c.load(ctx, s); err != nil {
		old = record{} // it cannot be read, and is about to be replaced
	}
	return old, c.write(ctx, s.key(), r)
}

// ask is the server's newest challenge. One that was not refused yet is asked,
// by a call that begins nothing.
func (v *server) ask(ctx context.Context, w *web) (challenge, error) {
	v.mu.Lock()
	ch := v.ch
	v.mu.Unlock()
	if ch.metadata != "" || ch.scopes != nil {
		return ch, nil
	}
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	a, err := w.do(ctx, http.MethodPost, "the MCP server "+shown(v.s.Name), v.s.ServerURL, h, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		if ctx.Err() != nil || errors.As(err, new(*insideErr)) {
			return challenge{}, err
		}
		return challenge{}, nil // an answer without an end, such as a stream: what it says of itself is asked for now
	}
	if a.status == http.StatusUnauthorized {
		return challengeOf(a.header), nil
	}
	return challenge{}, nil
}

// loginIdP has a person sign in with the company's provider, unless they are.
func (c *Client) loginIdP(ctx context.Context, w *web, s Settings, b Browser) error {
	need := (*ErrNeedsSignIn)(nil)
	if _, _, err := c.identity(ctx, w, s); err == nil || !errors.As(err, &need) {
		return err
	}
	as, err := w.issuer(ctx, s.IdP.Issuer)
	if err != nil {
		return err
	}
	want := together([]string{"openid"}, s.IdP.Scopes)
	if slices.Contains(as.Scopes, "offline_access") {
		want = together(want, []string{"offline_access"})
	}
	at := Settings{Name: s.IdP.Issuer, ServerURL: s.IdP.Issuer, ClientID: s.IdP.ClientID, ClientSecretRef: s.IdP.ClientSecretRef, CallbackPort: s.IdP.CallbackPort}
	r, nonce, err := w.code(ctx, at, place{issuer: as}, want, b)
	if err != nil {
		return err
	}
	id, err := identity(r.ID, as.Issuer, s.IdP.ClientID, c.config.Now())
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return errors.New("the ID token does not belong to this sign-in")
	}
	r.Access = "" // nothing is asked of the provider itself
	unlock, err := c.lock(ctx, s.IdP.key())
	if err != nil {
		return err
	}
	defer unlock()
	return c.write(ctx, s.IdP.key(), r)
}

// code leads a person to the authorization server and back (RFC 6749 4.1, with
// PKCE), and gets the tokens.
func (w *web) code(ctx context.Context, s Settings, p place, want []string, b Browser) (record, string, error) {
	if err := p.pkce(); err != nil {
		return record{}, "", err
	}
	l, err := listen(ctx, s.CallbackPort)
	if err != nil {
		return record{}, "", err
	}
	back := &callback{redirect: l.address, state: rand.Text(), issuer: p.Issuer, iss: p.Iss, got: make(chan result, 1)}
	stop := back.serve(l)
	defer stop()
	cl, registered, err := w.client(ctx, s, p.issuer, l.address, want)
	if err != nil {
		return record{}, "", err
	}
	verifier, nonce := oauth2.GenerateVerifier(), rand.Text()
	to, err := address("the page to sign in", p.Authorize)
	if err != nil {
		return record{}, "", err
	}
	q := to.Query()
	for k, v := range map[string]string{
		"response_type": "code", "client_id": cl.id, "redirect_uri": l.address, "state": back.state,
		"code_challenge": oauth2.S256ChallengeFromVerifier(verifier), "code_challenge_method": "S256",
		"resource": p.resource, "scope": strings.Join(want, " "),
	} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if slices.Contains(want, "openid") {
		q.Set("nonce", nonce)
	}
	if slices.Contains(want, "offline_access") {
		q.Set("prompt", "consent") // OpenID Connect Core 11
	}
	to.RawQuery = q.Encode()
	code, err := back.lead(ctx, b, to.String())
	if err != nil {
		return record{}, "", err
	}
	stop() // the port is free again before anything else is waited for
	form := url.Values{"grant_type": {"authorization_code"}, "code": {string(code)}, "redirect_uri": {l.address}, "code_verifier": {verifier}}
	if p.resource != "" {
		form.Set("resource", p.resource)
	}
	g, err := w.ask(ctx, p.Token, cl, p.Issuer, form)
	if err != nil {
		return record{}, "", fmt.Errorf("signed in, but no token was given: %w", err)
	}
	r := record{
		Issuer: p.Issuer, Resource: p.resource, Token: p.Token, Revoke: p.Revoke, Methods: p.Methods,
		ClientID: cl.id, Method: cl.method, Registered: registered,
	}
	if registered {
		r.ClientSecret = cl.secret
	}
	r.take(g, want, w.c.config.Now())
	return r, nonce, nil
}

// A result is what a redirect brought.
type result struct {
	code secret
	err  error
}

// A callback is where the browser comes back to.
type callback struct {
	redirect string
	state    string
	issuer   string
	iss      bool // the server said it names itself
	got      chan result
	once     sync.Once
	mu       sync.Mutex // guards stray
	stray    error
}

// errStray is an answer that belongs to no sign-in of ours.
var errStray = errors.New("the answer belongs to another sign-in (its state is not the one that was sent)")

// take reads the parameters of a redirect. What does not carry the state is
// nobody's answer, whatever else it says; what another issuer says is not shown.
func (c *callback) take(q url.Values) (result, error) {
	if one(q, "state") == "" || subtle.ConstantTimeCompare([]byte(one(q, "state")), []byte(c.state)) != 1 {
		return result{}, errStray
	}
	if iss := one(q, "iss"); iss != c.issuer && (iss != "" || c.iss || q.Has("iss")) {
		return result{err: errors.New("the answer to the sign-in is not from the authorization server that was asked (iss); nothing of it is used")}, nil
	}
	if code := one(q, "error"); code != "" {
		if code == "access_denied" {
			return result{err: errors.New("the sign-in was refused")}, nil
		}
		return result{err: fmt.Errorf("the sign-in failed: %w", refusal(0, code, one(q, "error_description"), []secret{secret(c.state), secret(one(q, "code"))}))}, nil
	}
	code := one(q, "code")
	if code == "" || len(code) > maxToken {
		return result{err: errors.New("the answer to the sign-in holds no code")}, nil
	}
	return result{code: secret(code)}, nil
}

// one is a parameter that stands there once.
func one(q url.Values, name string) string {
	if v := q[name]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// lead opens the page and waits for the redirect, or for what a person pastes.
func (c *callback) lead(ctx context.Context, b Browser, page string) (secret, error) {
	if err := b.Open(ctx, page); err != nil {
		return "", fmt.Errorf("the page to sign in could not be shown: %w", err)
	}
	paste, cancel := context.WithCancel(ctx)
	pasted := make(chan struct{})
	go func() { // ends with paste, which lead cancels
		defer close(pasted)
		c.paste(paste, b)
	}()
	defer func() { cancel(); <-pasted }()
	select {
	case r := <-c.got:
		return r.code, r.err
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stray != nil {
			return "", fmt.Errorf("%w: %w", context.Cause(ctx), c.stray)
		}
		return "", context.Cause(ctx)
	}
}

// paste reads addresses until one is an answer.
func (c *callback) paste(ctx context.Context, b Browser) {
	var problem error
	for range maxPastes {
		text, err := b.Paste(ctx, problem)
		if err != nil || ctx.Err() != nil {
			return
		}
		text = strings.TrimSpace(text)
		u, err := url.Parse(text)
		if len(text) > maxToken+maxURL || err != nil || u.RawQuery == "" {
			problem = hint.With(errors.New("that is not the address of the last page"), "paste the whole address from the browser's address bar; it begins with "+c.redirect)
			continue
		}
		r, err := c.take(u.Query())
		if err != nil {
			problem = err
			continue
		}
		c.finish(r)
		return
	}
	if problem != nil {
		c.finish(result{err: problem})
	}
}

func (c *callback) finish(r result) { c.once.Do(func() { c.got <- r }) }

// A listener is where redirects arrive.
type listener struct {
	all     []net.Listener
	address string // as browsers are told
}

// listen takes a port of this machine, on both of its addresses where that goes:
// browsers resolve localhost to either.
func listen(ctx context.Context, port int) (listener, error) {
	var lc net.ListenConfig
	v4, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if port == 0 {
			return listener{}, fmt.Errorf("no port is free for the answer of the sign-in: %w", cause(ctx, err))
		}
		return listener{}, mistake(fmt.Sprintf("port %d, which the sign-in answers to, is in use", port), "end what uses it, or set another oauth.callbackPort")
	}
	taken := strconv.Itoa(v4.Addr().(*net.TCPAddr).Port)
	l := listener{[]net.Listener{v4}, "http://localhost:" + taken + "/callback"}
	if v6, err := lc.Listen(ctx, "tcp6", net.JoinHostPort("::1", taken)); err == nil {
		l.all = append(l.all, v6)
	}
	return l, nil
}

// serve answers redirects until stop, which may be called twice.
func (c *callback) serve(l listener) (stop func()) {
	s := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	var wg sync.WaitGroup
	for _, one := range l.all {
		wg.Go(func() { _ = s.Serve(one) }) // ends when it is closed
	}
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // for the page that is just being shown
		defer cancel()
		_ = s.Shutdown(ctx)
		_ = s.Close()
		wg.Wait()
	})
}

// ServeHTTP answers what comes to the port, which can be from anybody.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	host, _, err := net.SplitHostPort(r.Host)
	if at, ok := named(host); err != nil || !ok || at != local || r.URL.Path != "/callback" || r.Method != http.MethodGet {
		http.Error(w, "There is nothing here.", http.StatusNotFound)
		return
	}
	got, err := c.take(r.URL.Query())
	switch {
	case err != nil:
		c.mu.Lock()
		c.stray = err
		c.mu.Unlock()
		http.Error(w, "This answer belongs to another sign-in. Begin again from adze.", http.StatusBadRequest)
	case got.err != nil:
		c.finish(got)
		http.Error(w, "The sign-in did not succeed. adze says why; you can close this page.", http.StatusBadRequest)
	default:
		c.finish(got)
		_, _ = w.Write([]byte("adze has the answer. You can close this page and go back to it.\n"))
	}
}

// Logout forgets the sign-in to a server. told says why the authorization server
// could not be told; what is kept here is gone all the same.
func (c *Client) Logout(ctx context.Context, s Settings) (told, err error) {
	s = s.web()
	return c.forget(ctx, s, s.key())
}

// LogoutIdP forgets the sign-in to a company's provider. Tokens that servers gave
// for it are theirs, and stay until Logout.
func (c *Client) LogoutIdP(ctx context.Context, s Settings) (told, err error) {
	at := s
	at.ClientID, at.ClientSecretRef, at.PrivateKeyRef = s.IdP.ClientID, s.IdP.ClientSecretRef, ""
	return c.forget(ctx, at, s.IdP.key())
}

func (c *Client) forget(ctx context.Context, s Settings, key string) (told, err error) {
	unlock, err := c.lock(ctx, key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, _, told := c.read(ctx, key)
	if told == nil && (r.Access != "" || r.Refresh != "") {
		ctx, cancel := context.WithTimeout(ctx, renewTime) // others wait
		defer cancel()
		w := c.forSettings(ctx, s)
		defer w.end()
		told = w.revoke(ctx, s, r)
	}
	if err := c.drop(ctx, key, ""); err != nil {
		return told, err
	}
	if key == s.key() {
		c.server(s).keep(record{})
	}
	return told, nil
}

// revoke tells the issuer that tokens are not wanted any more (RFC 7009): the
// refresh token, with which the others end, else the access token.
func (w *web) revoke(ctx context.Context, s Settings, r record) error {
	if r.Revoke == "" {
		return errors.New("the authorization server has no way to revoke tokens; they end by themselves")
	}
	cl, err := w.c.again(ctx, s, r)
	if err != nil {
		return err
	}
	for _, t := range []struct {
		token secret
		kind  string
	}{{r.Refresh, "refresh_token"}, {r.Access, "access_token"}} {
		if t.token == "" {
			continue
		}
		a, hide, err := w.form(ctx, "the revocation endpoint", r.Revoke, cl, r.Issuer, url.Values{"token": {string(t.token)}, "token_type_hint": {t.kind}})
		if err != nil {
			return err
		}
		if a.status != http.StatusOK && a.status != http.StatusNoContent {
			_, err := grantOf(a, hide, nil)
			return fmt.Errorf("the tokens were not revoked: %w", err)
		}
	}
	return nil
}
