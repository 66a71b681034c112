package session

import (
	"context"
	"iter"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
)

// Events yields every durable event after seq, in order and without loss, and
// then what follows, with live events in between. Before the log begins it yields what there
// is (servers, extensions), with no number; the log's first events say it again. It ends when
// ctx or the session does.
func (s *Session) Events(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	return s.Follow(ctx, seq, event.Everything)
}

// Follow is Events with only so much detail. Nothing that happens after
// Follow returned is missed, so what it returns must be ranged over, once.
func (s *Session) Follow(ctx context.Context, seq event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	r := newFeed(d)
	upTo := s.fan.add(r)
	return func(yield func(event.Event, error) bool) {
		defer s.fan.drop(r)
		c := cursor{log: s.cfg.Log, seq: seq, yield: yield}
		if !c.catchUp(ctx, upTo) {
			return
		}
		for {
			closed := false
			select {
			case <-r.ready:
			case <-s.done:
				closed = true
			case <-ctx.Done():
				return
			}
			es, behind := r.take()
			if behind && len(es) > 0 && !c.catchUp(ctx, es[0].Seq) {
				return
			}
			for _, e := range es {
				if !c.give(e) {
					return
				}
			}
			if closed {
				return
			}
		}
	}
}

// Last is the number of the newest durable event that readers were handed: what
// a reader has to have seen to know what had happened by now.
func (s *Session) Last() event.Seq {
	last, _ := s.fan.replying()
	return last
}

// Replying returns the number of the newest durable event, and whether a reply has begun
// by then whose end (Replied, Dropped, TurnEnded) will be one of the next.
func (s *Session) Replying() (event.Seq, bool) { return s.fan.replying() }

// Past yields the durable events above after, up to upTo: for a reader who
// began late and goes back.
func (s *Session) Past(ctx context.Context, after, upTo event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		c := cursor{log: s.cfg.Log, seq: after, yield: yield}
		c.catchUp(ctx, upTo)
	}
}

// A cursor is how far one reader has come.
type cursor struct {
	log   store.Log
	seq   event.Seq
	yield func(event.Event, error) bool
}

// catchUp yields the log up to and including last.
func (c *cursor) catchUp(ctx context.Context, last event.Seq) bool {
	if c.seq >= last {
		return true
	}
	for e, err := range c.log.After(ctx, c.seq) {
		if err != nil {
			return c.yield(e, err) && false
		}
		if e.Seq > last {
			return true
		}
		if !c.give(e) {
			return false
		}
	}
	return true
}

// give yields an event that the reader has not seen.
func (c *cursor) give(e event.Event) bool {
	if _, live := e.Body.(event.Live); live {
		return c.yield(e, nil)
	}
	if e.Seq != 0 && e.Seq <= c.seq {
		return true
	}
	c.seq = max(c.seq, e.Seq)
	return c.yield(e, nil)
}
