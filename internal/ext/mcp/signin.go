package mcp

import (
	"context"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"github.com/adze-agent/adze/internal/event"
)

// needsAuth says that a server wants to know who we are.
type needsAuth struct {
	why string
	err error // it comes from, nil for a bare refusal
}

func (n *needsAuth) Error() string { return n.why }

func (n *needsAuth) Unwrap() error { return n.err }

// A signIn is an error of who signs requests: a person has to sign in.
type signIn interface {
	error
	// NeedsSignIn reports whether the connection is of no use until a person has
	// signed in, and not only what was asked for.
	NeedsSignIn() bool
}

// A returning is who signs requests and can say that a person has signed in since
// a server wanted that.
type returning interface {
	Newer(ctx context.Context) bool
}

// newer reports whether a server that wanted a sign-in is worth another try.
func (s *server) newer(ctx context.Context) bool {
	if s.hub.conf.Auth == nil {
		return false
	}
	r, ok := s.hub.conf.Auth(s.conf).(returning)
	return ok && r.Newer(ctx)
}

// Revive connects to servers again that wanted a person to sign in, where one has,
// in whatever process. It asks no server, only what is kept here, and returns when
// it has begun.
func (v *View) Revive(ctx context.Context) {
	for _, s := range v.list() {
		s.mu.Lock()
		waits := s.state == event.ServerNeedsAuth
		s.mu.Unlock()
		if waits && s.newer(ctx) {
			s.want(func(w *wants) { w.needed = true })
		}
	}
}

// A refusal is one of theirs too: nothing that is done here changes it.
type refusal interface {
	error
	Refused()
}

// unsigned is any error of who signs requests, as the transport passes it on.
type unsigned struct{ error }

func (u *unsigned) Unwrap() error { return u.error }

// signed makes errors of who signs requests known as such.
type signed struct{ auth.OAuthHandler }

// TokenSource implements auth.OAuthHandler.
func (s signed) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	t, err := s.OAuthHandler.TokenSource(ctx)
	if err != nil {
		return nil, &unsigned{err}
	}
	if t != nil {
		t = tokens{t}
	}
	return t, nil
}

// Authorize implements auth.OAuthHandler.
func (s signed) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	if err := s.OAuthHandler.Authorize(ctx, req, resp); err != nil {
		return &unsigned{err}
	}
	return nil
}

type tokens struct{ oauth2.TokenSource }

// Token implements oauth2.TokenSource.
func (t tokens) Token() (*oauth2.Token, error) {
	token, err := t.TokenSource.Token()
	if err != nil {
		return nil, &unsigned{err}
	}
	return token, nil
}

// signing is what an error of who signs requests comes to, nil for any other.
func signing(err error) error {
	u, in, no := (*unsigned)(nil), signIn(nil), refusal(nil)
	switch {
	case errors.As(err, &in):
		return &needsAuth{in.Error(), in}
	case errors.As(err, &no):
		return &final{no}
	case errors.As(err, &u):
		return u.error
	}
	return nil
}
