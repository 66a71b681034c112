package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// discoverWait is how long a server may take to answer the first question of the
// newest protocol. Older servers should refuse it, and some say nothing at all;
// then the connection begins as older protocols have it, well before the 5 s are over
// that a run in print mode waits for servers.
const discoverWait = 2 * time.Second

const discover = "server/discover"

// errEnded is the end of a connection that nobody asked for.
var errEnded = errors.New("the connection ended")

// A wire is a connection on which whole messages come and go: lines of a
// program, frames of a WebSocket, what a host hands over. Who makes one gives it
// what comes (arrive) and its end (finish), and send, which is called by one
// goroutine at a time.
type wire struct {
	look *inspector
	send func(message []byte) error
	shut func() // begins to end the connection; it returns at once
	// patience is discoverWait, or 0 for none.
	patience time.Duration

	in   chan jsonrpc.Message
	out  chan []byte
	gone chan struct{} // closed by finish

	spoke atomic.Bool // something came
	// aside counts the lines of a program's output that are no messages, and rest the bytes of
	// a line that has not ended.
	aside, rest atomic.Int64

	mu     sync.Mutex // guards what follows
	err    error      // why it ended
	ended  bool
	timers []*time.Timer
	open   map[jsonrpc.ID]bool // questions of the newest protocol without an answer
}

func newWire(look *inspector) *wire {
	return &wire{look: look, in: make(chan jsonrpc.Message, 16), out: make(chan []byte, 16), gone: make(chan struct{}), open: map[jsonrpc.ID]bool{}, shut: func() {}}
}

// write sends what is to be sent, until the connection ends.
func (w *wire) write() {
	for {
		select {
		case b := <-w.out:
			if err := w.send(b); err != nil {
				w.finish(err)
				return
			}
		case <-w.gone:
			return
		}
	}
}

// arrive takes what came. It waits while nobody reads, and is false when the
// connection has ended.
func (w *wire) arrive(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return true
	}
	w.spoke.Store(true)
	if err := w.look.came(raw); err != nil {
		w.finish(err)
		return false
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			w.finish(offended("it sent a batch that is none"))
			return false
		}
	}
	for _, one := range list {
		m, err := jsonrpc.DecodeMessage(w.look.mended(one))
		if err != nil {
			w.finish(offended("it sent something that is no message: %v", err))
			return false
		}
		if r, ok := m.(*jsonrpc.Response); ok && w.answered(r.ID) {
			continue // the connection went on without it
		}
		if !w.push(m) {
			return false
		}
	}
	return true
}

func (w *wire) push(m jsonrpc.Message) bool {
	select {
	case w.in <- m:
		return true
	case <-w.gone:
		return false
	}
}

// answered reports whether an answer comes too late, and notes that it came.
func (w *wire) answered(id jsonrpc.ID) (late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waits, known := w.open[id]
	delete(w.open, id)
	return known && !waits
}

// Read implements mcp.Connection.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	select { // what came before the end is read before it
	case m := <-w.in:
		return m, nil
	default:
	}
	select {
	case m := <-w.in:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.gone:
		select {
		case m := <-w.in:
			return m, nil
		default:
			return nil, w.reason()
		}
	}
}

// Write implements mcp.Connection.
func (w *wire) Write(ctx context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		w.look.sent(r.ID.Raw())
		if r.Method == discover && w.patience > 0 {
			w.hurry(r.ID)
		}
	}
	select {
	case w.out <- append(b, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.gone:
		return w.reason()
	}
}

// hurry answers the question of the newest protocol in the server's stead, when
// the server does not.
func (w *wire) hurry(id jsonrpc.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.open[id] = true
	w.timers = append(w.timers, time.AfterFunc(w.patience, func() {
		w.mu.Lock()
		waits := w.open[id]
		if waits {
			w.open[id] = false
		}
		w.mu.Unlock()
		if waits {
			w.push(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}})
		}
	}))
}

// finish ends the connection, for the first reason that is given.
func (w *wire) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended, w.err = true, err
	for _, t := range w.timers {
		t.Stop()
	}
	close(w.gone)
	w.shut()
}

func (w *wire) reason() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close implements mcp.Connection.
func (w *wire) Close() error {
	w.finish(io.EOF)
	return nil
}

// SessionID implements mcp.Connection.
func (w *wire) SessionID() string { return "" }

// A made is a transport of a connection that is there already.
type made struct{ sdk.Connection }

// Connect implements mcp.Transport.
func (m made) Connect(context.Context) (sdk.Connection, error) { return m.Connection, nil }
