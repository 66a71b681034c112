package session_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
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
