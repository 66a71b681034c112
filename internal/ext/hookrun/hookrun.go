// Package hookrun runs hooks: as programs, as requests, as questions to a
// model, or through whoever drives adze. Which hooks an event has, and what
// their answers mean, package hook says. It decides nothing and knows no session.
package hookrun

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds.
const (
	maxAtOnce = 8
	maxOutput = 64 << 20 // bytes of what a hook prints: more than the arguments of a call, which a hook may print back
	maxErrors = 64 << 10
	maxRuns   = 20 // that are kept of an event
	maxStored = 20_000
	maxTold   = 2000 // characters of what a hook is asked, for people
)

// A Config is what hooks run with.
type Config struct {
	// Environ is what a command inherits, asked for before each, and these variables
	// besides.
	Environ func(more ...string) []string
	Project string // the folder that a session's paths count from
	// Dir is where commands run, wherever the session went: else a model that goes
	// elsewhere would choose which programs are found. "" is where the session is.
	Dir  string
	Temp string // a folder for the files that hooks write variables to
	// Confine puts a command into the sandbox, for hooks that are to run there. nil:
	// there is none.
	Confine func(c *proc.Command) error
	Version string // of adze, for the User-Agent of requests
	// Transcript is the file with what happened by now, asked when hooks of an event run.
	// nil: there is none.
	Transcript func() string
	// Ask puts a question to a model, by name or "" for the small one. nil: there
	// is none.
	Ask func(ctx context.Context, model, question string) (answer string, spent event.Spent, err error)
	// Agent has an agent that only reads answer a question, by model or "" for the
	// session's. nil: there is none.
	Agent func(ctx context.Context, model, question string) (answer string, err error)
	// Tool calls a tool of an MCP server that is connected, and returns what it says.
	// nil: there are none.
	Tool func(ctx context.Context, server, tool string, input json.RawMessage) (text string, err error)
	// Callback asks the program that drives adze; nil: there is none.
	Callback func(ctx context.Context, id string, input json.RawMessage, call string) (answer json.RawMessage, err error)
	// Tell is told of hooks that run and ran, and of what models cost. It may be
	// called by several goroutines.
	Tell func(event.Body)
	// Later is given what a hook says that nobody waited for: words for the
	// model, or, with wake, a prompt.
	Later func(text string, wake bool)
	Now   func() time.Time
}

// A Runner runs the hooks of a session.
type Runner struct {
	conf Config
	set  atomic.Pointer[hook.Set]
	life context.Context // of hooks that nobody waits for
	end  context.CancelFunc
	wg   sync.WaitGroup
	slot chan struct{}
	// commands is made by the first hook that is a command.
	commands func() *proc.Table
	web      *http.Client // follows no redirects: see post

	started atomic.Bool // a command was

	mu     sync.Mutex      // guards what follows
	once   map[string]bool // hooks that ran, and what people were told
	runs   map[hook.Event][]Run
	env    []string // that hooks set for commands
	closed bool
	count  int
}

// A Run is one hook that ran.
type Run struct {
	Hook   hook.Hook
	Took   time.Duration
	Code   int
	Stdout string
	Stderr string
	Err    string
}

// New makes a runner of no hooks. Close ends it.
func New(c Config) *Runner {
	r := &Runner{conf: c, slot: make(chan struct{}, maxAtOnce), once: map[string]bool{}, runs: map[hook.Event][]Run{}}
	r.commands = sync.OnceValue(func() *proc.Table { return proc.New(proc.Config{Guardian: true}) })
	r.web = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r.life, r.end = context.WithCancel(context.Background())
	r.set.Store(&hook.Set{})
	return r
}

// Use has these hooks run from the next event on.
func (r *Runner) Use(s hook.Set) { r.set.Store(&s) }

// Set is the hooks that run.
func (r *Runner) Set() hook.Set { return *r.set.Load() }

// Any reports whether an event has hooks.
func (r *Runner) Any(e hook.Event) bool { return r.set.Load().Any(e) }

// Close ends hooks that nobody waits for, and waits until they are gone.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	r.wg.Wait()
	if r.started.Load() {
		r.commands().Close(proc.Grace)
	}
}

// Settle waits for hooks that nobody waits for, each of which ends by its own time,
// or until ctx ends. No event is to come any more.
func (r *Runner) Settle(ctx context.Context) {
	defer context.AfterFunc(ctx, r.end)()
	r.wg.Wait()
}

// Runs are the newest runs of an event, the oldest first.
func (r *Runner) Runs(e hook.Event) []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.runs[e])
}

// Env is what hooks set for the commands that follow: NAME=value.
func (r *Runner) Env() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.env)
}

// Fire runs the hooks of an event and returns what they say together. A hook
// that is async is started, and says nothing here. When ctx ends, those that are
// waited for are ended.
func (r *Runner) Fire(ctx context.Context, c hook.Common, in hook.Input, at hook.Scene) hook.Answer {
	at.Agent = c.Agent
	hooks := r.Set().Matching(in, at)
	if hooks = r.due(hooks); len(hooks) == 0 {
		return hook.Answer{}
	}
	if r.conf.Transcript != nil {
		c.Transcript = r.conf.Transcript()
	}
	text, err := hook.Encode(c, in)
	if err != nil {
		return hook.Answer{Failed: []string{err.Error()}}
	}
	q := question{common: c, in: in, text: text}
	answers := make([]hook.Answer, len(hooks))
	var wg sync.WaitGroup
	for i, h := range hooks {
		if h.Async || h.AsyncRewake {
			r.begin(h, q)
			continue
		}
		wg.Go(func() { _, answers[i] = r.run(ctx, h, q) })
	}
	wg.Wait()
	_, args := q.args()
	return hook.Merge(args, answers)
}

// A question is what the hooks of an event are asked.
type question struct {
	common hook.Common
	in     hook.Input
	text   []byte
}

// call is the call that the event is about, "" when it is about none.
func (q question) call() string {
	switch in := q.in.(type) {
	case hook.PreToolInput:
		return in.ID
	case hook.PostToolInput:
		return in.ID
	case hook.FailureInput:
		return in.ID
	case hook.PermissionInput:
		return in.ID
	default:
		return ""
	}
}

// own are the fields that the event has besides those of all, for people.
func (q question) own() string {
	text, err := json.Marshal(q.in)
	if err != nil {
		return ""
	}
	return clip.Middle(string(text), maxTold, "")
}

// args are the tool and the arguments that hooks may rewrite.
func (q question) args() (tool string, args json.RawMessage) {
	switch in := q.in.(type) {
	case hook.PreToolInput:
		return in.Tool, in.Input
	case hook.PermissionInput:
		return in.Tool, in.Input
	default:
		return "", nil
	}
}

// due leaves out hooks that ran and run once.
func (r *Runner) due(hooks []hook.Hook) []hook.Hook {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(hooks, func(h hook.Hook) bool {
		key := string(h.Event) + h.From + h.Name()
		done := h.Once && r.once[key]
		if h.Once {
			r.once[key] = true
		}
		return done
	})
}

// begin starts a hook that nobody waits for. It ends with the session.
func (r *Runner) begin(h hook.Hook, q question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.wg.Go(func() { r.heard(h, r.run, q) })
}

// heard gives on what a hook says that nobody waited for.
func (r *Runner) heard(h hook.Hook, run func(context.Context, hook.Hook, question) (hook.Ran, hook.Answer), q question) {
	ran, a := run(r.life, h, q)
	if ran.Interrupted {
		return
	}
	if h.AsyncRewake && ran.Err == nil && ran.Code == 2 {
		if h.RewakeSummary != "" {
			r.conf.Tell(event.Noted{Level: "info", Text: clip.Line(clip.Visible(h.RewakeSummary), 200), About: event.AboutHook})
		}
		r.conf.Later(strings.TrimPrefix(h.RewakeMessage+"\n", "\n")+ran.Stderr, true)
		return
	}
	for _, s := range a.Context {
		r.conf.Later(s, false)
	}
	for _, s := range a.System {
		r.conf.Tell(event.Noted{Level: "info", Text: s, About: event.AboutHook})
	}
	for _, s := range slices.Concat(a.Failed, a.Unheard) {
		r.conf.Tell(event.Noted{Level: "warning", Text: s})
	}
}

// run runs one hook, when there is a place for it, and reads what it says.
func (r *Runner) run(ctx context.Context, h hook.Hook, q question) (ran hook.Ran, a hook.Answer) {
	select {
	case r.slot <- struct{}{}:
		defer func() { <-r.slot }()
	case <-ctx.Done():
		ran = hook.Ran{Interrupted: true, Err: ctx.Err()}
		return ran, h.Read(ran)
	}
	return r.told(ctx, h, q, h.Timeout(), r.ask)
}

// told has a hook answer within a time, and tells people that it runs, and how it
// ended.
func (r *Runner) told(ctx context.Context, h hook.Hook, q question, limit time.Duration, ask func(context.Context, hook.Hook, question) hook.Ran) (ran hook.Ran, a hook.Answer) {
	id := r.number()
	r.conf.Tell(event.HookStarted{ID: id, Event: string(h.Event), Name: h.Name(), Status: h.Status, Call: q.call(), Input: q.own()})
	began := r.conf.Now()
	q.text = h.Spoken(q.text, began)
	within, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	ran = ask(within, h, q)
	cancel()
	ran.Took = r.conf.Now().Sub(began)
	if ran.Err != nil {
		if ran.Interrupted = ctx.Err() != nil; ran.Interrupted {
			ran.Err = errInterrupted
		}
		if context.Cause(within) == errTimeout {
			ran.Err = timedOut(limit)
		}
	}
	tool, args := q.args()
	a = h.Fit(h.Read(ran), tool, args)
	r.keep(h, q, ran)
	e := event.HookEnded{
		ID: id, Event: string(h.Event), Name: h.Name(), Code: ran.Code, Stdout: bounded(string(ran.Stdout)), Stderr: bounded(ran.Stderr), Took: ran.Took,
		Terminal: a.Terminal,
	}
	if a.Quiet {
		e.Stdout = ""
	}
	if ran.Err != nil {
		e.Err = ran.Err.Error()
	}
	r.conf.Tell(e)
	return ran, a
}

func (r *Runner) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	return r.count
}

// keep remembers a run for whoever looks what hooks did.
func (r *Runner) keep(h hook.Hook, q question, ran hook.Ran) {
	run := Run{Hook: h, Took: ran.Took, Code: ran.Code, Stdout: bounded(string(ran.Stdout)), Stderr: bounded(ran.Stderr)}
	if ran.Err != nil {
		run.Err = ran.Err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list := append(r.runs[h.Event], run)
	r.runs[h.Event] = slices.Clone(list[max(0, len(list)-maxRuns):])
}
