package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

// A person is told once when the session has cost as much as they said, and not
// again when it goes on or is resumed; 0 says nothing.
func TestCostWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warn := 1.0
		dear := func(c *session.Config) {
			c.WarnUSD = warn
			c.Target.Cost = func(llm.Usage) (float64, bool) { return 0.4, true }
		}
		told := func(es []event.Event) (at []event.Seq) {
			for i, e := range es {
				if b, ok := e.Body.(event.Noted); ok && strings.Contains(b.Text, "this session has cost") {
					if b.Text != "this session has cost $1.20; cost.warn_usd is $1.00" || b.Level != "warning" {
						t.Errorf("%+v", b)
					}
					if _, ok := es[i-1].Body.(event.Replied); !ok {
						t.Errorf("after a %T", es[i-1].Body)
					}
					at = append(at, e.Seq)
				}
			}
			return at
		}
		r := start(t, nil, dear, fake.Say("1"), fake.Say("2"), fake.Say("3"), fake.Say("4"))
		for range 4 {
			r.prompt("go")
		}
		if got := told(r.turns(4, nil)); len(got) != 1 {
			t.Errorf("told %d times", len(got))
		}
		next := start(t, again(t, r.log), dear, fake.Say("5"))
		next.prompt("go")
		if got := told(next.turns(5, nil)); len(got) != 1 {
			t.Errorf("told again: %v", got)
		}
		warn = 0.4 // as much as one turn costs
		exact := start(t, nil, dear, fake.Say("1"))
		exact.prompt("go")
		if n := all[event.Noted](exact.turns(1, nil)); len(n) != 1 || n[0].Text != "this session has cost $0.40; cost.warn_usd is $0.40" {
			t.Errorf("told %v", n)
		}
		warn = 0
		quiet := start(t, nil, dear, fake.Say("1"), fake.Say("2"), fake.Say("3"))
		for range 3 {
			quiet.prompt("go")
		}
		if got := told(quiet.turns(3, nil)); len(got) != 0 {
			t.Errorf("told %v", got)
		}
	})
}

// Where somebody can be asked, a turn that became dear sends no further request
// before they say so; a no and an interrupt end it. Nobody there is not asked,
// and neither is who begins the next turn knowing it.
func TestDearTurnWaits(t *testing.T) {
	for name, c := range map[string]struct {
		ask, there bool
		answer     op.Op // to the question; without Call
		requests   int
		end        agent.End
	}{
		"yes":       {true, true, op.Answer{Allow: true}, 2, agent.Completed},
		"no":        {true, true, op.Answer{}, 1, agent.InterruptedStreaming},
		"interrupt": {true, true, op.Interrupt{}, 1, agent.InterruptedStreaming},
		"leaves":    {true, true, op.Detach{Client: "one"}, 1, agent.InterruptedStreaming},
		"nobody":    {true, false, nil, 2, agent.Completed},
		"unasked":   {false, true, nil, 2, agent.Completed},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, nil, func(c2 *session.Config) {
				c2.WarnUSD, c2.AskDear = 0.3, c.ask
				c2.Target.Cost = func(llm.Usage) (float64, bool) { return 0.4, true }
			}, fake.Use(call("c", "look", "", 0)), fake.Say("done"), fake.Say("next"))
			if c.there {
				r.attend()
			}
			r.prompt("go")
			asked := 0
			es := r.turns(1, func(e event.Event) {
				b, ok := e.Body.(event.Asked)
				if !ok {
					return
				}
				if asked++; b.About != event.AboutCost || !strings.Contains(b.Title, "has cost $0.40") || len(r.model.Requests()) != 1 {
					t.Errorf("%s: %+v after %d requests", name, b, len(r.model.Requests()))
				}
				if a, ok := c.answer.(op.Answer); ok {
					a.Call, a.By = b.Call, "one"
					c.answer = a
				}
				go func() {
					if err := r.Submit(t.Context(), c.answer); err != nil {
						t.Error(err)
					}
				}()
			})
			if n := len(r.model.Requests()); n != c.requests || (asked == 1) != (c.answer != nil) {
				t.Errorf("%s: %d requests, asked %d times", name, n, asked)
			}
			if e := all[event.TurnEnded](es)[0]; e.Reason != string(c.end) {
				t.Errorf("%s: %+v", name, e)
			}
			if name == "yes" { // and that is all
				r.prompt("more")
				if n := len(all[event.Asked](r.turns(2, nil))); n != 1 {
					t.Errorf("asked %d times", n)
				}
			}
			r.Close()
		})
	}
}

// The budget of money is looked at before each request of the classifier, of those at
// once too, and counts from where this process took up the session.
func TestTheBudgetHoldsBeforeEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := rule("soft_deny", "no")
		judge := &fake.Model{Replies: []fake.Reply{no, no, no, no, no}}
		set := func(c *session.Config) {
			autoMode(judge)(c)
			c.Auto.Model = auto.Small{Model: judge, Name: "small", ID: "p/small", Cost: func(llm.Usage) (float64, bool) { return 1, true }}
			c.Budget.USD = 3.5
			c.Target.Cost = func(llm.Usage) (float64, bool) { return 0.5, true }
		}
		var calls []llm.Part
		for i := range 10 {
			calls = append(calls, call(fmt.Sprint("c", i), "risk", "", 0))
		}
		r := start(t, nil, set, fake.Parts(llm.WantTools, calls...), fake.Say("never asked"))
		r.prompt("go")
		es := r.turns(1, nil)
		r.last(es, agent.MaxBudget)
		if n := len(judge.Requests()); n < 3 || n > 4 { // one may begin while the reply's own price is not known yet
			t.Errorf("the classifier was asked %d times", n)
		}
		if got := fmt.Sprint(all[event.ToolFinished](es)); !strings.Contains(got, "of the budget of $3.50") {
			t.Errorf("%s", got)
		}
		asked := false
		var broke *session.ErrBudget
		if err := r.Buy(t.Context(), func() event.Spent { asked = true; return event.Spent{} }); !errors.As(err, &broke) || asked {
			t.Errorf("%v, asked: %v", err, asked)
		}
		r.Close()
		r = start(t, again(t, r.log), set, fake.Say("ok"))
		r.prompt("go on")
		r.last(r.turns(2, nil), agent.Completed)
		if a := r.Account(); a.USD != 0.5 || r.State().Total.Cost <= 3 {
			t.Errorf("%+v of %v", a, r.State().Total.Cost)
		}
		r.Close()
	})
}

// What agents of skills ask counts as requests of the turn.
func TestRequestsOfSkillsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) { c.Budget.Turns = 4 }, fake.Use(call("c1", "act", "", 1000)), fake.Use(call("c2", "look", "", 0)), fake.Say("ok"))
		for turn, want := range []agent.End{agent.MaxTurns, agent.Completed} {
			r.prompt("go")
			if turn == 0 {
				synctest.Wait()
				for _, what := range []string{event.ForSkill, event.ForSkill, event.ForSkill, event.ForHook} {
					if err := r.Report(event.Spent{For: what, Model: "p/s", Usage: llm.Usage{In: 1}}); err != nil {
						t.Fatal(err)
					}
				}
				if n := r.Requests(); n != 4 {
					t.Errorf("%d requests", n)
				}
			}
			r.last(r.turns(turn+1, nil), want)
		}
		if n := r.Requests(); n != 2 {
			t.Errorf("%d requests of the second turn", n)
		}
		r.Close()
	})
}
