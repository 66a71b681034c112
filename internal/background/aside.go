package background

import (
	"context"
	_ "embed"
	"errors"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/miniagent"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/window"
)

//go:embed aside.md
var asideText string

// asideTurns is how many requests a question on the side may take: one, and what
// a model needs that calls a tool all the same.
const asideTurns = 3

// Aside asks the session's model a question behind the conversation as it is
// now, without tools, also while a turn runs. Neither the question nor the
// answer enters the conversation; what it costs does count.
func Aside(ctx context.Context, c Config, question string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	w := &Watch{Config: c}
	st := c.Session.State()
	es, _ := complete(st)
	main := c.Models(ctx).Main
	if room := window.Effective(main.Window, main.Cap); room > 0 && window.Estimate(st) > room {
		return "", errors.New("the conversation fills the model's window, so that no question fits behind it; /compact makes room")
	}
	budget, ok := w.budget(main)
	if !ok {
		return "", errors.New("nothing is left of the budget (max_budget_usd)")
	}
	budget.Turns = asideTurns
	r, err := miniagent.Run(ctx, miniagent.Spec{
		For: event.ForAside, Target: main, System: c.Loop.System, CacheKey: c.Loop.CacheKey, Budget: budget,
		History: window.Build(st)[:len(es)], Tools: miniagent.Confine(c.Session.Tools(), []tool.Tool{}, miniagent.Limit{}),
		Env: tool.Env{Dir: st.Dir, Home: c.Home}, Mask: c.Mask, Rules: c.Rules(),
		Prompt: fill(asideText, "{question}", question),
		Spent:  func(e event.Spent) error { return c.Session.Report(e) },
	})
	if err == nil && r.Text == "" {
		err = errors.New("the model said nothing")
	}
	return r.Text, err
}
