package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool/spawn"
	"github.com/adze-agent/adze/internal/view"
)

// many agents at once are asked about, the first time in a session.
const many = 4

// A Likely is what an agent is likely to cost.
type Likely struct {
	Model string // that it asks, as provider/model
	USD   float64
	Known bool // USD is; there is a price
	Here  bool // agents that ended in this project cost so; else the model's price says so
}

// An Asker says what agents would come to, and asks the person about it.
type Asker interface {
	// Calls are those of the session's newest reply that have no result yet.
	Calls() []llm.ToolUse
	// Likely is what the agent of an order is likely to cost.
	Likely(ctx context.Context, o Order) Likely
	// Small is the model that agents can be lowered to, "" for none.
	Small(ctx context.Context) string
	// Cap says in a sentence what bounds the money of all agents.
	Cap() string
	// USD is the setting agents.ask_usd.
	USD() float64
	// Ask puts a question to the people of the session, or of one above it. there is false
	// when nobody is.
	Ask(ctx context.Context, q event.Asked) (a op.Answer, there bool, err error)
}

// A card is what a person is asked of the agents that one reply wants, and how it was
// answered.
type card struct {
	calls []string // that it covers
	over  chan struct{}
	// What follows is set when over is closed.
	refused map[string]string // why a call starts none, by call
	model   string            // of all agents but forks; "" leaves each its own
	err     error
}

// maxCards are remembered: those of calls that never come are forgotten.
const maxCards = 16

// An offer is what a person is asked about.
type offer struct {
	agents []wanted
	alive  int    // agents that work already
	small  string // model that they can be lowered to, "" for none
	lower  float64
	cap    string
}

type wanted struct {
	call  string
	order Order
	Likely
}

// admit asks a person about the agents of a reply where that is due, once for all of its
// calls, and changes the order as they want it. The error is a *Refused where they do not
// want this one.
func (c Crew) admit(ctx context.Context, o *Order) error {
	if c.Asker == nil {
		return nil
	}
	uses := c.uses(o.Call)
	t := c.Tree
	t.mu.Lock()
	k := t.card(o.Call)
	mine := k == nil
	if mine {
		k = &card{over: make(chan struct{})}
		for _, u := range uses {
			k.calls = append(k.calls, u.ID)
		}
		t.cards = append(t.cards[max(0, len(t.cards)-maxCards+1):], k)
	}
	t.mu.Unlock()
	if mine {
		c.settle(ctx, k, c.wanted(ctx, uses, *o))
		close(k.over)
	}
	select {
	case <-k.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	if k.model != "" && !o.Fork {
		o.Model = k.model
	}
	switch why, no := k.refused[o.Call]; {
	case k.err != nil:
		return k.err
	case no:
		return &Refused{Why: why}
	}
	return nil
}

// card is the one that covers a call, nil for none. It needs t.mu.
func (t *Tree) card(call string) *card {
	for _, k := range t.cards {
		if slices.Contains(k.calls, call) {
			return k
		}
	}
	return nil
}

// uses are the calls of the reply of a call that want agents, in their order. A call of no
// reply of the conversation stands alone.
func (c Crew) uses(call string) []llm.ToolUse {
	uses := slices.DeleteFunc(c.Asker.Calls(), func(u llm.ToolUse) bool { return !slices.Contains(policy.Names(spawn.Name), u.Name) })
	if !slices.ContainsFunc(uses, func(u llm.ToolUse) bool { return u.ID == call }) {
		return []llm.ToolUse{{ID: call}}
	}
	return uses
}

// settle has a card answered, by a person where that is due.
func (c Crew) settle(ctx context.Context, k *card, agents []wanted) {
	f := offer{agents: agents}
	t := c.Tree
	t.mu.Lock()
	f.alive = t.working()
	known := t.asked
	t.mu.Unlock()
	if !f.due(known, c.Asker.USD()) {
		return
	}
	if f.small = c.Asker.Small(ctx); f.small != "" {
		f.lower = f.with(ctx, c.Asker)
	}
	f.cap = c.Asker.Cap()
	a, there, err := c.Asker.Ask(ctx, f.asked())
	switch {
	case err != nil:
		k.err = err
	case !there: // the bounds hold
	default:
		k.refused, k.model = f.answered(a)
		if len(k.refused) < len(f.agents) {
			t.mu.Lock()
			t.asked = true
			t.mu.Unlock()
		}
	}
}

// wanted are the agents that calls want; first is what one of them is known to want. One
// whose arguments cannot be read starts nothing.
func (c Crew) wanted(ctx context.Context, uses []llm.ToolUse, first Order) (out []wanted) {
	for _, u := range uses {
		o := first
		if u.ID != first.Call {
			var in spawn.Input
			if json.Unmarshal(u.Input, &in) != nil {
				continue
			}
			o = c.order(in, u.ID)
		}
		out = append(out, wanted{u.ID, o, c.Asker.Likely(ctx, o)})
	}
	return out
}

// due reports whether a person is to be asked; asked says that they were before, of many.
func (f offer) due(asked bool, most float64) bool {
	usd, _ := f.sum()
	return !asked && f.alive+len(f.agents) >= many || most > 0 && usd > most
}

// sum is what the agents are likely to cost together, and whether all of that is known.
func (f offer) sum() (usd float64, known bool) {
	known = true
	for _, w := range f.agents {
		usd, known = usd+w.USD, known && w.Known
	}
	return usd, known
}

// with is what they are likely to cost with the small model; forks keep their own.
func (f offer) with(ctx context.Context, a Asker) (usd float64) {
	for _, w := range f.agents {
		if !w.order.Fork {
			w.order.Model = f.small
			w.Likely = a.Likely(ctx, w.order)
		}
		usd += w.USD
	}
	return usd
}

// lowers reports whether the small model is another one for any of the agents.
func (f offer) lowers() bool {
	return f.small != "" && slices.ContainsFunc(f.agents, func(w wanted) bool { return !w.order.Fork && w.Model != f.small })
}

// What can be chosen.
const (
	startNone = "Start none"
	startLow  = "With the small model"
)

func (f offer) startAll() string {
	if len(f.agents) == 1 {
		return "Start it"
	}
	return fmt.Sprintf("Start all %d", len(f.agents))
}

func (f offer) startHalf() string { return fmt.Sprintf("Start only %d", f.half()) }

func (f offer) half() int { return len(f.agents) / 2 }

// question puts it into words.
func (f offer) question() view.Question {
	q := view.Question{Header: "Agents", Text: f.text()}
	add := func(label, about string) { q.Options = append(q.Options, view.Option{Label: label, About: about}) }
	add(f.startAll(), f.cap)
	if f.lowers() {
		about := f.small
		if usd, known := f.sum(); known && f.lower < usd {
			about += ", about " + money(f.lower)
		}
		if slices.ContainsFunc(f.agents, func(w wanted) bool { return w.order.Fork }) {
			about += "; forks keep the model of the conversation"
		}
		add(startLow, about)
	}
	if f.half() > 0 {
		add(f.startHalf(), "the first of them; the model is told of the others")
	}
	add(startNone, "the model is told so, and goes on without them")
	return q
}

// text says what is wanted: how many, of which types, with which models, and the estimate.
func (f offer) text() string {
	var types, models []string
	count, asks := map[string]int{}, map[string]bool{}
	here := true
	for _, w := range f.agents {
		kind := clip.Line(clip.Visible((&spawn.Input{Type: w.order.Type}).Kind()), 40)
		if count[kind]++; count[kind] == 1 {
			types = append(types, kind)
		}
		if !asks[w.Model] {
			asks[w.Model], models = true, append(models, clip.Visible(w.Model))
		}
		here = here && w.Here
	}
	for i, kind := range types {
		types[i] = fmt.Sprintf("%d %s", count[kind], kind)
	}
	s := fmt.Sprintf("Start %s (%s) with %s?", clip.Count(len(f.agents), "agent"), strings.Join(types, ", "), strings.Join(models, ", "))
	if f.alive > 0 {
		s += fmt.Sprintf(" %d work already.", f.alive)
	}
	switch usd, known := f.sum(); {
	case !known:
		s += " What they will cost is not known: there is no price of their model."
	case here:
		s += " They are likely to cost " + money(usd) + ", as agents in this project did."
	default:
		s += " They are likely to cost " + money(usd) + ", by the price of the model: too few agents have ended in this project."
	}
	return s
}

// money is an estimate for people.
func money(usd float64) string {
	switch {
	case usd == 0:
		return "nothing"
	case usd < 0.01:
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// asked is the question as any other with choices: programs that drive adze know it by the
// tool that puts such questions.
func (f offer) asked() event.Asked {
	q := f.question()
	type option struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
	var options []option
	for _, o := range q.Options {
		options = append(options, option{o.Label, o.About})
	}
	in, err := json.Marshal(map[string]any{"questions": []any{map[string]any{"question": q.Text, "header": q.Header, "options": options, "multiSelect": false}}})
	if err != nil {
		panic(err) // strings have a JSON form
	}
	return event.Asked{
		Tool: "AskUserQuestion", Input: in, Title: fmt.Sprintf("Start %s?", clip.Count(len(f.agents), "agent")),
		Verdict: policy.Verdict{Effect: policy.Ask, Reason: "many agents at once, or dear ones, are started with a person's word (agents.ask_usd)"},
		View:    view.Questions{Items: []view.Question{q}},
	}
}

// answered is what an answer means: why calls start none, and the model of all others. A
// yes without a choice is for all.
func (f offer) answered(a op.Answer) (refused map[string]string, model string) {
	refused = map[string]string{}
	starts, why := len(f.agents), ""
	choice := f.startAll()
	if len(a.Choices) > 0 && len(a.Choices[0]) > 0 {
		choice = a.Choices[0][0]
	}
	said := strings.TrimSpace(a.Comment)
	switch {
	case !a.Allow, choice == startNone:
		starts, why = 0, "the person wants none of these agents"
	case choice == startLow && f.lowers():
		model = f.small
	case choice == f.startHalf():
		starts, why = f.half(), fmt.Sprintf("the person wants only the first %d of these %d agents: do the rest yourself, or later", f.half(), len(f.agents))
	case choice != f.startAll(): // in their own words
		starts, why, said = 0, "the person did not want these agents as they are", choice
	}
	if why != "" && said != "" {
		why += ", and says: " + clip.Middle(clip.Clean(said), 20_000, "")
	}
	for i, w := range f.agents {
		if i >= starts {
			refused[w.call] = why
		}
	}
	return refused, model
}
