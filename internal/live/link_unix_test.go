//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a process with one session, "s", which has as many events as it says: three
// without a number first, and then numbered ones.
type fake struct {
	events int
	each   func(follow int) int // how many the n-th follow yields, from 1, before it waits; nil: all
	before func(what string)    // is called before an op is taken, or a question answered; nil: not

	mu      sync.Mutex // guards the rest
	said    []string
	over    bool // the session ended
	follows int
}

func (f *fake) did(what string) error {
	if f.before != nil {
		f.before(what)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said = append(f.said, what); f.over {
		return &op.Refusal{Code: op.NoSession, Text: "there is no such session"}
	}
	return nil
}

func (f *fake) Submit(_ context.Context, _ string, o op.Op) error { return f.did(op.Name(o)) }

func (f *fake) Ask(_ context.Context, session string, q ask.Query) (ask.Reply, error) {
	if _, is := q.(ask.Open); is {
		return ask.With([]ask.OpenSession{{Facts: ask.Facts{ID: "s", Mode: policy.Default}, Doing: ask.Idle}}), nil
	}
	return ask.Reply{Text: ask.Name(q)}, f.did(ask.Name(q))
}

func (f *fake) Follow(ctx context.Context, _ string, after event.Seq, _ event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f.mu.Lock()
		f.follows++
		over, room := f.over, 1000
		if f.each != nil {
			room = f.each(f.follows)
		}
		f.mu.Unlock()
		if over {
			yield(event.Event{}, &op.Refusal{Code: op.NoSession, Text: "there is no such session"})
			return
		}
		for n := 0; n < 3 && after == 0 && room > 0; n++ {
			room--
			if !yield(event.Event{Body: event.Noted{Text: fmt.Sprint("early ", n)}}, nil) {
				return
			}
		}
		for n := after + 1; n <= event.Seq(f.events) && room > 0; n++ {
			room--
			if !yield(event.Event{Seq: n, Body: event.Noted{Text: fmt.Sprint(n)}}, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}

// list is what was said so far, without the person that leaves with each connection.
func (f *fake) list() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(slices.DeleteFunc(slices.Clone(f.said), func(s string) bool { return s == "detach" }), " ")
}

// linked is a process that listens, another that is connected to it, and how the first ends.
func linked(t *testing.T, f *fake) (l *Link, state string, end func()) {
	t.Helper()
	state, err := os.MkdirTemp("", "adze") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	stop, err := Listen(t.Context(), f, state, "test")
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(stop)
	t.Cleanup(end)
	all, mute, err := Find(t.Context(), state, "test", ask.Admin)
	if err != nil || len(mute) > 0 || len(all) != 1 {
		t.Fatal(all, mute, err)
	}
	t.Cleanup(all.Close)
	return all[0].Client, state, end
}

// cut breaks the connection that there is.
func (l *Link) cut() {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	_ = c.Close()
}

// A follow goes on where the connection broke: nothing is missing and nothing comes twice.
func TestFollowGoesOn(t *testing.T) {
	f := &fake{events: 40, each: func(follow int) int { return 2 * min(follow, 2) }}
	l, _, _ := linked(t, f)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var got, want []string
	for n := range 3 {
		want = append(want, fmt.Sprint("early ", n))
	}
	for n := range 40 {
		want = append(want, fmt.Sprint(n+1))
	}
	for e, err := range l.Follow(ctx, "s", 0, event.Durable) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e.Body.(event.Noted).Text); len(got) == len(want) {
			break
		}
		if n := len(got); n%4 == 0 || n == 2 { // no more comes over this connection
			l.cut()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := f.follows; n != 12 {
		t.Errorf("followed %d times", n)
	}
}

// What may be sent twice is sent again when the connection breaks before the answer, and
// nothing else is: of that an error says that nobody knows.
func TestWhatWasOnItsWay(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*Link) error
		said string
		lost bool
	}{
		"prompt":           {func(l *Link) error { return l.Submit(t.Context(), "s", op.Prompt{ID: "1", Text: "x"}) }, "prompt prompt", false},
		"prompt, nameless": {func(l *Link) error { return l.Submit(t.Context(), "s", op.Prompt{Text: "x"}) }, "prompt", true},
		"answer":           {func(l *Link) error { return l.Submit(t.Context(), "s", op.Answer{Call: "c", Allow: true}) }, "answer", true},
		"shell":            {func(l *Link) error { return l.Submit(t.Context(), "s", op.Shell{Command: "ls"}) }, "shell", true},
		"question":         {func(l *Link) error { _, err := l.Ask(t.Context(), "s", ask.Status{}); return err }, "status status", false},
		"change":           {func(l *Link) error { _, err := l.Ask(t.Context(), "s", ask.Save{Key: "a"}); return err }, "save", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			l, _, _ := linked(t, f)
			cut := sync.OnceFunc(l.cut)
			f.before = func(string) { cut() }
			err := c.do(l)
			if lost := errors.Is(err, client.ErrUnreachable); lost != c.lost || err != nil && !lost {
				t.Errorf("%v", err)
			}
			if _, err := l.Ask(t.Context(), "s", ask.Models{}); err != nil { // the next thing connects again
				t.Error(err)
			}
			if got := f.list(); got != c.said+" models" {
				t.Errorf("%q was said", got)
			}
		})
	}
}

// Who could be asked can be asked over the new connection, before anything else is done, and
// not any more once it left.
func TestThePersonStays(t *testing.T) {
	f := &fake{}
	l, _, _ := linked(t, f)
	submit := func(o op.Op) {
		t.Helper()
		if err := l.Submit(t.Context(), "s", o); err != nil {
			t.Error(err)
		}
	}
	submit(op.Attach{})
	l.cut()
	submit(op.Interrupt{})
	submit(op.Detach{})
	l.cut()
	submit(op.Compact{})
	if got := f.list(); got != "attach attach interrupt compact" {
		t.Errorf("%q was said", got)
	}
}

// What ends for good is told, and not tried again.
func TestTheEndOfALink(t *testing.T) {
	for name, c := range map[string]struct {
		end     func(l *Link, f *fake, stop func())
		refused bool
	}{
		"of the process": {func(_ *Link, _ *fake, stop func()) { stop() }, false},
		"of the process, killed": {func(l *Link, _ *fake, stop func()) {
			path := l.cardFile()
			raw, err := os.ReadFile(path)
			if err == nil {
				stop()
				err = os.WriteFile(path, raw, 0o600) // nobody listens behind it
			}
			if err != nil {
				t.Error(err)
			}
		}, false},
		"of the session": {func(l *Link, f *fake, _ func()) {
			f.mu.Lock()
			f.over = true
			f.mu.Unlock()
			l.cut()
		}, true},
		"of the link": {func(l *Link, _ *fake, _ func()) { _ = l.Close() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{events: 1}
			l, _, stop := linked(t, f)
			l.Note = func(s string) { t.Errorf("told: %s", s) }
			ends := sync.OnceFunc(func() { c.end(l, f, stop) })
			var why error
			for e, err := range l.Follow(t.Context(), "s", 0, event.Durable) {
				if why = err; e.Seq == 1 {
					ends()
				}
			}
			_, err := l.Ask(t.Context(), "s", ask.Status{})
			for _, err := range []error{why, err} {
				if no := errors.Is(err, &op.Refusal{Code: op.NoSession}); no != c.refused || !no && !errors.Is(err, client.ErrUnreachable) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// cardFile is the file beside the only socket.
func (l *Link) cardFile() string {
	paths, _ := filepath.Glob(filepath.Join(l.dir, "*.json"))
	return append(paths, "none")[0]
}

// While the process lives and does not answer, it is tried again, and a person is told once
// that it broke and once that it is there again.
func TestTriesAgain(t *testing.T) {
	f := &fake{events: 2, each: func(follow int) int { return 3 + follow }}
	l, _, _ := linked(t, f)
	var told []string
	l.Note = func(s string) { told = append(told, s) }
	path := strings.TrimSuffix(l.cardFile(), ".json") + ".sock"
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	defer work.Wait()
	defer front.Close()
	work.Go(func() { // ends with front
		for n := 0; ; n++ {
			near, err := front.Accept()
			if err != nil {
				return
			}
			if n < 3 { // it is busy
				_ = near.Close()
				continue
			}
			far, err := net.Dial("unix", path+".real")
			if err != nil {
				t.Error(err)
				return
			}
			work.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() })
			work.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
		}
	})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for e, err := range l.Follow(ctx, "s", 0, event.Durable) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 1 {
			l.cut()
		}
		if e.Seq == 2 {
			break
		}
	}
	if !slices.Equal(told, []string{broke, again}) {
		t.Errorf("%q", told)
	}
	_ = l.Close()
}
