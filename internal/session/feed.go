package session

import (
	"slices"
	"sync"

	"github.com/adze-agent/adze/internal/event"
)

// maxBehind is how many durable events wait in memory for one reader; a
// reader further behind reads them from the log.
const maxBehind = 4096

// maxJoined bytes of joined text are one event: who encodes it needs a multiple.
const maxJoined = 1 << 20

// fan hands events to every reader. It has a lock because live events come
// from the turn's goroutine and durable ones from the session's.
type fan struct {
	mu    sync.Mutex // guards the rest
	feeds map[*feed]struct{}
	last  event.Seq
	reply bool          // one has begun, and its end was not sent
	early []event.Event // what was told before the log began: the newest of each thing
}

// add registers a reader and returns the number of the last durable event
// before anything the reader will be handed. A reader who comes before the log begins is
// handed what there is by then: nothing else can tell it.
func (f *fan) add(r *feed) event.Seq {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.feeds[r] = struct{}{}
	for _, e := range f.early {
		r.push(e)
	}
	return f.last
}

// replying reports whether a reply has begun and not ended, and the newest durable
// event before that was so.
func (f *fan) replying() (event.Seq, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.reply
}

func (f *fan) drop(r *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.feeds, r)
}

func (f *fan) send(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, live := e.Body.(event.Live)
	switch e.Body.(type) {
	case event.ReplyStarted:
		f.reply = true
	case event.Replied, event.Dropped, event.TurnEnded:
		f.reply = false
	default: // no reply begins or ends with the others
	}
	switch {
	case live:
		e.Seq = f.last
	case e.Seq == 0: // there is no log yet
		f.early = append(slices.DeleteFunc(f.early, func(x event.Event) bool { return sameThing(x.Body, e.Body) }), e)
		f.early = f.early[max(0, len(f.early)-maxEarly):]
	default:
		f.last, f.early = max(f.last, e.Seq), nil // the log has all of it, or is about to
	}
	for r := range f.feeds {
		if !live || r.detail.Wants(e.Body) {
			r.push(e)
		}
	}
}

// told notes an event of the log that readers were handed before the log began.
func (f *fan) told(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = max(f.last, e.Seq)
}

// A feed is one reader's queue. Text that a reader is too slow for is joined
// and not dropped, so the queue stays short and loses nothing.
type feed struct {
	detail event.Detail
	ready  chan struct{} // has room for one; a token says there is something to take

	mu     sync.Mutex // guards the rest
	items  []event.Event
	tail   []byte // of the last item, when it is a delta that may still grow
	behind bool   // items were dropped; the log has them
}

func newFeed(d event.Detail) *feed { return &feed{detail: d, ready: make(chan struct{}, 1)} }

func (r *feed) push(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.join(e.Body) {
		r.flush()
		if len(r.items) >= maxBehind {
			r.items, r.behind = nil, true
		}
		r.items = append(r.items, e)
	}
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// join adds a delta to the delta before it.
func (r *feed) join(b event.Body) bool {
	if len(r.items) == 0 || len(r.tail) >= maxJoined {
		return false
	}
	last := r.items[len(r.items)-1].Body
	switch b := b.(type) {
	case event.TextDelta:
		if l, ok := last.(event.TextDelta); ok && b.At > 0 {
			return r.grow(l.S, b.S)
		}
	case event.ThinkingDelta:
		if l, ok := last.(event.ThinkingDelta); ok && b.At > 0 {
			return r.grow(l.S, b.S)
		}
	case event.ToolInputDelta:
		if l, ok := last.(event.ToolInputDelta); ok && l.Call == b.Call && b.At > 0 {
			return r.grow(l.S, b.S)
		}
	case event.ToolOutput:
		if l, ok := last.(event.ToolOutput); ok && l.Call == b.Call {
			return r.grow(l.S, b.S)
		}
	case event.TaskOutput:
		if l, ok := last.(event.TaskOutput); ok && l.ID == b.ID {
			return r.grow(l.S, b.S)
		}
	default: // nothing else can be joined
	}
	return false
}

func (r *feed) grow(first, more string) bool {
	if r.tail == nil {
		r.tail = append(make([]byte, 0, 4*(len(first)+len(more))), first...)
	}
	r.tail = append(r.tail, more...)
	return true
}

// flush writes a grown delta back into its item.
func (r *feed) flush() {
	if r.tail == nil {
		return
	}
	at := &r.items[len(r.items)-1]
	switch l := at.Body.(type) {
	case event.TextDelta:
		l.S = string(r.tail)
		at.Body = l
	case event.ThinkingDelta:
		l.S = string(r.tail)
		at.Body = l
	case event.ToolInputDelta:
		l.S = string(r.tail)
		at.Body = l
	case event.ToolOutput:
		l.S = string(r.tail)
		at.Body = l
	case event.TaskOutput:
		l.S = string(r.tail)
		at.Body = l
	default: // nothing else grows
	}
	r.tail = nil
}

// take returns what has come since the last take, and whether something was
// dropped before it that the log has.
func (r *feed) take() (es []event.Event, behind bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	es, behind = r.items, r.behind
	r.items, r.behind = nil, false
	return es, behind
}
