package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"sync"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Client is a client.Client over a connection. Close it.
type Client struct {
	Welcome Welcome // what the server says of itself, and of us
	lines   *lines
	reader  sync.WaitGroup

	mu      sync.Mutex // guards the rest
	last    int
	waiting map[string]chan message // requests without an answer, by their IDs
	feeds   map[string]*feed        // follows, by the IDs of their requests
	lost    error                   // why there is no connection any more, nil while there is
}

// Connect says hello on a connection, which is the Client's from then on: also when
// there is an error.
func Connect(ctx context.Context, conn io.ReadWriteCloser, h Hello) (*Client, error) {
	c := &Client{lines: open(conn), waiting: map[string]chan message{}, feeds: map[string]*feed{}}
	c.reader.Go(c.read) // ends with the connection
	h.Protocol = Protocol
	err := c.call(ctx, methodHello, h, &c.Welcome)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection, and with it what goes on over it. What sessions do goes on.
func (c *Client) Close() error {
	c.lines.close()
	c.reader.Wait()
	return nil
}

// Submit implements client.Client.
func (c *Client) Submit(ctx context.Context, session string, o op.Op) error {
	raw, err := op.Marshal(o)
	if err != nil {
		return err
	}
	return c.call(ctx, methodSubmit, submitParams{session, raw}, nil)
}

// Ask implements client.Client.
func (c *Client) Ask(ctx context.Context, session string, q ask.Query) (r ask.Reply, err error) {
	raw, err := ask.Marshal(q)
	if err != nil {
		return r, err
	}
	err = c.call(ctx, methodAsk, askParams{session, raw}, &r)
	return r, err
}

// Follow implements client.Client. What its user does not take in time is left to the
// session's log, and followed again when the user comes back.
func (c *Client) Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	f, err := c.follow(ctx, session, after, d)
	return func(yield func(event.Event, error) bool) {
		for err == nil {
			var raw []byte
			if raw, err = f.next(ctx); err == nil {
				var e event.Event
				if e, err = event.ParseLive(raw); err != nil {
					break
				}
				if _, live := e.Body.(event.Live); !live {
					after = max(after, e.Seq)
				}
				if !yield(e, nil) {
					c.drop(f)
					return
				}
			}
			if errors.Is(err, errBehind) {
				c.drop(f)
				f, err = c.follow(ctx, session, after, d)
			}
		}
		c.drop(f)
		if !errors.Is(err, io.EOF) && ctx.Err() == nil {
			yield(event.Event{}, err)
		}
	}
}

// follow begins to follow, and returns when nothing is missed any more.
func (c *Client) follow(ctx context.Context, session string, after event.Seq, d event.Detail) (*feed, error) {
	f := &feed{ready: make(chan struct{}, 1)}
	return f, c.request(ctx, methodFollow, followParams{session, after, d}, nil, f)
}

// drop ends a follow, if the server has not.
func (c *Client) drop(f *feed) {
	c.mu.Lock()
	_, open := c.feeds[f.id]
	delete(c.feeds, f.id)
	c.mu.Unlock()
	if open {
		c.cancel(f.id)
	}
}

// cancel tells the server that nobody waits for a request any more. Where there is no
// room to say so, it writes on in vain.
func (c *Client) cancel(id string) {
	if raw, err := note(methodCancel, cancelParams{fastjson.Raw(id)}); err == nil {
		select {
		case c.lines.out <- raw:
		default:
		}
	}
}

func (c *Client) call(ctx context.Context, method string, params, result any) error {
	return c.request(ctx, method, params, result, nil)
}

// request sends a request and waits for its answer. What a follow yields comes to f from
// before the answer on.
func (c *Client) request(ctx context.Context, method string, params, result any, f *feed) error {
	raw, err := fastjson.Append(nil, params)
	if err != nil {
		return err
	}
	if len(raw) > MaxMessage-maxEnvelope {
		return &op.Refusal{Code: op.Malformed, Text: fmt.Sprintf("%s of %d bytes is too large; at most %d are taken", method, len(raw), MaxMessage-maxEnvelope)}
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.lost != nil {
		c.mu.Unlock()
		return c.Lost()
	}
	c.last++
	id := strconv.Itoa(c.last)
	c.waiting[id] = answer
	if f != nil {
		f.id, c.feeds[id] = id, f
	}
	c.mu.Unlock()
	m, err := c.exchange(ctx, message{ID: fastjson.Raw(id), Method: method, Params: raw}, answer)
	c.mu.Lock()
	delete(c.waiting, id)
	if err != nil {
		delete(c.feeds, id)
	}
	c.mu.Unlock()
	if err == nil && result != nil {
		if err = fastjson.Unmarshal(m.Result, result); err != nil {
			err = fmt.Errorf("the answer to %s cannot be read: %w", method, err)
		}
	}
	return err
}

// Lost is why there is no connection any more, nil while there is.
func (c *Client) Lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

func (c *Client) exchange(ctx context.Context, m message, answer <-chan message) (message, error) {
	raw, err := line(m)
	if err != nil {
		return m, err
	}
	if err := c.lines.put(ctx, raw); err != nil && ctx.Err() != nil {
		return m, ctx.Err() // else the reader says what happened
	}
	select {
	case got, ok := <-answer:
		switch {
		case !ok:
			return got, c.Lost()
		case got.Error != nil:
			return got, got.Error.err()
		}
		return got, nil
	case <-ctx.Done():
		c.cancel(string(m.ID))
		return m, ctx.Err()
	}
}

// read hands what comes to who waits for it, until the connection ends.
func (c *Client) read() {
	err := ErrCut
	for raw := range c.lines.in {
		var m message
		if raw == nil || fastjson.Unmarshal(raw, &m) != nil {
			err = fmt.Errorf("%w: it sent what is no message", client.ErrUnreachable)
			break
		}
		switch {
		case m.Method == methodEvent:
			var p eventParams
			if fastjson.Unmarshal(m.Params, &p) == nil {
				c.feed(string(p.Follow), p.Event)
			}
		case m.Method == methodEnded:
			var p endedParams
			if fastjson.Unmarshal(m.Params, &p) == nil {
				c.ended(string(p.Follow), p.Error)
			}
		case m.Method == "" && string(m.ID) == "null" && m.Error != nil:
			err = fmt.Errorf("%w: it refused a message: %s", client.ErrUnreachable, m.Error.Text)
		default:
			c.mu.Lock()
			if answer := c.waiting[string(m.ID)]; answer != nil {
				delete(c.waiting, string(m.ID))
				answer <- m // there is room for one
			}
			c.mu.Unlock()
		}
	}
	c.lines.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = err
	for _, answer := range c.waiting {
		close(answer)
	}
	for _, f := range c.feeds {
		f.end(err)
	}
	clear(c.waiting)
	clear(c.feeds)
}

// feed hands an event to its follow. One for which too much waits is ended.
func (c *Client) feed(id string, raw []byte) {
	c.mu.Lock()
	f := c.feeds[id]
	c.mu.Unlock()
	if f != nil && !f.push(raw) {
		c.drop(f)
		f.end(errBehind)
	}
}

func (c *Client) ended(id string, e *wireError) {
	c.mu.Lock()
	f := c.feeds[id]
	delete(c.feeds, id)
	c.mu.Unlock()
	switch {
	case f == nil:
	case e == nil:
		f.end(io.EOF)
	default:
		f.end(e.err())
	}
}

// A feed is what came of one follow and was not taken yet.
type feed struct {
	id    string
	ready chan struct{} // a token says that there is something to take

	mu    sync.Mutex // guards the rest
	lines [][]byte
	bytes int
	over  error // what comes after lines, nil when more may come
}

// push reports false when too much waits.
func (f *feed) push(raw []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes > maxWaiting {
		return false
	}
	f.lines, f.bytes = append(f.lines, raw), f.bytes+len(raw)
	f.tell()
	return true
}

// end is heard of when all is taken. The first reason counts.
func (f *feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over == nil {
		f.over = err
	}
	f.tell()
}

func (f *feed) tell() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// next is the next event as it came. io.EOF says that the session is over.
func (f *feed) next(ctx context.Context) ([]byte, error) {
	for ctx.Err() == nil {
		if raw, err := f.take(); raw != nil || err != nil {
			return raw, err
		}
		select {
		case <-f.ready:
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

func (f *feed) take() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lines) == 0 {
		return nil, f.over
	}
	raw := f.lines[0]
	f.lines, f.bytes = f.lines[1:], f.bytes-len(raw)
	return raw, nil
}
