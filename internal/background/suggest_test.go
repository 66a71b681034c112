package background

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
)

// suggesting has the next prompt suggested, and nothing else done.
func suggesting(p *place) {
	p.c.Suggests = func() bool { return true }
	p.c.Notes = func() string { return "" }
}

// A hand shows a watch by hand what happened in a session.
type hand struct {
	*place
	w    *Watch
	seen event.Seq
}

func (p *place) byHand() *hand { return &hand{place: p, w: New(p.c)} }

// beside says something, and returns what is suggested when all that goes on beside the
// session for it is over.
func (h *hand) beside(text string) (out []string) {
	h.t.Helper()
	h.say(text)
	ctx, stop := context.WithCancel(h.t.Context())
	events := h.s.Follow(ctx, h.s.State().Seq, event.Notices)
	heard := make(chan struct{})
	go func() { // ends with ctx
		defer close(heard)
		for e := range events {
			if b, ok := e.Body.(event.Suggested); ok {
				out = append(out, b.Text)
			}
			if _, over := e.Body.(event.Noted); over {
				return
			}
		}
	}()
	for e, err := range h.log.After(h.t.Context(), h.seen) {
		if err != nil {
			h.t.Fatal(err)
		}
		h.w.See(h.t.Context(), e.Body)
		h.seen = e.Seq
	}
	h.w.jobs.Wait()
	if err := h.s.Report(event.Noted{Level: "info", Text: "over"}); err != nil {
		h.t.Fatal(err)
	}
	<-heard
	stop()
	return out
}

// After a turn the small model suggests what may be said next, from the newest of the
// conversation, and that is paid for by the session.
func TestTheNextPromptIsSuggested(t *testing.T) {
	p := begin(t, []fake.Reply{cached("old"), cached("The tests fail. Shall I look?"), cached("so")}, []fake.Reply{fake.Say("nothing"), fake.Say(" “Yes, look why” \n"), fake.Hang()}, suggesting)
	h := p.byHand()
	if got := h.beside("an earlier walrus"); got != nil {
		t.Errorf("%q", got)
	}
	if got := h.beside("run the tests"); !slices.Equal(got, []string{"Yes, look why"}) {
		t.Errorf("%q", got)
	}
	r := p.small.Requests()[1]
	text := r.Messages[0].Text()
	if !strings.Contains(text, "Shall I look?") || !strings.Contains(text, "run the tests") || strings.Contains(text, "walrus") || len(r.Tools) != 0 {
		t.Errorf("tools %v\n%s", r.Tools, text)
	}
	if h := p.s.State().Helpers[event.ForNext]; h.Helped != 2 {
		t.Errorf("%+v", h)
	}
	h.w.unsuggest = nil
	h.say("a faster person") // whose next prompt ends what is asked
	h.w.See(t.Context(), event.TurnEnded{How: event.Done})
	h.w.See(t.Context(), event.InputQueued{ID: "next"})
	h.w.jobs.Wait()
}

// Behind the conversation, where that is in the cache of its provider.
func TestSuggestedBehindTheConversation(t *testing.T) {
	p := begin(t, []fake.Reply{cached("hi"), fake.Say("go on")}, nil, func(p *place) {
		suggesting(p)
		main := agent.Target{Model: p.main, Provider: "fake", Name: "large", Cost: dollars(3)}
		p.c.Models = func(context.Context) Models { return Models{Main: main, Share: true} }
	})
	if got := p.byHand().beside("run the tests"); !slices.Equal(got, []string{"go on"}) {
		t.Errorf("%q", got)
	}
	rs := p.main.Requests()
	if !slices.EqualFunc(rs[0].Tools, rs[1].Tools, llm.Spec.Equal) || len(rs[1].Messages) != 3 {
		t.Errorf("%d messages", len(rs[1].Messages))
	}
}

// Nothing is asked where it is off, where the turn did not end well, or where something else
// comes next. A host that asks once is answered, too.
func TestNoSuggestion(t *testing.T) {
	for name, c := range map[string]struct {
		reply  fake.Reply
		change func(*place)
		before []event.Body
	}{
		"off":      {cached("hi"), func(p *place) { p.c.Suggests = func() bool { return false } }, nil},
		"a fault":  {fake.Fail(llm.Error{Kind: llm.Unauthorized, Provider: "fake"}), suggesting, nil},
		"a task":   {cached("hi"), suggesting, []event.Body{event.TaskStarted{ID: "b1", Kind: event.TaskShell}}},
		"no money": {cached("hi"), func(p *place) { suggesting(p); p.c.Budget = func() agent.Budget { return agent.Budget{USD: 1e-9} } }, nil},
	} {
		p := begin(t, []fake.Reply{c.reply}, []fake.Reply{fake.Say("x")}, c.change)
		for _, b := range c.before {
			if err := p.s.Report(b); err != nil {
				t.Fatal(err)
			}
		}
		if got := p.byHand().beside("x"); got != nil || len(p.small.Requests()) != 0 {
			t.Errorf("%s: %q, %d requests", name, got, len(p.small.Requests()))
		}
		want := ""
		if name == "off" {
			want = "x"
		}
		if got := Suggest(t.Context(), p.c); got != want {
			t.Errorf("%s, asked once: %q", name, got)
		}
	}
}

func TestOneLine(t *testing.T) {
	for answer, want := range map[string]string{
		"run it": "run it", " \"Run it\" ": "Run it", "Nothing.": "", "none": "", "": "", "a\nb": "", "<think>hm</think>\ngo": "go", "<p>": "", "?!": "", strings.Repeat("x", 101): "", "Ja, weiter": "Ja, weiter", "a\x1b[31mb": "ab",
	} {
		if got := oneLine(answer, maxSuggested); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
