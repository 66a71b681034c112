package workflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/workflow"
)

// again runs a script once more with the journal of the run before it, and returns the
// prompts that agents were asked, and what the script came to.
func (r *runner) again(t *testing.T, body string) (asked []string, value string) {
	t.Helper()
	earlier, err := workflow.Journal(strings.NewReader(r.journal.String()))
	if err != nil {
		t.Fatal(err)
	}
	r.Earlier = earlier
	value = r.value(t, body)
	for _, c := range r.asked {
		asked = append(asked, c.Prompt)
	}
	r.Earlier = nil
	return asked, value
}

func TestGoesOn(t *testing.T) {
	one := []string{`await agent("A")`, `await agent("B")`, `await agent("C")`}
	body := func(calls ...string) string { return "return [" + strings.Join(calls, ", ") + "]" }
	for _, tc := range []struct {
		name  string
		then  string
		asked string
	}{
		{"the same", body(one...), "[]"},
		{"another label and phase", body(`await agent("A", {label: "x", phase: "y"})`, one[1], one[2]), "[]"},
		{"one more", body(one[0], one[1], one[2], `await agent("D")`), "[D]"},
		{"the second is another", body(one[0], `await agent("B2")`, one[2]), "[B2 C]"},
		{"another model", body(one[0], `await agent("B", {model: "m"})`, one[2]), "[B C]"},
		{"another schema", body(`await agent("A", {schema: {type: "object"}})`, one[1]), "[A B]"},
		{"fewer", body(one[0]), "[]"},
		{"none", "return 1", "[]"},
	} {
		r := &runner{Config: workflow.Config{AtOnce: 1}}
		r.value(t, body(one...))
		if asked, _ := r.again(t, tc.then); fmt.Sprint(asked) != tc.asked && !(tc.asked == "[]" && asked == nil) {
			t.Errorf("%s: asked %v, want %s", tc.name, asked, tc.asked)
		}
	}
}

// The first call that had failed, and all after it, are made; and what was made again stands
// in the new journal, so that a third run goes on from the second.
func TestGoesOnFromWhatFailed(t *testing.T) {
	fails := true
	r := &runner{Config: workflow.Config{AtOnce: 1}}
	r.Agent = answers(func(c workflow.Call) (any, error) {
		if c.Prompt == "B" && fails {
			return nil, errors.New("gone")
		}
		return c.Prompt + fmt.Sprint(fails), nil
	})
	body := `return [await agent("A"), await agent("B"), await agent("C")]`
	if got := r.value(t, body); got != `["Atrue",null,"Ctrue"]` {
		t.Fatal(got)
	}
	fails = false
	if asked, got := r.again(t, body); fmt.Sprint(asked) != "[B C]" || got != `["Atrue","Bfalse","Cfalse"]` {
		t.Errorf("asked %v: %s", asked, got)
	}
	if asked, got := r.again(t, body); len(asked) != 0 || got != `["Atrue","Bfalse","Cfalse"]` {
		t.Errorf("the third run asked %v: %s", asked, got)
	}
}

// Which call comes next can depend on which agent was ready first: a run that goes on
// answers in that order.
func TestGoesOnInTheOrderOfTheEnds(t *testing.T) {
	second := make(chan struct{})
	r := &runner{Config: workflow.Config{AtOnce: 2}}
	r.Agent = answers(func(c workflow.Call) (any, error) {
		switch c.Prompt {
		case "slow 1":
			<-second
		case "fast 2":
			close(second)
		}
		return c.Prompt, nil
	})
	body := `return pipeline(["slow", "fast"], x => agent(x + " 1"), (p, x) => agent(x + " 2"))`
	r.value(t, body)
	second = make(chan struct{})
	if asked, got := r.again(t, body); len(asked) != 0 || got != `["slow 2","fast 2"]` {
		t.Errorf("asked %v: %s", asked, got)
	}
}

func TestJournal(t *testing.T) {
	r := &runner{}
	r.value(t, `phase("P"); return [await agent("A", {label: "l"}), await agent("fail")]`)
	entries, err := workflow.Journal(strings.NewReader(r.journal.String() + `{"type":"result","index":7,"ke`)) // a crash cut it off
	if err != nil || len(entries) != 4 {
		t.Fatalf("%v: %d entries of\n%s", err, len(entries), r.journal.String())
	}
	want := []string{"agent 0 A P l ", "result 0  P l completed\"A!\"", "agent 1 fail P  ", "result 1  P  failed"}
	for i, e := range entries {
		if got := fmt.Sprint(e.Type, " ", e.Index, " ", e.Prompt, " ", e.Phase, " ", e.Label, " ", e.Status, string(e.Value)); got != want[i] || e.Key == "" {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
}
