package session_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/task"
)

// over is the notice of a command's end.
func over(id string, rests bool) op.Prompt {
	return task.Notice{ID: id, Status: "completed", Summary: "The background command " + id + " ended.", Why: id + " has ended"}.Prompt(1, true, rests)
}

// told counts what the model was told of tasks, in the requests of a session.
func told(r *rig, id string) (n int) {
	all := r.model.Requests()
	return strings.Count(spoken(all[len(all)-1].Messages), "<task-id>"+id+"</task-id>")
}

// A notice begins a turn of an idle session, once, and people are told why.
func TestNoticeWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("started"), fake.Say("it is built"))
		r.prompt("build")
		synctest.Wait()
		for range 2 {
			if err := r.Submit(t.Context(), over("b1", false)); err != nil {
				t.Fatal(err)
			}
		}
		es := r.turns(2, nil)
		r.last(es, agent.Completed)
		synctest.Wait()
		if st := r.State(); st.Turns != 2 || told(r, "b1") != 1 || len(st.Said) != 1 {
			t.Errorf("%d turns, told %d times, %d prompts of people", st.Turns, told(r, "b1"), len(st.Said))
		}
		if n := all[event.Noted](es); len(n) != 1 || n[0].Text != "this turn began without a prompt: b1 has ended" {
			t.Errorf("%+v", n)
		}
		r.Close()
	})
}

// What rests begins no turn, also not in another process; the next prompt's turn has it
// before the prompt, once.
func TestNoticeRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"))
		r.prompt("go")
		synctest.Wait()
		if err := r.Submit(t.Context(), over("b1", true)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := r.State().Turns; n != 1 {
			t.Fatalf("%d turns began", n)
		}
		r.Close()
		for i := range 2 {
			r = start(t, again(t, r.log), nil, fake.Say("two"))
			synctest.Wait()
			r.prompt("and?")
			synctest.Wait()
			if told(r, "b1") != 1 || i == 0 && strings.LastIndex(spoken(r.model.Requests()[0].Messages), "and?") < strings.Index(spoken(r.model.Requests()[0].Messages), "b1</task-id>") {
				t.Errorf("start %d: %s", i, spoken(r.model.Requests()[0].Messages))
			}
			r.Close()
		}
	})
}

// A notice that comes in a turn joins it. Behind a turn that was interrupted it waits for
// what comes next.
func TestNoticeInATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "look", "1", 60_000)), fake.Say("stopped"), fake.Say("three"))
		r.prompt("go")
		synctest.Wait()
		for _, o := range []op.Op{over("b1", false), op.Interrupt{}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		r.turns(1, nil)
		synctest.Wait()
		if st := r.State(); st.Turns != 1 || len(st.Queue) != 1 {
			t.Fatalf("%d turns, %d wait", st.Turns, len(st.Queue))
		}
		if err := r.Submit(t.Context(), over("b2", false)); err != nil {
			t.Fatal(err)
		}
		r.turns(2, nil)
		if told(r, "b1") != 1 || told(r, "b2") != 1 {
			t.Errorf("told %d and %d times", told(r, "b1"), told(r, "b2"))
		}
		r.Close()
	})
}

// Commands that end begin only so many turns in a row; agents and monitors have bounds of
// their own.
func TestNoticesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := make([]fake.Reply, 40)
		for i := range replies {
			replies[i] = fake.Say("ok")
		}
		r := start(t, nil, nil, replies...)
		r.prompt("go")
		synctest.Wait()
		ends := func(kind string, n int) {
			for range n {
				id := kind[:1] + string(rune('A'+r.State().Seq%64))
				err := r.Report(event.TaskStarted{ID: id, Kind: kind})
				p := over(id, false)
				p.From.N = 0
				if err = errors.Join(err, r.Submit(t.Context(), p), r.Report(event.TaskEnded{ID: id})); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		}
		ends(event.TaskShell, 13)
		if n := r.State().Turns; n != 11 {
			t.Errorf("%d turns after 13 ends", n)
		}
		ends(event.TaskAgent, 3)
		if n := r.State().Turns; n != 14 {
			t.Errorf("%d turns after 3 agents", n)
		}
		said := 0
		for e := range r.Past(t.Context(), 0, r.Last()) {
			if n, ok := e.Body.(event.Noted); ok && strings.HasPrefix(n.Text, "10 turns in a row") {
				said++
			}
		}
		if said != 1 {
			t.Errorf("said %d times", said)
		}
		r.Close()
	})
}

// What ran when adze ended is told as lost, once, with the next prompt.
func TestLostTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"))
		r.prompt("go")
		synctest.Wait()
		told1 := task.Notice{ID: "m2", Event: "a line"}.Prompt(1, false, true)
		for _, err := range []error{
			r.Report(event.TaskStarted{ID: "b1", Kind: event.TaskShell, Text: "make watch"}),
			r.Report(event.TaskStarted{ID: "m2", Kind: event.TaskMonitor, Text: "the log"}), r.Submit(t.Context(), told1),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		log := r.log
		for i := range 3 {
			r = start(t, again(t, log), func(c *session.Config) {}, fake.Say("two"))
			synctest.Wait()
			if n := r.State().Turns; n != 1+max(0, i-1) {
				t.Errorf("start %d: %d turns", i, n)
			}
			if i > 0 { // the first start ends before anybody says anything
				r.prompt("and?")
				synctest.Wait()
				if told(r, "b1") != 1 || told(r, "m2") != 2 || len(r.State().Past) != 2 {
					t.Errorf("start %d: told %d and %d times, %+v", i, told(r, "b1"), told(r, "m2"), r.State().Past)
				}
			}
			r.Close()
			log = r.log
		}
	})
}
