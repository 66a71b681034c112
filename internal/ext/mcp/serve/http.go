package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
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

// maxClients bounds the clients over HTTP that a process has at once.
const maxClients = 100

// A Handler serves clients over streamable HTTP, on this machine only: whoever
// asks has to know the token, and a web page cannot ask, whatever name it gave
// this machine. Each client has a session of its own: its folder, the files it has
// read, its calls. Make one with NewHandler, and end it with Close.
type Handler struct {
	open  func(context.Context) (*Server, func() error, error)
	check http.HandlerFunc
	wait  sync.WaitGroup // of sessions that end

	mu      sync.Mutex // guards what follows
	clients int
	ends    map[*Server]func() error
}

// NewHandler returns a handler that opens a session for each client, and has end end it
// when the client leaves. ctx is done when nobody wants it any more.
func NewHandler(token string, open func(ctx context.Context) (x *Server, end func() error, err error)) *Handler {
	h := &Handler{open: open, ends: map[*Server]func() error{}}
	nobody := mcp.NewServer(&mcp.Implementation{Name: "adze"}, nil)
	inner := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if n, ok := r.Context().Value(newcomer{}).(*Server); ok {
			return n.sdk
		}
		return nobody // of a client that is known: asked for what protocols there are
	}, &mcp.StreamableHTTPOptions{SessionTimeout: idle, MaxRequestBodyBytes: maxBody})
	h.check = guarded(token, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Mcp-Session-Id") != "" {
			inner.ServeHTTP(w, r)
			return
		}
		x, err := h.begin(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), newcomer{}, x)))
		for c := range x.sdk.Sessions() {
			h.wait.Go(func() { // ends with the client, or with Close
				_ = c.Wait()
				h.end(x)
			})
			return
		}
		h.end(x) // it was refused
	})
	return h
}

// newcomer is the key of the server that a client without a session gets.
type newcomer struct{}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.check(w, r) }

// Close ends the sessions of all clients.
func (h *Handler) Close() {
	h.mu.Lock()
	h.clients = maxClients // and no more come
	list := slices.Collect(maps.Keys(h.ends))
	h.mu.Unlock()
	for _, x := range list {
		h.end(x)
	}
	h.wait.Wait()
}

func (h *Handler) begin(ctx context.Context) (*Server, error) {
	h.mu.Lock()
	if h.clients >= maxClients {
		h.mu.Unlock()
		return nil, fmt.Errorf("adze serves no more than %d clients at once", maxClients)
	}
	h.clients++
	h.mu.Unlock()
	x, end, err := h.open(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.clients--
		return nil, err
	}
	h.ends[x] = end
	return x, nil
}

func (h *Handler) end(x *Server) {
	h.mu.Lock()
	end, ok := h.ends[x]
	if delete(h.ends, x); ok {
		h.clients--
	}
	h.mu.Unlock()
	if ok {
		x.Close()
		_ = end() // its client is not there any more
	}
}

// guarded lets those ask who may.
func guarded(token string, inner http.HandlerFunc) http.HandlerFunc {
	want := sha256.Sum256([]byte("Bearer " + token))
	return func(w http.ResponseWriter, r *http.Request) {
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
			inner(w, r)
		}
	}
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
