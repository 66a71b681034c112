package rpc

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Config is what a connection is served with.
type Config struct {
	Client  client.Client
	Version string    // of adze
	Scope   ask.Scope // the most that it may do
	// Number tells this connection from others of the process, from 1.
	Number int
	// Key, when it is not empty, is what hello must bring before anything else.
	Key string
	// Patience is how long a reader may take nothing; 0 is the constant of this name.
	Patience time.Duration
}

// Serve answers one connection until the other side ends it, which is no error, or ctx
// ends. It closes conn, and waits for all that it began.
func Serve(ctx context.Context, conn io.ReadWriteCloser, c Config) error {
	s := &server{Config: c, lines: open(conn), name: c.name(""), greeted: c.Key == "", running: map[string]context.CancelCauseFunc{}, people: map[string]bool{}}
	if s.Patience == 0 {
		s.Patience = Patience
	}
	defer s.lines.close()
	within, cancel := context.WithCancelCause(ctx)
	err := s.loop(within)
	cancel(nil) // who still reads is told
	late := time.AfterFunc(lastWords, s.end)
	defer late.Stop()
	s.handlers.Wait()
	if err != nil {
		s.say(context.WithoutCancel(ctx), message{ID: fastjson.Raw("null"), Error: &wireError{Number: numberNoMessage, Text: err.Error()}})
	}
	_ = s.put(context.WithoutCancel(ctx), nil) // the writer ends when all is written, or with late
	<-s.gone
	s.leave(ctx)
	return err
}

// A server is one connection. Its messages are looked at by one goroutine, and each
// request is answered by one of its own.
type server struct {
	Config
	*lines
	greeted  bool   // it may be used
	name     string // by which sessions know it
	handlers sync.WaitGroup

	mu      sync.Mutex                         // guards the rest
	running map[string]context.CancelCauseFunc // requests and follows, by their IDs
	people  map[string]bool                    // the sessions where its person can be asked
}

func (s *server) loop(ctx context.Context) error {
	for {
		select {
		case raw, ok := <-s.in:
			if !ok {
				return nil
			}
			if err := s.take(ctx, raw); err != nil {
				return err
			}
		case <-s.gone:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// take looks at one message. An error ends the connection.
func (s *server) take(ctx context.Context, raw []byte) error {
	if raw == nil {
		return fmt.Errorf("a message may have %d bytes", MaxMessage)
	}
	var m message
	if err := fastjson.Unmarshal(raw, &m); err != nil {
		s.say(ctx, message{ID: fastjson.Raw("null"), Error: &wireError{Number: numberUnread, Text: "this is no message of JSON-RPC: " + fastjson.InWords(err).Error()}})
		return nil
	}
	if len(m.ID) == 0 {
		s.heed(m)
		return nil
	}
	refuse := func(number int, text string) {
		s.say(ctx, message{ID: m.ID, Error: &wireError{Number: number, Text: text}})
	}
	if id := m.ID[0]; id != '"' && id != '-' && (id < '0' || id > '9') {
		m.ID = fastjson.Raw("null")
		refuse(numberNoMessage, "an id is a string or a number")
		return nil
	}
	if m.Method == methodHello {
		return s.greet(ctx, m)
	}
	if !s.greeted {
		refuse(numberNoMessage, `the first message is "hello" with the key`)
		return errors.New("it did not say hello")
	}
	do, ok := map[string]func(context.Context, message) error{methodSubmit: s.submit, methodAsk: s.ask, methodFollow: s.follow}[m.Method]
	switch {
	case m.Version != "2.0":
		refuse(numberNoMessage, `"jsonrpc" is "2.0"`)
	case !ok:
		refuse(numberNoMethod, fmt.Sprintf("there is no method %q", m.Method))
	default:
		s.begin(ctx, m, do, refuse)
	}
	return nil
}

// heed takes a notification. One that is not known is nobody's fault.
func (s *server) heed(m message) {
	var p cancelParams
	if m.Method != methodCancel || fastjson.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.running[string(p.ID)]; stop != nil {
		stop(errCancelled)
	}
}

// greet answers hello. An error ends the connection.
func (s *server) greet(ctx context.Context, m message) error {
	var p Hello
	err := fastjson.Unmarshal(m.Params, &p)
	switch {
	case err != nil:
		err = &op.Refusal{Code: op.Malformed, Text: "hello cannot be read: " + fastjson.InWords(err).Error()}
	case subtle.ConstantTimeCompare([]byte(p.Key), []byte(s.Key)) != 1:
		err = &op.Refusal{Code: op.Denied, Text: "this is not the key"}
	case p.Protocol > Protocol:
		err = &op.Refusal{Code: op.Unsupported, Text: fmt.Sprintf("the client speaks version %d of the protocol, and this program version %d", p.Protocol, Protocol)}
	}
	if err != nil {
		s.say(ctx, message{ID: m.ID, Error: wire(err)})
		return err
	}
	s.mu.Lock()
	busy := len(s.running) > 0
	s.mu.Unlock()
	if busy { // whose name and scope what goes on has must not change
		s.say(ctx, message{ID: m.ID, Error: &wireError{Number: numberNoMessage, Text: "hello comes before everything else"}})
		return nil
	}
	s.greeted, s.name = true, s.Config.name(p.Name)
	if p.Scope != nil {
		s.Scope = min(s.Scope, *p.Scope)
	}
	s.answer(ctx, m, Welcome{Protocol: Protocol, Version: s.Version, Name: s.name, Scope: s.Scope})
	return nil
}

// name is what sessions call a client: letters and digits, so that it is not taken
// for a rule or a hook (event.By), and its number.
func (c Config) name(wanted string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(wanted[:min(len(wanted), 32)]))
	if plain == "" {
		plain = "client"
	}
	return plain + "-" + strconv.Itoa(max(c.Number, 1))
}

// begin carries a request out beside others.
func (s *server) begin(ctx context.Context, m message, do func(context.Context, message) error, refuse func(int, string)) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	_, twice := s.running[string(m.ID)]
	many := len(s.running) >= maxRunning
	if !twice && !many {
		s.running[string(m.ID)] = cancel
	}
	s.mu.Unlock()
	switch {
	case twice:
		refuse(numberNoMessage, "a request with this id has no answer yet")
	case many:
		refuse(numberNoMessage, fmt.Sprintf("%d requests and follows are all that a connection can have at a time", maxRunning))
	default:
		s.handlers.Go(func() { // ends with its answer, or with ctx
			defer cancel(nil)
			if err := do(ctx, m); err != nil {
				s.done(m)
				s.say(context.WithoutCancel(ctx), message{ID: m.ID, Error: s.why(ctx, err)})
			}
		})
		return
	}
	cancel(nil)
}

// errCancelled ends a request because the client wants so; whatever else ends its context
// is the end of serving.
var errCancelled = errors.New("the client wanted no answer any more")

// why is err, or what ended ctx, as it crosses.
func (s *server) why(ctx context.Context, err error) *wireError {
	switch cause := context.Cause(ctx); cause {
	case nil:
		return wire(err)
	case errCancelled:
		return &wireError{Number: numberRefused, Text: cause.Error(), Data: errorData{Code: codeCancelled}}
	}
	return wire(errEnding)
}

// done frees the ID of a request, before its last message.
func (s *server) done(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, string(m.ID))
}

// allows is a Refusal of what needs more than the connection may do.
func (s *server) allows(what string, needs ask.Scope) error {
	if needs <= s.Scope {
		return nil
	}
	return &op.Refusal{Code: op.Denied, Text: fmt.Sprintf("%q needs the scope %s, and this connection has %s", what, needs, s.Scope)}
}

// params reads the params of a request.
func params[T any](m message) (p T, err error) {
	if len(m.Params) > 0 {
		if err = fastjson.Unmarshal(m.Params, &p); err != nil {
			err = &op.Refusal{Code: op.Malformed, Text: fmt.Sprintf("the params of %s cannot be read: %v", m.Method, fastjson.InWords(err))}
		}
	}
	return p, err
}

func (s *server) submit(ctx context.Context, m message) error {
	p, err := params[submitParams](m)
	if err != nil {
		return err
	}
	o, err := op.Unmarshal(p.Op)
	if err != nil {
		return err
	}
	if err := s.allows(op.Name(o), ask.OpNeeds(o)); err != nil {
		return err
	}
	there := false
	switch x := o.(type) {
	case op.Answer:
		x.By = s.name
		o = x
	case op.Attach:
		o, there = op.Attach{Client: s.name}, true
	case op.Detach:
		o = op.Detach{Client: s.name}
	default: // nothing of it says who wants it
	}
	if there { // also if the connection ends meanwhile
		s.person(p.Session, true)
	}
	if err := s.Client.Submit(ctx, p.Session, o); err != nil {
		return err
	}
	if _, gone := o.(op.Detach); gone {
		s.person(p.Session, false)
	}
	s.answer(ctx, m, struct{}{})
	return nil
}

func (s *server) person(session string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there {
		s.people[session] = true
	} else {
		delete(s.people, session)
	}
}

func (s *server) ask(ctx context.Context, m message) error {
	p, err := params[askParams](m)
	if err != nil {
		return err
	}
	q, err := ask.Unmarshal(p.Query)
	if err != nil {
		return err
	}
	if err := s.allows(ask.Name(q), ask.Needs(q)); err != nil {
		return err
	}
	r, err := s.Client.Ask(ctx, p.Session, q)
	if err != nil {
		return err
	}
	s.answer(ctx, m, r)
	return nil
}

func (s *server) follow(ctx context.Context, m message) error {
	p, err := params[followParams](m)
	if err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	events := s.Client.Follow(within, p.Session, p.After, p.Detail)
	s.say(ctx, message{ID: m.ID, Result: fastjson.Raw("{}")})
	end := endedParams{Follow: m.ID}
	for e, err := range events {
		if err == nil {
			err = s.pass(ctx, m, e)
		}
		if err != nil {
			end.Error = s.why(ctx, err)
			break
		}
	}
	if cause := context.Cause(ctx); end.Error == nil && cause != nil {
		end.Error = s.why(ctx, cause)
	}
	s.done(m)
	if raw, err := note(methodEnded, end); err == nil {
		_ = s.put(context.WithoutCancel(ctx), raw)
	}
	return nil
}

// pass hands an event to the reader of a follow.
func (s *server) pass(ctx context.Context, m message, e event.Event) error {
	raw, err := event.AppendLive(nil, e)
	if err != nil {
		return err
	}
	raw, err = note(methodEvent, eventParams{Follow: m.ID, Event: raw})
	if err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	select {
	case s.out <- raw: // mostly there is room
		return nil
	default:
	}
	late, stop := context.WithTimeoutCause(ctx, s.Patience, errBehind)
	defer stop()
	if err := s.put(late, raw); err != nil {
		return cmp.Or(context.Cause(late), err)
	}
	return nil
}

// answer is the result of a request, and its last message.
func (s *server) answer(ctx context.Context, m message, result any) {
	ctx = context.WithoutCancel(ctx) // what was done is told
	s.done(m)
	raw, err := fastjson.Append(nil, result)
	if err != nil {
		s.say(ctx, message{ID: m.ID, Error: wire(err)})
		return
	}
	s.say(ctx, message{ID: m.ID, Result: raw})
}

// say writes m, for as long as the other side is there and ctx lasts.
func (s *server) say(ctx context.Context, m message) {
	raw, err := line(m)
	if err != nil { // it is too large
		raw, err = line(message{ID: m.ID, Error: wire(err)})
	}
	if err == nil {
		_ = s.put(ctx, raw)
	}
}

// leave says that the person of this connection is gone.
func (s *server) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	for _, session := range slices.Sorted(maps.Keys(s.people)) {
		_ = s.Client.Submit(ctx, session, op.Detach{Client: s.name}) // one that is closed needs none
	}
}
