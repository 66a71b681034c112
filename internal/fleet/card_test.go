package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/spawn"
	"github.com/adze-agent/adze/internal/view"
)

// asker is a fleet.Asker of a person who answers all questions alike.
type asker struct {
	uses   []llm.ToolUse
	each   float64 // USD
	known  bool
	most   float64
	small  string
	nobody bool
	answer op.Answer

	mu    sync.Mutex // guards the rest
	asked []event.Asked
}

func (a *asker) Calls() []llm.ToolUse         { return a.uses }
func (a *asker) Small(context.Context) string { return a.small }
func (a *asker) Cap() string                  { return "no more than $5.00" }
func (a *asker) USD() float64                 { return a.most }

func (a *asker) Likely(_ context.Context, o fleet.Order) fleet.Likely {
	l := fleet.Likely{Model: "p/large", USD: a.each, Known: a.known, Here: true}
	if o.Model != "" {
		l.Model, l.USD = o.Model, a.each/10
	}
	return l
}

func (a *asker) Ask(_ context.Context, q event.Asked) (op.Answer, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nobody {
		return op.Answer{}, false, nil
	}
	a.asked = append(a.asked, q)
	return a.answer, true, nil
}

func choose(label string) op.Answer { return op.Answer{Allow: true, Choices: [][]string{{label}}} }

// All agents of a reply are one question, and its answer holds for each of its calls.
func TestCard(t *testing.T) {
	no := op.Answer{Comment: "too dear"}
	for name, c := range map[string]struct {
		agents int
		asker  *asker
		ask    string // what of the question has to be there, "" for no question
		starts int
		model  string // of those that start
		says   string // what one that does not start is told
	}{
		"few":       {3, &asker{each: 0.1, known: true, most: 1, answer: no}, "", 3, "", ""},
		"many":      {5, &asker{each: 0.1, known: true, most: 1, answer: choose("Start all 5")}, "Start 5 agents (1 general-purpose, 4 explore) with p/large? They are likely to cost $0.50", 5, "", ""},
		"dear":      {2, &asker{each: 0.6, known: true, most: 1, answer: choose("Start all 2")}, "likely to cost $1.20", 2, "", ""},
		"no amount": {2, &asker{each: 60, known: true, answer: no}, "", 2, "", ""},
		"unpriced":  {4, &asker{answer: choose("Start all 4")}, "is not known", 4, "", ""},
		"lowered":   {4, &asker{each: 1, known: true, most: 1, small: "p/small", answer: choose("With the small model")}, "p/small, about $0.40", 4, "p/small", ""},
		"half":      {5, &asker{each: 1, known: true, most: 1, answer: choose("Start only 2")}, "the first of them", 2, "", "only the first 2 of these 5"},
		"none":      {4, &asker{answer: choose("Start none")}, "Start none", 0, "", "wants none of these agents"},
		"denied":    {4, &asker{answer: no}, "Start none", 0, "", "wants none of these agents, and says: too dear"},
		"words":     {4, &asker{answer: choose("Only for the tests")}, "Start none", 0, "", "and says: Only for the tests"},
		"bare yes":  {4, &asker{answer: op.Answer{Allow: true}}, "Start all 4", 4, "", ""},
		"nobody":    {6, &asker{nobody: true, answer: no}, "", 6, "", ""},
		"one, dear": {1, &asker{each: 2, known: true, most: 1, answer: choose("Start it")}, "Start 1 agent", 1, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost()
				tr := tree(h, fleet.Usual)
				defer tr.Close()
				a := c.asker
				var ins []spawn.Input
				for i := range c.agents {
					in := spawn.Input{Description: "x", Prompt: fmt.Sprint("part ", i), Type: "explore"}
					if i == 0 {
						in.Type = ""
					}
					raw, err := json.Marshal(in)
					if err != nil {
						t.Fatal(err)
					}
					ins, a.uses = append(ins, in), append(a.uses, llm.ToolUse{ID: fmt.Sprint("c", i), Name: []string{"Agent", "Task"}[i%2], Input: raw})
				}
				a.uses = append(a.uses, llm.ToolUse{ID: "other", Name: "Bash"})
				crew := fleet.Crew{Tree: tr, Of: "root", Known: func() []skill.Agent { return nil }, Background: func() fleet.Background { return fleet.BackgroundAuto }, Asker: a}
				results := make([]tool.Result, c.agents)
				var all sync.WaitGroup
				for i, in := range ins {
					all.Go(func() {
						var err error
						if results[i], err = crew.Run(t.Context(), in, tool.Env{Call: fmt.Sprint("c", i)}); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if want := min(len(c.ask), 1); len(a.asked) != want {
					t.Fatalf("%d questions", len(a.asked))
				}
				if c.ask != "" {
					q := a.asked[0].View.(view.Questions).Items[0]
					if text := fmt.Sprint(q); !strings.Contains(text, c.ask) || len(q.Options) > 4 {
						t.Errorf("%q", text)
					}
				}
				for i, m := range tr.List("") {
					if m.Order.Model != c.model {
						t.Errorf("agent %d asks %q", i, m.Order.Model)
					}
				}
				if n := len(tr.List("")); n != c.starts {
					t.Errorf("%d start", n)
				}
				for i, r := range results {
					if r.IsErr != (i >= c.starts) || r.IsErr && !strings.Contains(r.Text, c.says) {
						t.Errorf("call %d: %+v", i, r)
					}
				}
			})
		})
	}
}

// After a yes many are not asked about again, and those that already work count.
func TestCardOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		tr := tree(h, fleet.Usual)
		defer tr.Close()
		a := &asker{answer: choose("Start none")}
		crew := fleet.Crew{Tree: tr, Of: "root", Known: func() []skill.Agent { return nil }, Background: func() fleet.Background { return fleet.BackgroundAuto }, Asker: a}
		call := 0
		start := func(want bool, questions int) {
			t.Helper()
			call++
			r, err := crew.Run(t.Context(), spawn.Input{Prompt: fmt.Sprint(call)}, tool.Env{Call: fmt.Sprint("c", call)})
			if err != nil || r.IsErr == want || len(a.asked) != questions {
				t.Errorf("%v, %v, %d questions", err, r.Text, len(a.asked))
			}
		}
		start(true, 0)
		start(true, 0)
		start(true, 0)
		start(false, 1)
		a.answer = choose("Start it")
		start(true, 2)
		start(true, 2)
	})
}
