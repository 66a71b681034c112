package workflow

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/js"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/pattern"
)

//go:embed prelude.js
var prelude string

// Bounds of a run.
const (
	MaxAgents = 1000 // that it starts, with those of workflows within it
	Large     = 25   // agents from which on a person is told that the run is large
	maxPrompt = 100_000
	maxLabel  = 100
	maxLogs   = 2000
)

// machine is what a script may take: it coordinates, and computes little.
var machine = js.Bounds{Memory: 64 << 20, Time: time.Minute}

// AtOnce is how many agents of a run work at the same time on a machine like this one.
func AtOnce() int { return max(1, min(16, runtime.NumCPU()-2)) }

// A Call is a call of agent(), in the order in which a run made them.
type Call struct {
	Index     int             `json:"index"`
	Prompt    string          `json:"prompt"`
	Label     string          `json:"label,omitempty"`
	Phase     string          `json:"phase,omitempty"`
	Model     string          `json:"model,omitempty"`
	Effort    string          `json:"effort,omitempty"`
	Type      string          `json:"agentType,omitempty"`
	Isolation string          `json:"isolation,omitempty"`
	Schema    json.RawMessage `json:"schema,omitempty"`
	Within    string          `json:"within,omitempty"` // the workflow within the run that made it, "" for the run's own script
}

// Title is what a person reads of a call.
func (c Call) Title() string { return cmp.Or(c.Label, clip.Line(clip.Visible(c.Prompt), 60)) }

// An Outcome is what became of a call.
type Outcome struct {
	Agent  string          `json:"agent,omitempty"` // the ID of the agent, "" when none was started
	Status string          `json:"status"`          // Completed, or how else it ended
	Value  json.RawMessage `json:"value,omitempty"` // what agent() returns, nil for null
	Err    string          `json:"error,omitempty"` // why it returns null, or what it throws
	Throws bool            `json:"throws,omitempty"`
	Left   string          `json:"left,omitempty"` // where the work is that it left in a worktree of its own
	Ran    string          `json:"ran,omitempty"`  // the model that it asked
	Out    int             `json:"out,omitempty"`  // tokens that its model wrote
}

// Completed is the status of a call that returns what its agent said.
const Completed = "completed"

// A Config is a run.
type Config struct {
	Script Script
	Args   json.RawMessage // nil: undefined
	// Agent runs an agent to its end. It is called by several goroutines, at most AtOnce
	// at a time, and returns soon after ctx has ended.
	Agent  func(ctx context.Context, c Call) Outcome
	AtOnce int // 0 is AtOnce()
	// Find is the workflow that a script names; nil: it can run none.
	Find func(name, path string) (Script, error)
	// Total is a bound on the tokens that models write, 0 for none, and Before how many they
	// wrote before the run.
	Total, Before int
	// Earlier is the journal of the run that this one goes on from.
	Earlier []Entry
	// Tell hears what happens, in order.
	Tell func(Event)
}

// An Event is what happens in a run: Began, Ended, Entered or Said.
type Event interface{ event() }

type (
	// Began: a call was made. Its agent may have to wait.
	Began struct{ Call }
	// Ended: a call has ended. Again: what it returns stood in the journal.
	Ended struct {
		Call
		Outcome
		Again bool
	}
	// Entered: a phase began.
	Entered struct{ Title string }
	// Said is a line for people: the script's own, or (Warning) about what it does.
	Said struct {
		Text    string
		Warning bool
	}
)

func (Began) event()   {}
func (Ended) event()   {}
func (Entered) event() {}
func (Said) event()    {}

// A Result is what a run came to.
type Result struct {
	Value json.RawMessage // JSON; nil when it failed or was stopped
	Err   error           // what the script threw, or what ended it
	Calls []Ended         // in the order of the calls
}

// A run is a run of a script, while it runs. One goroutine has it.
type run struct {
	Config
	vm      *js.VM
	ctx     context.Context
	ended   chan finished // of calls that agents work on
	calls   []*call
	queue   []*call // that wait for their turn
	working int
	scripts []nested       // the run's own first
	due     []func() error // what is to be done before agents are waited for
	replay  replay
	spent   int
	logs    int
	done    bool
	result  Result
}

type call struct {
	Call
	id     int // of the promise
	key    string
	cached *Entry
	over   bool
}

type finished struct {
	call *call
	Outcome
}

// nested is a script of a run.
type nested struct {
	name  string
	phase string // in which calls are now
	id    int    // of the promise that waits for it
}

// load is a workflow that is to be run within another.
type load struct {
	id         int
	name, path string
	args       json.RawMessage
	script     int
}

// Run runs a script to its end, and until all of its agents have ended. ctx stops it.
func Run(ctx context.Context, c Config) Result {
	c.AtOnce = cmp.Or(c.AtOnce, AtOnce())
	within, stop := context.WithCancel(ctx)
	defer stop()
	r := &run{Config: c, ctx: within, ended: make(chan finished), scripts: []nested{{name: c.Script.Name}}, replay: newReplay(c.Earlier)}
	err := r.play()
	switch {
	case ctx.Err() != nil:
		r.result = Result{Err: context.Cause(ctx)}
	case err != nil:
		r.result = Result{Err: err}
	}
	stop() // agents that the script did not wait for
	r.queue = nil
	for r.working > 0 {
		r.over(<-r.ended)
	}
	for _, x := range r.calls {
		if !x.over {
			r.end(x, Outcome{Status: "stopped", Err: "the run ended before its turn came"}, false)
		}
	}
	order.By(r.result.Calls, func(a, b Ended) int { return a.Index - b.Index })
	return r.result
}

// play runs the script until it has returned or thrown.
func (r *run) play() (err error) {
	if r.vm, err = js.New(r.ctx, machine, r.host); err != nil {
		return err
	}
	defer r.vm.Close()
	if err := r.vm.Eval(r.ctx, prelude, "adze:prelude"); err != nil {
		return err
	}
	if err := r.vm.Eval(r.ctx, r.Script.program(0, r.Total, r.Args), r.Script.called()); err != nil {
		return err
	}
	for !r.done {
		r.start()
		if err := r.step(); err != nil {
			return err
		}
	}
	return nil
}

// step has the script go on with one thing that it waits for.
func (r *run) step() error {
	if len(r.due) > 0 {
		do := r.due[0]
		r.due = r.due[1:]
		return do()
	}
	if x := r.replay.next(r.calls); x != nil {
		out := x.cached.Outcome
		out.Out = 0
		r.end(x, out, true)
		return r.settle(x.id, out)
	}
	if r.working == 0 {
		return errors.New("the script waits for something that never comes")
	}
	select {
	case f := <-r.ended:
		r.over(f)
		return r.settle(f.call.id, f.Outcome)
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// start gives calls that wait to agents, as many as may work at once.
func (r *run) start() {
	for len(r.queue) > 0 && r.working < r.AtOnce {
		x := r.queue[0]
		r.queue = r.queue[1:]
		r.working++
		go func() { r.ended <- finished{x, r.Agent(r.ctx, x.Call)} }() // Run takes what it sends
	}
}

// over takes what an agent came to.
func (r *run) over(f finished) {
	r.working--
	r.spent += f.Out
	r.end(f.call, f.Outcome, false)
}

func (r *run) end(x *call, out Outcome, again bool) {
	x.over = true
	e := Ended{x.Call, out, again}
	r.result.Calls = append(r.result.Calls, e)
	r.Tell(e)
}

// settle answers a promise of a script.
func (r *run) settle(id int, out Outcome) error {
	how, value := "return", string(out.Value)
	switch {
	case out.Throws:
		how, value = "throw", quoted(out.Err)
	case out.Status != Completed || value == "":
		value = "null"
	}
	return r.vm.Call(r.ctx, "__settle", fmt.Sprint(id), how, value)
}

func quoted(s string) string {
	out, _ := json.Marshal(s) // a text always has a form
	return string(out)
}

// load begins a workflow within another.
func (r *run) load(l load) error {
	s, err := r.find(l)
	if err == nil {
		r.scripts = append(r.scripts, nested{name: s.Name, id: l.id})
		var syntax *js.Error
		if err = r.vm.Eval(r.ctx, s.program(len(r.scripts)-1, r.Total, l.args), s.called()); !errors.As(err, &syntax) {
			return err
		}
	}
	return r.settle(l.id, Outcome{Throws: true, Err: err.Error()})
}

func (r *run) find(l load) (Script, error) {
	switch {
	case l.script != 0:
		return Script{}, errors.New("a workflow within a workflow runs no other workflow")
	case r.Find == nil:
		return Script{}, errors.New("no other workflows can be run here")
	}
	return r.Find(l.name, l.path)
}

// called is how a script is called where its lines are named.
func (s Script) called() string { return s.Name + ".js" }

// program is what runs: the body of a script as a function of what it has.
func (s Script) program(script, total int, args json.RawMessage) string {
	budget := "null"
	if total > 0 {
		budget = fmt.Sprint(total)
	}
	given := "undefined"
	if args != nil {
		given = "JSON.parse(" + quoted(string(args)) + ")"
	}
	return fmt.Sprintf("__workflow.run(%d, %s, %s, async function (agent, parallel, pipeline, phase, log, budget, workflow, args) { return await (async () => {%s\n})() })", script, budget, given, s.body)
}

// Check reports what is wrong with the language of a script, without running it.
func (s Script) Check(ctx context.Context) error {
	vm, err := js.New(ctx, machine, nil)
	if err != nil {
		return err
	}
	defer vm.Close()
	err = vm.Compile(ctx, s.program(0, 0, nil), s.called())
	var wrong *js.Error
	if errors.As(err, &wrong) {
		if at := inStack().FindString(wrong.Stack); at != "" {
			return fmt.Errorf("%w (%s)", err, at)
		}
	}
	return err
}

// inStack finds a line of a script in the stack of an error.
var inStack = pattern.Lazy(`[\w-]+\.js:\d+`)

// host answers what scripts ask at once.
func (r *run) host(op, arg string) string {
	value, err := r.answer(op, []byte(arg))
	if err != nil {
		return `{"error":` + quoted(err.Error()) + `}`
	}
	if value == "" {
		return "{}"
	}
	return `{"value":` + value + `}`
}

func (r *run) answer(op string, arg []byte) (value string, err error) {
	var in struct {
		ID         int             `json:"id"`
		Script     int             `json:"script"`
		Title      string          `json:"title"`
		Text       string          `json:"text"`
		Name       string          `json:"name"`
		ScriptPath string          `json:"scriptPath"`
		Args       json.RawMessage `json:"args"`
		How        string          `json:"how"`
		Value      json.RawMessage `json:"value"`
	}
	if op == "agent" {
		return "", r.agent(arg)
	}
	if err := fastjson.Unmarshal(arg, &in); err != nil {
		return "", err
	}
	switch op {
	case "spent":
		return fmt.Sprint(r.Before + r.spent), nil
	case "log", "dropped":
		r.say(in.Text, op == "dropped")
	case "phase":
		title := clip.Line(clip.Visible(in.Title), maxLabel)
		r.scripts[in.Script].phase = title
		r.Tell(Entered{title})
	case "workflow":
		l := load{in.ID, in.Name, in.ScriptPath, in.Args, in.Script}
		r.due = append(r.due, func() error { return r.load(l) })
	case "done":
		return "", r.returned(in.Script, in.How, in.Value)
	}
	return "", nil
}

// say tells people a line, as long as there are not too many.
func (r *run) say(text string, warning bool) {
	if r.logs++; r.logs > maxLogs {
		return
	}
	r.Tell(Said{clip.Line(clip.Visible(text), 500), warning})
	if r.logs == maxLogs {
		r.Tell(Said{"the script said more than 2,000 lines: no more of them are told", true})
	}
}

// returned takes what a script came to.
func (r *run) returned(script int, how string, value json.RawMessage) error {
	var thrown string
	if how == "throw" {
		if err := json.Unmarshal(value, &thrown); err != nil {
			return err
		}
	}
	if script > 0 {
		out := Outcome{Status: Completed, Value: value, Err: thrown, Throws: how == "throw"}
		r.due = append(r.due, func() error { return r.settle(r.scripts[script].id, out) })
		return nil
	}
	r.done = true
	r.result.Value = value
	if how == "throw" {
		r.result.Value, r.result.Err = nil, errors.New(thrown)
	}
	return nil
}

// agent takes a call of agent().
func (r *run) agent(arg []byte) error {
	var in struct {
		Call
		Effort any `json:"effort"`
		ID     int `json:"id"`
		Script int `json:"script"`
	}
	if err := fastjson.Unmarshal(arg, &in); err != nil {
		return fmt.Errorf("agent(): %w", fastjson.InWords(err))
	}
	if string(in.Schema) == "null" {
		in.Schema = nil
	}
	if in.Effort != nil {
		in.Call.Effort = fmt.Sprint(in.Effort)
	}
	in.Index, in.Within = len(r.calls), ""
	if in.Script > 0 {
		in.Within = r.scripts[in.Script].name
	}
	in.Phase = clip.Line(clip.Visible(cmp.Or(in.Phase, r.scripts[in.Script].phase)), maxLabel)
	in.Label = clip.Line(clip.Visible(in.Label), maxLabel)
	switch err := in.Call.check(); {
	case err != nil:
		return fmt.Errorf("agent(): %w", err)
	case len(r.calls) >= MaxAgents:
		return fmt.Errorf("agent(): the run has started %d agents, and no more may be", MaxAgents)
	case r.Total > 0 && r.Before+r.spent >= r.Total:
		return fmt.Errorf("agent(): the budget of %s tokens is used up", clip.Thousands(r.Total))
	}
	for _, name := range unknown(arg) {
		r.say(fmt.Sprintf("agent(): there is no option %q, and it has no effect", name), true)
	}
	x := &call{Call: in.Call, id: in.ID, key: in.Call.key()}
	r.calls = append(r.calls, x)
	if len(r.calls) == Large+1 {
		r.say(fmt.Sprintf("this run has started more than %d agents", Large), true)
	}
	r.Tell(Began{x.Call})
	if x.cached = r.replay.of(x.Index, x.key); x.cached == nil {
		r.queue = append(r.queue, x)
	}
	return nil
}

// unknown are the options of a call that agent() does not have.
func unknown(arg []byte) (out []string) {
	for _, name := range fastjson.Names(arg) {
		if !slices.Contains([]string{"id", "script", "prompt", "schema", "label", "phase", "model", "effort", "agentType", "isolation"}, name) {
			out = append(out, clip.Line(clip.Visible(name), 40))
		}
	}
	return out
}

// check reports what is wrong with a call, before an agent is started for it.
func (c Call) check() error {
	switch {
	case len(c.Prompt) > maxPrompt:
		return fmt.Errorf("the prompt has %d bytes; at most %d", len(c.Prompt), maxPrompt)
	case c.Effort != "" && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, c.Effort):
		return fmt.Errorf("effort is %q; it is low, medium, high, xhigh or max", clip.Visible(c.Effort))
	case c.Isolation != "" && c.Isolation != "worktree":
		return fmt.Errorf("isolation is %q; it can only be worktree", clip.Visible(c.Isolation))
	case c.Schema == nil:
		return nil
	}
	return checkSchema(c.Schema)
}
