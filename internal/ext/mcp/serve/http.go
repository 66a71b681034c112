package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server answers over HTTP.
const Path = "/mcp"

// Bounds of clients over HTTP.
const (
	maxBody = 16 << 20 // bytes of a request
	idle    = time.Hour
)

// Handler serves clients over streamable HTTP, on this machine only: whoever
// asks has to know the token, and a web page cannot ask, whatever name it gave
// this machine.
func (x *Server) Handler(token string) http.Handler {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return x.sdk }, &mcp.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: maxBody,
	})
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		have := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case !local(r.Host):
			http.Error(w, "this server answers for this machine's own names only", http.StatusForbidden)
		case r.Header.Get("Origin") != "" && !localOrigin(r.Header.Get("Origin")):
			http.Error(w, "web pages may not use this server", http.StatusForbidden)
		case len(r.Header.Values("Authorization")) != 1 || subtle.ConstantTimeCompare(want[:], have[:]) != 1:
			w.Header().Set("WWW-Authenticate", `Bearer realm="adze"`)
			http.Error(w, "the token that adze mcp serve printed is wanted: Authorization: Bearer …", http.StatusUnauthorized)
		case r.URL.Path != Path:
			http.NotFound(w, r)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// local reports whether a host, with or without a port, names this machine and
// nothing else.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

func localOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && local(u.Host)
}
