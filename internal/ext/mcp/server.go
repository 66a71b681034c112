package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// Times of a connection.
const (
	maxTries   = 5 // to connect again, before a person has to say so
	firstDelay = time.Second
	lastDelay  = 30 * time.Second
	pingEvery  = time.Minute
	pingWait   = 15 * time.Second
	// maxOffences is how often a server that breaks the protocol is started again
	// by a call.
	maxOffences = 3
	// quiet is the time between two times that a server's lists are read because it
	// says that they changed.
	quiet = time.Second
)

// A server is one that is configured. Its goroutine, run, owns its connection:
// nobody else makes or ends one.
type server struct {
	hub    *Hub
	at     Ground
	conf   servers.Server
	part   string // its part in the names of its tools
	shared bool   // see shared
	stop   context.CancelFunc
	done   chan struct{} // closed when nothing of it is left
	gone   atomic.Bool   // it is not configured any more
	poke   chan struct{} // wakes run: wants is not empty
	// asksTheOlderWay: it is spoken to in an older protocol, see olderQuestion.
	asksTheOlderWay atomic.Bool

	mu    sync.Mutex // guards what follows
	views []*View    // that use it; when none does any more, the last one
	wants wants
	state event.ServerState
	why   string
	turn  chan struct{} // closed at the next
	link  *link         // nil when not connected
	host  *wire         // of a server of the host, while it is connected
	offer offer         // of the connection, or the last one
}

// wants is what run is to do.
type wants struct {
	again, on, off bool
	needed         bool // a call waits for a connection
	lists          bool // the server says that they changed
	roots          bool
	joined         []*View // use it from now on
}

func newServer(h *Hub, c servers.Server, part string, shared bool, v *View) *server {
	s := &server{hub: h, at: v.conf.Ground, conf: c, part: part, shared: shared, views: []*View{v}, done: make(chan struct{}), poke: make(chan struct{}, 1), turn: make(chan struct{})}
	s.state, s.why = s.rest()
	return s
}

// rest is the state of a server that is not to be connected, or that it is
// connecting.
func (s *server) rest() (state event.ServerState, why string) {
	switch {
	case s.conf.Approval == servers.Pending:
		return event.ServerPending, s.conf.Why
	case s.conf.Approval != servers.Approved:
		return event.ServerDisabled, s.conf.Why
	case s.conf.Problem != "":
		return event.ServerFailed, s.conf.Problem
	}
	return event.ServerConnecting, ""
}

// join has a view use the server, too.
func (s *server) join(v *View) {
	s.mu.Lock()
	known := slices.Contains(s.views, v)
	if !known {
		s.views = append(slices.Clip(s.views), v)
	}
	s.mu.Unlock()
	if !known {
		s.want(func(w *wants) { w.joined, w.roots = append(w.joined, v), true })
	}
}

// leave has a view not use the server any more, and reports whether none does. The last
// one is told of its end.
func (s *server) leave(v *View) (last bool) {
	s.mu.Lock()
	if last = len(s.views) == 1; !last {
		s.views = slices.DeleteFunc(slices.Clone(s.views), func(o *View) bool { return o == v })
	}
	s.mu.Unlock()
	if !last {
		s.want(func(w *wants) { w.roots = true })
	}
	return last
}

// users are the views that use the server.
func (s *server) users() []*View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views
}

// client is who answers what the server asks for a caller.
func (s *server) client(by Caller) Client {
	for _, v := range s.users() {
		if v.conf.Client.Here(by) {
			return v.conf.Client
		}
	}
	return nobody{}
}

// roots are the folders that the server may work in: those of all that use it.
func (s *server) roots() (out []string) {
	for _, v := range s.users() {
		for _, dir := range v.conf.Roots() {
			if !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	return out
}

// tell tells all how the server is.
func (s *server) tell() {
	now := s.status()
	for _, v := range s.users() {
		v.told(s, now)
	}
}

// changed tells all that the server brings something else.
func (s *server) changed() {
	for _, v := range s.users() {
		v.conf.Changed()
	}
}

// debug passes a line on that the server wrote.
func (s *server) debug(line string) {
	line = s.hub.conf.Hide(line)
	for _, v := range s.users() {
		v.conf.Debug(s.conf.Name, line)
	}
}

// anew drops the connection and connects anew, and waits for it until ctx ends.
func (s *server) anew(ctx context.Context) {
	s.mu.Lock()
	turn := s.turn
	s.mu.Unlock()
	s.want(func(w *wants) { w.again = true })
	select {
	case <-turn:
		s.awaitConnect(ctx)
	case <-ctx.Done():
	}
}

func (s *server) want(change func(*wants)) {
	s.mu.Lock()
	change(&s.wants)
	s.mu.Unlock()
	select {
	case s.poke <- struct{}{}:
	default: // it is awake
	}
}

// set changes the state, and tells who waits for it.
func (s *server) set(state event.ServerState, why string, l *link) {
	s.mu.Lock()
	s.state, s.why, s.link = state, clip.Line(s.hub.conf.Hide(clip.Visible(why)), 500), l
	close(s.turn)
	s.turn = make(chan struct{})
	s.mu.Unlock()
	s.tell()
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.offer
	notes := o.notes
	if s.conf.Apart {
		notes = append(slices.Clip(notes), servers.StartsApart)
	}
	return Status{
		Server: s.conf, State: s.state, Why: s.why, Tools: len(o.tools), Prompts: len(o.prompts), Resources: o.resources,
		Protocol: o.protocol, Name: o.name, Version: o.version, Instructions: o.instructions, Notes: notes,
	}
}

// awaitConnect waits until the server is not connecting, and reports whether it is not.
func (s *server) awaitConnect(ctx context.Context) bool {
	for {
		s.mu.Lock()
		state, turn := s.state, s.turn
		s.mu.Unlock()
		if state != event.ServerConnecting {
			return true
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return false
		}
	}
}

// connected is the connection to use for a call. It waits while the server is
// connecting, and has one that ended started again.
func (s *server) connected(ctx context.Context) (*link, error) {
	asked := false
	for {
		s.mu.Lock()
		l, state, why, turn := s.link, s.state, s.why, s.turn
		s.mu.Unlock()
		switch {
		case s.gone.Load():
			return nil, fmt.Errorf("the MCP server %s is not configured any more", s.conf.Name)
		case l != nil && l.life.Err() == nil:
			return l, nil
		case state == event.ServerConnecting, state == event.ServerConnected: // it is, or will be; or it ended, and run says so next
		case (state == event.ServerFailed || state == event.ServerClosed) && !asked && s.conf.Problem == "":
			asked = true
			s.want(func(w *wants) { w.needed = true })
		case state == event.ServerNeedsAuth && !asked && s.newer(ctx):
			asked = true
			s.want(func(w *wants) { w.needed = true })
		default:
			return nil, s.unusable(state, why)
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// unusable says why a server cannot be called, and what can be done about it.
func (s *server) unusable(state event.ServerState, why string) error {
	text := "the MCP server " + s.conf.Name + " is not connected"
	if why != "" {
		text += ": " + why
	}
	switch state {
	case event.ServerPending:
		if s.conf.Why == servers.Untrusted {
			return hint.With(errors.New("the MCP server "+s.conf.Name+" is not used before this folder is trusted as it is now"), "look at what it brings with `adze trust`")
		}
		return hint.With(errors.New("the MCP server "+s.conf.Name+" of this project waits for approval"), "approve it with `/mcp approve "+s.conf.Name+"`, or with `adze mcp approve "+hint.Shell(s.conf.Name)+"`")
	case event.ServerDisabled:
		return hint.With(errors.New("the MCP server "+s.conf.Name+" is disabled"), "enable it with `/mcp enable "+s.conf.Name+"`")
	case event.ServerNeedsAuth:
		return hint.With(errors.New("the MCP server "+s.conf.Name+" wants you to sign in"), "sign in with `/mcp login "+s.conf.Name+"`, or with `adze mcp login "+hint.Shell(s.conf.Name)+"`")
	}
	return hint.With(errors.New(text), "see /mcp, and reconnect there")
}

// A tried is what came of an attempt to connect.
type tried struct {
	link  *link
	offer offer
	err   error
}

// An owner is what run knows and nobody else.
type owner struct {
	*server
	ctx      context.Context
	link     *link
	trying   chan tried // nil when it is not connecting
	stopTry  context.CancelFunc
	tries    int // that failed, one after the other
	offences int
	off      bool
	delay    *time.Timer
	retry    <-chan time.Time
	listing  chan listing // nil when no list is being read
	again    wants        // lists that changed meanwhile
	listed   time.Time    // when lists were read last
	// watched are resources that a connection before this one watched, and who read them.
	watched map[string][]string
	turned  map[turn]pin // what tools say now that said something else when they were allowed, of those that were told of
	wg      sync.WaitGroup
}

// run keeps the server connected until ctx ends.
func (s *server) run(ctx context.Context) {
	o := &owner{server: s, ctx: ctx}
	o.delay = time.NewTimer(time.Hour)
	o.delay.Stop()
	s.tell()
	if o.startable() {
		o.begin()
	}
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for ctx.Err() == nil {
		var ended <-chan struct{}
		if o.link != nil {
			ended = o.link.ended
		}
		select {
		case <-ctx.Done():
		case <-s.poke:
			o.serve()
		case t := <-o.trying:
			o.take(t)
		case <-ended:
			o.lost()
		case <-o.retry:
			o.retry = nil
			o.begin()
		case l := <-o.listing:
			o.relisted(l)
		case <-ping.C:
			o.ping()
		}
	}
	o.drop()
	o.wg.Wait()
	o.set(event.ServerClosed, "", nil)
}

func (o *owner) startable() bool {
	state, _ := o.rest()
	return state == event.ServerConnecting && !o.off && o.ctx.Err() == nil
}

// begin connects in the background.
func (o *owner) begin() {
	o.delay.Stop()
	o.retry = nil
	if o.trying != nil || o.link != nil || !o.startable() {
		return
	}
	ctx, stop := context.WithCancel(o.ctx)
	out := make(chan tried, 1)
	o.trying, o.stopTry = out, stop
	o.set(event.ServerConnecting, "", nil)
	o.wg.Go(func() { // ends with the attempt, which is bounded
		l, of, err := o.connect(ctx)
		out <- tried{l, of, err}
	})
}

// drop ends the connection, or the attempt at one, and waits for its end.
func (o *owner) drop() {
	o.delay.Stop()
	o.retry = nil
	if o.trying != nil {
		o.stopTry()
		if t := <-o.trying; t.link != nil {
			t.link.close()
		}
		o.trying = nil
	}
	if o.link != nil {
		o.forget()
	}
	if o.listing != nil {
		<-o.listing // its requests ended with the connection
		o.listing = nil
	}
}

// forget closes the connection, after nobody can get it any more.
func (o *owner) forget() {
	l := o.link
	o.link, o.watched = nil, l.watching()
	o.mu.Lock()
	o.server.link = nil
	o.mu.Unlock()
	l.close()
}

// serve does what is wanted.
func (o *owner) serve() {
	o.mu.Lock()
	w := o.wants
	o.wants = wants{}
	o.mu.Unlock()
	switch {
	case w.off:
		o.off = true
		o.drop()
		o.set(event.ServerDisabled, "you turned it off", nil)
		o.withdraw()
	case w.on && o.off:
		o.off, o.tries, o.offences = false, 0, 0
		o.restart()
	case w.again:
		o.off, o.tries, o.offences = false, 0, 0
		o.drop()
		o.restart()
	case w.needed && o.link == nil && o.trying == nil:
		o.needed()
	}
	if w.roots && o.link != nil {
		o.link.tellRoots(o.roots())
	}
	for _, v := range w.joined {
		v.told(o.server, o.status())
		o.turnedFor(v)
		v.conf.Changed()
	}
	if w.lists {
		o.relist()
	}
}

// restart connects, or says why not.
func (o *owner) restart() {
	if o.startable() {
		o.begin()
		return
	}
	state, why := o.rest()
	o.set(state, why, nil)
}

// needed connects again because a call waits for it.
func (o *owner) needed() {
	if o.offences >= maxOffences || !o.startable() {
		o.mu.Lock()
		state, why := o.state, o.why
		o.mu.Unlock()
		o.set(state, why, nil) // whoever waits goes on
		return
	}
	o.begin()
}

// take deals with the end of an attempt.
func (o *owner) take(t tried) {
	o.stopTry()
	o.trying = nil
	if t.err == nil {
		o.link, o.tries, o.listed = t.link, 0, time.Now()
		o.present(t.offer)
		o.set(event.ServerConnected, "", o.link)
		o.changed()
		if l, watched := o.link, o.watched; len(watched) > 0 {
			o.wg.Go(func() { // ends with the connection
				for uri, readers := range watched {
					for _, session := range readers {
						l.follow(l.life, session, uri)
					}
				}
			})
		}
		return
	}
	o.failed(t.err)
}

// lost deals with a connection that ended by itself.
func (o *owner) lost() {
	err := o.link.reason()
	o.forget()
	o.failed(err)
}

// failed says what becomes of a server that is not connected any more, or
// could not be.
func (o *owner) failed(err error) {
	var broke *offence
	var needs *needsAuth
	switch {
	case o.ctx.Err() != nil:
	case errors.As(err, &needs):
		o.set(event.ServerNeedsAuth, needs.Error(), nil)
	case errors.As(err, &broke):
		o.offences++
		o.set(event.ServerFailed, broke.Error(), nil)
	case o.conf.Transport == servers.Stdio && errors.Is(err, errEnded) && !o.listed.IsZero(): // calls know its tools
		o.set(event.ServerClosed, err.Error()+"; it is started again by the next call", nil)
	case o.conf.Transport == servers.Stdio || o.conf.Transport == servers.Host || o.tries >= maxTries || o.hub.conf.Once || permanent(err):
		o.set(event.ServerFailed, err.Error(), nil)
	default:
		wait := min(firstDelay<<o.tries, lastDelay)
		o.tries++
		o.delay.Reset(wait)
		o.retry = o.delay.C
		o.set(event.ServerFailed, fmt.Sprintf("%v (attempt %d of %d follows in %s)", err, o.tries, maxTries, clip.Span(wait)), nil)
	}
}

// ping asks a remote server that nobody used for a while whether it is there.
func (o *owner) ping() {
	l := o.link
	if l == nil || o.conf.Transport == servers.Stdio || o.conf.Transport == servers.Host || !l.idle(pingEvery) {
		return
	}
	o.wg.Go(func() { // ends after pingWait, or with the connection
		ctx, cancel := context.WithTimeout(l.life, pingWait)
		defer cancel()
		l.ping(ctx)
	})
}
