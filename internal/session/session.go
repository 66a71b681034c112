// Package session owns a conversation. One goroutine holds all its state and
// is the only writer of its log. It refuses to know files, processes and
// screens: everything it needs comes in through Config.
package session

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
)

// What a session may answer to an op, beside refusals that name what was asked
// for (see op.Code).
var (
	ErrIdle     error = &op.Refusal{Code: op.Idle, Text: "nothing is running"}
	ErrNoAsk    error = &op.Refusal{Code: op.NoQuestion, Text: "that question is not open"}
	ErrNoPrompt error = &op.Refusal{Code: op.NoPrompt, Text: "that prompt does not wait any more"}
	ErrClosed   error = &op.Refusal{Code: op.Closed, Text: "the session is closed"}
)

// leaveGrace is how long Close waits for calls that did not stop in time.
const leaveGrace = 2500 * time.Millisecond

// Hooks are a person's programs that look at what is about to happen. They are
// called on goroutines of the turn, may take their time, and end with ctx. An
// error is a refusal.
type Hooks interface {
	// Prompt is shown a prompt before the model is.
	Prompt(ctx context.Context, p event.InputQueued) (Admission, error)
	// Rule is shown a planned call that the rules do not refuse, with what they
	// say: an Allow, or an Ask. What it has nothing to say about it returns as it
	// came. It may refuse the call, ask, or write other arguments; only what the
	// rules ask about can it allow.
	Rule(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error)
	// Asks is shown a question before a person is. ok is false when it has no answer.
	Asks(ctx context.Context, q agent.Question, v agent.Verdict) (a op.Answer, ok bool)
	// Refused is shown a call that the classifier refused. again says that the
	// model may try it again.
	Refused(ctx context.Context, q agent.Question, v agent.Verdict) (again bool)
	agent.Hooker
}

// Tasks are the calls that can go to the background, and those that did.
type Tasks interface {
	// Background moves a running call there.
	Background(call string) (id string, ok bool)
	// Kill ends a task. It returns at once.
	Kill(id string) error
}

// A Command is one that a person runs.
type Command struct {
	ID      string
	Text    string
	Dir     string          // to run in, "" where the session works
	Exports []effect.Export // of earlier commands
}

// A Session is a running conversation.
type Session struct {
	cfg    Config
	inbox  chan func(*state)
	done   chan struct{}
	stop   context.CancelFunc
	fan    fan
	before float64     // what the session had cost before this process had it; it does not change
	purse  agent.Purse // what requests on their way may cost
	looks  sync.Mutex  // held by a look at what changed while no call ran, until it is recorded
}

// state belongs to the session's goroutine alone.
type state struct {
	transcript.State
	target    agent.Target
	effort    op.SetEffort // over the target's own; zero is none
	rules     policy.Rules
	mode      policy.Mode
	told      policy.Mode        // what the model knows of it
	logged    policy.Mode        // of told, what the log says
	given     bool               // a prompt was accepted since the last turn began
	cancel    context.CancelFunc // of the running turn, nil when idle
	turn      context.Context    // the running turn's, for what outlives its calls
	asks      map[string]chan op.Answer
	people    map[string]bool               // the clients where a person can answer
	relayed   map[string]chan op.Answer     // questions of agents, which outlive a turn
	shells    map[string]context.CancelFunc // commands of the person's own
	wish      *agent.Compaction             // that was asked for, nil: none
	rewinding bool                          // no turn begins meanwhile
	unwind    context.CancelFunc            // stops a rewind, nil when none runs
	left      []<-chan struct{}             // calls that outlived their turn
	began     time.Time                     // of the running turn
	names     int                           // for inputs without an ID
	forks     event.Seq                     // of a fork whose base was read: the last event of that
	settled   *settled                      // what became known before the first prompt, nil for nothing
	situated  bool                          // this run told the model where it is
	notes     []string                      // for the model, after the current step
	wake      string                        // why a turn is to begin for these, "" is not
	wakes     int                           // turns in a row that began so
	posts     map[string]bool               // prompts that were messages for somebody else, or are just being sent
	arrival   chan struct{}                 // closed when something waits for the model; nil when nobody waits for that
	pursuit   pursuit                       // of the goal
	// What follows came with the Config, and settings may change it.
	loop      *agent.Loop
	wanted    *tool.Set // to have from the next step on, nil when that is tools
	tools     tool.Set  // that the newest request offered
	offered   bool      // there was such a request in this process
	budget    agent.Budget
	tokens    int // that the newest turn with a prompt may write, 0 for any number
	warnUSD   float64
	dear      string // what a person is asked before the next request, "" is nothing
	auto      *auto.Classifier
	lent      []lending // of skills, until the turn ends
	forbidden map[policy.Mode]string
	onBegin   func()       // to be called once, when a turn begins
	early     []event.Body // to be recorded when the log begins
	// history and limits are for the mode auto.
	history auto.History
	limits  auto.Limits
	aside   []string      // the rules of which people were told that they do not count in it
	helped  int           // requests of agents of skills before the newest turn
	reply   int           // of the running turn, that a call was ruled on of
	ending  bool          // no turn begins any more
	keeping chan struct{} // closed when the snapshot that is being made is written; nil without
	keptAt  int64         // where the newest snapshot is, in bytes of the log
}

// Start opens a session on its log and runs it until Close, or until ctx
// ends. What a process that died had left open is closed first.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	st := &state{
		target: cfg.Target, rules: cfg.Rules, mode: cfg.Mode, asks: map[string]chan op.Answer{}, relayed: map[string]chan op.Answer{}, people: map[string]bool{}, shells: map[string]context.CancelFunc{},
		loop: cfg.Loop, tools: cfg.Tools, budget: cfg.Budget, warnUSD: cfg.WarnUSD, auto: cfg.Auto, forbidden: cfg.Forbidden,
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Session{cfg: cfg, inbox: make(chan func(*state)), done: make(chan struct{}), stop: stop, fan: fan{feeds: map[*feed]struct{}{}}}
	err := s.restore(ctx, st)
	s.fan.last, s.before = st.Seq, st.Total.Cost
	if err == nil {
		err = s.open(ctx, st)
	}
	if err != nil {
		stop()
		return nil, err
	}
	if st.Running == "" {
		s.keep(st, keepEvery) // the last process could not
	}
	go s.loop(ctx, st) // ends with ctx; Close waits for it
	return s, nil
}

// open records that the log was begun or taken up.
func (s *Session) open(ctx context.Context, st *state) error {
	if st.Seq == 0 {
		return nil // SessionStarted is recorded with the first prompt, so that nothing is left behind by a session without one
	}
	if st.forks == st.Seq {
		return s.record(ctx, st, s.cfg.Begin)
	}
	if err := s.record(ctx, st, s.cfg.Again); err != nil {
		return err
	}
	if len(st.Lost) > 0 {
		st.notes = append(st.notes, "The session was resumed. Variables that commands had exported before and that are not set any more: "+clip.Line(clip.Visible(strings.Join(st.Lost, ", ")), 500)+". Export them again where they are needed.")
	}
	for _, id := range slices.Sorted(maps.Keys(st.Background)) { // they ended with the process that ran them
		e, was := event.TaskEnded{ID: id, Killed: "adze ended"}, st.Background[id]
		if was.Schedule != nil { // it goes on
			continue
		}
		if was.Agent != nil || was.Kind == event.TaskWorkflow {
			e.Status = event.TaskLost
		}
		if told := st.Agents[id].Told; told != "" && st.Mail[id] >= task.End(was) { // its end was told, and not recorded
			e.Status = told
		}
		part := was.Agent != nil && was.Run != ""         // of a workflow, that is told as one
		if n := task.End(was); st.Mail[id] < n && !part { // else its end was told, and not recorded
			if err := s.prompt(st, task.Lost(was).Prompt(n, true, true), nil); err != nil {
				return err
			}
		}
		if err := s.record(ctx, st, e); err != nil {
			return err
		}
	}
	for _, call := range slices.Sorted(maps.Keys(st.Pending)) { // whoever asked ended, too
		if st.Pending[call].Agent == nil {
			continue // the end of its turn settles it
		}
		if err := s.record(ctx, st, withdrawn(call)); err != nil {
			return err
		}
	}
	if b := st.Rewinding; b != nil && s.cfg.Files != nil {
		if err := s.record(ctx, st, s.cfg.Files.Unfinished(*b)); err != nil {
			return err
		}
	}
	if st.Running == "" {
		return nil
	}
	reason := agent.InterruptedStreaming
	if len(st.Open()) > 0 {
		reason = agent.InterruptedTools
		if err := s.recordCut(ctx, st); err != nil {
			return err
		}
	}
	return s.record(ctx, st, event.TurnEnded{ID: st.Running, How: event.Interrupted, Reason: string(reason), Err: "the process ended during the turn"})
}

func (s *Session) loop(ctx context.Context, st *state) {
	defer close(s.done)
	for {
		select {
		case f := <-s.inbox:
			f(st)
		case <-ctx.Done():
			s.end(st)
			return
		}
	}
}

// end interrupts a running turn, serves it until it is over, and waits a
// little for calls that did not stop.
func (s *Session) end(st *state) {
	if st.cancel != nil {
		st.cancel()
	}
	st.ending = true
	for _, stop := range st.shells {
		stop()
	}
	s.rest(st)
	for st.cancel != nil || len(st.shells) > 0 || st.rewinding || st.pursuit.stop != nil {
		(<-s.inbox)(st)
	}
	s.endTasks(st)
	st.waitKept()
	s.keep(st, keepLast)
	defer st.waitKept()
	limit := time.NewTimer(leaveGrace)
	defer limit.Stop()
	for _, c := range st.left {
		select {
		case <-c:
		case <-limit.C:
			return
		}
	}
}

// endTasks ends what calls left running, records what it changed, and serves the session until then.
func (s *Session) endTasks(st *state) {
	over := make(chan struct{})
	go func() { // ends with what it ends; it is waited for here
		defer close(over)
		if s.cfg.EndTasks != nil {
			s.cfg.EndTasks()
		}
		_ = s.late(always) // there is nobody left to tell
	}()
	for {
		select {
		case f := <-s.inbox:
			f(st)
		case <-over:
			return
		}
	}
}

// Close interrupts what runs, waits for it, and closes the log.
func (s *Session) Close() error {
	s.stop()
	<-s.done
	return s.cfg.Log.Close()
}

// do has the session's goroutine run f and waits for it.
func (s *Session) do(f func(*state)) error { return s.within(context.Background(), f) }

// within is do that gives up with ctx as long as f has not begun. f itself
// waits for nothing but the log.
func (s *Session) within(ctx context.Context, f func(*state)) error {
	ran := make(chan struct{})
	select {
	case s.inbox <- func(st *state) { f(st); close(ran) }:
		<-ran
		return nil
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// State is the fold of everything recorded so far.
func (s *Session) State() transcript.State {
	var out transcript.State
	_ = s.do(func(st *state) { out = st.State })
	return out
}
