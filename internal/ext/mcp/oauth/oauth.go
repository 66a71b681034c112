package oauth

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Flow is how a token is come by.
type Flow string

// Flows.
const (
	// Code is a person who signs in with a browser.
	Code Flow = ""
	// Credentials is a program that signs in for itself (RFC 6749 4.4): it has an
	// ID and a secret, or a private key.
	Credentials Flow = "client_credentials"
	// CrossApp is a person who signs in once with the company's identity provider,
	// which vouches for them to every server (RFC 8693, then RFC 7523).
	CrossApp Flow = "cross_app"
)

// Settings are what a person set for a server.
type Settings struct {
	Name      string // of the server, for what people read
	ServerURL string // absolute; https, or http on this machine; wss and ws are the same

	// ClientID is the ID of a registered client, "" to register by a metadata
	// document or dynamically.
	ClientID string
	// ClientSecretRef and PrivateKeyRef name a secret for Config.Secret; at most
	// one is set. The key is PEM (PKCS #8, EC P-256 or RSA) and signs assertions
	// (private_key_jwt).
	ClientSecretRef, PrivateKeyRef string
	// CallbackPort is the port of the redirect on this machine, 0 for a free one.
	CallbackPort int
	// MetadataURL is where the authorization server describes itself, "" to ask
	// the MCP server.
	MetadataURL string
	// Scopes are asked for instead of what the server wants at first.
	Scopes []string
	Flow   Flow
	IdP    IdP // of CrossApp
}

// An IdP is the identity provider of a company, with the client that is
// registered there.
type IdP struct {
	Issuer          string
	ClientID        string
	ClientSecretRef string
	Scopes          []string // besides openid
	CallbackPort    int
}

// A Config is what a Client is made from.
type Config struct {
	// Store keeps the tokens; Locks are beside its file. It should be a folder of
	// its own, so that they are not listed among the keys of models.
	Store auth.Store
	// Secret gives the secret that a reference in settings names; nil: none can be
	// used. Of a server that a repository configured, nothing but that repository's
	// own may be handed out.
	Secret func(ctx context.Context, ref string) (string, error)
	// ClientDocument is the https URL of the document that describes adze to
	// authorization servers (a Client ID Metadata Document), "" for none.
	ClientDocument string
	Version        string // of adze, for the User-Agent
	// Proxy chooses the proxy of a request; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	Roots *x509.CertPool // trusted certificates; nil means the system's
	Now   func() time.Time
}

// A Client has the tokens of a process. Make one with New and end it with Close.
type Client struct {
	config Config
	store  auth.Store
	ctx    context.Context // of renewals, which outlive the call that wanted them; ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // renewals

	mu      sync.Mutex // guards the fields below
	closed  bool
	servers map[string]*server // by all of the settings

	wait   time.Duration // for one answer
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	dial   func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// New returns a Client.
func New(c Config) *Client {
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	ctx, cancel := context.WithCancel(context.Background()) // the client's own life
	return &Client{
		config: c, store: c.Store, ctx: ctx, cancel: cancel, servers: map[string]*server{}, wait: requestTime,
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", to.String())
		},
	}
}

// closeTime is how long Close lets a renewal come to its end: what a server
// handed out and nobody wrote down is lost.
const closeTime = 2 * time.Second

// Close ends the client and waits for what it has begun.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	late := time.AfterFunc(closeTime, c.cancel)
	defer late.Stop()
	c.wg.Wait()
	c.cancel()
}

// Handler gives a connection of the server its tokens; each connection has one of
// its own. It never opens a browser: where a person must sign in, the error is an
// *ErrNeedsSignIn.
func (c *Client) Handler(s Settings) sdk.OAuthHandler { return &handler{v: c.server(s.web())} }

// server is the state of one server in this process, as long as its settings
// stay the same.
func (c *Client) server(s Settings) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprintf("%#v", s)
	v := c.servers[key]
	if v == nil {
		v = &server{c: c, s: s}
		c.servers[key] = v
	}
	return v
}

// start runs do in a goroutine that Close waits for.
func (c *Client) start(do func(context.Context)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.wg.Go(func() { do(c.ctx) })
	return nil
}

var errClosed = errors.New("adze is about to end")

// An ErrNeedsSignIn says that a person must sign in.
type ErrNeedsSignIn struct {
	Server string // Settings.Name
	Why    string // one line, "" when nobody was signed in yet
	// More: they are signed in, and the server wants more rights for what was called:
	// Scopes are all that are to be asked for.
	More   bool
	Scopes []string
}

func (e *ErrNeedsSignIn) Error() string {
	s := "the MCP server " + clip.Visible(e.Server) + " wants you to sign in"
	if e.More {
		s = fmt.Sprintf("the MCP server %s wants more rights for that, %s: sign in again", clip.Visible(e.Server), shown(strings.Join(e.Scopes, " ")))
	}
	if e.Why != "" {
		s += " (" + e.Why + ")"
	}
	return s
}

// An ErrRefused is a 403 that signing in does not change.
type ErrRefused struct{ text string }

func (e *ErrRefused) Error() string { return e.text }

// Refused tells it from what may go otherwise at another time.
func (e *ErrRefused) Refused() {}

// NeedsSignIn reports whether nothing of the server can be used until then.
func (e *ErrNeedsSignIn) NeedsSignIn() bool { return !e.More }

// Hint is the next command.
func (e *ErrNeedsSignIn) Hint() string { return "adze mcp login " + hint.Shell(e.Server) }

// A Status is what is known of a server without asking anybody.
type Status struct {
	SignedIn bool
	Issuer   string // who issued the tokens
	Scopes   []string
	Expires  time.Time // of the access token; zero when unknown
	Renews   bool      // a new token can be had without a person
	At       auth.Place
}

// Status says whether somebody is signed in to a server. The error says what is
// wrong with the store.
func (c *Client) Status(ctx context.Context, s Settings) (Status, error) {
	s = s.web()
	r, at, err := c.load(ctx, s)
	if err != nil || r.Access == "" {
		return Status{}, err
	}
	return Status{
		SignedIn: true, Issuer: r.Issuer, Scopes: r.Scopes, Expires: r.Expires,
		Renews: r.Refresh != "" || s.Flow != Code, At: at,
	}, nil
}

// web is the settings with the address that a WebSocket begins at.
func (s Settings) web() Settings {
	if scheme, rest, ok := strings.Cut(s.ServerURL, "://"); ok {
		switch strings.ToLower(scheme) {
		case "wss":
			s.ServerURL = "https://" + rest
		case "ws":
			s.ServerURL = "http://" + rest
		}
	}
	return s
}

// Check says what about settings cannot be meant.
func (s Settings) Check() error {
	s = s.web()
	u, err := address("the URL of the MCP server "+clip.Visible(s.Name), s.ServerURL)
	if err != nil {
		return err
	}
	if err := unambiguous(u); err != nil {
		return err
	}
	if s.CallbackPort < 0 || s.CallbackPort > 65535 || s.IdP.CallbackPort < 0 || s.IdP.CallbackPort > 65535 {
		return mistake("the callback port of the MCP server "+clip.Visible(s.Name)+" is not a port", "use 1 to 65535, or 0 for a free one")
	}
	if s.MetadataURL != "" {
		if _, err := address("the metadata URL of the MCP server "+clip.Visible(s.Name), s.MetadataURL); err != nil {
			return err
		}
	}
	switch s.Flow {
	case Code:
	case Credentials:
		if s.ClientID == "" || (s.ClientSecretRef == "") == (s.PrivateKeyRef == "") {
			return mistake("client credentials of the MCP server "+clip.Visible(s.Name)+" are not complete", "set the client's ID and its secret, or its private key")
		}
	case CrossApp:
		if s.ClientID == "" || s.IdP.Issuer == "" || s.IdP.ClientID == "" {
			return mistake("the sign-in across apps of the MCP server "+clip.Visible(s.Name)+" is not complete", "set the client's ID, the identity provider's issuer and the client's ID there")
		}
		if _, err := address("the identity provider", s.IdP.Issuer); err != nil {
			return err
		}
	default:
		return mistake(fmt.Sprintf("there is no way to sign in called %q", clip.Line(clip.Visible(string(s.Flow)), 40)), "use client_credentials or cross_app, or leave it out")
	}
	return nil
}
