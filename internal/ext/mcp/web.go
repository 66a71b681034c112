package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	llmwire "github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Bounds of remote servers.
const (
	maxRefusal = 64 << 10         // bytes of an answer that is an error
	listenWait = 10 * time.Second // for the answer to a request for a stream of events
	leaveWait  = 3 * time.Second  // for the answer to the end of a session
)

func newCarrier(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return llmwire.NewTransport(llmwire.Dial{Proxy: proxy})
}

// A courier carries the requests of one connection to a remote server: to that
// server and nowhere else, with the headers of its configuration. It looks at all
// that comes back before anything else reads it.
type courier struct {
	l       *link
	base    http.RoundTripper
	home    *url.URL
	headers http.Header
	sign    auth.OAuthHandler // nil where the transport signs requests itself, or nobody does

	mu     sync.Mutex // guards what follows
	status int        // of the last answer
	no     denial     // the last
	why    error      // what it did wrong
	kind   string     // the content type of its answer to the first question, where that is no message; "" for others
}

// A denial is an answer with a status of 400 and above.
type denial struct {
	status  int
	message string // what its body says, in a line; "" for nothing
}

// A refused is an error of the library for a denial, whose body it drops.
type refused struct {
	error
	no denial
}

func (r *refused) Error() string {
	return fmt.Sprintf("%d %s: %s", r.no.status, http.StatusText(r.no.status), r.no.message)
}

func (r *refused) Unwrap() error { return r.error }

// newCourier makes the courier of a connection. An error says what is wrong with
// its configuration.
func (l *link) newCourier(ctx context.Context) (*courier, error) {
	s := l.s
	home, err := url.Parse(s.conf.URL)
	if err != nil || home.Host == "" || home.Scheme != "http" && home.Scheme != "https" && home.Scheme != "ws" && home.Scheme != "wss" {
		return nil, &final{errors.New("its address is none: it begins with http:// or https://")}
	}
	c := &courier{l: l, base: s.hub.carrier(), home: home, headers: http.Header{}}
	for name, value := range s.conf.Headers {
		c.headers.Set(name, value)
	}
	if s.conf.HeadersHelper != "" {
		more, err := s.helped(ctx)
		if err != nil {
			return nil, fmt.Errorf("its headersHelper %w", err)
		}
		for name, value := range more {
			c.headers.Set(name, value)
		}
	}
	c.headers.Set("User-Agent", "adze/"+cmp.Or(s.hub.conf.Version, "0"))
	return c, nil
}

// signer is who signs the requests of a server, nil for nobody: a header of its
// configuration that says who we are is enough.
func (c *courier) signer() auth.OAuthHandler {
	if c.l.s.hub.conf.Auth == nil || c.headers.Get("Authorization") != "" {
		return nil
	}
	h := c.l.s.hub.conf.Auth(c.l.s.conf)
	if h == nil {
		return nil
	}
	return signed{h}
}

// client is an HTTP client that goes through the courier.
func (c *courier) client() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: c.redirected}
}

// maxRedirects is how many redirects one after the other are followed.
const maxRedirects = 3

// redirected follows 307 and 308 (RFC 9110, 15.4) to another path of the server: the
// request stays as it is, and its headers go where they would go anyway. Of another
// address only the origin is told: the rest may be a secret.
func (c *courier) redirected(to *http.Request, via []*http.Request) error {
	status := 0
	if to.Response != nil {
		status = to.Response.StatusCode
	}
	origin := clip.Line(clip.Visible(to.URL.Scheme+"://"+to.URL.Host), 200)
	same := strings.EqualFold(to.URL.Host, c.home.Host) && to.URL.Scheme == webScheme(c.home.Scheme)
	kept := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	switch {
	case !same:
		return &final{fmt.Errorf("it redirects to %s, where its headers do not go: if that is the server, have its url begin so", origin)}
	case len(via) > maxRedirects:
		return &final{fmt.Errorf("it redirects more than %d times", maxRedirects)}
	case !kept && via[0].Method != http.MethodGet:
		return &final{fmt.Errorf("it redirects to another path of %s with status %d, which would lose the request: its url is to be the path that it redirects to", origin, status)}
	}
	return nil
}

// web is the transport of a remote server.
func (l *link) overWeb(ctx context.Context) (sdk.Transport, func(), error) {
	c, err := l.newCourier(ctx)
	if err != nil {
		return nil, nil, err
	}
	l.web = c
	if l.s.conf.Transport == servers.SSE || l.older {
		c.sign = c.signer()
		return detached{&sdk.SSEClientTransport{Endpoint: l.s.conf.URL, HTTPClient: c.client(), MaxEventSize: maxMessage}, l.life}, func() {}, nil
	}
	t := &sdk.StreamableClientTransport{Endpoint: l.s.conf.URL, HTTPClient: c.client(), MaxEventSize: maxMessage, OAuthHandler: c.signer()}
	return t, func() {}, nil
}

// detached connects with a context that lasts as long as the connection.
type detached struct {
	sdk.Transport
	life context.Context
}

// Connect implements mcp.Transport.
func (d detached) Connect(ctx context.Context) (sdk.Connection, error) {
	life, cancel := context.WithCancel(d.life)
	stop := context.AfterFunc(ctx, cancel)
	conn, err := d.Transport.Connect(life)
	if !stop() || err != nil {
		cancel()
		return conn, cmp.Or(err, ctx.Err())
	}
	context.AfterFunc(d.life, cancel)
	return conn, nil
}

// RoundTrip implements http.RoundTripper.
func (c *courier) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.EqualFold(req.URL.Host, c.home.Host) || webScheme(req.URL.Scheme) != webScheme(c.home.Scheme) {
		return nil, c.blame(offended("it would have us speak to another host, %s", quote(req.URL.Host)))
	}
	ctx, cancel := c.context(req)
	resp, err := c.send(req.Clone(ctx))
	if err != nil {
		cancel()
		if errors.Is(err, errMute) && req.Method == http.MethodGet {
			return &http.Response{Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		}
		return nil, err
	}
	c.mu.Lock()
	c.status = resp.StatusCode
	c.mu.Unlock()
	if rw, both := resp.Body.(io.ReadWriteCloser); both && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body = &duplex{rw, cancel}
		return resp, nil
	}
	resp.Body = &body{c.looked(req, resp), cancel}
	return resp, nil
}

// errMute is a server that does not answer what it need not.
var errMute = errors.New("no answer")

// context is what a request ends with: the connection, and a time of its own
// where an answer may never come.
func (c *courier) context(req *http.Request) (context.Context, context.CancelFunc) {
	if req.Method == http.MethodDelete { // the last word of a connection
		return context.WithTimeout(context.WithoutCancel(req.Context()), leaveWait)
	}
	return both(req.Context(), c.l.life)
}

// send sends a request, signed where that is the courier's business.
func (c *courier) send(req *http.Request) (*http.Response, error) {
	for name, values := range c.headers {
		req.Header[name] = values
	}
	wait := time.Duration(0)
	var first json.RawMessage
	if req.Method == http.MethodPost {
		first = c.sent(req)
	}
	switch {
	case first != nil:
		wait = 2 * discoverWait
	case req.Method == http.MethodGet && c.l.s.conf.Transport == servers.HTTP && !c.l.older:
		wait = listenWait
	}
	if wait > 0 {
		ctx, cancel := context.WithCancelCause(req.Context())
		timer := time.AfterFunc(wait, func() { cancel(errMute) })
		defer timer.Stop()
		resp, err := c.signed(req.WithContext(ctx))
		if err != nil && context.Cause(ctx) == errMute {
			err = errMute
		}
		if err == nil && first != nil && resp.Header.Get("Content-Type") == "" && resp.StatusCode < 300 {
			return unanswered(resp, first), nil
		}
		if err == nil && first != nil && resp.StatusCode < 300 {
			if kind := resp.Header.Get("Content-Type"); !speaks(kind) || resp.ContentLength == 0 {
				c.mu.Lock()
				c.kind = kind
				c.mu.Unlock()
			}
		}
		return resp, err
	}
	return c.signed(req)
}

// speaks reports whether a message of MCP may have this content type (Streamable HTTP).
func speaks(kind string) bool {
	return strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/event-stream")
}

// signed sends a request, and once more when signing in helps.
func (c *courier) signed(req *http.Request) (*http.Response, error) {
	if c.sign == nil {
		return c.base.RoundTrip(req)
	}
	for again := false; ; again = true {
		source, err := c.sign.TokenSource(req.Context())
		if err == nil && source != nil {
			token, err := source.Token()
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", "Bearer "+token.AccessToken)
		}
		resp, err := c.base.RoundTrip(req)
		if err != nil || again || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		if err := c.sign.Authorize(req.Context(), req, resp); err != nil {
			return nil, err
		}
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// unanswered is the answer of a server that accepts the question of the newest protocol as
// if it were a notification: 202, and no body. It does not know the method.
func unanswered(resp *http.Response, id json.RawMessage) *http.Response {
	_ = resp.Body.Close()
	text := `{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-32601,"message":"it was not answered"}}`
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: resp.Request}
}

// sent notes the number of a request. It returns that of the question of the newest
// protocol, which some servers never answer, and nil for other messages.
func (c *courier) sent(req *http.Request) (first json.RawMessage) {
	if req.GetBody == nil {
		return nil
	}
	r, err := req.GetBody()
	if err != nil {
		return nil
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	var e envelope
	if fastjson.Unmarshal(raw, &e) != nil || e.Method == nil {
		return nil
	}
	var id int64
	if json.Unmarshal(e.ID, &id) == nil {
		c.l.look.sent(id)
	}
	if *e.Method != discover {
		return nil
	}
	return e.ID
}

// blame ends the connection for what the server did.
func (c *courier) blame(err error) error {
	c.mu.Lock()
	if c.why == nil {
		c.why = err
	}
	c.mu.Unlock()
	c.l.end(err)
	return err
}

// because is the reason behind an error, in words that hold no address: it may be
// a secret.
func (c *courier) because(err error) error {
	c.mu.Lock()
	why, status, no, first := c.why, c.status, c.no, c.kind
	c.mu.Unlock()
	u := new(url.Error)
	sign := signing(err)
	switch {
	case why != nil:
		return why
	case sign != nil:
		return sign
	case status == http.StatusUnauthorized:
		return &needsAuth{"the server wants you to sign in (401)", nil}
	case errors.Is(err, sdk.ErrSessionMissing):
		return errForgotten
	case errors.As(err, &u):
		return fmt.Errorf("%w: it cannot be reached: %w", errEnded, u.Err)
	case no.message != "" && strings.HasSuffix(err.Error(), http.StatusText(no.status)): // not that of another request
		return &refused{err, no}
	}
	_, cause, odd := strings.Cut(err.Error(), `sending "`+discover+`": `)                                  // its first answer, which the SDK names with all that came of it
	if closed := strings.HasSuffix(err.Error(), "client is closing: EOF"); closed && first != "" && !odd { // or only that it has given up
		odd = true
		if !speaks(first) {
			cause = "unsupported content type " + strconv.Quote(first)
		}
	}
	if odd {
		kind, page := strings.CutPrefix(cause, "unsupported content type ")
		text := "its answer is no message of MCP"
		if page {
			text = "it answers with " + line(kind, 60) + ", which is no message of MCP"
		}
		return &inWords{err, text + "; look at its address"}
	}
	return err
}

// inWords is an error in other words.
type inWords struct {
	error
	text string
}

func (e *inWords) Error() string { return e.text }
func (e *inWords) Unwrap() error { return e.error }

// unknown reports whether the server did not know what to do with the last request.
func (c *courier) unknown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why == nil && (c.status == http.StatusBadRequest || c.status == http.StatusNotFound || c.status == http.StatusMethodNotAllowed)
}

// errForgotten is a session that the server does not know any more.
var errForgotten = errors.New("the server forgot the session")

func webScheme(s string) string {
	switch s {
	case "ws":
		return "http"
	case "wss":
		return "https"
	}
	return s
}

// helped are the headers that a command of the configuration prints.
func (s *server) helped(ctx context.Context) (map[string]string, error) {
	out, err := s.ask(ctx, s.conf.HeadersHelper, "CLAUDE_CODE_MCP_SERVER_NAME="+s.conf.Name, "CLAUDE_CODE_MCP_SERVER_URL="+s.conf.URL)
	if err != nil {
		return nil, err
	}
	var headers map[string]string
	if err := json.Unmarshal(out, &headers); err != nil {
		return nil, fmt.Errorf("printed something that is no JSON object of strings (%s)", clip.Size(int64(len(out))))
	}
	for name, value := range headers {
		if name == "" || strings.ContainsAny(name+value, "\r\n\x00") || strings.ContainsAny(name, " :") {
			return nil, errors.New("printed a header that is none")
		}
	}
	return headers, nil
}
