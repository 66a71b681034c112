package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Ground is where programs of servers run, and with what.
type Ground struct {
	Dir string // absolute, resolved
	// Apart has a folder for each server that is Apart, by the server's part in the names of its tools.
	Apart string
	// Environ is what programs may inherit, and the names that pass to them (see
	// proc.Scrub).
	Environ func() (environ, allow []string)
	// Private says of a variable that it is a model provider's; nil knows none.
	Private func(name string) bool
	// Fresh is asked before a server is connected that is Answered; an error says that
	// its Programs are others now, and keeps it from being started.
	Fresh func(servers.Server) error
}

// A ViewConfig is what a View is made from. Functions may be nil, and may be called by
// any goroutine.
type ViewConfig struct {
	Ground
	// Among are all servers that are configured, where not all are used: each has the
	// name that it has beside the others.
	Among []servers.Server
	// Client does what servers ask of us; nil does nothing of it.
	Client Client
	// Roots are the folders that servers may work in, asked for at each connection;
	// see View.RootsChanged. A server that several views use is told those of all.
	Roots func() []string
	// Tell is told each change of a server's state. Changed says that what
	// Contributions gives has changed. Neither may call the View.
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

// A View is the servers that one user of a Hub has: a folder, or an agent with servers of
// its own. Remote servers that are configured alike in several views have one connection;
// a program runs once for each folder.
type View struct {
	hub  *Hub
	conf ViewConfig

	mu     sync.Mutex // guards what follows; before Hub.mu
	uses   []use      // in the order of their names
	closed bool
}

// A use is a server as a view has it: others may have configured it, too.
type use struct {
	*server
	as servers.Server
}

func (u use) status() Status {
	out := u.server.status()
	out.Server = u.as
	return out
}

// told tells how a server is.
func (v *View) told(s *server, now Status) {
	for _, u := range v.list() {
		if u.server == s {
			now.Server = u.as
		}
	}
	v.conf.Tell(now)
}

// View makes a view of no servers. End it with Close.
func (h *Hub) View(c ViewConfig) *View {
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
	if c.Changed == nil {
		c.Changed = func() {}
	}
	if c.Waits == nil {
		c.Waits = func(string, string) {}
	}
	if c.Turned == nil {
		c.Turned = func(string, []string) {}
	}
	if c.Debug == nil {
		c.Debug = func(string, string) {}
	}
	return &View{hub: h, conf: c}
}

// byName is a list in the order of names, each once.
func byName(list []servers.Server) []servers.Server {
	list = slices.Clone(list)
	order.By(list, func(a, b servers.Server) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b servers.Server) bool { return a.Name == b.Name })
}

// Use has these servers from now on. Those that stay as they are keep their
// connections; others are started, or ended, in the background.
func (v *View) Use(list []servers.Server) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	list = byName(list)
	parts, twins := serverParts(list), shared(list)
	if all := byName(v.conf.Among); len(all) > 0 {
		given, among := serverParts(all), shared(all)
		for i, s := range list {
			if at := slices.IndexFunc(all, func(x servers.Server) bool { return x.Name == s.Name }); at >= 0 {
				parts[i], twins[i] = given[at], among[at]
			}
		}
	}
	was := v.uses
	v.uses = nil
	for i, c := range list {
		v.uses = append(v.uses, use{v.hub.acquire(v, c, parts[i], twins[i]), c})
	}
	if left := v.drop(was); len(left) > 0 {
		v.hub.leaving.Go(v.conf.Changed)
	}
}

// drop has the view not use these servers any more but for those that it uses still,
// which left leaves out. v is locked.
func (v *View) drop(was []use) (left []use) {
	for _, u := range was {
		if !slices.ContainsFunc(v.uses, func(now use) bool { return now.server == u.server }) {
			left = append(left, u)
		}
	}
	for _, u := range left {
		v.hub.release(v, u.server)
	}
	return left
}

// Close has the view use no server any more, and waits until those have ended that nobody
// else uses, as Hub.Close does.
func (v *View) Close() {
	v.mu.Lock()
	was := v.uses
	v.uses, v.closed = nil, true
	v.mu.Unlock()
	var ending []use
	for _, u := range was {
		if v.hub.release(v, u.server) {
			ending = append(ending, u)
		}
	}
	for _, u := range ending { // all at the same time
		<-u.done
	}
}

// list is a copy of the servers there are.
func (v *View) list() []use {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.uses)
}

// find is a server by its name.
func (v *View) find(name string) (use, error) {
	var names []string
	for _, s := range v.list() {
		if s.conf.Name == name {
			return s, nil
		}
		names = append(names, s.conf.Name)
	}
	return use{}, NoServer(name, names)
}

// Status is how all servers are, by name.
func (v *View) Status() (out []Status) {
	for _, s := range v.list() {
		out = append(out, s.status())
	}
	return out
}

// Reconnect drops the connection of a server, if there is one, and connects anew.
func (v *View) Reconnect(name string) error {
	s, err := v.find(name)
	if err == nil {
		s.want(func(w *wants) { w.again = true })
	}
	return err
}

// Anew is Reconnect that waits until that has come to something, or ctx ends, and
// says how the server is then.
func (v *View) Anew(ctx context.Context, name string) (Status, error) {
	s, err := v.find(name)
	if err != nil {
		return Status{}, err
	}
	s.anew(ctx)
	return s.status(), nil
}

// Enable turns a server on or off until Use says otherwise, for all views that share it.
func (v *View) Enable(name string, on bool) error {
	s, err := v.find(name)
	if err == nil {
		s.want(func(w *wants) { w.on, w.off = on, !on })
	}
	return err
}

// RootsChanged tells servers that ViewConfig.Roots has others now.
func (v *View) RootsChanged() {
	for _, s := range v.list() {
		s.want(func(w *wants) { w.roots = true })
	}
}

// Wait waits until none of these servers is connecting; no names are all. It
// returns those that still are when ctx ends.
func (v *View) Wait(ctx context.Context, names ...string) (late []string) {
	for _, s := range v.list() {
		if (len(names) == 0 || slices.Contains(names, s.conf.Name)) && !s.awaitConnect(ctx) {
			late = append(late, s.conf.Name)
		}
	}
	return late
}

// Contributions are what servers bring now, one for each that brings something:
// in the order of their names, and then the tools that all of them share.
func (v *View) Contributions() (out []extension.Contribution) {
	resources := false
	for _, s := range v.list() {
		c := extension.Contribution{From: extension.OfServer(s.conf.Name, s.as.Origin.String())}
		s.mu.Lock()
		for _, t := range s.offer.tools {
			if t.dir != v.conf.Dir { // it was allowed there, and not here
				here := *t
				here.dir = v.conf.Dir
				t = &here
			}
			c.Tools = append(c.Tools, t)
		}
		resources = resources || s.offer.resources
		s.mu.Unlock()
		if len(c.Tools) > 0 {
			out = append(out, c)
		}
	}
	if resources {
		out = append(out, extension.Contribution{From: extension.OfPlace("MCP servers"), Tools: v.resourceTools()})
	}
	return out
}

// NoServer says that there is no server of a name, and which ones there are.
func NoServer(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("there is no MCP server %q: none is configured", name)
	}
	return fmt.Errorf("there is no MCP server %q; there are %s", name, listed(known))
}
