package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

const (
	// renewTime bounds a renewal with all it needs. Who waits for the lock of
	// processes takes it over after half a minute.
	renewTime = 25 * time.Second
	// pause is how long a failed renewal is not tried again while the old token
	// can still be used.
	pause = 30 * time.Second
	// young is the age at which a token that is refused was not worth anything:
	// another one will not be either.
	young = 5 * time.Second
)

// A server is the state of one server in this process.
type server struct {
	c *Client
	s Settings

	mu     sync.Mutex // guards the fields below
	loaded bool
	r      record
	lost   bool      // r could not be saved; what is saved was used up for it
	ch     challenge // of the newest refusal
	want   []string  // scopes that it wanted more
	after  time.Time // no early renewal before
	flight *flight
}

// A flight is a renewal that others wait for too.
type flight struct {
	what string
	done chan struct{}
	err  error
}

// handler is a server as a connection sees it.
type handler struct {
	v *server

	mu      sync.Mutex // guards refused
	refused error      // of server/discover, for the request that follows it
}

var _ sdk.OAuthHandler = (*handler)(nil)

// Format implements fmt.Formatter: what a type of its own keeps hidden, fmt
// prints when it is in fields that are not exported.
func (*handler) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a sign-in") }

// Format implements fmt.Formatter.
func (source) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a sign-in") }

// TokenSource implements auth.OAuthHandler. It is nil while nobody is signed in.
func (h *handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	h.mu.Lock()
	err := h.refused
	h.refused = nil
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	// What cannot be read is said when the server wants a token: many want none.
	if r, err := h.v.current(ctx); err != nil || r.Access == "" {
		return nil, ctx.Err()
	}
	return source{ctx, h.v}, nil
}

// A source gives the token for a request.
type source struct {
	ctx context.Context
	v   *server
}

// Token implements oauth2.TokenSource.
func (s source) Token() (*oauth2.Token, error) {
	r, err := s.v.valid(s.ctx)
	if err != nil {
		return nil, err
	}
	return &oauth2.Token{AccessToken: string(r.Access), TokenType: "Bearer", Expiry: r.Expires}, nil
}

// current is the record that this process knows; what it reads once it keeps
// until a server refuses it.
func (v *server) current(ctx context.Context) (record, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.loaded {
		return v.r, nil
	}
	r, _, err := v.c.load(ctx, v.s)
	if err == nil {
		v.r, v.loaded = r, true
	}
	return r, err
}

// keep makes r what this process knows.
func (v *server) keep(r record) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.r, v.loaded, v.lost = r, true, false
}

// save keeps r, here and for other processes. What cannot be saved can still be
// used here: what came before it counts no more.
func (v *server) save(ctx context.Context, r record) error {
	err := v.c.write(ctx, v.s.key(), r)
	v.keep(r)
	if err != nil {
		v.mu.Lock()
		v.lost = true
		v.mu.Unlock()
	}
	return err
}

// newest is what is saved by now, and what this process knows from then on.
func (v *server) newest(ctx context.Context) (record, error) {
	r, _, err := v.c.load(ctx, v.s)
	if err != nil {
		return record{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.lost && r.Access != "" {
		return v.r, nil
	}
	v.r, v.loaded, v.lost = r, true, false
	return r, nil
}

// Newer reports whether somebody signed in since, in another process or by another
// way of this one: a connection that wanted a sign-in is worth another try. What
// cannot be read is no sign-in.
func (h *handler) Newer(ctx context.Context) bool {
	h.v.mu.Lock()
	known := h.v.r.Access
	h.v.mu.Unlock()
	r, _, err := h.v.c.load(ctx, h.v.s)
	return err == nil && r.Access != "" && r.Access != known
}

// valid is a record whose token can be used, renewed where its end is near.
func (v *server) valid(ctx context.Context) (record, error) {
	r, err := v.current(ctx)
	if err != nil {
		return r, err
	}
	now := v.c.config.Now()
	if r.Access != "" && (r.fresh(now) || !v.renews(r)) {
		return r, nil
	}
	v.mu.Lock()
	wait := now.Before(v.after)
	v.mu.Unlock()
	if wait && !r.over(now) && r.Access != "" {
		return r, nil
	}
	if err := v.renew(ctx, r.Access); err != nil {
		need := (*ErrNeedsSignIn)(nil)
		if r.Access != "" && !r.over(now) && !errors.As(err, &need) && ctx.Err() == nil {
			v.mu.Lock()
			v.after = now.Add(pause)
			v.mu.Unlock()
			return r, nil // it was early; there is time to try again
		}
		return record{}, err
	}
	return v.current(ctx)
}

// renews reports whether another token can be had without a person.
func (v *server) renews(r record) bool { return r.Refresh != "" || v.s.Flow != Code }

// renew gets another token than used, unless somebody did meanwhile.
func (v *server) renew(ctx context.Context, used secret) error {
	return v.share(ctx, "renew "+short(string(used)), func(ctx context.Context) error {
		unlock, err := v.c.lock(ctx, v.s.key())
		if err != nil {
			return fmt.Errorf("another process renews the sign-in to %s: %w", shown(v.s.Name), err)
		}
		defer unlock()
		r, err := v.newest(ctx)
		switch {
		case err != nil:
			return err
		case r.Access == "":
			return v.needs("")
		case r.Access != used: // another process was first
			return nil
		}
		w := v.web(ctx)
		defer w.end()
		next, err := w.refresh(ctx, v.s, r)
		if err != nil {
			return v.failed(ctx, r, err)
		}
		return v.save(ctx, next)
	})
}

// failed settles a renewal that did not succeed. What can never succeed is
// forgotten, so that nobody tries it again.
func (v *server) failed(ctx context.Context, r record, err error) error {
	need := (*ErrNeedsSignIn)(nil)
	switch {
	case errors.As(err, &need):
		return err
	case v.s.Flow == Code && is(err, "invalid_grant"), r.Registered && is(err, "invalid_client", "unauthorized_client"):
		if err := v.c.drop(ctx, v.s.key(), ""); err != nil {
			return err
		}
		v.keep(record{})
		v.mu.Lock()
		v.want = together(v.want, r.Asked, r.Scopes) // the next one is for the same
		v.mu.Unlock()
		return v.needs("the last sign-in does not count any more")
	}
	return fmt.Errorf("the sign-in to %s could not be renewed: %w", shown(v.s.Name), err)
}

func (v *server) needs(why string) error { return &ErrNeedsSignIn{Server: v.s.Name, Why: why} }

// web makes requests for the server.
func (v *server) web(ctx context.Context) *web { return v.c.forSettings(ctx, v.s) }

func (c *Client) forSettings(ctx context.Context, s Settings) *web {
	return c.web(ctx, s.ServerURL, s.MetadataURL, s.IdP.Issuer)
}

// refresh gets the next token of a record.
func (w *web) refresh(ctx context.Context, s Settings, r record) (record, error) {
	if s.Flow != Code {
		next, err := w.fetch(ctx, s, place{issuer: issuer{Issuer: r.Issuer, Token: r.Token, Revoke: r.Revoke, Methods: r.Methods}, resource: r.Resource}, r.Asked)
		return next, err
	}
	cl, err := w.c.again(ctx, s, r)
	if err != nil {
		return record{}, err
	}
	g, err := w.ask(ctx, r.Token, cl, r.Issuer, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {string(r.Refresh)}, "resource": {r.Resource}})
	if err != nil {
		return record{}, err
	}
	next := r
	next.take(g, r.Asked, w.c.config.Now())
	if g.scopes == nil {
		next.Scopes = r.Scopes
	}
	return next, nil
}

// share runs do once for all who want the same, in a goroutine of the client's:
// it goes on when the call that wanted it is interrupted, because a refresh token
// counts once, and what came for it must be written down.
func (v *server) share(ctx context.Context, what string, do func(context.Context) error) error {
	for {
		v.mu.Lock()
		f := v.flight
		mine := f == nil
		if mine {
			f = &flight{what: what, done: make(chan struct{})}
			err := v.c.start(func(ctx context.Context) {
				ctx, cancel := context.WithTimeout(ctx, renewTime)
				defer cancel()
				f.err = do(ctx)
				v.mu.Lock()
				v.flight = nil
				v.mu.Unlock()
				close(f.done)
			})
			if err != nil {
				v.mu.Unlock()
				return err
			}
			v.flight = f
		}
		v.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if mine || f.what == what {
			return f.err
		}
	}
}

// Authorize implements auth.OAuthHandler: it answers a 401 or a 403. nil means
// that the request is worth another try.
func (h *handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	err := h.answer(ctx, req, resp)
	// The SDK takes any failure of its first request, server/discover, for a server
	// of an older revision, and begins again with initialize. That one must not hide
	// why: what a server of today alone says to it is another error.
	if req.Header.Get("Mcp-Method") == "server/discover" {
		h.mu.Lock()
		h.refused = err
		h.mu.Unlock()
	}
	return err
}

func (h *handler) answer(ctx context.Context, req *http.Request, resp *http.Response) error {
	_ = resp.Body.Close() // nobody reads it, and it need not end
	v := h.v
	if err := v.s.Check(); err != nil { // no token goes where it can be read on the way
		return err
	}
	ch := challengeOf(resp.Header)
	v.mu.Lock()
	if ch.metadata != "" || ch.scopes != nil || v.ch.metadata == "" && v.ch.scopes == nil {
		v.ch = ch
	}
	v.mu.Unlock()
	used := secret("")
	if text, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		used = secret(text)
	}
	if resp.StatusCode == http.StatusForbidden {
		return v.more(ctx, used, ch)
	}
	return v.refused(ctx, used, ch)
}

// refused answers a 401.
func (v *server) refused(ctx context.Context, used secret, ch challenge) error {
	r, err := v.current(ctx)
	if err != nil {
		return err
	}
	if r.Access == used || r.Access == "" { // what another process has by now
		if r, err = v.newest(ctx); err != nil {
			return err
		}
	}
	switch {
	case r.Access != "" && r.Access != used:
		return nil
	case r.Access != "" && v.c.config.Now().Sub(r.Issued).Abs() < young:
		if v.s.Flow != Code { // the next one is looked for from the beginning
			if err := v.c.drop(ctx, v.s.key(), ""); err != nil {
				return err
			}
			v.keep(record{})
			return fmt.Errorf("the MCP server %s refuses the token that it was just given", shown(v.s.Name))
		}
		return v.needs("the server refuses the token that it was just given")
	case r.Access != "" && v.renews(r):
		if v.moved(ctx, r, ch) {
			return v.needs("it has another authorization server by now")
		}
		return v.renew(ctx, used)
	case r.Access != "":
		return v.needs("the last sign-in is over")
	case v.s.Flow == Code:
		return v.needs("")
	}
	return v.obtain(ctx, ch, nil)
}

// moved reports whether the server names authorization servers, and the one that
// issued the tokens is none of them any more.
func (v *server) moved(ctx context.Context, r record, ch challenge) bool {
	if ch.metadata == "" || v.s.MetadataURL != "" {
		return false
	}
	w := v.web(ctx)
	defer w.end()
	now, found, err := w.resource(ctx, v.s, ch)
	return err == nil && found && len(now.Servers) > 0 && !slices.ContainsFunc(now.Servers, func(id string) bool {
		return strings.TrimSuffix(id, "/") == strings.TrimSuffix(r.Issuer, "/")
	})
}

// more answers a 403: the token does not give the right to what was asked for.
func (v *server) more(ctx context.Context, used secret, ch challenge) error {
	if ch.code != "insufficient_scope" {
		return &ErrRefused{fmt.Sprintf("the MCP server %s refuses that (403)", shown(v.s.Name))}
	}
	r, err := v.current(ctx)
	if err != nil {
		return err
	}
	if r.Access == used { // a sign-in in another process may have given more
		if r, err = v.newest(ctx); err != nil {
			return err
		}
	}
	if r.Access != "" && r.Access != used && covers(r.Scopes, ch.scopes) {
		return nil
	}
	if len(ch.scopes) == 0 || covers(together(r.Asked, r.Scopes), ch.scopes) {
		return &ErrRefused{fmt.Sprintf("the MCP server %s refuses that: it wants the rights %s, which were asked for and did not do", shown(v.s.Name), shown(strings.Join(ch.scopes, " ")))}
	}
	want := together(r.Asked, r.Scopes, ch.scopes)
	v.mu.Lock()
	v.want = together(v.want, want)
	want = v.want
	v.mu.Unlock()
	if v.s.Flow == Code {
		if r.Access != "" {
			v.note(ctx, want)
		}
		return &ErrNeedsSignIn{Server: v.s.Name, Scopes: want, More: r.Access != ""}
	}
	return v.obtain(ctx, ch, want)
}

// note keeps what rights were missing, for whoever signs in next, in whatever
// process. It is no fault when that fails: the server will say it again.
func (v *server) note(ctx context.Context, want []string) {
	unlock, err := v.c.lock(ctx, v.s.key())
	if err != nil {
		return
	}
	defer unlock()
	if r, err := v.newest(ctx); err == nil && r.Access != "" && !covers(r.Want, want) {
		r.Want = together(r.Want, want)
		_ = v.save(ctx, r)
	}
}

// obtain gets a token without a person.
func (v *server) obtain(ctx context.Context, ch challenge, want []string) error {
	return v.share(ctx, "obtain "+strings.Join(want, " "), func(ctx context.Context) error {
		unlock, err := v.c.lock(ctx, v.s.key())
		if err != nil {
			return fmt.Errorf("another process signs in to %s: %w", shown(v.s.Name), err)
		}
		defer unlock()
		if r, err := v.newest(ctx); err != nil || want == nil && r.Access != "" {
			return err
		}
		w := v.web(ctx)
		defer w.end()
		p, err := w.discover(ctx, v.s, ch)
		if err != nil {
			return err
		}
		if want == nil {
			want = firstScopes(v.s, ch, p)
		}
		r, err := w.fetch(ctx, v.s, p, want)
		if err != nil {
			need := (*ErrNeedsSignIn)(nil)
			if errors.As(err, &need) {
				return err
			}
			return fmt.Errorf("no token for %s: %w", shown(v.s.Name), err)
		}
		return v.save(ctx, r)
	})
}

// firstScopes are what is asked for at first: what a person set, else what the
// server wants, else all that it says it has.
func firstScopes(s Settings, ch challenge, p place) []string {
	switch {
	case len(s.Scopes) > 0:
		return together(s.Scopes)
	case len(ch.scopes) > 0:
		return together(ch.scopes)
	}
	return together(p.scopes)
}
