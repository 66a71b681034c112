package session_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

// A meter is a model that bills what it says, and says as much as it may, or less. It
// works until it has answered often enough.
type meter struct {
	mu       sync.Mutex // guards the rest
	rand     *rand.Rand
	billed   float64
	asked    int
	running  int
	together int // most requests at once
	steps    int // requests after which a conversation is done
}

const perToken = 0.0001 // USD

func meterCost(u llm.Usage) (float64, bool) { return perToken * float64(u.Prompt()+u.Out), true }

// Stream implements llm.Model.
func (m *meter) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m.mu.Lock()
		m.asked++
		m.running++
		m.together = max(m.together, m.running)
		u := llm.Usage{In: 20, Out: 1 + m.rand.IntN(r.MaxTokens)}
		if m.rand.IntN(3) == 0 {
			u.Out = r.MaxTokens
		}
		wait := time.Duration(1+m.rand.IntN(500)) * time.Millisecond
		m.mu.Unlock()
		over := agent.Sleep(ctx, wait) != nil
		m.mu.Lock()
		m.running--
		if !over {
			usd, _ := meterCost(u)
			m.billed += usd
		}
		m.mu.Unlock()
		if over {
			yield(nil, ctx.Err())
			return
		}
		said := llm.Part(llm.ToolUse{ID: fmt.Sprintf("c%d", len(r.Messages)), Name: "look", Input: []byte(`{}`)})
		stop := llm.WantTools
		if len(r.Messages) >= 2*m.steps {
			said, stop = llm.Text{S: "done"}, llm.EndTurn
		}
		if yield(llm.PartDone{Part: said}, nil) {
			yield(llm.Finished{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{said}}, Stop: stop, Usage: u}, nil)
		}
	}
}

func (m *meter) told() (asked int, billed float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked, m.billed
}

// below starts a session that works for another one, whose budget it is in.
func below(t *testing.T, m *meter, of *rig, outer agent.Budget, own float64, id string) (*rig, agent.Budget) {
	outer = of.Bounded(outer)
	outer.Bill = func(e event.Spent) error {
		e.For, e.Agent = event.ForAgent, id
		return of.Report(e)
	}
	b := agent.Budget{USD: own, Outer: &outer}
	return start(t, nil, func(c *session.Config) {
		c.Budget, c.Target = b, agent.Target{Model: m, Provider: "p", Name: "m", Cap: 12_000, Cost: meterCost}
	}), b
}

// Agents that work at once never cost more than the budget of whoever they work for, at
// whatever depth, and the money is used up. After a stop nothing is asked any more.
func TestTreeOfBudgets(t *testing.T) {
	for seed := range uint64(4) {
		for name, stops := range map[string]bool{"to its end": false, "stopped": true} {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const limit = 20.0
					m := &meter{rand: rand.New(rand.NewPCG(seed, 1)), steps: 30}
					root := start(t, nil, func(c *session.Config) { c.Budget.USD = limit })
					if err := root.Report(event.Noted{Text: "begun"}); err != nil {
						t.Fatal(err)
					}
					var all []*rig
					for i := range 8 {
						lead, outer := below(t, m, root, agent.Budget{USD: limit}, 0, fmt.Sprint("a", i))
						all = append(all, lead)
						lead.prompt("go")
						for j := range 3 {
							one, _ := below(t, m, lead, outer, float64(j), fmt.Sprint("a", i, j))
							all = append(all, one)
							one.prompt("go")
						}
					}
					if stops {
						time.Sleep(700 * time.Millisecond) // of the bubble's clock
						for _, r := range all {
							if err := r.Submit(t.Context(), op.Interrupt{}); err != nil && !errors.Is(err, session.ErrIdle) {
								t.Error(err)
							}
						}
						synctest.Wait()
						before, _ := m.told()
						time.Sleep(time.Minute)
						if after, _ := m.told(); after != before {
							t.Errorf("%d requests after the stop", after-before)
						}
					}
					for _, r := range all {
						for _, e := range r.turns(1, nil) {
							if end, ok := e.Body.(event.TurnEnded); ok && !stops && end.Reason != string(agent.MaxBudget) && end.How != event.Done {
								t.Errorf("a turn ended as %s: %s", end.Reason, end.Err)
							}
						}
					}
					_, billed := m.told()
					if got := root.Account().USD; got-billed > 1e-6 || billed-got > 1e-6 {
						t.Errorf("the root counts $%.4f of $%.4f", got, billed)
					}
					if billed > limit {
						t.Errorf("$%.4f were spent of $%.2f", billed, limit)
					}
					if !stops && billed < 0.9*limit {
						t.Errorf("only $%.4f of $%.2f could be spent", billed, limit)
					}
					if m.together < 8 {
						t.Errorf("%d requests at once", m.together)
					}
					for _, r := range all[1:4] {
						if spent := r.Account().USD; r.cfg.Budget.USD > 0 && spent > r.cfg.Budget.USD {
							t.Errorf("an agent spent $%.4f of $%.2f", spent, r.cfg.Budget.USD)
						}
					}
				})
			})
		}
	}
}
