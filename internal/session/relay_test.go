package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/task"
)

// child is a session that has its questions answered by another one.
func child(t *testing.T, above *rig) *rig {
	return start(t, nil, func(c *session.Config) {
		c.Above = func(ctx context.Context, q event.Asked) (op.Answer, error) {
			q.Call, q.Agent = "a1/"+q.Call, &event.Agent{ID: "a1"}
			return above.Relay(ctx, q)
		}
	}, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok"))
}

// A question of a child is asked where people are, also while no turn runs there; the
// answer counts in the child, and its rule for both.
func TestRelay(t *testing.T) {
	for name, c := range map[string]struct {
		answer  op.Answer
		denied  bool
		granted int
	}{
		"yes":    {op.Answer{Allow: true}, false, 0},
		"always": {op.Answer{Allow: true, Rules: []string{"Bash(danger)"}}, false, 1},
		"no":     {op.Answer{Comment: "not now"}, true, 0},
	} {
		bubble(name, t, func(t *testing.T) {
			root := start(t, nil, nil, fake.Say("hi")).attend()
			root.prompt("hello")
			root.turns(1, nil)
			kid := child(t, root)
			kid.prompt("go")
			synctest.Wait()
			open := root.State().Pending
			q, ok := open["a1/c1"]
			if !ok || q.Agent == nil || q.Agent.ID != "a1" || len(open) != 1 {
				t.Fatalf("open above: %+v", open)
			}
			a := c.answer
			a.Call, a.By = "a1/c1", "one"
			if err := root.Submit(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			for _, e := range kid.turns(1, nil) {
				if f, ok := e.Body.(event.ToolFinished); ok && f.Denied != c.denied {
					t.Errorf("denied %t: %s", f.Denied, f.Verdict.Reason)
				}
			}
			for who, r := range map[string]*rig{"root": root, "child": kid} {
				if n := len(r.Rules().List); n != c.granted {
					t.Errorf("%s has %d rules", who, n)
				}
				if n := len(r.State().Pending); n != 0 {
					t.Errorf("%s has %d open questions", who, n)
				}
			}
			kid.Close()
			root.Close()
		})
	}
}

// Where nobody is, the child is refused and its log says that nobody could be asked; so is
// it when the last person goes.
func TestRelayWithoutPeople(t *testing.T) {
	for _, there := range []bool{false, true} {
		bubble(map[bool]string{false: "nobody", true: "gone"}[there], t, func(t *testing.T) {
			root := start(t, nil, nil, fake.Say("hi"))
			if there {
				root.attend()
			}
			root.prompt("hello")
			root.turns(1, nil)
			kid := child(t, root)
			kid.prompt("go")
			synctest.Wait()
			if there {
				if err := root.Submit(t.Context(), op.Detach{Client: "one"}); err != nil {
					t.Fatal(err)
				}
			}
			nobody, refused := false, false
			for _, e := range kid.turns(1, nil) {
				switch b := e.Body.(type) {
				case event.Answered:
					nobody = b.By.Kind == event.ByNobody
				case event.ToolFinished:
					refused = b.Denied && b.Verdict.Effect == policy.Deny
				default:
				}
			}
			if !nobody || !refused {
				t.Errorf("nobody %t, refused %t", nobody, refused)
			}
			kid.Close()
			root.Close()
		})
	}
}

// The end of a turn of the session above, and of the child's, and the child's interrupt.
func TestRelayIsWithdrawn(t *testing.T) {
	bubble("", t, func(t *testing.T) {
		root := start(t, nil, nil, fake.Say("hi"), fake.Say("again")).attend()
		root.prompt("hello")
		root.turns(1, nil)
		kid := child(t, root)
		kid.prompt("go")
		synctest.Wait()
		root.prompt("and?") // a turn above ends, the question stays
		synctest.Wait()
		if root.State().Running != "" || len(root.State().Pending) != 1 {
			t.Errorf("open above behind a turn: %+v", root.State().Pending)
		}
		if err := kid.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		kid.turns(1, nil)
		synctest.Wait()
		if n := len(root.State().Pending); n != 0 {
			t.Errorf("%d questions are open of a child that was interrupted", n)
		}
		if err := root.Submit(t.Context(), op.Answer{Call: "a1/c1", Allow: true}); !errors.Is(err, session.ErrNoAsk) {
			t.Errorf("an answer that is too late: %v", err)
		}
		kid.Close()
		root.Close()
	})
}

// What a sender has sent does not come a second time.
func TestMail(t *testing.T) {
	bubble("", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"), fake.Say("two"))
		r.prompt("hello")
		r.turns(1, nil)
		for range 2 {
			if err := r.Submit(t.Context(), op.Prompt{Text: "done", From: &op.Sender{ID: "a1", N: 1, End: true}}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if st := r.State(); st.Turns != 2 || st.Mail["a1"] != 1 || st.Last != "hello" {
			t.Errorf("%d turns, %v, %q", st.Turns, st.Mail, st.Last)
		}
		r.Close()
	})
}

// An agent that worked when adze ended is lost, and the model is told so once.
func TestLostAgent(t *testing.T) {
	bubble("", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"))
		r.prompt("hello")
		r.turns(1, nil)
		if err := r.Report(event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look", Agent: &event.Agent{ID: "a1"}, Session: "s9"}); err != nil {
			t.Fatal(err)
		}
		r.Close()
		was := r.log
		for i := range 2 {
			log := &mem.Log{}
			for e, err := range was.After(t.Context(), 0) {
				if err = errors.Join(err, log.Append(t.Context(), e)); err != nil {
					t.Fatal(err)
				}
			}
			next := start(t, log, nil, fake.Say("two"))
			was = log
			next.prompt("and?")
			synctest.Wait()
			st := next.State()
			if a := st.Agents["a1"]; a.End == nil || a.End.Status != event.TaskLost || len(st.Background) != 0 {
				t.Errorf("%+v", a)
			}
			told := 0
			for _, m := range next.model.Requests()[0].Messages {
				for _, p := range m.Parts {
					if x, ok := p.(llm.Text); ok && strings.Contains(x.S, "The agent a1 (look) was cut off when adze ended") {
						told++
					}
				}
			}
			if told != 1 {
				t.Errorf("start %d: told %d times", i, told)
			}
			next.Close()
		}
	})
}

// An agent whose end was told before adze was killed, and is not recorded, ended as it was told.
func TestToldAgent(t *testing.T) {
	bubble("", t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"))
		r.prompt("hello")
		r.turns(1, nil)
		if err := r.Report(event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Text: "look", Agent: &event.Agent{ID: "a1"}, Session: "s9", N: 1}); err != nil {
			t.Fatal(err)
		}
		if err := r.Submit(t.Context(), task.Notice{ID: "a1", Status: "budget", Summary: "It ended."}.Prompt(1, true, true)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		log := &mem.Log{}
		for e, err := range r.log.After(t.Context(), 0) {
			if err = errors.Join(err, log.Append(t.Context(), e)); err != nil {
				t.Fatal(err)
			}
		}
		next := start(t, log, nil, fake.Say("two"))
		synctest.Wait()
		st := next.State()
		if a := st.Agents["a1"]; a.End == nil || a.End.Status != event.TaskBudget || len(st.Background) != 0 || len(st.Queue) != 1 {
			t.Errorf("%+v %+v", a, st.Queue)
		}
		next.Close()
	})
}
