package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a client.Client whose one session "s" has as many events as it is said, and
// goes on until it is left.
type fake struct {
	events int
	size   int // bytes of text in each event

	mu   sync.Mutex // guards the rest
	ops  []op.Op
	left int // follows that ended
}

func (f *fake) Submit(ctx context.Context, session string, o op.Op) error {
	if s, is := o.(op.Shell); is && s.Command == "wait" {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops = append(f.ops, o)
	return nil
}

func (f *fake) Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.left++
		}()
		for n := after + 1; n <= event.Seq(f.events); n++ {
			if !yield(event.Event{Seq: n, Time: time.Unix(1, 0).UTC(), Body: event.Noted{Text: strings.Repeat("x", f.size)}}, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}

func (f *fake) Ask(ctx context.Context, session string, q ask.Query) (ask.Reply, error) {
	return ask.Reply{Text: ask.Name(q)}, nil
}

func (f *fake) did() []op.Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// serve serves a connection, of which the other end is returned. done waits for the end
// of serving and says how it ended.
func serve(ctx context.Context, c rpc.Config) (net.Conn, func() error) {
	near, far := net.Pipe()
	over := make(chan error, 1)
	go func() { over <- rpc.Serve(ctx, far, c) }() // ends with the connection
	return near, func() error { _ = near.Close(); return <-over }
}

// A raw client, line by line: what who writes one in another language sees.
type raw struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Scanner
}

func (r raw) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r raw) want(line string) {
	r.t.Helper()
	if !r.in.Scan() {
		r.t.Fatalf("the connection ended: %v; want %s", r.in.Err(), line)
	}
	if got := r.in.Text(); got != line {
		r.t.Errorf("got  %s\nwant %s", got, line)
	}
}

func TestWire(t *testing.T) {
	f := &fake{events: 2, size: 1}
	conn, done := serve(t.Context(), rpc.Config{Client: f, Version: "1.2", Scope: ask.Prompt, Number: 3, Key: "secret"})
	r := raw{t, conn, bufio.NewScanner(conn)}
	for _, x := range [][2]string{
		{`{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1,"client":"my:App!","key":"secret","scope":"admin"}}`,
			`{"jsonrpc":"2.0","id":0,"result":{"protocol":1,"version":"1.2","client":"myapp-3","scope":"prompt"}}`},
		{`{"jsonrpc":"2.0","id":"a","method":"submit","params":{"session":"s","op":{"v":1,"op":"rename","with":{"title":"x"}}}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{`{"jsonrpc":"2.0","id":"a","method":"submit","params":{"session":"s","op":{"v":1,"op":"answer","with":{"call":"c","allow":true,"by":"hook:x"}}}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{`{"jsonrpc":"2.0","id":"a","method":"submit","params":{"session":"s","op":{"v":1,"op":"attach","with":{"client":"terminal"}}}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"submit","params":{"session":"s","op":{"v":1,"op":"set_mode","with":{"mode":"x"}}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"\"set_mode\" needs the scope admin, and this connection has prompt","data":{"code":"denied"}}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"submit","params":{"session":"s","op":{"v":1,"op":"nosuch"}}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"there is no op \"nosuch\"","data":{"code":"unsupported"}}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"ask","params":{"query":{"v":1,"query":"models"}}}`, `{"jsonrpc":"2.0","id":2,"result":{"text":"models"}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"ask","params":{"query":{"v":1,"query":"save","with":{"key":"a","value":1}}}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"\"save\" needs the scope admin, and this connection has prompt","data":{"code":"denied"}}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"nosuch"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"there is no method \"nosuch\""}}`},
		{`{"jsonrpc":"1.0","id":3,"method":"ask"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"\"jsonrpc\" is \"2.0\""}}`},
		{`{"id":{},"method":"ask"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"an id is a string or a number"}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"follow","params":{"session":"s","detail":"all"}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"the params of follow cannot be read: `},
	} {
		r.send(x[0])
		if strings.HasSuffix(x[1], "}") {
			r.want(x[1])
		} else if !r.in.Scan() || !strings.HasPrefix(r.in.Text(), x[1]) {
			t.Errorf("got %s", r.in.Text())
		}
	}
	r.send(`{"jsonrpc":"2.0","method":"nobody knows this"}`)
	r.send(`{"jsonrpc":"2.0","id":7,"method":"follow","params":{"session":"s","after":1,"detail":"durable"}}`)
	r.want(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	r.want(`{"jsonrpc":"2.0","method":"event","params":{"follow":7,"event":{"seq":2,"time":"1970-01-01T00:00:01Z","type":"noted","level":"","text":"x"}}}`)
	r.send(`{"jsonrpc":"2.0","id":7,"method":"ask","params":{"query":{"v":1,"query":"models"}}}`)
	r.want(`{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"a request with this id has no answer yet"}}`)
	r.send(`{"jsonrpc":"2.0","method":"cancel","params":{"id":7}}`)
	r.want(`{"jsonrpc":"2.0","method":"ended","params":{"follow":7,"error":{"code":-32000,"message":"the client wanted no answer any more","data":{"code":"cancelled"}}}}`)
	r.send(`nonsense`)
	if !r.in.Scan() || !strings.HasPrefix(r.in.Text(), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`) {
		t.Errorf("got %s", r.in.Text())
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	want := fmt.Sprint([]op.Op{op.Rename{Title: "x"}, op.Answer{Call: "c", Allow: true, By: "myapp-3"}, op.Attach{Client: "myapp-3"}, op.Detach{Client: "myapp-3"}})
	if got := fmt.Sprint(f.did()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Who does not bring the key has said nothing.
func TestKey(t *testing.T) {
	for name, line := range map[string]string{
		"no hello":  `{"jsonrpc":"2.0","id":1,"method":"submit","params":{"session":"s","op":{"v":1,"op":"interrupt"}}}`,
		"no key":    `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}`,
		"wrong key": `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"key":"secreT"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			conn, done := serve(t.Context(), rpc.Config{Client: f, Scope: ask.Admin, Key: "secret"})
			r := raw{t, conn, bufio.NewScanner(conn)}
			r.send(line)
			var last string
			for r.in.Scan() {
				last = r.in.Text()
			}
			var m struct{ Error *struct{ Message string } }
			if err := json.Unmarshal([]byte(last), &m); err != nil || m.Error == nil {
				t.Errorf("%s, %v", last, err)
			}
			if err := done(); err == nil {
				t.Error("it was served")
			}
			if len(f.did()) > 0 {
				t.Errorf("it did %v", f.did())
			}
		})
	}
}

// A message that is too large is refused where it is made; from who sends it all the same,
// nothing more is taken, and it is never held in memory.
func TestTooLarge(t *testing.T) {
	conn, done := serve(t.Context(), rpc.Config{Client: &fake{}, Scope: ask.Admin})
	c, err := rpc.Connect(t.Context(), conn, rpc.Hello{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(make([]byte, rpc.MaxMessage/6)) // each takes six bytes
	if err := c.Submit(t.Context(), "s", op.Prompt{Text: text}); !errors.Is(err, &op.Refusal{Code: op.Malformed}) {
		t.Errorf("%v", err)
	}
	if err := c.Submit(t.Context(), "s", op.Interrupt{}); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	_ = c.Close()
	if err := done(); err != nil {
		t.Error(err)
	}
	conn, done = serve(t.Context(), rpc.Config{Client: &fake{}, Scope: ask.Admin})
	go func() { // ends when all is written, or the connection ends
		piece := []byte(strings.Repeat("x", 1<<20))
		for range rpc.MaxMessage>>20 + 1 {
			if _, err := conn.Write(piece); err != nil {
				return
			}
		}
		_, _ = conn.Write([]byte("\n"))
	}()
	if said, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(said, "a message may have") {
		t.Errorf("%s, %v", said, err)
	}
	if err := done(); err == nil {
		t.Error("it was taken")
	}
}

// A client hears why it has no answer: it gave up, the connection broke, or the process
// with the session ended.
func TestLost(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(stop, cancel func(), conn net.Conn)
		want error
	}{
		"gave up":           {func(_, cancel func(), _ net.Conn) { cancel() }, context.Canceled},
		"connection":        {func(_, _ func(), conn net.Conn) { _ = conn.Close() }, client.ErrUnreachable},
		"end of the server": {func(stop, _ func(), _ net.Conn) { stop() }, client.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serving, stop := context.WithCancel(t.Context())
				conn, done := serve(serving, rpc.Config{Client: &fake{}, Scope: ask.Admin})
				cl, err := rpc.Connect(t.Context(), conn, rpc.Hello{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				follow, over := cl.Follow(ctx, "s", 0, event.Durable), make(chan error)
				go func() {
					for _, err := range follow {
						over <- err
					}
					close(over)
				}()
				submitted := make(chan error, 1)
				go func() { submitted <- cl.Submit(ctx, "s", op.Shell{Command: "wait"}) }()
				synctest.Wait()
				c.end(stop, cancel, conn)
				if err := <-submitted; !errors.Is(err, c.want) {
					t.Errorf("the op: %v", err)
				}
				if err := <-over; c.want == context.Canceled && err != nil || c.want != context.Canceled && !errors.Is(err, c.want) {
					t.Errorf("the follow: %v", err)
				}
				if c.want != context.Canceled {
					if _, err := cl.Ask(t.Context(), "s", ask.Models{}); !errors.Is(err, c.want) {
						t.Errorf("afterwards: %v", err)
					}
				}
				_ = cl.Close()
				if err := done(); err != nil {
					t.Error(err)
				}
				stop()
			})
		})
	}
}

// A reader that takes nothing is told that it is behind, and holds nothing up: what goes
// on is left, other requests are answered as soon as there is room.
func TestReaderThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{events: 1000, size: 1000}
		conn, done := serve(t.Context(), rpc.Config{Client: f, Scope: ask.Watch})
		if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"follow","params":{"session":"s"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rpc.Patience + time.Second)
		synctest.Wait()
		if f.mu.Lock(); f.left != 1 {
			t.Error("the session is still followed")
		}
		f.mu.Unlock()
		in, last, events := bufio.NewScanner(conn), "", 0
		for in.Scan() {
			if last = in.Text(); !strings.Contains(last, `"method":"event"`) && events > 0 {
				break
			}
			events++
		}
		if events < 10 || events > 500 || !strings.Contains(last, `"method":"ended","params":{"follow":1,"error":{"code":-32000,"message":"the reader took nothing for too long; follow again after the last number that came","data":{"code":"behind"}}}`) {
			t.Errorf("after %d events: %s", events, last)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	})
}

// A user of Client who takes nothing for long loses nothing and gets nothing twice, and the
// connection answers meanwhile.
func TestUserThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{events: 150, size: 100_000}
		conn, done := serve(t.Context(), rpc.Config{Client: f, Scope: ask.Watch})
		c, err := rpc.Connect(t.Context(), conn, rpc.Hello{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		n := event.Seq(0)
		for e, err := range c.Follow(ctx, "s", 0, event.Everything) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; e.Seq != n {
				t.Fatalf("event %d comes after %d", e.Seq, n-1)
			}
			if n == 1 {
				time.Sleep(time.Hour)
				if _, err := c.Ask(ctx, "", ask.Models{}); err != nil {
					t.Error(err)
				}
			}
			if n == 150 {
				stop()
			}
		}
		synctest.Wait()
		if n != 150 || f.left < 2 {
			t.Errorf("%d events in %d follows", n, f.left)
		}
		_ = c.Close()
		if err := done(); err != nil {
			t.Error(err)
		}
		stop()
	})
}
