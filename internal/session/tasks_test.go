package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

// Tasks of a process that is gone have ended, and the log says so.
func TestTasksEndWithTheirProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("ok"))
		r.prompt("go")
		r.last(r.turns(1, nil), agent.Completed)
		for _, b := range []event.Body{
			event.TaskStarted{ID: "b1", Kind: "shell"}, event.TaskStarted{ID: "b2", Kind: "shell"},
			event.TaskOutput{ID: "b1", S: "x"}, event.TaskEnded{ID: "b1"},
		} {
			if err := r.Report(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Report(event.Titled{Title: "mine"}); err == nil {
			t.Error("a title was reported as a task")
		}
		r.Close()
		if err := r.Report(event.TaskEnded{ID: "b2"}); !errors.Is(err, session.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
		s, err := session.Start(t.Context(), func() session.Config { c := r.cfg; c.Log = again(t, r.log); return c }())
		if err != nil {
			t.Fatal(err)
		}
		var ended []event.TaskEnded
		for e := range s.Events(t.Context(), 0) {
			if b, ok := e.Body.(event.TaskEnded); ok {
				if ended = append(ended, b); len(ended) == 2 {
					break
				}
			}
		}
		if e := ended[1]; e.ID != "b2" || e.Killed == "" || len(s.State().Background) != 0 {
			t.Errorf("%+v, and %v run", e, s.State().Background)
		}
		if err := s.Submit(t.Context(), op.Background{Call: "c1"}); !errors.Is(err, &op.Refusal{Code: op.NoTask}) {
			t.Errorf("without tasks: %v", err)
		}
		s.Close()
	})
}

// known are calls that can go to the background and tasks that run there.
type known map[string]bool

func (k known) Background(call string) (string, bool) { return "b-" + call, k[call] }

func (k known) Kill(id string) error {
	if !k[id] {
		return errors.New("it ended by itself")
	}
	delete(k, id)
	return nil
}

func TestOpsOnTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) { c.Tasks = known{"c1": true, "b1": true} })
		for _, x := range []struct {
			op   op.Op
			code op.Code
			text string
		}{
			{op.Background{Call: "c1"}, "", ""},
			{op.Background{Call: "c2"}, op.NoTask, "no command runs that could go to the background"},
			{op.StopTask{ID: "b1"}, "", ""},
			{op.StopTask{ID: "b1"}, op.NoTask, "it ended by itself"},
		} {
			err := r.Submit(t.Context(), x.op)
			if code(err) != x.code || err != nil && err.Error() != x.text {
				t.Errorf("%+v: %v", x.op, err)
			}
		}
		r.Close()
		r = start(t, nil, nil)
		if err := r.Submit(t.Context(), op.StopTask{ID: "b1"}); code(err) != op.NoTask || !strings.Contains(err.Error(), `"b1"`) {
			t.Errorf("without tasks: %v", err)
		}
		r.Close()
	})
}

// When the last person leaves, what was asked is a no, and what comes is
// refused at once.
func TestQuestionsEndWithTheLastPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "risk", "", 0)), fake.Use(call("c2", "risk", "", 0)), fake.Say("ok")).attend()
		for _, o := range []op.Op{op.Attach{Client: "two"}, op.Detach{Client: "one"}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		r.prompt("go")
		synctest.Wait()
		if n := len(r.State().Pending); n != 1 {
			t.Fatalf("%d questions are open while somebody is there", n)
		}
		if err := r.Submit(t.Context(), op.Detach{Client: "two"}); err != nil {
			t.Fatal(err)
		}
		es := r.turns(1, nil)
		r.last(es, agent.Completed)
		if n := len(all[event.Asked](es)); n != 1 || r.bench.started.Load() != 0 {
			t.Errorf("%d questions, %d calls ran", n, r.bench.started.Load())
		}
		if a := all[event.Answered](es); len(a) != 1 || a[0].Allow || a[0].By != event.Client("two") {
			t.Errorf("%+v", a)
		}
		r.Close()
	})
}

// A tool that does nothing but put questions to a person waits for one who is
// there; when nobody is, it may say so to the model.
func TestQuestionsOfATool(t *testing.T) {
	for _, there := range []bool{true, false} {
		bubble(fmt.Sprint(there), t, func(t *testing.T) {
			r := start(t, nil, nil, fake.Use(call("c1", "ask", "", 0)), fake.Say("ok"))
			if there {
				r.attend()
			}
			ask := r.bench.tool("ask", true, false, policy.Person{Why: "it asks you something"})
			set, err := tool.NewSet(ask)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop, Tools: &set}, event.SettingsChanged{}); err != nil {
				t.Fatal(err)
			}
			r.prompt("go")
			synctest.Wait()
			if n := len(r.State().Pending); (n == 1) != there {
				t.Errorf("%d questions", n)
			}
			if there {
				if err := r.Submit(t.Context(), op.Answer{Call: "c1", By: "one", Comment: "not now"}); err != nil {
					t.Error(err)
				}
			}
			if f := all[event.ToolFinished](r.turns(1, nil)); f[0].Denied != there {
				t.Errorf("%+v", f[0])
			}
			r.Close()
		})
	}
}
