package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/view"
)

// Of many agents that want a task at once one has it, and the log has as many events as
// there were changes. Another process goes on with the same list.
func TestOneOfManyClaims(t *testing.T) {
	r := start(t, nil, nil, fake.Say("ok"))
	r.prompt("go")
	r.last(r.turns(1, nil), agent.Completed)
	change := func(s *session.Session, c tasklist.Change) tasklist.Outcome {
		out, err := s.ChangeList(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	change(r.Session, tasklist.Change{Create: &tasklist.Task{Subject: "one"}})
	var all sync.WaitGroup
	outs := make([]tasklist.Outcome, 20)
	for i := range outs {
		all.Go(func() {
			outs[i] = change(r.Session, tasklist.Change{By: fmt.Sprint("a", i), Update: &tasklist.Update{ID: "1", Status: view.InProgress}})
		})
	}
	all.Wait()
	owner := ""
	for _, o := range outs {
		switch {
		case o.Refused == "" && owner != "":
			t.Errorf("%s and %s have it", owner, o.Task.Owner)
		case o.Refused == "":
			owner = o.Task.Owner
		case !strings.Contains(o.Refused, "works on task 1"):
			t.Error(o.Refused)
		}
	}
	st := r.State()
	if len(st.Tasks) != 1 || owner == "" || st.Tasks[0].Owner != owner {
		t.Errorf("%s has it: %+v", owner, st.Tasks)
	}
	r.Close()
	cfg := r.cfg
	cfg.Log = again(t, r.log)
	s, err := session.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if out := change(s, tasklist.Change{Leave: owner}); len(out.Changed) != 1 || out.List.Tasks[0].Owner != "" {
		t.Errorf("%+v", out)
	}
	if out := change(s, tasklist.Change{Create: &tasklist.Task{Subject: "two"}}); out.Task.ID != "2" {
		t.Errorf("%+v", out.Task)
	}
	if n := len(changes(t, s)); n != 4 {
		t.Errorf("%d events", n)
	}
}

func changes(t *testing.T, s *session.Session) (out []event.TodoChanged) {
	last := s.Last()
	for e := range s.Events(t.Context(), 0) {
		if b, ok := e.Body.(event.TodoChanged); ok {
			out = append(out, b)
		}
		if e.Seq == last {
			break
		}
	}
	return out
}

// A list of an earlier version, which the log has only as it was shown, goes on as a whole.
func TestAnOlderListGoesOn(t *testing.T) {
	log := &mem.Log{}
	for i, b := range []event.Body{
		event.SessionStarted{ID: "s", Dir: "/w"}, event.ToolFinished{Call: "c", View: view.Tasks{Items: []view.Task{{Text: "a", Status: view.Completed}, {Text: "b", Status: view.Pending}}}},
	} {
		if err := log.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	r := start(t, log, nil)
	out, err := r.ChangeList(t.Context(), tasklist.Change{Update: &tasklist.Update{ID: "2", Status: view.InProgress}})
	if err != nil || out.Refused != "" {
		t.Fatal(out.Refused, err)
	}
	if st := r.State(); len(st.List.Tasks) != 2 || st.List.Tasks[0].Subject != "a" || st.Tasks[1].Status != view.InProgress {
		t.Errorf("%+v", st.List)
	}
}
