package mem

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Catalogue is a store.Catalogue in memory.
type Catalogue struct {
	Now   func() time.Time
	NewID func() (string, error)

	mu   sync.Mutex // guards what follows
	list []*Session
}

var (
	_ store.Catalogue = (*Catalogue)(nil)
	_ store.Opener    = (*Catalogue)(nil)
)

// A Session is a log in memory. The zero value belongs to no catalogue, and is
// empty and ready.
type Session struct {
	Log
	of      *Catalogue
	project string
	id      string
	open    bool

	fold  string // the version of data
	at    store.Place
	data  []byte
	blobs Blobs
}

// Report implements store.Session.
func (*Session) Report() store.Report { return store.Report{} }

// Scratch implements store.Session.
func (*Session) Scratch() string { return "" }

// File implements store.Session.
func (*Session) File() string { return "" }

// Spill implements store.Session.
func (*Session) Spill(string) (string, error) { return "", store.ErrNoDisk }

// Place implements store.Keeper.
func (s *Session) Place() store.Place {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.es) == 0 {
		return store.Place{}
	}
	return store.Place{Seq: s.es[len(s.es)-1].Seq, Off: int64(len(s.es)), Lines: len(s.es)}
}

// Keep implements store.Keeper.
func (s *Session) Keep(ctx context.Context, fold string, at store.Place, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	s.fold, s.at, s.data = fold, at, data
	return ctx.Err()
}

// Kept implements store.Keeper.
func (s *Session) Kept(fold string) (data []byte, at store.Place, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.data == nil || s.fold != fold {
		return nil, store.Place{}, false
	}
	return s.data, s.at, true
}

// Blobs implements store.Session.
func (s *Session) Blobs() store.Blobs { return &s.blobs }

// Blobs keeps contents in memory. The zero value is ready.
type Blobs struct {
	mu   sync.Mutex // guards have
	have map[string][]byte
}

// Put implements store.Blobs.
func (b *Blobs) Put(content []byte) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := blob.Name(content)
	if b.have == nil {
		b.have = map[string][]byte{}
	}
	b.have[name] = bytes.Clone(content)
	return name, nil
}

func (b *Blobs) all() map[string][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.have)
}

// Get implements store.Blobs.
func (b *Blobs) Get(hash string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.have[hash]
	if !ok {
		return nil, blob.ErrMissing
	}
	return content, nil
}

// Close implements store.Log: the session can be opened again.
func (s *Session) Close() error {
	if s.of != nil {
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		s.open = false
	}
	return s.Log.Close()
}

// Create implements store.Opener.
func (c *Catalogue) Create(_ context.Context, project, id string) (store.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.find(id) != nil {
		return nil, fmt.Errorf("%w: %s", store.ErrExists, id)
	}
	return c.add(project, id), nil
}

func (c *Catalogue) add(project, id string) *Session {
	s := &Session{of: c, project: project, id: id, open: true}
	c.list = append(c.list, s)
	return s
}

func (c *Catalogue) find(id string) *Session {
	for _, s := range c.list {
		if s.id == id {
			return s
		}
	}
	return nil
}

// Open implements store.Opener.
func (c *Catalogue) Open(_ context.Context, i store.Info) (store.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.find(i.ID)
	switch {
	case s == nil:
		return nil, fmt.Errorf("%w: %s", store.ErrNone, i.ID)
	case s.open:
		return nil, &store.LockedError{PID: 1, Host: "memory"}
	}
	s.open = true
	s.Log.reopen()
	return s, nil
}

// List implements store.Catalogue.
func (c *Catalogue) List(ctx context.Context, project string) ([]store.Info, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []store.Info
	for _, s := range c.list {
		if project != "" && s.project != project {
			continue
		}
		i, err := s.info(ctx)
		if err != nil {
			return nil, err
		}
		if i.Seq > 0 {
			out = append(out, i)
		}
	}
	order.By(out, func(a, b store.Info) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(b.ID, a.ID))
	})
	return out, nil
}

func (s *Session) info(ctx context.Context) (i store.Info, err error) {
	for e, err := range s.After(ctx, 0) {
		if err != nil {
			return i, err
		}
		if i.Seq == 0 {
			i.Began = e.Time
		}
		i.Seq, i.Changed = e.Seq, e.Time
		i.Count(e.Body)
	}
	i.ID, i.Key, i.Running = s.id, s.project, s.open
	if s.open {
		i.Holder = &store.LockedError{PID: 1, Host: "memory"}
	}
	return i, nil
}

// Find implements store.Catalogue.
func (c *Catalogue) Find(ctx context.Context, project, query string) (store.Info, error) {
	all, err := c.List(ctx, "")
	if err != nil {
		return store.Info{}, err
	}
	return store.Match(all, project, query)
}

// Fork implements store.Catalogue.
func (c *Catalogue) Fork(ctx context.Context, parent store.Info, at event.Seq, project string, first event.SessionStarted) (store.Info, error) {
	id := first.ID
	if id == "" {
		var err error
		if id, err = c.NewID(); err != nil {
			return store.Info{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.find(parent.ID)
	if from == nil {
		return store.Info{}, fmt.Errorf("fork session %s: %w", parent.ID, store.ErrNone)
	}
	var rest []event.Event
	first.ID, first.Schema, first.Parent = id, event.Schema, parent.ID
	for e, err := range from.After(ctx, 0) {
		if err != nil {
			return store.Info{}, err
		}
		if at > 0 && e.Seq > at {
			break
		}
		first.At = e.Seq
		if _, begin := e.Body.(event.SessionStarted); !begin {
			rest = append(rest, e)
		}
	}
	if first.At == 0 {
		return store.Info{}, fmt.Errorf("fork session %s: it has no events to copy", parent.ID)
	}
	to := c.add(project, id)
	to.open = false
	to.blobs.have = from.blobs.all()
	to.es = append([]event.Event{{Seq: 1, Time: c.Now(), Body: first}}, rest...)
	return to.info(ctx)
}

// Remove implements store.Catalogue.
func (c *Catalogue) Remove(_ context.Context, i store.Info) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.find(i.ID)
	switch {
	case s == nil:
		return fmt.Errorf("remove session %s: %w", i.ID, store.ErrNone)
	case s.open:
		return fmt.Errorf("remove session %s: %w", i.ID, store.ErrRunning)
	}
	c.list = slices.DeleteFunc(c.list, func(x *Session) bool { return x == s })
	return nil
}

// Read implements store.Catalogue.
func (c *Catalogue) Read(ctx context.Context, i store.Info, after event.Seq) iter.Seq2[event.Event, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(i.ID); s != nil {
		return s.After(ctx, after)
	}
	return func(yield func(event.Event, error) bool) {
		yield(event.Event{}, fmt.Errorf("read session %s: %w", i.ID, store.ErrNone))
	}
}

// Follow implements store.Catalogue.
func (c *Catalogue) Follow(ctx context.Context, i store.Info, after event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for {
			for e, err := range c.Read(ctx, i, after) {
				if !yield(e, err) || err != nil {
					return
				}
				after = e.Seq
			}
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
	}
}
