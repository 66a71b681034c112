package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/servers"
)

// Bounds of starting.
const (
	localAtOnce  = 3
	remoteAtOnce = 20
	// defaultTimeout is how long one attempt to connect may take, DefaultToolTimeout a call.
	defaultTimeout     = 30 * time.Second
	DefaultToolTimeout = 10 * time.Minute
)

// A Config is what all servers of a process are spoken to with. Functions may be nil, and
// may be called by any goroutine.
type Config struct {
	Version string // of adze, which servers are told
	// HTTP carries requests to remote servers. nil is one of its own, which goes through Proxy.
	HTTP  http.RoundTripper
	Proxy func(*http.Request) (*url.URL, error) // nil is none
	// Auth signs requests to a remote server in; nil, or a nil answer: nobody does. An
	// error that has the method NeedsSignIn says that a person has to.
	Auth func(servers.Server) auth.OAuthHandler
	// Host hands a message to a server of the program that drives adze, and returns
	// its answer; none for a notification.
	Host func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)
	// Hide masks secrets in what a server wrote, before Tell, Debug and Status have
	// it; nil leaves it as it is.
	Hide func(string) string
	// Once leaves a connection that failed until somebody wants it again.
	Once bool
	// Timeout bounds one attempt to connect, ToolTimeout a call of a server that has
	// no other; 0 is the default.
	Timeout, ToolTimeout time.Duration
	// Seen is a folder that keeps what tools said of themselves when a call of
	// theirs was allowed; "" keeps it in memory.
	Seen string
	// Now is the clock by which is counted what a server sends in a second; nil is
	// time.Now.
	Now func() time.Time
}

// A Hub keeps the connections of a process. Who uses servers has a View of it. Make one
// with New, and end it with Close.
type Hub struct {
	conf   Config
	life   context.Context
	end    context.CancelFunc
	local  chan struct{} // a place for each local server that starts
	remote chan struct{}
	// table and carrier are made by the first server that needs them.
	table   func() *proc.Table
	carrier func() http.RoundTripper
	used    struct{ table, carrier atomic.Bool }
	pins    *pins

	mu      sync.Mutex // guards what follows
	servers []*server  // that some view uses
	leaving sync.WaitGroup
	closed  bool
}

// New makes a hub of no servers. It starts nothing.
func New(c Config) *Hub {
	c.Timeout, c.ToolTimeout = cmp.Or(c.Timeout, defaultTimeout), cmp.Or(c.ToolTimeout, DefaultToolTimeout)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Hide == nil {
		c.Hide = func(s string) string { return s }
	}
	h := &Hub{conf: c, local: make(chan struct{}, localAtOnce), remote: make(chan struct{}, remoteAtOnce), pins: newPins(c.Seen)}
	h.life, h.end = context.WithCancel(context.Background())
	h.table = sync.OnceValue(func() *proc.Table {
		h.used.table.Store(true)
		return proc.New(proc.Config{Guardian: true})
	})
	h.carrier = sync.OnceValue(func() http.RoundTripper {
		if c.HTTP != nil {
			return c.HTTP
		}
		h.used.carrier.Store(true)
		return newCarrier(c.Proxy)
	})
	return h
}

// acquire is the server of this configuration for a view, with this part in the names of
// its tools, and whether it is shared. One that another view uses is shared, unless programs of it run in the
// folder of that view.
func (h *Hub) acquire(v *View, c servers.Server, part string, shared bool) *server {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		if s.part == part && s.shared == shared && same(s.conf, c) && (!local(c) || s.at.Dir == v.conf.Dir) {
			s.join(v)
			return s
		}
	}
	s := newServer(h, c, part, shared, v)
	if h.closed { // it is not connected any more
		s.gone.Store(true)
		close(s.done)
		return s
	}
	h.servers = append(h.servers, s)
	ctx, stop := context.WithCancel(h.life)
	s.stop = stop
	h.leaving.Add(1)
	go func() { // ends when no view uses the server, or the hub is closed
		defer h.leaving.Done()
		defer close(s.done)
		s.run(ctx)
	}()
	return s
}

// local reports whether a program runs on this machine for a server, in a folder.
func local(c servers.Server) bool { return c.Transport == servers.Stdio || c.HeadersHelper != "" }

// release has a view not use a server any more, and reports whether nobody does, so that it ends.
func (h *Hub) release(v *View, s *server) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !s.leave(v) {
		h.leaving.Go(func() { v.told(s, Status{Server: s.conf, State: event.ServerClosed}) })
		return false
	}
	h.servers = slices.DeleteFunc(h.servers, func(o *server) bool { return o == s })
	if !s.gone.Swap(true) {
		s.stop()
	}
	return true
}

// same reports whether a server is configured as it was, in all that its
// connection depends on.
func same(a, b servers.Server) bool {
	b.Origin, a.Raw, b.Raw = a.Origin, nil, nil
	return reflect.DeepEqual(a, b)
}

// Close ends all connections, and waits until nothing of them is left: programs
// get 5 s, of which 3 s after they were asked to end.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.leaving.Wait()
	if h.used.table.Load() {
		h.table().Close(0)
	}
	if h.used.carrier.Load() {
		h.carrier().(*http.Transport).CloseIdleConnections()
	}
}

var errClosed = errors.New("adze is shutting down")
