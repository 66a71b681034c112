package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rpc"
)

// Waits between two tries to connect again.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// What a person is told of a connection.
const (
	broke = "the connection to the process that has the session broke; adze connects again"
	again = "the process that has the session is connected again"
)

// A Link is a client.Client of another process. When the connection breaks while the process
// lives, the next thing that is wanted connects again, and a follow does so by itself and goes
// on after the last event that came. What was on its way then is sent once more only where
// twice is as good as once; of other ops nobody knows whether they were carried out, and their
// error says so.
type Link struct {
	// Note is told when connecting again takes more than a moment, and when it is done. It
	// is set before the Link is used; nil: nobody is told.
	Note func(string)

	dir   string // of sockets
	self  lease.Self
	card  rpc.Card
	hello rpc.Hello
	turn  chan struct{} // has a place for the one who connects

	mu   sync.Mutex // guards the rest
	conn *rpc.Client
	here map[string]bool // the sessions where our person can be asked
	told bool            // that the connection broke
	over bool            // Close was called
}

// dial connects to a process.
func dial(ctx context.Context, dir string, card rpc.Card, h rpc.Hello) (*Link, error) {
	c, err := card.Dial(ctx, h)
	if err != nil {
		return nil, err
	}
	return &Link{dir: dir, self: lease.ThisProcess(), card: card, hello: h, turn: make(chan struct{}, 1), conn: c, here: map[string]bool{}}, nil
}

// Close ends the connection, for good.
func (l *Link) Close() error {
	l.mu.Lock()
	l.over = true
	c := l.conn
	l.mu.Unlock()
	return c.Close()
}

// Submit implements client.Client.
func (l *Link) Submit(ctx context.Context, session string, o op.Op) error {
	twice := false // may it be sent twice?
	switch o := o.(type) {
	case op.Attach, op.Detach:
		twice = true
	case op.Prompt:
		twice = o.ID != ""
	default: // what came of it before the connection broke, nobody knows
	}
	err := l.do(ctx, twice, func(c *rpc.Client) error { return c.Submit(ctx, session, o) })
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch o.(type) {
	case op.Attach:
		l.here[session] = true
	case op.Detach:
		delete(l.here, session)
	default: // changes nothing of who is there
	}
	return nil
}

// Ask implements client.Client.
func (l *Link) Ask(ctx context.Context, session string, q ask.Query) (r ask.Reply, err error) {
	err = l.do(ctx, ask.Needs(q) == ask.Watch, func(c *rpc.Client) error {
		r, err = c.Ask(ctx, session, q)
		return err
	})
	return r, err
}

// do does something over the connection, and once more over the next one if that may be.
func (l *Link) do(ctx context.Context, twice bool, what func(*rpc.Client) error) error {
	c, err := l.now(ctx)
	if err != nil {
		return err
	}
	if err = what(c); !twice || !errors.Is(err, rpc.ErrCut) {
		return err
	}
	if c, err = l.now(ctx); err != nil {
		return err
	}
	return what(c)
}

// Follow implements client.Client.
func (l *Link) Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	c, err := l.now(ctx)
	var events iter.Seq2[event.Event, error]
	if err == nil {
		events = c.Follow(ctx, session, after, d)
	}
	return func(yield func(event.Event, error) bool) {
		nameless, seen := 0, 0 // events without a number of their own: that came at all, and over this connection
		wait := time.Duration(0)
		for err == nil {
			for e, why := range events {
				if why != nil {
					err = why
					break
				}
				wait = 0
				if _, live := e.Body.(event.Live); !live {
					after = max(after, e.Seq)
					if e.Seq == 0 {
						if seen++; seen <= nameless {
							continue // it came before the connection broke
						}
						nameless = seen
					}
				}
				if !yield(e, nil) {
					return
				}
			}
			if err == nil || !errors.Is(err, rpc.ErrCut) || ctx.Err() != nil {
				break
			}
			if c, wait, err = l.back(ctx, wait); err == nil {
				seen = 0
				events = c.Follow(ctx, session, after, d)
			}
		}
		if err != nil && ctx.Err() == nil {
			yield(event.Event{}, err)
		}
	}
}

// back is the connection, as soon as there is one again. It waits before, where the last one
// brought nothing. An error says that there will be none.
func (l *Link) back(ctx context.Context, wait time.Duration) (*rpc.Client, time.Duration, error) {
	for {
		if wait > 0 {
			l.tell(true)
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return nil, 0, ctx.Err()
			}
		}
		wait = min(max(2*wait, firstWait), lastWait)
		c, err := l.now(ctx)
		if err == nil {
			l.tell(false)
			return c, wait, nil
		}
		if final(err) || ctx.Err() != nil {
			return nil, 0, err
		}
	}
}

// tell says that the connection broke, or is there again, each once.
func (l *Link) tell(bad bool) {
	l.mu.Lock()
	news := l.told != bad
	l.told = bad
	l.mu.Unlock()
	switch {
	case !news || l.Note == nil:
	case bad:
		l.Note(broke)
	default:
		l.Note(again)
	}
}

// Why there is no connection, and none will be.
var (
	errGone = fmt.Errorf("%w: it is gone", client.ErrUnreachable)
	errLeft = fmt.Errorf("%w: the connection was closed here", client.ErrUnreachable)
)

// final reports whether to connect would fail at any time: the process is no more, does not
// listen any more, or does not want us.
func final(err error) bool {
	var no *op.Refusal
	return errors.Is(err, errGone) || errors.Is(err, errLeft) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) || errors.As(err, &no)
}

// now is the connection, a new one where it broke.
func (l *Link) now(ctx context.Context) (*rpc.Client, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	c, here, over := l.conn, slices.Sorted(maps.Keys(l.here)), l.over
	l.mu.Unlock()
	if over {
		return nil, errLeft
	}
	if !errors.Is(c.Lost(), rpc.ErrCut) {
		return c, nil // where there is another reason, what is wanted of it says so
	}
	cards, err := rpc.Find(l.dir, l.self)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(cards, func(c rpc.Card) bool { return c.PID == l.card.PID && c.Start == l.card.Start })
	if i < 0 {
		return nil, errGone
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fresh, err := cards[i].Dial(within, l.hello)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: it does not answer", client.ErrUnreachable)
	}
	if err != nil {
		return nil, err
	}
	for _, session := range here {
		_ = fresh.Submit(within, session, op.Attach{}) // one that ended meanwhile asks nothing
	}
	_ = c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		_ = fresh.Close()
	}
	l.conn = fresh
	return fresh, nil
}
