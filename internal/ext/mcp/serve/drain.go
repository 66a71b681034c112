package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// A drain stands between a client's two pipes and the server: that the client has
// closed its end is told only once all that it asked for is answered, so that
// requests in a file are a way to call tools. It waits for nothing that the client
// would have to say something to, nor when nobody reads the answers any more.
type drain struct {
	ctx  context.Context
	in   io.ReadCloser
	out  io.WriteCloser
	gone func() bool // nobody reads out any more

	whole sync.Mutex // keeps the server's messages and the sieve's answers apart on out

	mu    sync.Mutex // guards what follows
	ended bool       // the client has closed its end
	asks  bool       // it was asked something
	// open has 1 for a request that is not answered, by its ID. A last line without
	// an end can be answered before it is counted, and has -1 until then.
	open        map[string]int
	quiet       chan struct{} // closed once the end may be told
	heard, told lines
}

func newDrain(ctx context.Context, in io.ReadCloser, out io.WriteCloser, gone func() bool) *drain {
	d := &drain{ctx: ctx, out: out, gone: gone, open: map[string]int{}, quiet: make(chan struct{})}
	d.in = newSieve(in, func(s string) { _, _ = d.send([]byte(s)) }) // who cannot be answered is gone: the next read says so
	return d
}

// subscribe is the request that stays open (MCP 2026-07-28, "Subscriptions").
const subscribe = "subscriptions/listen"

// Read implements io.Reader.
func (d *drain) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	d.note(func() {
		d.ended = err != nil
		d.heard.each(p[:n], d.ended, func(m envelope) {
			switch {
			case m.Method == "notifications/cancelled":
				d.count(m.Params.Request, -1)
			case m.Method == subscribe: // it is answered by notifications, as long as anybody hears them
			case m.Method != "" && len(m.ID) > 0:
				d.count(m.ID, 1)
			}
		})
	})
	if err == nil || n > 0 {
		return n, nil // the error comes again
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !d.gone() {
		select {
		case <-d.quiet:
			return 0, err
		case <-d.ctx.Done():
			return 0, err
		case <-look.C:
		}
	}
	return 0, err
}

// lookEvery is how often is looked, after a client closed its end, whether it still
// reads what it asked for.
const lookEvery = 200 * time.Millisecond

// Write implements io.Writer.
func (d *drain) Write(p []byte) (int, error) {
	n, err := d.send(p)
	d.note(func() {
		d.told.each(p[:n], false, func(m envelope) {
			switch {
			case len(m.ID) == 0: // a notification
			case m.Method != "":
				d.asks = true
			default:
				d.count(m.ID, -1)
			}
		})
	})
	return n, err
}

// send writes one message.
func (d *drain) send(p []byte) (int, error) {
	d.whole.Lock()
	defer d.whole.Unlock()
	return d.out.Write(p)
}

// note changes what is known, and tells the end when nothing is left to wait for.
func (d *drain) note(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	if !d.ended || !d.asks && slices.Contains(slices.Collect(maps.Values(d.open)), 1) {
		return
	}
	select {
	case <-d.quiet:
	default:
		close(d.quiet)
	}
}

// count adds to what is open. The lock is held.
func (d *drain) count(id json.RawMessage, n int) {
	key := string(id)
	if d.open[key] += n; d.open[key] == 0 {
		delete(d.open, key)
	}
}

// Close implements io.Closer, for both ends.
func (d *drain) Close() error {
	_ = d.in.Close() // nothing is lost of what was read
	return d.out.Close()
}

// An envelope is what tells messages of JSON-RPC apart.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Request json.RawMessage `json:"requestId"` // of one that is cancelled, which may get no answer
	} `json:"params"`
}

// lines cuts a stream at the ends of its lines.
type lines struct{ rest []byte }

// each takes a piece of the stream; last: no more come. What is no message is passed over.
func (l *lines) each(p []byte, last bool, do func(envelope)) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole && !last {
			return
		}
		var m envelope
		if json.Unmarshal(line, &m) == nil {
			do(m)
		}
		if l.rest = rest; !whole {
			return
		}
	}
}
