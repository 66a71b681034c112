package session_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

var ended = op.Notify{Text: "<task-notification>b1</task-notification>", Wake: "the background command b1 ended"}

// What wakes an idle session begins a turn, whose input it is, and people are told why.
func TestAnEndWakesAnIdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("started"), fake.Say("it is built"))
		r.prompt("build")
		synctest.Wait()
		if err := r.Submit(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		es := r.turns(2, nil)
		r.last(es, agent.Completed)
		in := all[event.InputAccepted](es)
		if n := len(in); n != 2 || in[1].Text != ended.Text || !in[1].Hidden {
			t.Errorf("%+v", in)
		}
		if n := all[event.Noted](es); len(n) != 1 || n[0].Text != "this turn began without a prompt: "+ended.Wake {
			t.Errorf("%+v", n)
		}
		r.Close()
	})
}

// A session that was not spoken to, one whose turn was interrupted, and what does not wake
// wait for a prompt.
func TestWhatWaitsForAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"), fake.Say("two"))
		for _, o := range []op.Op{ended, op.Notify{Text: "quiet"}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if st := r.State(); st.Turns != 0 {
			t.Errorf("%d turns began", st.Turns)
		}
		r.prompt("go")
		es := r.turns(1, nil)
		if in := all[event.InputAccepted](es); len(in) != 3 || in[2].Text != "go" {
			t.Errorf("%+v", in)
		}
		if err := r.Submit(t.Context(), op.Notify{Text: "quiet"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := r.State(); st.Turns != 1 {
			t.Errorf("%d turns began", st.Turns)
		}
		r.Close()
	})
}

// What wakes while a turn runs joins it, and begins another where that was over before.
func TestAnEndWhileATurnRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("one"), fake.Say("two"))
		r.prompt("go")
		told := false
		es := r.turns(2, func(e event.Event) {
			if _, ok := e.Body.(event.Replied); ok && !told {
				told = true
				_ = r.Submit(t.Context(), ended)
			}
		})
		r.last(es, agent.Completed)
		if in := all[event.InputAccepted](es); len(in) != 2 {
			t.Errorf("%+v", in)
		}
		r.Close()
	})
}

// Only so many turns in a row begin without a prompt, and that is said.
func TestWakesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := make([]fake.Reply, 30)
		for i := range replies {
			replies[i] = fake.Say("ok")
		}
		r := start(t, nil, nil, replies...)
		wakes := func(n int) {
			for range n {
				if err := r.Submit(t.Context(), ended); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		}
		r.prompt("go")
		synctest.Wait()
		wakes(13)
		if n := r.State().Turns; n != 11 {
			t.Errorf("%d turns after 13 ends", n)
		}
		r.prompt("go on")
		synctest.Wait()
		wakes(1)
		if n := r.State().Turns; n != 13 {
			t.Errorf("%d turns after another prompt and another end", n)
		}
		said := 0
		for e := range r.Past(t.Context(), 0, r.Last()) {
			if n, ok := e.Body.(event.Noted); ok && strings.HasPrefix(n.Text, "10 turns in a row") {
				said++
			}
		}
		if said == 0 || said > 3 {
			t.Errorf("said %d times", said)
		}
		r.Close()
	})
}

// A budget that is used up lets nothing begin.
func TestNoWakeWithoutMoney(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Budget = agent.Budget{USD: 0.01, Unpriced: true, Account: func() agent.Account { return agent.Account{USD: 1} }}
		}, fake.Say("one"), fake.Say("two"))
		r.prompt("go")
		synctest.Wait()
		was := r.State().Turns
		if err := r.Submit(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := r.State().Turns; n != was {
			t.Errorf("%d turns, %d before", n, was)
		}
		r.Close()
	})
}
