package app

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/settings"
)

// The budget of a session ends in the middle of a tree: each agent at work ends as budget, and
// whoever started it is told so. Nothing is asked or started afterwards, and the budget is kept.
func TestTheBudgetEndsInATree(t *testing.T) {
	dir, home := scratch(t)
	var n atomic.Int64
	m := newMock(t, func(last string) (string, []string) {
		const agent = `{"name":"Agent","input":{"description":%q,"prompt":%q,"name":%q,"run_in_background":%t}}`
		switch {
		case strings.Contains(last, "works in the background"):
			return "It works.", nil
		case strings.Contains(last, "Lead the work."):
			return "", []string{fmt.Sprintf(agent, "one", "Do part one.", "one", false), fmt.Sprintf(agent, "two", "Do part two.", "two", false)}
		case strings.Contains(last, "begin it"):
			return "", []string{fmt.Sprintf(agent, "lead", "Lead the work.", "lead", true)}
		}
		return "", []string{fmt.Sprintf(`{"name":"Glob","input":{"pattern":"%d*"}}`, n.Add(1))}
	})
	const budget = 3
	all, at, err := openAt(t, here(dir, home), settings.Sources{Trusted: true, Inline: fmt.Sprintf(
		`{"model":"w/m","titles":false,"max_budget_usd":%d,"agents":{"ask_usd":0},"providers":{"w":{"base_url":%q,"wire":"anthropic"}},"models":{"w/m":{"window":200000,"output":2000,"price":{"in":20,"out":20,"cache_read":20,"cache_write":20}}}}`, budget, m.URL)}, Front{})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	r, err := at.Start(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	turn(t, r, "begin it")
	waitFor(t, "all agents have ended", func() bool {
		list := r.tree.List("")
		for _, a := range list {
			if a.Works() {
				return false
			}
		}
		return len(list) == 3
	})
	for _, name := range []string{"lead", "one", "two"} {
		if a, _ := r.tree.Find(name); a.Status != event.TaskBudget || a.Text == "" {
			t.Errorf("%s ended as %s: %q", name, a.Status, a.Text)
		}
	}
	waitFor(t, "the session has read it and can do no more", func() bool {
		st := r.State()
		waits := slices.ContainsFunc(st.Queue, func(q event.InputQueued) bool { return !q.Rests })
		return len(st.Working()) == 0 && st.Running == "" && !waits
	})
	asked := len(m.requests())
	if cost := r.State().Total.Cost; cost > budget || cost < budget/2 || asked < 10 {
		t.Errorf("%d requests cost $%.2f of $%d", asked, cost, budget)
	}
	told := false
	for e, err := range r.Past(t.Context(), 0, r.State().Seq) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(event.InputQueued); ok && b.From.Notice() {
			told = told || strings.Contains(b.Text, "has ended: budget")
		}
	}
	if !told {
		t.Error("the session is not told that its agent ended as budget")
	}
	turn(t, r, "begin it again")
	if more := len(m.requests()) - asked; more > 0 || len(r.tree.List("")) != 3 {
		t.Errorf("%d requests and %d agents after the end", more, len(r.tree.List(""))-3)
	}
}
