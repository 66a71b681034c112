// Package hooks joins the hooks of a session to it: it puts what happens into the
// words that hooks read, and what they say into rulings, notes and refusals of
// the session's. It runs none of them (hookrun does), and what their answers mean
// together is package hook's to say.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hookrun"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// Times.
const (
	// startWait is how long a first prompt waits for what hooks say of a session's
	// start; what comes later, the model reads after its next step.
	startWait = time.Second
	// idleAfter is how long nobody answers before hooks are told so.
	idleAfter = time.Minute
)

// A Config is what the hooks of one session are told besides what happens.
type Config struct {
	Version string // of adze
	Session string
	// Transcript is the file with what happened by now, "" when there is none. It is asked
	// before hooks run. nil: there is none.
	Transcript func() string
	Source     string // startup, resume, clear or fork
	Setup      string // init or maintenance: what a person asked for with the start, "" for nothing
	Project    string // the root of the repository, or the folder it works in
	Dir        string // that it begins in
	Temp       string // a folder for temporary files
	Main       string // the agent that the session is, "" for the usual one
	// Who is set where the session works for another one, whose ID Of is: its hooks hear of an agent
	// of that session.
	Who Who
	Of  string
	// Team is the name of the team that the agents of that session are; nil: they have none.
	Team func() string
	// Environ is what commands may inherit, and the names that pass to them.
	Environ func() (environ, allow []string)
	// Ask puts a question to a model, by name or "" for the small one.
	Ask func(ctx context.Context, model, question string) (answer string, spent event.Spent, err error)
	// Agent and Tool are as in hookrun.Config.
	Agent func(ctx context.Context, model, question string) (answer string, err error)
	Tool  func(ctx context.Context, server, tool string, input json.RawMessage) (text string, err error)
	// Confine is as in hookrun.Config.
	Confine func(c *proc.Command) error
	// Reload has skills looked for anew; nil: there are none.
	Reload func()
	// Callback asks the program that drives adze; nil: there is none.
	Callback func(ctx context.Context, id string, input json.RawMessage, call string) (json.RawMessage, error)
	// Defers: whoever drives adze can take the session up again, so that a hook may
	// put a call off.
	Defers bool
	// Root is the session at the root of those that work together, which has the list of
	// what is to be done.
	Root func() *session.Session
	// Rules are those in force, whose folders the rules of hooks count from.
	Rules func() policy.Rules
}

// A Gate is the hooks of a session, as it sees them. Nothing is asked before
// Attach. It implements session.Hooks.
type Gate struct {
	conf  Config
	run   *hookrun.Runner
	ready chan struct{} // closed by Attach
	s     *session.Session
	began chan struct{} // closed when the hooks of the start have answered
	start hook.Answer   // of theirs, once began is closed
	first []string      // what they have for the model, likewise
	end   context.CancelFunc
	wg    sync.WaitGroup
	hears sync.WaitGroup // what Hears began
	looks sync.Mutex     // held while what is watched is chosen anew; before mu

	mu     sync.Mutex // guards what follows
	prompt string     // the newest one's ID
	told   bool       // what start says was given to the model
	base   hook.Set
	lent   []*lending      // besides base
	watch  *watcher        // nil: no file is watched
	paths  []string        // of files that hooks want watched
	at     string          // the folder that commands run in, "" for the first
	life   context.Context // of what Attach began; nil before
	dead   bool            // nothing begins any more
	failed map[string]bool
	heard  event.Seq     // up to where hooks that can only hear have heard; everything without such hooks
	step   chan struct{} // closed when that is another, and made anew
	ending bool          // Close was called: nobody may look at the session any more
	last   []string      // what people are told since
}

// New makes the hooks of a session that is not there yet.
func New(c Config) *Gate {
	g := &Gate{conf: c, ready: make(chan struct{}), began: make(chan struct{}), step: make(chan struct{}), failed: map[string]bool{}}
	g.run = hookrun.New(hookrun.Config{
		Environ: func(more ...string) []string {
			environ, allow := c.Environ()
			return proc.Scrub(environ, append(allow, more...))
		},
		Project: c.Project, Dir: c.Dir, Temp: c.Temp,
		Version: c.Version, Transcript: c.Transcript, Ask: c.Ask, Agent: c.Agent, Tool: c.Tool, Callback: c.Callback, Confine: c.Confine, Now: time.Now,
		Tell:  func(b event.Body) { _ = g.s.Report(b) }, // a session that has ended needs none
		Later: g.later,
	})
	return g
}

// Use has these hooks run from the next event on.
func (g *Gate) Use(s hook.Set) {
	g.mu.Lock()
	g.base = s
	g.join()
	g.mu.Unlock()
	g.joined()
}

// Env is what hooks set for commands: NAME=value.
func (g *Gate) Env() []string { return g.run.Env() }

// later takes what a hook says that nobody waited for.
func (g *Gate) later(text string, wake bool) {
	if wake {
		_ = g.s.Submit(context.Background(), op.Notify{
			Text: "A hook that ran in the background says:\n" + clip.Middle(text, hook.MaxText, ""), Wake: "a hook that ran in the background asked for it (asyncRewake)",
		})
		return
	}
	_ = g.s.Note("A hook that ran in the background says:\n" + text)
}

// Attach hands over the session, and tells its hooks that it begins. Close ends
// what Attach began.
func (g *Gate) Attach(s *session.Session, after event.Seq) {
	g.s = s
	close(g.ready)
	ctx, end := context.WithCancel(context.Background())
	g.end = end
	g.mu.Lock()
	g.life = ctx
	g.mu.Unlock()
	g.wg.Go(func() {
		defer close(g.began)
		g.moved(s.State().Dir)
		var first []string
		if g.conf.Setup != "" && g.Hooked(hook.Setup) {
			first = told(hook.Setup, g.Hook(ctx, hook.SetupInput{Trigger: g.conf.Setup}, nil).Context)
		}
		switch {
		case g.conf.Of != "":
			first = append(first, g.Begins(ctx, g.conf.Who)...)
		case g.Hooked(hook.SessionStart):
			st := s.State()
			g.start = g.Hook(ctx, hook.SessionStartInput{Source: g.conf.Source, Model: s.Target().ID(), Title: st.Title}, nil)
			first = append(first, told(hook.SessionStart, g.start.Context)...)
			if g.start.First != "" {
				_ = s.Submit(ctx, op.Prompt{Text: g.start.First}) // a session that has ended needs none
			}
		}
		g.first = first
	})
	g.wg.Go(func() { g.follow(ctx, after) })
}

// Close tells hooks that the session ends, and why. It ends those that nobody
// waits for. What it returns is for people, who may have left the session by now:
// which hooks did not answer meanwhile, or too late.
func (g *Gate) Close(why hook.Ending) (last []string) {
	if g.s == nil {
		return nil
	}
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	if g.conf.Of == "" && g.Hooked(hook.SessionEnd) {
		g.Hook(context.Background(), hook.SessionEndInput{Reason: why}, nil)
	}
	select {
	case <-g.began:
	default:
		if g.gaveUp() {
			g.once("the hooks of the session's start (SessionStart, Setup) still ran when it ended: what they would have said was not used")
		}
	}
	g.unwatch()
	g.end()
	g.wg.Wait()
	g.run.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// gaveUp reports whether a prompt went to the model without what hooks of the start say.
func (g *Gate) gaveUp() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.told
}

// Hooked implements agent.Host.
func (g *Gate) Hooked(e hook.Event) bool {
	if e == hook.Stop && g.conf.Of != "" {
		return g.run.Any(hook.SubagentStop) || g.member() && g.run.Any(hook.TeammateIdle)
	}
	return g.run.Any(e)
}

// Hook implements agent.Host.
func (g *Gate) Hook(ctx context.Context, in hook.Input, actions []policy.Action) (out hook.Answer) {
	<-g.ready
	if stop, ok := in.(hook.StopInput); ok {
		defer func() { out = g.idle(ctx, out) }()
		stop.Tasks = tasks(g.s.State().Background)
		in = stop
		if g.conf.Of != "" {
			in = hook.SubagentStopInput{StopInput: stop, ID: g.conf.Who.ID, Type: g.conf.Who.Type, Transcript: g.transcript()}
		}
	}
	a := g.run.Fire(ctx, g.common(ctx), in, hook.Scene{Actions: actions, Rules: g.conf.Rules()})
	for _, s := range a.System {
		g.says(s)
	}
	for _, s := range slices.Concat(a.Failed, a.Unheard) {
		g.once(s)
	}
	if a.Reload && g.conf.Reload != nil {
		g.conf.Reload()
	}
	if a.Watch != nil {
		g.look(a.Watch)
	}
	if in, ok := in.(hook.CwdInput); ok && ctx.Value(whoKey{}) == nil { // not where an agent works
		g.moved(in.New)
	}
	if a.Title != "" {
		_ = g.s.Entitle(context.WithoutCancel(ctx), clip.Line(a.Title, 200), event.Spent{}) // a session that cannot write says so itself
	}
	return a
}

// common is what every hook is told.
func (g *Gate) common(ctx context.Context) hook.Common {
	st, target := g.s.State(), g.s.Target()
	g.mu.Lock()
	defer g.mu.Unlock()
	c := hook.Common{Session: cmp.Or(g.conf.Of, g.conf.Session), Prompt: g.prompt, Dir: cmp.Or(st.Dir, g.conf.Dir), Mode: string(g.s.Mode()), Agent: g.conf.Who.ID, AgentType: g.conf.Main}
	if who, ok := ctx.Value(whoKey{}).(Who); ok {
		c.Agent, c.AgentType = who.ID, who.Type
	}
	if target.Effort != "" {
		c.Effort = &hook.Level{Level: string(target.Effort)}
	}
	return c
}

func tasks(running map[string]event.TaskStarted) []hook.Task {
	out := []hook.Task{}
	for id, t := range running {
		x := hook.Task{ID: id, Type: t.Kind, Status: "running", Description: t.Text}
		switch t.Kind {
		case event.TaskShell:
			x.Command = t.Text
		case event.TaskAgent:
			x.Type = "subagent"
			if t.Agent != nil {
				x.Agent = cmp.Or(t.Agent.Type, "general-purpose")
			}
		}
		out = append(out, x)
	}
	order.By(out, func(a, b hook.Task) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Prompt implements session.Hooks.
func (g *Gate) Prompt(ctx context.Context, p event.InputQueued) (session.Admission, error) {
	<-g.ready
	g.mu.Lock()
	g.prompt = p.ID
	g.mu.Unlock()
	said := g.opening(ctx)
	if p.From != nil { // no person said it
		return session.Admission{Context: said}, nil
	}
	a := g.Hook(ctx, hook.PromptInput{Text: p.Text}, nil)
	switch {
	case a.Stop:
		return session.Admission{Refused: whyEnded(a)}, nil
	case a.Block:
		return session.Admission{Refused: a.Reason}, nil
	}
	return session.Admission{Context: append(said, told(hook.UserPromptSubmit, a.Context)...)}, nil
}

// Began is closed when the hooks of the session's start have answered.
func (g *Gate) Began() <-chan struct{} { return g.began }

// opening is what hooks of the session's start have for the model, once. Those of
// a setup that a person asked for are waited for.
func (g *Gate) opening(ctx context.Context) []string {
	wait := startWait
	if g.conf.Setup != "" {
		wait = hook.DefaultTimeout
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-g.began:
	case <-timer.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.told {
		return nil
	}
	g.told = true
	select {
	case <-g.began:
		return g.first
	default:
	}
	g.wg.Go(func() { // ends with them, which Close sees to
		<-g.began
		for _, s := range g.first {
			_ = g.s.Note(s) // a session that has ended needs none
		}
	})
	return nil
}

// say gives the model what hooks have for it.
func (g *Gate) say(e hook.Event, a hook.Answer) {
	for _, s := range told(e, a.Context) {
		_ = g.s.Note(s) // a session that has ended needs none
	}
}

// told marks what the model is told by hooks.
func told(e hook.Event, texts []string) (out []string) {
	for _, s := range texts {
		out = append(out, fmt.Sprintf("A %s hook says:\n%s", e, s))
	}
	return out
}

// Rule implements session.Hooks. Arguments that hooks wrote are shown to them
// once more, so that one that refuses sees what would run; what they would write
// then is left out.
func (g *Gate) Rule(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if v, over := g.tasks(ctx, q, v); over || !g.Hooked(hook.PreToolUse) {
		return v, ctx.Err()
	}
	a := g.Hook(ctx, hook.PreToolInput{Call: called(q)}, q.Plan.Actions)
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	for _, s := range a.Context {
		_ = g.s.Note("A PreToolUse hook says:\n" + s)
	}
	by := event.By{Kind: event.ByHook, Name: a.By}
	why := "the hook " + clip.Line(a.By, 80) + " says so"
	if reason := cmp.Or(a.PermissionReason, strings.Join(a.System, "\n")); reason != "" { // what it tells people is its reason, where it has no other
		why = reason + " (the hook " + clip.Line(a.By, 80) + ")"
	}
	switch {
	case a.Stop:
		v.Verdict, v.By, v.Ends = v.Denied(hook.Check, endedByHook), by, whyEnded(a)
		return v, nil
	case a.Permission == hook.Deny:
		v.Verdict, v.By = v.Denied(hook.Check, why), by
		return v, nil
	case a.Permission == hook.Defer:
		switch {
		case !g.conf.Defers || q.Alone == nil:
			g.once("a hook (" + a.By + ") wants to defer a call, which is there in print mode and for the session's own calls only: a person is asked")
			v.Verdict = asks(v.Verdict, why)
		case q.Alone():
			v.Defers = true
			return v, nil
		default:
			g.once("a hook (" + a.By + ") wants to defer one of several calls of a reply, which cannot be done: what the rules say of it counts")
		}
	case a.Permission == hook.Ask:
		v.Verdict = asks(v.Verdict, why)
	case a.Permission == hook.Allow && v.Effect == policy.Ask && liftable(v.Check):
		v.Verdict = policy.Verdict{Effect: policy.Allow, Reason: why, Part: v.Part, Needs: v.Needs}
		v.By = by
	}
	if a.Input != nil && (q.Rewritten == nil || q.Rewritten.Kind != event.ByHook) {
		v.By = event.By{Kind: event.ByHook, Name: strings.Join(a.Rewrote, ", ")}
		v.Effect, v.Answer = policy.Allow, &op.Answer{Call: q.Call.ID, Allow: true, Input: a.Input}
	}
	return v, nil
}

// asks is a verdict that a hook makes a question. A person's program wants a person to
// look, as a rule that asks does: no classifier and no other hook may settle that.
func asks(v policy.Verdict, why string) policy.Verdict {
	if v.Effect != policy.Ask || liftable(v.Check) {
		v.Check, v.Rule, v.Source = hook.Check, "", ""
	}
	v.Effect, v.Reason = policy.Ask, why
	return v
}

// liftable are the questions that a hook may answer with yes: those that a rule
// could. What protects files, secrets and the machine stays a person's.
func liftable(c policy.Check) bool {
	return slices.Contains([]policy.Check{
		policy.CheckWrite, policy.CheckNotReadOnly, policy.CheckNoRule, policy.CheckAuto, policy.CheckOutside, policy.CheckUnpinned, policy.CheckMaybe,
	}, c)
}

// standsIn reports whether all that is asked is what hooks may answer in a person's
// stead.
func standsIn(q agent.Question, v agent.Verdict) bool {
	return v.Check == policy.CheckPerson && !slices.ContainsFunc(q.Plan.Actions, func(a policy.Action) bool {
		p, ok := a.(policy.Person)
		return !ok || !p.Hooks
	})
}

func called(q agent.Question) hook.Call {
	return hook.Call{Tool: q.Tool, Input: q.Call.Input, ID: q.Call.ID}
}

// Asks implements session.Hooks.
func (g *Gate) Asks(ctx context.Context, q agent.Question, v agent.Verdict) (op.Answer, bool) {
	a := g.Hook(ctx, hook.PermissionInput{Call: called(q), Suggestions: suggestions(v.Suggest)}, q.Plan.Actions)
	g.say(hook.PermissionRequest, a)
	if a.Stop {
		a.Decision, a.Interrupt, a.Message = hook.Deny, true, whyEnded(a)
	}
	if a.Decision == "" || ctx.Err() != nil {
		return op.Answer{}, false
	}
	if a.Interrupt && a.Decision == hook.Deny {
		_ = g.s.Submit(ctx, op.Interrupt{}) // a turn that is over needs none
	}
	out := op.Answer{Call: q.Call.ID, Allow: a.Decision == hook.Allow, By: a.By, Comment: a.Message}
	if out.Allow && !liftable(v.Check) && !standsIn(q, v) {
		g.once("a hook (" + a.By + ") wants to allow what only a person may: " + v.Reason)
		return op.Answer{}, false
	}
	out.Input = a.Input
	g.grant(&out, a.Updates)
	return out, true
}

// Refused implements session.Hooks.
func (g *Gate) Refused(ctx context.Context, q agent.Question, v agent.Verdict) bool {
	a := g.Hook(ctx, hook.DeniedInput{Call: called(q), Reason: v.Reason}, q.Plan.Actions)
	g.say(hook.PermissionDenied, a)
	return a.Retry
}

// whyEnded is why a hook ended the turn.
func whyEnded(a hook.Answer) string { return cmp.Or(a.Why, endedByHook) }

const endedByHook = "a hook ended the turn"

var _ session.Hooks = (*Gate)(nil)
