package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/tool/team"
)

// street are the neighbours of a tree.
type street struct {
	open, closed []fleet.Peer
	got          []op.Prompt
	fails        error
}

func (s *street) Open(context.Context) ([]fleet.Peer, error) { return s.open, nil }

func (s *street) Closed(_ context.Context, word string) (fleet.Peer, bool) {
	i := slices.IndexFunc(s.closed, func(p fleet.Peer) bool { return p.Title == word || p.ID == word })
	if i < 0 {
		return fleet.Peer{}, false
	}
	return s.closed[i], true
}

func (s *street) Submit(_ context.Context, _ string, o op.Op) error {
	if s.fails == nil {
		s.got = append(s.got, o.(op.Prompt))
	}
	return s.fails
}

func (s *street) Follow(context.Context, string, event.Seq, event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { yield(event.Event{}, errors.New("gone")) }
}

// Whom a word means, and what is said of one that means nobody.
func TestAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1)
		w.start().Close()
		near := &street{
			open:   []fleet.Peer{{ID: "root", Title: "mine"}, {ID: "0123-a", Title: "site"}, {ID: "0123-b", Title: "twin"}, {ID: "0456-c", Title: "twin"}},
			closed: []fleet.Peer{{ID: "0789-d", Title: "old"}},
		}
		tr := fleet.New(w, near, "root", func() fleet.Bounds { return fleet.Usual }, time.Now)
		defer tr.Close()
		w.logs["root"].tree = tr
		start := func(of, name string) fleet.Member {
			m, err := tr.Start(t.Context(), fleet.Order{Of: of, Name: name}, name, "do "+name, false)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		one := start("root", "one")
		two := start(one.Begun.Session, "two")
		for _, c := range []struct{ from, to, want string }{
			{"root", "one", "the agent one (as1): queued"},
			{"root", "@one", "the agent one (as1): queued"},
			{"root", one.ID, "the agent one (as1): queued"},
			{"root", "one ", "the agent one (as1): queued"},
			{"root", "*", "the agent one (as1): queued, the agent two (as2): queued"},
			{one.Begun.Session, "*", "the agent two (as2): queued"},
			{one.Begun.Session, "parent", "the main session: read"},
			{two.Begun.Session, "parent", "the agent one (as1): queued"},
			{two.Begun.Session, "main", "the main session: queued"},
			{"root", "site", `the session "site" (0123-a): read`},
			{"root", "0123-b", `the session "twin" (0123-b): read`},
			{"root", "parent", "this session has no parent: a person began it"},
			{"root", "main", "that is you"},
			{"root", "root", "that is you"},
			{one.Begun.Session, "one", "that is you"},
			{"root", "twin", `2 open sessions are called so; give an id: "twin" (0123-b), "twin" (0456-c)`},
			{"root", "0123", `2 open sessions are called so; give an id: "site" (0123-a), "twin" (0123-b)`},
			{one.Begun.Session, "mine", "that is the session that you belong to; its name here is main"},
			{"root", "old", `the session "old" (0789-d) is open in no process, so that nothing can be delivered to it; a person opens it with: adze --resume 0789-d`},
			{"root", "nosuch", `there is no agent and no open session "nosuch". Agents: one (as1), two (as2). Other open sessions: "site" (0123-a), "twin" (0123-b), "twin" (0456-c)`},
		} {
			got, err := tr.Send(t.Context(), c.from, fleet.Letter{To: c.to, Text: "hello"})
			var out []string
			for _, r := range got {
				out = append(out, r.To+": "+string(r.How))
			}
			if err != nil {
				out = append(out, err.Error())
			}
			if s := strings.Join(out, ", "); s != c.want {
				t.Errorf("from %s to %s: %s\nwant %s", c.from, c.to, s, c.want)
			}
		}
		if p := near.got[0]; p.From.ID != "root" || p.From.Name != "root" || p.From.As != "the session root of the same person" || p.Typed != (op.Span{}) {
			t.Errorf("%+v", p.From)
		}
		for _, word := range []string{"one", "parent", "user", "*", "nosuch", "mine", "root"} {
			if tr.Outside(word) {
				t.Errorf("%s is outside", word)
			}
		}
		if !tr.Outside("@site") || !tr.Outside("twin") {
			t.Error("a neighbour is one of the tree")
		}
		if _, err := tr.Send(t.Context(), "root", fleet.Letter{To: "site", Text: "x", Inside: true}); err == nil || !strings.Contains(err.Error(), "nobody has allowed") {
			t.Error(err)
		}
		for _, name := range []string{"*", "user", "two words", "@x", strings.Repeat("x", 65), "a\x1bb"} {
			if _, err := tr.Start(t.Context(), fleet.Order{Of: "root", Name: name}, "x", "x"+name, false); err == nil {
				t.Errorf("an agent is called %q", name)
			}
		}
	})
}

// A message of which nobody knows whether it arrived is tried again before the next one to
// the same receiver, and that one waits for it.
func TestUnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1)
		w.start().Close()
		near := &street{open: []fleet.Peer{{ID: "0123-a", Title: "site"}}, fails: fleet.ErrUnsure}
		tr := fleet.New(w, near, "root", func() fleet.Bounds { return fleet.Usual }, time.Now)
		defer tr.Close()
		c := fleet.Crew{Tree: tr, Of: "root"}
		say := func(text string) string {
			res, err := c.Tell(t.Context(), team.Message{To: "site", Text: text}, "c1", true)
			if err != nil {
				t.Fatal(err)
			}
			return res.Text
		}
		for _, text := range []string{"1", "2"} {
			if s := say(text); !strings.Contains(s, "not delivered yet (the connection broke") {
				t.Error(s)
			}
		}
		near.fails = nil
		if s := say("3"); s != `the session "site" (0123-a): delivered; it reads it now` {
			t.Error(s)
		}
		near.fails = &op.Refusal{Code: op.Closed, Text: "the session is closed"}
		if s := say("4"); !strings.Contains(s, "not delivered: the session is closed") {
			t.Error(s)
		}
		near.fails = nil
		say("5")
		var got []string
		for i, p := range near.got {
			got = append(got, p.Text)
			if i > 0 && p.From.N <= near.got[i-1].From.N {
				t.Error("the numbers do not rise")
			}
		}
		if s := strings.Join(got, " "); s != "1 2 3 5" {
			t.Error(s)
		}
		if look, _ := w.Look("root"); len(look.Outbox) > 0 {
			t.Errorf("%+v", look.Outbox)
		}
	})
}

// Who wants to know is told when the receiver has read a message and has nothing more to do.
// An agent that waits for that does not end.
func TestHope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlay(t.Context(), 1)
		defer func() { p.tree.Close() }()
		var ms []fleet.Member
		for _, name := range []string{"one", "two"} {
			m, err := p.tree.Start(t.Context(), fleet.Order{Of: "root", Name: name}, name, name, false)
			if err != nil {
				t.Fatal(err)
			}
			ms = append(ms, m)
		}
		p.step(ms[0].Begun.Session)
		if _, err := p.tree.Send(t.Context(), ms[0].Begun.Session, fleet.Letter{To: "two", Text: "say when", Idle: true}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			p.step(ms[0].Begun.Session)
			settle()
		}
		if m, _ := p.tree.Find("one"); !m.Works() {
			t.Fatal("it ended before it was told")
		}
		if err := p.rest(); err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, e := range p.logs[ms[0].Begun.Session].events {
			if b, ok := e.Body.(event.InputAccepted); ok && b.Text == "the agent two (as2) has read your message, and has nothing more to do." {
				told++
			}
		}
		if m, _ := p.tree.Find("one"); m.Works() || told != 1 {
			t.Errorf("told %d times, %q", told, m.Status)
		}
	})
}

// What a model says to the person stands in the root session, with its name.
func TestTellPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlay(t.Context(), 1)
		defer func() { p.tree.Close() }()
		m, err := p.tree.Start(t.Context(), fleet.Order{Of: "root", Name: "one"}, "one", "one", false)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"root", m.Begun.Session} {
			if res, err := (fleet.Crew{Tree: p.tree, Of: of}).Tell(t.Context(), team.Message{To: "user", Text: "half of it\x1b[2J"}, "c", false); err != nil || res.IsErr {
				t.Error(res, err)
			}
		}
		var notes []string
		for _, e := range p.logs["root"].events {
			if b, ok := e.Body.(event.Noted); ok {
				notes = append(notes, fmt.Sprintf("%q", b.Text))
			}
		}
		if s := strings.Join(notes, " "); s != `"this session's model says: half of it" "the agent one (as1) says: half of it"` {
			t.Error(s)
		}
	})
}
