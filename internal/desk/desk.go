// Package desk answers what clients ask about the sessions of this process, and hands
// them ops and events: it is a client.Client over app.Process. Whoever shows anything
// asks here, so that each question has one answer. It draws nothing and knows no
// terminal.
package desk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/trust"
)

// Config is how the process was started.
type Config struct {
	app.Surroundings
	Sources settings.Sources
	Front   app.Front
	// Report gives a command of adze, and Pick says what its argument can be: see
	// ask.Report and ask.Pick. nil: there are none.
	Report func(ctx context.Context, session string, q ask.Report) (string, error)
	Pick   func(ctx context.Context, q ask.Pick) ([]ask.Choice, error)
	// Logout signs out of an MCP server; nil: nobody can.
	Logout func(ctx context.Context, server string) error
}

// A Desk has the sessions of a process, which clients know by their IDs. All that it
// starts are in one place: the folder that the process was started in.
type Desk struct {
	c       Config
	opening sync.Mutex // held while a session is opened, and while the process is closed; guards process
	process *app.Process
	place   atomic.Pointer[app.Place]
	claimed atomic.Pointer[trust.Verdict] // that claims told last

	mu     sync.Mutex // guards the rest
	seats  map[string]seat
	served []servers.Given // by the newest Serve, nil before
}

// A seat is a session that is open.
type seat struct {
	*app.Running
	since time.Time
}

// New is a desk without any session.
func New(c Config) *Desk { return &Desk{c: c, seats: map[string]seat{}} }

// Around is a desk for a session that was started elsewhere, and its place.
func Around(c Config, r *app.Running) *Desk {
	d := New(c)
	d.place.Store(r.Place())
	d.Seat(r)
	return d
}

// Place is that of the sessions that Start starts, nil before the first one.
func (d *Desk) Place() *app.Place { return d.place.Load() }

// Start begins a session, or goes on with one, with the settings as they are now. The
// first one opens the process, which opened is told of.
func (d *Desk) Start(ctx context.Context, s app.Spec, opened func(*app.Process)) (*app.Running, error) {
	d.opening.Lock()
	defer d.opening.Unlock()
	at := d.place.Load()
	if at != nil {
		at.Reread()
	} else {
		p, err := app.Open(ctx, d.c.Surroundings, d.c.Sources, d.c.Front)
		if err != nil {
			return nil, refused(err)
		}
		if at, err = p.Place(d.c.Dir); err != nil {
			return nil, refused(errors.Join(err, p.Close()))
		}
		d.process = p
		d.place.Store(at)
		opened(p)
	}
	r, err := at.Start(ctx, s)
	if err != nil {
		return nil, refused(err)
	}
	d.Seat(r)
	return r, nil
}

// Seat has clients know a session that was started elsewhere. Ended, it is not known
// any more.
func (d *Desk) Seat(r *app.Running) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seats[r.ID] = seat{r, time.Now()}
}

// End ends a session. Hooks are told why.
func (d *Desk) End(session string, why ext.Ending) error {
	d.mu.Lock()
	s, ok := d.seats[session]
	delete(d.seats, session)
	d.mu.Unlock()
	if !ok {
		return nil
	}
	return s.End(why)
}

// Session is the one of this ID, if it is open.
func (d *Desk) Session(id string) (r *app.Running, ok bool) {
	s, ok := d.seat(id)
	return s.Running, ok
}

func (d *Desk) seat(id string) (s seat, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok = d.seats[id]
	return s, ok
}

// in is the session that a question is about.
func (d *Desk) in(session string) (seat, error) {
	if s, ok := d.seat(session); ok {
		return s, nil
	}
	if session == "" {
		return seat{}, &op.Refusal{Code: op.NoSession, Text: "there is no session yet"}
	}
	return seat{}, &op.Refusal{Code: op.NoSession, Text: fmt.Sprintf("no session %s is open here", session)}
}

// at is the place of a session, or else the one of the desk; nil before there is any.
func (d *Desk) at(session string) *app.Place {
	if s, ok := d.seat(session); ok {
		return s.Place()
	}
	return d.place.Load()
}

// Close ends what is left of the sessions, and what they shared.
func (d *Desk) Close() error {
	d.opening.Lock()
	defer d.opening.Unlock()
	if d.process != nil {
		return d.process.Close()
	}
	return nil
}

// quiet are the surroundings for what must not speak.
func (d *Desk) quiet() app.Surroundings {
	p := d.c.Surroundings
	p.Note = nil
	return p
}

// Loaded are the folders and the settings of the sessions. Before the first one
// they are read for this alone, and nothing is said of them.
func (d *Desk) Loaded() (settings.Paths, *config.Config, error) {
	if at := d.place.Load(); at != nil {
		return at.Paths, at.Config(), nil
	}
	return settings.Load(d.quiet().Environment, d.c.Sources)
}

// Models are those of the settings as they are now.
func (d *Desk) Models() (*models.Set, error) {
	p, cfg, err := d.Loaded()
	if err != nil {
		return nil, err
	}
	return d.quiet().Models(p.Folders, cfg, !d.c.Front.Print, nil)
}

// Submit implements client.Client.
func (d *Desk) Submit(ctx context.Context, session string, o op.Op) error {
	s, err := d.in(session)
	if err != nil {
		return err
	}
	return s.Submit(ctx, o)
}

// above is the session in whose tree another one is that of an agent.
func (d *Desk) above(session string) (seat, bool) {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.seats))
	d.mu.Unlock()
	for _, s := range all {
		if m, _, ok := s.Agent(session); ok && m.Begun.Session == session && session != "" {
			return s, true
		}
	}
	return seat{}, false
}

// Follow implements client.Client, also for the session of an agent of one that is open.
func (d *Desk) Follow(ctx context.Context, session string, after event.Seq, detail event.Detail) iter.Seq2[event.Event, error] {
	s, err := d.in(session)
	if of, ok := d.above(session); err != nil && ok {
		return of.FollowAgent(ctx, session, after, detail)
	}
	if err != nil {
		return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }
	}
	return s.Follow(ctx, after, detail)
}

// refused gives an error of a start the code by which clients tell it from others.
func refused(err error) error {
	code, none := op.Code(""), new(choose.NoModelError)
	switch {
	case errors.As(err, &none):
		code = op.NoModel
	case errors.Is(err, choose.ErrNoKey):
		code = op.NoKey
	case errors.Is(err, store.ErrLocked):
		code = op.Taken
	default:
		return err
	}
	return &op.Refusal{Code: code, Text: err.Error(), Err: err}
}
