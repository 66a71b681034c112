package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/history"
)

// attached is a terminal that shows a session of another process, of which es is past.
func attached(t *testing.T, es []event.Event) *rig {
	r := newRig(t, 100, 30)
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "0199c5a2", Dir: "~/src/calc", Model: "a/b", Kept: true}, After: event.Seq(len(es)), Elsewhere: true}, nil})
	r.do(eventsMsg{of: r.m.s, events: es})
	r.seq = event.Seq(len(es))
	return r
}

// Who comes while a turn runs sees what it asks, may answer, and sees since when it runs.
func TestComesWhileATurnRuns(t *testing.T) {
	var es []event.Event
	for _, b := range []event.Body{
		event.InputAccepted{ID: "p", Text: "clean up"}, event.TurnStarted{ID: "t", Model: "a/b"}, event.TaskStarted{ID: "b1", Call: "1", Text: "make watch"},
		asked("answered", "make clean", verdict()), event.Answered{Answer: op.Answer{Call: "answered", Allow: true}},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "c", Name: "Bash"}}}}, asked("c", "rm -r build", verdict()),
	} {
		es = append(es, event.Event{Seq: event.Seq(len(es) + 1), Time: start.Add(-time.Minute), Body: b})
	}
	r := attached(t, es).pass(time.Second).has("Run this command?", "rm -r build", "› clean up").hasNot("make clean?")
	r.keys("y", "enter")
	if a, ok := last[op.Answer](r); !ok || a.Call != "c" || !a.Allow {
		t.Errorf("%+v", a)
	}
	r.event(event.Answered{Answer: op.Answer{Call: "c", Allow: true}}).has("1 min 1 s").hasNot("Run this command?")
	r.keys("'/tasks", "enter").has("make watch")
}

// Whether the folder is trusted is asked here as well. A yes is kept where the session is,
// which goes on: nothing is opened in its place.
func TestTrustOfAFolderElsewhere(t *testing.T) {
	var said []bool
	r := newRig(t, 100, 30)
	r.desk.Trust = func() ask.Claims { return ask.Claims{Folder: "~/src/calc", Sum: "1", List: []string{"x"}} }
	r.desk.Decide = func(trust bool) error { said = append(said, trust); return nil }
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "0199c5a2", Dir: "~/src/calc", Model: "a/b", Kept: true}, Elsewhere: true}, nil})
	r.pass(time.Second).has("Trust ~/src/calc?").keys("down", "enter").has("The folder is trusted now.").hasNot("Trust ~/src/calc?")
	if !cmp.Equal(said, []bool{true}) {
		t.Errorf("%v", said)
	}
	for _, e := range r.effects {
		if o, is := e.(open); is {
			t.Errorf("it opens %+v", o.start)
		}
	}
}

// What was not sent is in the box again where it was for this session, and left alone where
// it was for another.
func TestDraftOfASessionElsewhere(t *testing.T) {
	for session, want := range map[string]string{"0199c5a2": "and then test", "0199bbbb": ""} {
		taken := 0
		r := newRig(t, 100, 30)
		r.m.host.Lost = func(context.Context, string) (*Lost, error) {
			return &Lost{Session: session, Entry: history.Entry{Text: "and then test"}, Taken: func() error { taken++; return nil }}, nil
		}
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "0199c5a2", Dir: "~/src/calc", Model: "a/b", Kept: true}, Elsewhere: true}, nil})
		if got := r.m.box.Text(); got != want || (taken == 1) != (want != "") {
			t.Errorf("%s: %q is in the box, %d taken", session, got, taken)
		}
	}
}

// Another session cannot be had in its place, and that is said.
func TestShowsOneSessionOfAnotherProcess(t *testing.T) {
	for _, c := range []string{"/clear", "/fork", "/resume a"} {
		r := attached(t, longLog(1, 1))
		r.desk.Find = nil
		if c == "/resume a" {
			r.desk.Find = func(_ context.Context, words string) (Saved, error) { return Saved{Choice: Choice{ID: words}}, nil }
		}
		r.keys("'"+c, "enter").has("a session of another process")
		for _, e := range r.effects {
			if o, is := e.(open); is {
				t.Errorf("%s opens %+v", c, o.start)
			}
		}
	}
}

// Why no more comes is said with the command that goes on.
func TestWhyNoMoreComes(t *testing.T) {
	for _, c := range []struct {
		why       error
		elsewhere bool
		want      []string
	}{
		{nil, true, []string{"The session ended.", "adze --resume 0199c5a2"}},
		{&op.Refusal{Code: op.NoSession, Text: "x"}, true, []string{"The session ended.", "adze --resume 0199c5a2"}},
		{nil, false, []string{"The session ended.", "adze --resume 0199c5a2"}},
		{fmt.Errorf("%w: the connection ended", client.ErrUnreachable), true, []string{"cannot be reached any more", "adze attach 0199c5a2 shows it again", "adze --resume 0199c5a2 goes on"}},
		{errors.New("the log is damaged"), false, []string{"cannot be followed any more: the log is damaged", "adze --resume 0199c5a2"}},
	} {
		r := attached(t, longLog(1, 1))
		r.m.s.Elsewhere = c.elsewhere
		r.do(eventsMsg{of: r.m.s, over: true, why: c.why})
		got := strings.Join(strings.Fields(r.text()), " ")
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%v: %q is missing:\n%s", c.why, w, r.text())
			}
		}
		if r.m.turn.running {
			t.Errorf("%v: the turn runs on", c.why)
		}
	}
}

// Only what a person began here is ended when it is left.
func TestLeavingEndsOnlyWhatWasOpenedHere(t *testing.T) {
	for _, ours := range []bool{true, false} {
		var ended []string
		r := newRig(t, 80, 24)
		h := r.m.host
		if ours {
			h.End = func(session string, next *Start) error {
				ended = append(ended, fmt.Sprint(session, next.Fresh))
				return nil
			}
		}
		h.leave(t.Context(), &Session{Facts: ask.Facts{ID: "s"}}, &Start{Fresh: true})
		var want []string
		if ours {
			want = []string{"strue"}
		}
		if d := cmp.Diff(want, ended); d != "" || !cmp.Equal(r.desk.given, []op.Op{op.Detach{Client: clientName}}) {
			t.Errorf("ours %v: %s %v", ours, d, r.desk.given)
		}
	}
}

// Who comes for an agent sees its conversation, and the session's after going back.
func TestComesForAnAgent(t *testing.T) {
	es := []event.Event{
		{Seq: 1, Time: start, Body: event.InputAccepted{ID: "p", Text: "clean up"}},
		{Seq: 2, Time: start, Body: event.TurnStarted{ID: "t", Model: "a/b"}},
		{Seq: 3, Time: start, Body: event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "find the tests", Session: "s1", Agent: &event.Agent{ID: "a1", Name: "finder"}, Model: "a/b"}},
	}
	r := newRig(t, 100, 30)
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "0199c5a2", Dir: "~/src/calc", Model: "a/b", Kept: true}, After: 3, Elsewhere: true, Agent: ask.Task{ID: "a1", Name: "finder", What: "find the tests", Session: "s1"}}, nil})
	r.do(eventsMsg{of: r.m.s, events: es})
	if r.m.visit == nil || r.m.visit.task.ID != "a1" {
		t.Fatal("the agent is not shown")
	}
	r.has("find the tests", "goes back").keys("esc")
	if r.m.visit != nil {
		t.Error("Esc does not go back")
	}
	r.has("clean up")
}
