package tui

import (
	"context"
	"sync"

	"github.com/adze-agent/adze/internal/event"
)

// A mail gathers events until the loop takes them.
type mail struct {
	ready chan struct{} // has room for one
	room  chan struct{} // one token: there is room again

	mu  sync.Mutex // guards in
	in  eventsMsg
	max int
}

func newMail() *mail {
	return &mail{ready: make(chan struct{}, 1), room: make(chan struct{}, 1), max: 4096}
}

func (b *mail) put(ctx context.Context, s *Session, e event.Event) {
	for {
		b.mu.Lock()
		full := len(b.in.events) >= b.max
		if !full {
			b.in.of = s
			b.in.events = append(b.in.events, e)
		}
		b.mu.Unlock()
		b.nudge(b.ready)
		if !full {
			return
		}
		select {
		case <-b.room:
		case <-ctx.Done():
			return
		}
	}
}

func (b *mail) end(s *Session, why error) {
	b.mu.Lock()
	b.in.of, b.in.over, b.in.why = s, true, why
	b.mu.Unlock()
	b.nudge(b.ready)
}

func (b *mail) nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *mail) take() eventsMsg {
	b.mu.Lock()
	out := b.in
	b.in = eventsMsg{}
	b.mu.Unlock()
	b.nudge(b.room)
	return out
}

// ops gives ops to the session, one after the other; urgent ones go past those
// that wait.
type ops struct {
	l    *loop
	next chan struct{} // has room for one
	mu   sync.Mutex    // guards list
	list []job
}

// A job is an op on its way to a session.
type job struct {
	what submit
	to   *Session
}

func newOps(l *loop) *ops {
	o := &ops{l: l, next: make(chan struct{}, 1)}
	l.wg.Go(o.run) // ends with the loop's ctx
	return o
}

func (o *ops) submit(e submit) {
	if o.l.s == nil {
		return
	}
	j := job{e, o.l.s}
	if e.urgent {
		o.l.wg.Go(func() { o.give(j) }) // ends when the session took it
		return
	}
	o.mu.Lock()
	o.list = append(o.list, j)
	o.mu.Unlock()
	select {
	case o.next <- struct{}{}:
	default:
	}
}

func (o *ops) run() {
	defer o.l.t.Recover()
	for {
		select {
		case <-o.next:
		case <-o.l.ctx.Done():
			return
		}
		for {
			o.mu.Lock()
			if len(o.list) == 0 {
				o.mu.Unlock()
				break
			}
			j := o.list[0]
			o.list = o.list[1:]
			o.mu.Unlock()
			o.give(j)
		}
	}
}

func (o *ops) give(j job) {
	defer o.l.t.Recover()
	err := o.l.h.Client.Submit(o.l.ctx, j.to.ID, j.what.op)
	if o.l.ctx.Err() != nil {
		return
	}
	o.l.send(resultMsg{func(m *Model) []effect {
		if j.what.then != nil {
			return j.what.then(m, err)
		}
		return m.fail(err)
	}})
}

// close drops what waits.
func (o *ops) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = nil
}
