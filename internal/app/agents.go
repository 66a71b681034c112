package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/agents"
	"github.com/adze-agent/adze/internal/background"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Child is an agent that a session has started.
type Child struct {
	Of    *Running
	Order fleet.Order
	main  *ext.Agent // its definition, nil for the usual agent
	agent event.Agent
	// base is the conversation of Of that a fork begins with; nil for any other agent.
	base func(ctx context.Context) (session.Base, error)
	// made is how many requests it has made that its bound counts: since it began, or last
	// went on.
	made func() int
}

// A hosting runs the sessions of trees in this process. It implements fleet.Host.
type hosting struct{ p *Process }

func (h hosting) session(id string) (*Running, error) {
	for _, r := range h.p.sessions(nil) {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, &op.Refusal{Code: op.NoSession, Text: fmt.Sprintf("no session %s is open here", id)}
}

// Submit implements fleet.Host.
func (h hosting) Submit(ctx context.Context, session string, o op.Op) error {
	r, err := h.session(session)
	if err != nil {
		return err
	}
	return r.Session.Submit(ctx, r.begun(o))
}

// Follow implements fleet.Host.
func (h hosting) Follow(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error] {
	r, err := h.session(session)
	if err != nil {
		return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }
	}
	return r.Session.Follow(ctx, after, d)
}

// Report implements fleet.Host.
func (h hosting) Report(session string, b event.Body) error {
	r, err := h.session(session)
	if err != nil {
		return err
	}
	if end, ok := b.(event.TaskEnded); ok && r.Kept {
		r.learn(end)
	}
	return r.Session.Report(b)
}

// Summarize implements fleet.Host.
func (h hosting) Summarize(ctx context.Context, of, session, before string, after event.Seq) (line string, through event.Seq) {
	r, err := h.session(of)
	if err != nil || !r.tellsProgress() {
		return "", after
	}
	child, err := h.session(session)
	if err != nil {
		return "", after
	}
	return background.Progress(ctx, child.company(), before, after)
}

// Review implements fleet.Host.
func (h hosting) Review(ctx context.Context, session, task string, end event.TaskEnded) string {
	r, err := h.session(session)
	if err != nil {
		return "" // nobody reads what it says
	}
	return r.Session.Review(ctx, task, end)
}

// ChangeList implements fleet.Host.
func (h hosting) ChangeList(ctx context.Context, root string, c fleet.Change) (fleet.Outcome, error) {
	r, err := h.session(root)
	if err != nil {
		return fleet.Outcome{}, err
	}
	return r.Session.ChangeList(ctx, c)
}

// End implements fleet.Host.
func (h hosting) End(session string) (*event.Worktree, error) {
	r, err := h.session(session)
	if err != nil {
		return nil, nil // it has ended
	}
	err = r.Close()
	if r.spec.Room == nil {
		return nil, err
	}
	err = errors.Join(err, r.place.Close())
	left, lost := r.vacate()
	return left, errors.Join(err, lost)
}

// Begin implements fleet.Host.
func (h hosting) Begin(ctx context.Context, o fleet.Order) (fleet.Begun, error) {
	of, err := h.session(o.Of)
	if err != nil {
		return fleet.Begun{}, err
	}
	c := &Child{Of: of, Order: o}
	var at event.Seq // of a new fork: where it begins
	if o.Fork {
		at, err = c.fork()
	} else {
		c.main, err = of.ext.Agent(o.Type)
	}
	if err != nil {
		return fleet.Begun{}, err
	}
	choice := sessions.Choice{None: of.spec.Log.None}
	if o.Resume != nil {
		choice.Resume, c.agent = o.Resume.Session, o.Resume.Agent
	} else {
		if choice.ID, err = sessions.In(of.place.Paths.State).NewID(); err != nil {
			return fleet.Begun{}, err
		}
		c.agent = event.Agent{ID: "a" + choice.ID[len(choice.ID)-8:], Type: o.Type, Name: o.Name, Plans: o.Mode == policy.PlanMode}
		if c.main != nil && !o.Fork {
			c.agent.Type, c.agent.Color = ext.AgentType(c.main), c.main.Color
		}
	}
	choice.Child = &sessions.Parent{Log: of.log, At: at, Child: event.Child{Of: of.ID, Call: o.Call, Depth: o.Depth, Agent: c.agent}}
	spec := Spec{Log: choice, Child: c, Schema: o.Schema, MayBypass: of.Mode() == policy.Bypass}
	if of.spec.Target != nil {
		spec.Target = of.spec.Target
	}
	if o.Fork {
		spec = c.like(spec)
	}
	where := of.place
	if c.isolated() {
		if spec.Room, where, err = c.isolate(ctx); err != nil {
			return fleet.Begun{}, fmt.Errorf("it cannot have a worktree of its own: %w", err)
		}
	}
	r, err := where.Start(ctx, spec)
	if err != nil {
		if spec.Room != nil {
			err = errors.Join(err, where.Close())
			_, lost := spec.Room.Leave(context.WithoutCancel(ctx))
			err = errors.Join(err, lost)
		}
		return fleet.Begun{}, err
	}
	t := r.Target()
	return fleet.Begun{Session: r.ID, Agent: c.agent, Model: t.ID(), Effort: string(t.Effort), After: r.After, Worktree: worktree(spec.Room, "")}, nil
}

// crew is the tree as the session sees it. A child is in that of the session which started it.
func (r *Running) crew() fleet.Crew {
	if c := r.spec.Child; c != nil {
		r.tree = c.Of.tree
	} else {
		r.tree = fleet.New(hosting{r.place.process}, r.near(), r.ID, func() fleet.Bounds { return bounds(r.place.Config()) }, time.Now)
	}
	r.flows = r.newFlows()
	starts := func(kind string) (string, bool) { return r.plan(r.place.Config()).Starts(kind) }
	return fleet.Crew{Tree: r.tree, Of: r.ID, Known: r.startable, Starts: starts, Asker: fanout{r}, Merge: r.merger(), Background: func() fleet.Background {
		return fleet.Background(r.place.Config().Agents.Background)
	}}
}

// startable are the definitions that models of the session can start agents by: none that a rule denies.
func (r *Running) startable() []ext.Agent {
	rules := settings.ReadingRules(r.place.Config(), r.place.Paths)
	return slices.DeleteFunc(r.ext.Agents(), func(a ext.Agent) bool { return rules.DeniesAgent(a.Name) })
}

// bounds are those of a tree with these settings.
func bounds(cfg *config.Config) fleet.Bounds {
	b := fleet.Usual
	if n := cfg.Agents.MaxAlive; n > 0 {
		b.Alive = min(n, fleet.MaxAlive)
	}
	return b
}

// recall has the tree and the model know the agents of earlier processes.
func (r *Running) recall() {
	var list []fleet.Member
	st := r.State()
	for _, a := range st.Agents {
		if a.Agent == nil {
			continue
		}
		if a.End == nil || a.End.Killed != "" { // what it cost is not all known here
			for _, e := range sessions.In(r.place.Paths.State).Owed(context.Background(), r.log.Info(), a) {
				_ = r.Report(e) // a session that cannot record it says so itself
			}
		}
		m := fleet.Member{Agent: *a.Agent, Title: a.Text, Begun: fleet.Begun{Session: a.Session, Agent: *a.Agent, Model: a.Model, Worktree: a.Worktree}, Status: event.TaskLost, Ends: a.N}
		m.Order = fleet.Order{Type: a.Agent.Type, Name: a.Agent.Name, Call: a.Call, Fork: fleet.IsFork(*a.Agent), Run: a.Run, Phase: a.Phase}
		if a.End != nil {
			m.Status, m.Text, m.Tally, m.Doubt, m.Left = cmp.Or(a.End.Status, event.TaskLost), a.End.Text, a.End.Tally, a.End.Doubt, a.End.Worktree
		}
		list = append(list, m)
	}
	depth := 1
	if c := r.spec.Child; c != nil {
		depth = c.Order.Depth + 1
	}
	fresh := r.tree.Restore(r.ID, depth, list)
	if r.spec.Child == nil {
		var names []string
		for _, m := range list {
			names = append(names, m.ID, m.Name)
		}
		for _, name := range r.State().List.Left(names) {
			r.leave(name)
		}
	}
	if r.spec.Child == nil || len(fresh) > 0 {
		r.resumedWith(fresh)
	}
}

// leave has an agent that has ended leave the list of what is to be done.
func (r *Running) leave(agent string) {
	_, _ = r.root().Session.ChangeList(context.Background(), fleet.Change{Leave: agent}) // a log that cannot be written says so with the next turn
}

// parent is the ID of the session that started this one, "" for none.
func (r *Running) parent() string {
	if r.spec.Child == nil {
		return ""
	}
	return r.spec.Child.Of.ID
}

// eldest is the ID of the session at the root of the tree, "" where that is this one.
func (r *Running) eldest() string {
	if top := r.root(); top != r {
		return top.ID
	}
	return ""
}

// root is the session at the root of the tree.
func (r *Running) root() *Running {
	for r.spec.Child != nil {
		r = r.spec.Child.Of
	}
	return r
}

// who is the agent that the session is for another one.
func (r *Running) who() (w ext.Who) {
	if c := r.spec.Child; c != nil {
		w.ID, w.Type = c.agent.ID, cmp.Or(c.agent.Type, "general-purpose")
		w.Name = c.agent.Name
	}
	return w
}

// budget is that of a child: what the tree may still cost, and what it may cost itself.
func (c *Child) budget(b agent.Budget) agent.Budget {
	outer := c.Of.Bounded(c.Of.budget(c.Of.place.Config()))
	outer.Bill = func(e event.Spent) error {
		e.For, e.Agent = event.ForAgent, c.agent.ID
		_ = c.Of.Report(e) // a session that cannot record it says so itself, and the agent's log has it
		return nil
	}
	b.USD, b.Unpriced = c.Order.USD, b.Unpriced && outer.Unpriced
	b.Outer = &outer
	b.Made = func() int { return c.made() }
	return b
}

// above puts a question of a child to the people of the session that started it.
func (c *Child) above(ctx context.Context, q event.Asked) (op.Answer, error) {
	q.Call = c.agent.ID + "/" + q.Call
	if q.Agent == nil {
		q.Agent = &c.agent
	}
	return c.Of.Session.Relay(ctx, q)
}

// model is that of a child: what the call or the definition names, or that of the session
// which started it, as that thinks now. A definition may name a model that nobody has here.
func (c *Child) model(ctx context.Context, m *models.Set, name string) (models.Target, error) {
	of := c.Of.Target()
	if name = m.Meant(ctx, name, of.ID()); name != "" {
		t, err := m.Named(ctx, name)
		if err == nil || c.Order.Model != "" {
			t.Effort, t.Thinking = of.Effort, of.Thinking
			return t, err
		}
		_ = c.Of.Report(event.Noted{Level: "warning", Text: agents.Without(c.agent.Type, err)}) // a session that cannot write says so itself
	}
	t, err := m.Named(ctx, of.Wished())
	t.Effort, t.Thinking = of.Effort, of.Thinking
	return t, err
}

// equipAgent has the MCP servers there that the definition of a child names.
func (r *Running) equipAgent(ctx context.Context) error {
	c := r.spec.Child
	if c == nil {
		return nil
	}
	var of *ext.Session
	if c.Order.Fork {
		of = c.Of.ext
	}
	bad, err := r.ext.Equip(ctx, of)
	for _, text := range bad {
		r.place.process.Notef("%s", text)
	}
	return err
}

// granted are the rules that people gave the session that started a child: they hold for
// it, too.
func (c *Child) granted() []policy.Rule {
	return slices.DeleteFunc(c.Of.Session.Rules().List, func(x policy.Rule) bool { return x.Scope != policy.Session })
}

// TaskOutput is the end of what a task in the background wrote, at most max bytes, and how
// much it wrote in all. The error says that there is no such task.
func (r *Running) TaskOutput(id string, max int) (b []byte, total int64, err error) {
	return r.kit.Beside.Tail(id, max)
}

// StopAgents stops every agent of the session's tree, and does not wait until they have ended.
func (r *Running) StopAgents() { r.tree.StopAll("interrupted") }

// endAgents ends every agent of the session, and says for a person which ended.
func (r *Running) endAgents() {
	works := slices.DeleteFunc(r.tree.List(r.ID), func(m fleet.Member) bool { return !m.Works() })
	runs := r.flows.Works()
	if r.spec.Child == nil {
		r.flows.Close()
		r.tree.Close()
	}
	if len(runs) > 0 {
		r.place.process.Notef("ended workflows that ran: %s", clip.Line(strings.Join(runs, ", "), 500))
	}
	for _, m := range works {
		r.tree.Stop(m.ID, "the session ended")
	}
	if len(works) > 0 && r.spec.Child == nil {
		var names []string
		for _, m := range works {
			names = append(names, m.Label())
		}
		r.place.process.Notef("ended agents that worked: %s", clip.Line(strings.Join(names, ", "), 500))
	}
}
