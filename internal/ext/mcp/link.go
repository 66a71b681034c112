package mcp

//lint:file-ignore SA1019 roots, sampling and logging belong to the protocols that most servers speak

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of what a server offers.
const (
	maxPages       = 100
	maxItems       = 2000     // of one list
	maxDescription = 2048     // characters
	maxSchema      = 64 << 10 // bytes
)

// legacy is the newest protocol that begins with "initialize".
const legacy = "2025-11-25"

// A link is one connection to a server.
type link struct {
	s       *server
	client  *sdk.Client
	session *sdk.ClientSession
	life    context.Context // ends with the connection
	end     context.CancelCauseFunc
	leave   func()        // ends what the transport runs, and waits for it
	ended   chan struct{} // closed when the connection has ended
	look    *inspector
	older   bool     // events, although its type is http
	web     *courier // of a remote server, nil of others
	wire    *wire    // of a server that is spoken to over one, nil of others
	roots   sync.Mutex
	told    []string // guarded by roots

	used   atomic.Int64  // Unix seconds of the last use
	active atomic.Int32  // calls that run
	waited atomic.Bool   // Config.Waits was told
	number atomic.Int64  // of the last progress token
	person chan struct{} // a place for one question to a person

	mu    sync.Mutex // guards what follows
	calls map[string]*call
	// callers are those of the requests that are open, in the order of their beginning.
	callers []*Caller
	// watch has, of each resource that is watched, the sessions that have it as it is.
	watch map[string][]string
	known []Resource               // what the server lists, once it was asked
	asked bool                     // for known
	open  map[string]chan struct{} // pages that a person has opened, until the server says that they are done
	asks  int                      // questions to a person that wait
	spent int                      // samplings so far
}

// An offer is what a server offers, as it was listed.
type offer struct {
	tools        []*remote
	prompts      []prompt
	resources    bool
	protocol     string
	name         string
	version      string
	instructions string
	notes        []string
}

// connect makes a connection and reads what the server offers.
func (s *server) connect(ctx context.Context) (*link, offer, error) {
	gate := s.hub.remote
	if s.conf.Transport == servers.Stdio {
		gate = s.hub.local
	}
	select {
	case gate <- struct{}{}:
		defer func() { <-gate }()
	case <-ctx.Done():
		return nil, offer{}, ctx.Err()
	}
	if s.at.Fresh != nil && s.conf.Answered {
		if err := s.at.Fresh(s.conf); err != nil {
			return nil, offer{}, &final{err}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.hub.conf.Timeout)
	defer cancel()
	version, older, again := "", error(nil), false
	if s.asksTheOlderWay.Load() {
		version = legacy
	}
	for {
		l, err := s.open(ctx, version, older != nil)
		if old := (*olderWay)(nil); older == nil && errors.As(err, &old) && ctx.Err() == nil {
			older = old.error
			continue
		}
		if older != nil && err != nil {
			return nil, offer{}, older // it is no such server either
		}
		if err == nil {
			var o offer
			unread := l.unread()
			if o, err = l.offers(ctx); err == nil {
				return l, o, nil
			}
			err = &notOpened{l.because(err), unread()}
			l.close()
		}
		if ctx.Err() == nil && version == "" && errors.Is(err, errEnded) && s.conf.Transport == servers.Stdio {
			version = legacy // it did not bear the question of the newest protocol
			continue
		}
		if (s.conf.Transport == servers.Stdio || s.conf.Transport == servers.Host) && !again && answered(err) != nil && ctx.Err() == nil { // it may not be ready yet
			again = true
			select {
			case <-time.After(firstDelay):
				continue
			case <-ctx.Done():
			}
		}
		if ctx.Err() == context.DeadlineExceeded {
			why := ""
			if mute := (*notOpened)(nil); errors.As(err, &mute) && mute.why != "" {
				why = "; " + mute.why
			}
			err = fmt.Errorf("it did not answer within %s%s", clip.Span(s.hub.conf.Timeout), why)
		}
		return nil, offer{}, err
	}
}

// A notOpened is a connection that did not come about; why is what link.unread says.
type notOpened struct {
	error
	why string
}

func (u *notOpened) Unwrap() error { return u.error }

// An olderWay is the answer of a server of HTTP that may only speak the older way, by
// events: to the first message it says 400, 404 or 405.
type olderWay struct{ error }

func (o *olderWay) Unwrap() error { return o.error }

// open makes a connection of a protocol, "" for the newest that both know; older is
// for events instead of streamable HTTP.
func (s *server) open(ctx context.Context, version string, older bool) (*link, error) {
	if older {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, listenWait)
		defer cancel()
	}
	l := &link{s: s, older: older, look: newInspector(s.hub.conf.Now), ended: make(chan struct{}), calls: map[string]*call{}, watch: map[string][]string{}, open: map[string]chan struct{}{}, person: make(chan struct{}, 1)}
	l.life, l.end = context.WithCancelCause(context.Background())
	t, leave, err := l.transport(ctx)
	if err != nil {
		err = l.because(err)
		l.end(err)
		return nil, err
	}
	l.leave = leave
	l.client = sdk.NewClient(&sdk.Implementation{Name: "adze", Title: "adze", Version: cmp.Or(s.hub.conf.Version, "0")}, l.options())
	l.tellRootsNow(s.roots())
	var opts *sdk.ClientSessionOptions
	if version != "" {
		opts = &sdk.ClientSessionOptions{ProtocolVersion: version}
	}
	unread := l.unread()
	l.session, err = l.client.Connect(ctx, t, opts)
	if err != nil {
		err = &notOpened{l.because(err), unread()}
		l.end(err)
		leave()
		if l.web != nil && !older && s.conf.Transport == servers.HTTP && l.web.unknown() {
			err = &olderWay{err}
		}
		return nil, err
	}
	l.touch()
	context.AfterFunc(l.life, func() { _ = l.session.Close() }) // the server may be gone
	go func() {                                                 // ends with the connection
		defer close(l.ended)
		err := l.session.Wait()
		l.end(cmp.Or(err, errEnded))
	}()
	return l, nil
}

// transport is what the connection goes over, and what ends it.
func (l *link) transport(ctx context.Context) (sdk.Transport, func(), error) {
	switch s := l.s; s.conf.Transport {
	case servers.Stdio:
		w, leave, err := s.program(l.look)
		if err != nil {
			return nil, nil, err
		}
		return l.over(w, leave)
	case servers.HTTP, servers.SSE:
		return l.overWeb(ctx)
	case servers.WebSocket:
		w, leave, err := l.socket(ctx)
		if err != nil {
			return nil, nil, err
		}
		return l.over(w, leave)
	case servers.Host:
		w, leave, err := l.hosted()
		if err != nil {
			return nil, nil, err
		}
		return l.over(w, leave)
	default:
		return nil, nil, &final{fmt.Errorf("there is no transport %q", s.conf.Transport)}
	}
}

// over is a transport of a wire, that ends with the link.
func (l *link) over(w *wire, leave func()) (sdk.Transport, func(), error) {
	l.wire = w
	return made{w}, func() {
		_ = w.Close()
		leave()
	}, nil
}

// close ends the connection and waits until nothing of it is left.
func (l *link) close() {
	l.end(errClosed)
	l.leave()
	_ = l.session.Close() // the server may be gone
	<-l.ended
}

// because is the reason behind an error of the connection, where there is a better one.
func (l *link) because(err error) error {
	if l.wire != nil {
		if why := l.wire.reason(); why != nil && why != io.EOF {
			return why
		}
	}
	if l.web != nil {
		return l.web.because(err)
	}
	return err
}

// reason is why a connection ended.
func (l *link) reason() error {
	return l.because(cmp.Or(context.Cause(l.life), errEnded))
}

func (l *link) touch() { l.used.Store(time.Now().Unix()) }

// idle reports whether nobody used the connection for a while.
func (l *link) idle(d time.Duration) bool {
	return l.active.Load() == 0 && time.Since(time.Unix(l.used.Load(), 0)) >= d
}

// ping ends the connection when the server does not answer any more. The newest
// protocol has no question for that.
func (l *link) ping(ctx context.Context) {
	if l.session.InitializeResult().ProtocolVersion > legacy {
		return
	}
	if err := l.session.Ping(ctx, nil); err != nil && answered(err) == nil && l.life.Err() == nil {
		l.end(fmt.Errorf("it does not answer any more: %w", err))
	}
}

// options are what the connection does when the server says or asks something.
func (l *link) options() *sdk.ClientOptions {
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{
			RootsV2:     &sdk.RootCapabilities{ListChanged: true},
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
		},
		ElicitationHandler: l.elicit,
		ElicitationCompleteHandler: func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			l.completed(r.Params.ElicitationID)
		},
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { l.s.want(func(w *wants) { w.lists = true }) },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { l.s.want(func(w *wants) { w.lists = true }) },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { l.forgetResources() },
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			if r.Params != nil {
				l.updated(r.Params.URI)
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { l.progress(r.Params) },
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
			text, err := json.Marshal(r.Params.Data)
			if err == nil {
				l.s.debug(clip.Line(clip.Visible(string(r.Params.Level)+" "+r.Params.Logger+" "+string(text)), 2000))
			}
		},
	}
	if l.s.conf.AllowSampling {
		o.CreateMessageWithToolsHandler = l.sample
	}
	return o
}

// tellRoots tells the server which folders it may work in now.
func (l *link) tellRoots(dirs []string) {
	go l.tellRootsNow(dirs) // ends when the notification is sent, or the connection is gone
}

func (l *link) tellRootsNow(dirs []string) {
	l.roots.Lock()
	defer l.roots.Unlock()
	now := map[string]bool{}
	var add []*sdk.Root
	var drop []string
	for _, dir := range dirs {
		now[rootURI(dir)] = true
	}
	for _, uri := range l.told {
		if !now[uri] {
			drop = append(drop, uri)
		}
		delete(now, uri)
	}
	for _, dir := range dirs {
		if uri := rootURI(dir); now[uri] {
			add = append(add, &sdk.Root{URI: uri, Name: filepath.Base(dir)})
		}
	}
	l.client.RemoveRoots(drop...)
	l.client.AddRoots(add...)
	l.told = nil
	for _, dir := range dirs {
		l.told = append(l.told, rootURI(dir))
	}
}

func rootURI(dir string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	return u.String()
}

// A page asks for one page of a list.
type page[T any] func(ctx context.Context, cursor string) (items []T, next string, err error)

// all reads a whole list. A server that never comes to an end is an offence.
func all[T any](ctx context.Context, what string, get page[T]) (out []T, err error) {
	seen := map[string]bool{}
	for cursor := ""; ; {
		items, next, err := get(ctx, cursor)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
		switch {
		case len(out) > maxItems:
			return nil, offended("it lists more than %s", clip.Count(maxItems, what))
		case next == "":
			return out, nil
		case seen[next] || len(seen) >= maxPages-1:
			return nil, offended("its list of %ss does not end", what)
		}
		seen[next], cursor = true, next
	}
}

// offers reads what the server offers.
func (l *link) offers(ctx context.Context) (o offer, err error) {
	r := l.session.InitializeResult()
	o.protocol, o.instructions = r.ProtocolVersion, text(r.Instructions, maxDescription)
	if r.ServerInfo != nil {
		o.name, o.version = line(cmp.Or(r.ServerInfo.Title, r.ServerInfo.Name), 80), line(r.ServerInfo.Version, 40)
	}
	caps := r.Capabilities
	if caps == nil {
		caps = &sdk.ServerCapabilities{}
	}
	o.resources = caps.Resources != nil
	if caps.Tools != nil {
		if o.tools, o.notes, err = l.tools(ctx); err != nil {
			return o, fmt.Errorf("its tools could not be listed: %w", err)
		}
	}
	if caps.Prompts != nil {
		var more []string
		if o.prompts, more, err = l.prompts(ctx); err != nil {
			return o, fmt.Errorf("its prompts could not be listed: %w", err)
		}
		o.notes = append(o.notes, more...)
	}
	o.notes = append(o.notes, l.look.protocolNote(o.protocol)...)
	if caps.Logging != nil && r.ProtocolVersion <= legacy {
		_ = l.session.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: "info"}) // it then says what it likes
	}
	return o, nil
}

// A listing is what came of reading lists again.
type listing struct {
	link  *link
	offer offer
	err   error
}

// relist reads lists again that the server says have changed: not more often
// than every second.
func (o *owner) relist() {
	if o.link == nil {
		return
	}
	if o.listing != nil {
		o.again = wants{lists: true}
		return
	}
	l, out := o.link, make(chan listing, 1)
	wait := max(0, quiet-time.Since(o.listed))
	o.listing = out
	o.wg.Go(func() { // ends with the connection at the latest
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.life.Done():
			out <- listing{link: l, err: context.Cause(l.life)}
			return
		}
		ctx, cancel := context.WithTimeout(l.life, l.s.hub.conf.Timeout)
		defer cancel()
		of, err := l.offers(ctx)
		out <- listing{l, of, err}
	})
}

// relisted takes over what lists say now.
func (o *owner) relisted(n listing) {
	o.listing, o.listed = nil, time.Now()
	again := o.again
	o.again = wants{}
	if n.link != o.link {
		return
	}
	var broke *offence
	switch {
	case n.err == nil:
		o.present(n.offer)
		o.set(o.state, o.why, o.link)
		o.changed()
	case errors.As(n.err, &broke):
		o.forget()
		o.failed(n.err)
	default:
		o.debug("its lists could not be read again: " + line(n.err.Error(), 500))
	}
	if again.lists {
		o.relist()
	}
}

// present takes over what the server offers.
func (o *owner) present(of offer) {
	o.mu.Lock()
	o.offer = of
	o.mu.Unlock()
	for _, v := range o.users() {
		o.turnedFor(v)
	}
}

// A turn is a tool that says something else than when it was allowed in a view.
type turn struct {
	view *View
	tool string
}

// turnedFor tells a view of such tools, once of each text.
func (o *owner) turnedFor(v *View) {
	o.mu.Lock()
	tools := o.offer.tools
	o.mu.Unlock()
	var turned []string
	for _, r := range tools {
		at := turn{v, r.name}
		if _, changed := o.hub.pins.changed(o.server, v.conf.Dir, r.name, r.pin); changed && !o.turned[at].same(r.pin) {
			if o.turned == nil {
				o.turned = map[turn]pin{}
			}
			o.turned[at] = r.pin
			turned = append(turned, r.name)
		}
	}
	if len(turned) > 0 {
		v.conf.Turned(o.conf.Name, turned)
	}
}

// withdraw takes back what a server offered that is turned off.
func (o *owner) withdraw() {
	o.present(offer{})
	o.changed()
}

// text is what a server says over several lines: without what a screen or a
// model would obey and nobody sees, of at most max characters.
func text(s string, max int) string { return cut(strings.TrimSpace(stripHidden(s)), max) }

// line is text on one line.
func line(s string, max int) string { return clip.Line(stripHidden(s), max) }
