package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/order"
)

// Bounds of starting.
const (
	localAtOnce  = 3
	remoteAtOnce = 20
	// defaultTimeout is how long one attempt to connect may take, DefaultToolTimeout a call.
	defaultTimeout     = 30 * time.Second
	DefaultToolTimeout = 10 * time.Minute
)

// A Config is what servers are run and spoken to with. Functions may be nil, and
// may be called by any goroutine.
type Config struct {
	Version string // of adze, which servers are told
	Dir     string // where programs run: absolute, resolved
	// Apart has a folder for each server that is Apart, by the server's part in the names of its tools.
	Apart string
	// Among are all servers that are configured, where not all are used: each has the
	// name that it has beside the others.
	Among []servers.Server
	// Environ is what programs may inherit, and the names that pass to them (see
	// proc.Scrub).
	Environ func() (environ, allow []string)
	// Private says of a variable that it is a model provider's; nil knows none.
	Private func(name string) bool
	// HTTP carries requests to remote servers. nil is one of its own, which goes through Proxy.
	HTTP  http.RoundTripper
	Proxy func(*http.Request) (*url.URL, error) // nil is none
	// Auth signs requests to a remote server in; nil, or a nil answer: nobody does. An
	// error that has the method NeedsSignIn says that a person has to.
	Auth func(servers.Server) auth.OAuthHandler
	// Host hands a message to a server of the program that drives adze, and returns
	// its answer; none for a notification.
	Host func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)
	// Client does what servers ask of us; nil does nothing of it.
	Client Client
	// Fresh is asked before a server is connected that is Answered; an error says that
	// its Programs are others now, and keeps it from being started.
	Fresh func(servers.Server) error
	// Roots are the folders that servers may work in, asked for at each connection;
	// see Hub.RootsChanged.
	Roots func() []string
	// Tell is told each change of a server's state. Changed says that what
	// Contributions gives has changed. Neither may call the Hub.
	Tell    func(Status)
	Changed func()
	// Turned is told of tools that say something else of themselves than when they
	// were allowed, by the server's names, once of each text.
	Turned func(server string, tools []string)
	// Waits is told once of a connection on which a call waits for long while what comes is no
	// message: the server's name and what is wrong, for people.
	Waits func(server, why string)
	// Debug takes a line that a server wrote to its standard error or logged:
	// cleaned, at most 2,000 characters.
	Debug func(server, line string)
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

// A Status is how a server is now.
type Status struct {
	Server servers.Server
	State  event.ServerState
	Why    string // of a state that is not connected: one line, for people
	// Of the connection, or the last one.
	Tools, Prompts int
	Resources      bool   // it has some
	Protocol       string // "2025-11-25"
	Name, Version  string // as it calls itself
	Instructions   string // for the model: cleaned, at most 2,048 characters
	// Notes say what of it is not as it said: tools that got other names, or were
	// left out.
	Notes []string
}

// Event is the status as sessions record it.
func (s Status) Event() event.ServerChanged {
	return event.ServerChanged{Name: s.Server.Name, State: s.State, Why: s.Why, Tools: s.Tools, From: s.Server.Origin.String()}
}

// A Hub keeps the connections of a session or of a process. Make one with New,
// and end it with Close.
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
	servers []*server  // in the order of their names
	leaving sync.WaitGroup
	closed  bool
}

// New makes a hub of no servers. It starts nothing.
func New(c Config) *Hub {
	c.Timeout, c.ToolTimeout = cmp.Or(c.Timeout, defaultTimeout), cmp.Or(c.ToolTimeout, DefaultToolTimeout)
	if c.Environ == nil {
		c.Environ = func() (a, b []string) { return nil, nil }
	}
	if c.Client == nil {
		c.Client = nobody{}
	}
	if c.Roots == nil {
		c.Roots = func() []string { return nil }
	}
	if c.Tell == nil {
		c.Tell = func(Status) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Changed == nil {
		c.Changed = func() {}
	}
	if c.Waits == nil {
		c.Waits = func(string, string) {}
	}
	if c.Turned == nil {
		c.Turned = func(string, []string) {}
	}
	if c.Hide == nil {
		c.Hide = func(s string) string { return s }
	}
	if debug := c.Debug; debug == nil {
		c.Debug = func(string, string) {}
	} else {
		c.Debug = func(server, line string) { debug(server, c.Hide(line)) }
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

// byName is a list in the order of names, each once.
func byName(list []servers.Server) []servers.Server {
	list = slices.Clone(list)
	order.By(list, func(a, b servers.Server) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b servers.Server) bool { return a.Name == b.Name })
}

// Use has these servers from now on. Those that stay as they are keep their
// connections; others are started, or ended, in the background.
func (h *Hub) Use(list []servers.Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	list = byName(list)
	parts := serverParts(list)
	if all := byName(h.conf.Among); len(all) > 0 {
		given := serverParts(all)
		for i, s := range list {
			if at := slices.IndexFunc(all, func(x servers.Server) bool { return x.Name == s.Name }); at >= 0 {
				parts[i] = given[at]
			}
		}
	}
	was := map[string]*server{}
	for _, s := range h.servers {
		was[s.conf.Name] = s
	}
	h.servers = nil
	for i, c := range list {
		s := was[c.Name]
		if s != nil && s.part == parts[i] && same(s.conf, c) {
			delete(was, c.Name)
		} else {
			s = newServer(h, c, parts[i])
			ctx, stop := context.WithCancel(h.life)
			s.stop = stop
			h.leaving.Add(1)
			go func() { // ends when the server is left out, or the hub is closed
				defer h.leaving.Done()
				s.run(ctx)
			}()
		}
		h.servers = append(h.servers, s)
	}
	for _, s := range was {
		s.gone.Store(true)
		s.stop()
	}
	if len(was) > 0 {
		h.leaving.Go(h.conf.Changed)
	}
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

// list is a copy of the servers there are.
func (h *Hub) list() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.servers)
}

// find is a server by its name.
func (h *Hub) find(name string) (*server, error) {
	var names []string
	for _, s := range h.list() {
		if s.conf.Name == name {
			return s, nil
		}
		names = append(names, s.conf.Name)
	}
	return nil, noServer(name, names)
}

// Status is how all servers are, by name.
func (h *Hub) Status() (out []Status) {
	for _, s := range h.list() {
		out = append(out, s.status())
	}
	return out
}

// Reconnect drops the connection of a server, if there is one, and connects anew.
func (h *Hub) Reconnect(name string) error {
	s, err := h.find(name)
	if err == nil {
		s.want(func(w *wants) { w.again = true })
	}
	return err
}

// Anew is Reconnect that waits until that has come to something, or ctx ends, and
// says how the server is then.
func (h *Hub) Anew(ctx context.Context, name string) (Status, error) {
	s, err := h.find(name)
	if err != nil {
		return Status{}, err
	}
	s.mu.Lock()
	turn := s.turn
	s.mu.Unlock()
	s.want(func(w *wants) { w.again = true })
	select {
	case <-turn:
		s.awaitConnect(ctx)
	case <-ctx.Done():
	}
	return s.status(), nil
}

// Enable turns a server on or off until Use says otherwise.
func (h *Hub) Enable(name string, on bool) error {
	s, err := h.find(name)
	if err == nil {
		s.want(func(w *wants) { w.on, w.off = on, !on })
	}
	return err
}

// RootsChanged tells servers that Config.Roots has others now.
func (h *Hub) RootsChanged() {
	for _, s := range h.list() {
		s.want(func(w *wants) { w.roots = true })
	}
}

// Wait waits until none of these servers is connecting; no names are all. It
// returns those that still are when ctx ends.
func (h *Hub) Wait(ctx context.Context, names ...string) (late []string) {
	for _, s := range h.list() {
		if (len(names) == 0 || slices.Contains(names, s.conf.Name)) && !s.awaitConnect(ctx) {
			late = append(late, s.conf.Name)
		}
	}
	return late
}

// Contributions are what servers bring now, one for each that brings something:
// in the order of their names, and then the tools that all of them share.
func (h *Hub) Contributions() (out []contrib.Contribution) {
	resources := false
	for _, s := range h.list() {
		c := contrib.Contribution{From: contrib.OfServer(s.conf.Name, s.conf.Origin.String())}
		s.mu.Lock()
		for _, t := range s.offer.tools {
			c.Tools = append(c.Tools, t)
		}
		resources = resources || s.offer.resources
		s.mu.Unlock()
		if len(c.Tools) > 0 {
			out = append(out, c)
		}
	}
	if resources {
		out = append(out, contrib.Contribution{From: contrib.OfPlace("MCP servers"), Tools: h.resourceTools()})
	}
	return out
}

var errClosed = errors.New("adze is shutting down")

func noServer(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("there is no MCP server %q: none is configured", name)
	}
	return fmt.Errorf("there is no MCP server %q; there are %s", name, listed(known))
}
