package session_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
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
