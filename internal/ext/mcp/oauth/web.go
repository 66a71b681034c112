package oauth

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/netaddr"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
)

// Bounds of what is asked.
const (
	dialTime    = 5 * time.Second // for one address
	requestTime = 15 * time.Second
	maxBody     = 1 << 20
	maxURL      = 4 << 10
	maxHops     = 3 // redirects, each within one origin
)

// A reach is how far inside an address is. What a person set is reached wherever
// it is; what a server's metadata name may be no further inside than that: a
// server of the internet must not lead to a company's network, nor that to this
// machine.
type reach int

const (
	public  reach = iota
	private       // a private network
	local         // this machine
	never         // link-local addresses, clouds' metadata services and the like: only as a person wrote them
)

// shared is what carriers, and private networks over them, use (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

func reachOf(a netip.Addr) reach {
	a = a.Unmap()
	switch why := netaddr.Inside(a); {
	case why == "":
		return public
	case a.IsLoopback():
		return local
	case a.IsPrivate() && !strings.Contains(why, "cloud"), shared.Contains(a) && !strings.Contains(why, "cloud"):
		return private
	}
	return never
}

// named is the reach of a host by what it is called, if that says it.
func named(host string) (reach, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return reachOf(a), true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return local, host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// address reads a URL that is fetched or opened: https, or http on this machine;
// what names it in an error.
func address(what, text string) (*url.URL, error) {
	shown, _, _ := strings.Cut(text, "?") // what follows may be a secret
	shown = clip.Line(clip.Visible(shown), 100)
	if len(text) > maxURL {
		return nil, fmt.Errorf("%s is longer than %d KiB", what, maxURL>>10)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("%s is no web address: %s", what, shown)
	case u.User != nil:
		return nil, fmt.Errorf("%s holds a name or a password", what)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s has a fragment: %s", what, shown)
	case u.Scheme == "https":
		return u, nil
	case u.Scheme != "http":
		return nil, fmt.Errorf("%s is neither https nor http: %s", what, shown)
	}
	if at, ok := named(u.Hostname()); !ok || at != local {
		return nil, fmt.Errorf("%s is not encrypted (http): %s", what, shown)
	}
	return u, nil
}

// unambiguous refuses a path that two programs may read in two ways.
func unambiguous(u *url.URL) error {
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return fmt.Errorf("the path of %s has . or .. in it", clip.Line(clip.Visible(u.Host+u.Path), 100))
		}
	}
	return nil
}

// A web makes the requests of one matter. end lets go of its connections.
type web struct {
	c       *Client
	limit   reach
	direct  *http.Transport
	proxied *http.Transport
}

// web returns one that goes no further inside than what a person set: URLs.
// A name counts as what all of its addresses are at least, and never as this
// machine, which only names that mean it do.
func (c *Client) web(ctx context.Context, urls ...string) *web {
	w := &web{c: c}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || text == "" {
			continue
		}
		at, ok := named(u.Hostname())
		if !ok && w.proxy(u) != nil {
			continue // whose network the name is of, the proxy knows
		}
		if !ok {
			ctx, cancel := context.WithTimeout(ctx, dialTime)
			addrs, err := c.lookup(ctx, u.Hostname())
			cancel()
			if err != nil || len(addrs) == 0 {
				continue
			}
			at = private
			for _, a := range addrs {
				at = min(at, reachOf(a))
			}
		}
		w.limit = max(w.limit, at)
	}
	tlsConfig := &tls.Config{RootCAs: c.config.Roots, MinVersion: tls.VersionTLS12}
	base := http.Transport{
		TLSClientConfig: tlsConfig, TLSHandshakeTimeout: dialTime, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxResponseHeaderBytes: 64 << 10, ResponseHeaderTimeout: requestTime, MaxConnsPerHost: 4,
	}
	w.direct, w.proxied = base.Clone(), base.Clone()
	w.direct.DialContext = w.dial
	w.proxied.Proxy = c.config.Proxy
	return w
}

func (w *web) end() {
	w.direct.CloseIdleConnections()
	w.proxied.CloseIdleConnections()
}

// dial connects to a host at an address that may be reached, and at no other:
// what is checked is what is dialled.
func (w *web) dial(ctx context.Context, _, to string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{a}
	} else if addrs, err = w.c.lookup(ctx, host); err != nil {
		return nil, err
	}
	last := error(&net.DNSError{Err: "no addresses", Name: host, IsNotFound: true})
	for _, a := range addrs {
		if reachOf(a) > w.limit {
			last = insideError(host, a)
			continue
		}
		conn, err := w.c.dial(ctx, netip.AddrPortFrom(a.Unmap(), uint16(n)))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

func insideError(host string, a netip.Addr) error {
	return &insideErr{fmt.Sprintf("%s is %s, and the server that named it is not", clip.Line(clip.Visible(host), 100), netaddr.Inside(a))}
}

// An insideErr is an address that must not be reached.
type insideErr struct{ text string }

func (e *insideErr) Error() string { return e.text }

// may refuses a URL whose host cannot be reached by what it is called.
func (w *web) may(u *url.URL) error {
	at, ok := named(u.Hostname())
	if !ok || at <= w.limit {
		return nil
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		return insideError(u.Hostname(), a)
	}
	return &insideErr{clip.Line(clip.Visible(u.Hostname()), 100) + " is this machine, and the server that named it is not"}
}

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := w.may(r.URL); err != nil {
		return nil, err
	}
	if w.proxy(r.URL) != nil {
		return w.proxied.RoundTrip(r)
	}
	return w.direct.RoundTrip(r)
}

// proxy is the proxy for a URL, nil for none. One that cannot be read is one that
// refuses.
func (w *web) proxy(u *url.URL) *url.URL {
	if w.c.config.Proxy == nil {
		return nil
	}
	p, err := w.c.config.Proxy(&http.Request{URL: u})
	if err != nil {
		return &url.URL{}
	}
	return p
}

// An answer is what came back. header is never shown.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request. Redirects are followed by a GET only, and within its
// origin. The error names the host and nothing else of the URL.
func (w *web) do(ctx context.Context, method, what, to string, header http.Header, body []byte) (answer, error) {
	u, err := address(what, to)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.c.wait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("%s is no web address", what)
	}
	for k, v := range header {
		r.Header[k] = v
	}
	r.Header.Set("User-Agent", "adze/"+w.c.config.Version)
	client := http.Client{Transport: w, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case method != http.MethodGet:
			return http.ErrUseLastResponse
		case len(via) > maxHops:
			return errors.New("it redirects without end")
		case origin(next.URL) != origin(u):
			return fmt.Errorf("it redirects to another host (%s)", clip.Line(clip.Visible(next.URL.Host), 100))
		}
		return nil
	}}
	resp, err := client.Do(r)
	if err != nil {
		return answer{}, fmt.Errorf("%s (%s) did not answer: %w", what, u.Host, cause(ctx, err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return answer{}, fmt.Errorf("%s (%s) did not answer to the end: %w", what, u.Host, cause(ctx, err))
	}
	if len(text) > maxBody {
		return answer{}, fmt.Errorf("%s (%s) answered with more than %d KiB", what, u.Host, maxBody>>10)
	}
	if method != http.MethodGet && resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return answer{}, fmt.Errorf("%s (%s) redirects, and what was sent holds secrets", what, u.Host)
	}
	return answer{resp.StatusCode, resp.Header, text}, nil
}

// get reads a JSON document into v. found is false when there is none.
func (w *web) get(ctx context.Context, what, from string, v any) (found bool, err error) {
	a, err := w.do(ctx, http.MethodGet, what, from, http.Header{"Accept": {"application/json"}}, nil)
	if err != nil || a.status != http.StatusOK {
		return false, err
	}
	if fastjson.Unmarshal(a.body, v) != nil { // the parser's errors quote
		return false, nil // a page for people, for which many servers say OK
	}
	return true, nil
}

// cause is an error of the network without the URL that Go puts before it.
func cause(ctx context.Context, err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	if in := (*insideErr)(nil); errors.As(err, &in) {
		return in
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("not within the time limit: %w", context.DeadlineExceeded)
		}
		return ctx.Err()
	}
	return errors.New(clip.Line(clip.Visible(err.Error()), 300))
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// said is a text of a server's for people: short, visible, without secrets.
func said(text string, secrets ...secret) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, string(s), "[hidden]")
			text = strings.ReplaceAll(text, url.QueryEscape(string(s)), "[hidden]")
		}
	}
	return clip.Line(clip.Visible(clip.Clean(text)), 200)
}

func mistake(why, fix string) error { return &hint.Mistake{Why: why, What: fix} }
