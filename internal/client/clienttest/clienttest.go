// Package clienttest holds what every client.Client must do: the same cases run against
// sessions of this process and over each transport.
package clienttest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Subject is one open session of a model that plays a script, in a folder of its own.
type Subject struct {
	Session string
	// Client is one more client at the session each time, over a connection of its own
	// where there is one. leave ends it.
	Client func() (c client.Client, leave func())
	// End ends the session.
	End func()
}

// Run tries the clients that open makes. script is in the form of package script; the
// session is in the permission mode default, and has the tool Write.
func Run(t *testing.T, open func(t *testing.T, script string) Subject) {
	for name, c := range map[string]struct {
		script string
		try    func(*testing.T, trial)
	}{
		"follow from the beginning and the middle": {"> one two three\n---\n> four", fromAnywhere},
		"live events":                        {"> one two three", liveEvents},
		"two followers see one order":        {strings.Repeat("> a b c\n---\n", 8), oneOrder},
		"the first answer wins":              {"@ Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n---\n> done", firstAnswer},
		"nobody is left to answer":           {"@ Write {\"file_path\": \"a.txt\", \"content\": \"x\"}\n---\n> done", lastPerson},
		"leaving ends nothing":               {"> one\n---\n> two", leaving},
		"refusals are values":                {"> one", refusals},
		"questions":                          {"> one", questions},
		"who cancels a follow hears no more": {"> one", cancelled},
		"the end of the session is told":     {"> one", ended},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, c.script)
			c.try(t, trial{s, t.Context()})
		})
	}
}

type trial struct {
	Subject
	ctx context.Context
}

// join is another client, until the test ends.
func (s trial) join(t *testing.T) client.Client {
	t.Helper()
	c, leave := s.Client()
	t.Cleanup(leave)
	return c
}

func (s trial) submit(t *testing.T, c client.Client, o op.Op) {
	t.Helper()
	if err := c.Submit(s.ctx, s.Session, o); err != nil {
		t.Fatalf("%s: %v", op.Name(o), err)
	}
}

// until follows to the first event that last says yes to. What it returns must be called.
func (s trial) until(t *testing.T, c client.Client, after event.Seq, d event.Detail, last func(event.Body) bool) func() []event.Event {
	t.Helper()
	ctx, stop := context.WithCancel(s.ctx)
	events := c.Follow(ctx, s.Session, after, d)
	return func() (out []event.Event) {
		t.Helper()
		defer stop()
		for e, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			e.Time = e.Time.UTC()
			out = append(out, e)
			if last(e.Body) {
				return out
			}
		}
		t.Fatalf("the follow ended after %d events", len(out))
		return nil
	}
}

// turns says yes to the end of turn n.
func turns(n int) func(event.Body) bool {
	return func(b event.Body) bool {
		if _, is := b.(event.TurnEnded); is {
			n--
		}
		return n == 0
	}
}

func asked(b event.Body) bool { _, is := b.(event.Asked); return is }

func fromAnywhere(t *testing.T, s trial) {
	c := s.join(t)
	follow := s.until(t, c, 0, event.Durable, turns(2))
	s.submit(t, c, op.Prompt{Text: "one"})
	s.submit(t, c, op.Prompt{Text: "two", Later: true})
	all := numbered(follow())
	for i, e := range all {
		if _, live := e.Body.(event.Live); live || e.Seq != event.Seq(i+1) {
			t.Fatalf("event %d of the follow is %d %T", i, e.Seq, e.Body)
		}
	}
	for _, at := range []int{0, len(all) / 2, len(all) - 2} {
		got := s.until(t, s.join(t), all[at].Seq, event.Durable, func(b event.Body) bool { return cmp.Equal(b, all[len(all)-1].Body) })()
		if d := cmp.Diff(all[at+1:], got); d != "" {
			t.Errorf("after %d (-want +got):\n%s", all[at].Seq, d)
		}
	}
}

func liveEvents(t *testing.T, s trial) {
	c := s.join(t)
	everything := s.until(t, c, 0, event.Everything, turns(1))
	notices := s.until(t, c, 0, event.Notices, turns(1))
	s.submit(t, c, op.Prompt{Text: "go"})
	text, begun := "", false
	for _, e := range everything() {
		switch b := e.Body.(type) {
		case event.ReplyStarted:
			begun = true
		case event.TextDelta:
			if !begun || b.At != len(text) {
				t.Errorf("text at %d after %d bytes", b.At, len(text))
			}
			text += b.S
		case event.Replied:
			if text != "one two three" {
				t.Errorf("the deltas said %q", text)
			}
		default:
		}
	}
	begun = false
	for _, e := range notices() {
		switch e.Body.(type) {
		case event.ReplyStarted:
			begun = true
		case event.TextDelta:
			t.Error("a delta is no notice")
		default:
		}
	}
	if !begun || text == "" {
		t.Errorf("notices: %t, text: %q", begun, text)
	}
}

func oneOrder(t *testing.T, s trial) {
	const each = 3
	a, b := s.join(t), s.join(t)
	var both sync.WaitGroup
	seen := [2][]event.Event{}
	for i, c := range []client.Client{a, b} {
		follow := s.until(t, c, 0, event.Durable, turns(2*each))
		both.Go(func() { seen[i] = follow() })
		both.Go(func() {
			for range each {
				if err := c.Submit(s.ctx, s.Session, op.Prompt{Text: "go", Later: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	if d := cmp.Diff(numbered(seen[0]), numbered(seen[1])); d != "" {
		t.Errorf("the two saw (-first +second):\n%s", d)
	}
}

// numbered leaves out what was told before the log began.
func numbered(es []event.Event) (out []event.Event) {
	for _, e := range es {
		if e.Seq > 0 {
			out = append(out, e)
		}
	}
	return out
}

func firstAnswer(t *testing.T, s trial) {
	a, b := s.join(t), s.join(t)
	s.submit(t, a, op.Attach{Client: "a"})
	s.submit(t, b, op.Attach{Client: "b"})
	question := s.until(t, a, 0, event.Durable, asked)
	s.submit(t, a, op.Prompt{Text: "go"})
	es := question()
	q := es[len(es)-1].Body.(event.Asked)
	clients, errs := []client.Client{a, b}, [2]error{}
	var both sync.WaitGroup
	for i, c := range clients {
		both.Go(func() { errs[i] = c.Submit(s.ctx, s.Session, op.Answer{Call: q.Call, By: "x", Allow: true}) })
	}
	both.Wait()
	late := errs[0]
	if late == nil {
		late = errs[1]
	}
	var refused *op.Refusal
	if (errs[0] == nil) == (errs[1] == nil) || !errors.As(late, &refused) || refused.Code != op.NoQuestion {
		t.Fatalf("the two answers came to %v and %v", errs[0], errs[1])
	}
	for _, c := range clients {
		answers := 0
		for _, e := range s.until(t, c, 0, event.Durable, turns(1))() {
			if x, is := e.Body.(event.Answered); is {
				answers++
				if !x.Allow || !x.By.Person() {
					t.Errorf("%+v", x)
				}
			}
		}
		if answers != 1 {
			t.Errorf("%d answers are in the log", answers)
		}
	}
}

func lastPerson(t *testing.T, s trial) {
	watcher := s.join(t)
	a, leave := s.Client()
	s.submit(t, a, op.Attach{Client: "a"})
	question := s.until(t, watcher, 0, event.Durable, asked)
	end := s.until(t, watcher, 0, event.Durable, turns(1))
	s.submit(t, watcher, op.Prompt{Text: "go"})
	question()
	s.submit(t, a, op.Detach{Client: "a"})
	leave()
	refused := false
	for _, e := range end() {
		if x, is := e.Body.(event.ToolFinished); is {
			refused = x.Denied
		}
	}
	if !refused {
		t.Error("a call was made that nobody was left to allow")
	}
}

func leaving(t *testing.T, s trial) {
	stays := s.join(t)
	goes, leave := s.Client()
	follow := s.until(t, stays, 0, event.Durable, turns(2))
	first := s.until(t, goes, 0, event.Durable, turns(1))
	s.submit(t, goes, op.Prompt{Text: "one"})
	first()
	leave()
	s.submit(t, stays, op.Prompt{Text: "two"})
	follow()
}

func refusals(t *testing.T, s trial) {
	c := s.join(t)
	for want, err := range map[op.Code]error{
		op.Idle:        c.Submit(s.ctx, s.Session, op.Interrupt{}),
		op.NoQuestion:  c.Submit(s.ctx, s.Session, op.Answer{Call: "c", Allow: true}),
		op.NoPrompt:    c.Submit(s.ctx, s.Session, op.Unqueue{ID: "p"}),
		op.UnknownMode: c.Submit(s.ctx, s.Session, op.SetMode{Mode: "no such mode"}),
		op.NoSession:   c.Submit(s.ctx, "no such session", op.Interrupt{}),
		op.BadModel:    c.Submit(s.ctx, s.Session, op.SetModel{Name: "nosuch/model"}),
	} {
		var refused *op.Refusal
		if !errors.As(err, &refused) || refused.Code != want || refused.Text == "" {
			t.Errorf("want %s: %v", want, err)
		}
		if want == op.BadModel && hint.Of(err) == "" {
			t.Errorf("nothing says what to do about %v", err)
		}
	}
	n := 0
	for _, err := range c.Follow(s.ctx, "no such session", 0, event.Durable) {
		if n++; !errors.Is(err, &op.Refusal{Code: op.NoSession}) {
			t.Errorf("to follow what is not there: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("to follow what is not there: %d events", n)
	}
	if _, err := c.Ask(s.ctx, "no such session", ask.Status{}); !errors.Is(err, &op.Refusal{Code: op.NoSession}) {
		t.Error(err)
	}
}

func questions(t *testing.T, s trial) {
	c := s.join(t)
	r, err := c.Ask(s.ctx, s.Session, ask.Status{})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := ask.Data[ask.Facts](r); err != nil || f.ID != s.Session || f.Mode != policy.Default || f.Dir == "" {
		t.Errorf("%+v, %v", f, err)
	}
	if r, err = c.Ask(s.ctx, s.Session, ask.Context{}); err != nil || len(r.Shapes) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = c.Ask(s.ctx, "", ask.Memory{}); err != nil || len(r.Choices) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func cancelled(t *testing.T, s trial) {
	c := s.join(t)
	ctx, cancel := context.WithCancel(s.ctx)
	events, over := c.Follow(ctx, s.Session, 0, event.Durable), make(chan struct{})
	go func() { // ends with ctx
		defer close(over)
		for _, err := range events {
			if err != nil {
				t.Error(err)
			}
		}
	}()
	cancel()
	<-over
	if err := c.Submit(ctx, s.Session, op.Prompt{Text: "go"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a prompt of who gave up: %v", err)
	}
	end := s.until(t, c, 0, event.Durable, turns(1)) // the client can do everything still
	s.submit(t, c, op.Prompt{Text: "go"})
	end()
}

func ended(t *testing.T, s trial) {
	c := s.join(t)
	end := s.until(t, c, 0, event.Durable, turns(1))
	rest := c.Follow(s.ctx, s.Session, 0, event.Durable)
	s.submit(t, c, op.Prompt{Text: "go"})
	end()
	s.End()
	turn := false
	for e, err := range rest {
		if err != nil {
			t.Errorf("the end of the session is an error: %v", err)
		}
		if _, is := e.Body.(event.TurnEnded); is {
			turn = true
		}
	}
	if !turn {
		t.Error("the follow ended before the session did")
	}
	err := c.Submit(s.ctx, s.Session, op.Prompt{Text: "more"})
	if !errors.Is(err, &op.Refusal{Code: op.NoSession}) && !errors.Is(err, &op.Refusal{Code: op.Closed}) {
		t.Errorf("a prompt after the end: %v", err)
	}
}
