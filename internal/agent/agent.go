// Package agent runs one turn: ask the model, gate its calls, run them,
// repeat. It does no I/O of its own: what it needs of the world is in the
// fields of a Loop, or asked of a Turn's Host. It refuses to know front ends, disks and providers.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
)

// A Host is the session a turn runs in, by what the turn wants of it.
type Host interface {
	Recorder
	Ruler
	Inbox
	Hooker
	Offer
	// Look reads files as far as the rules let the model read them without a
	// question. What cannot be read is left out, or says why.
	Look(ctx context.Context, paths []string) []event.Attached
	// Leave is told of a goroutine that outlives the turn: a call that did not
	// stop in time. done is closed when it is over.
	Leave(done <-chan struct{})
}

// A Recorder keeps what happens.
type Recorder interface {
	// Emit records a body. When it returns nil a durable body is as safe as
	// its kind demands; a live body has been handed to whoever watches.
	Emit(event.Body) error
	// State is the fold of everything recorded so far.
	State() transcript.State
}

// A Ruler rules on calls.
type Ruler interface {
	// Rule rules on a planned call, and waits for whoever it takes to settle
	// it.
	Rule(ctx context.Context, q Question) (Verdict, error)
	// Begin records that a call starts which was allowed with v, in the same step as
	// it looks whether that still holds: rules and the mode may have changed while
	// somebody was waited for. What it returns is the verdict as it is now. Only after
	// an Allow is the start recorded; an Ask wants a new ruling.
	Begin(q Question, v Verdict, start event.ToolStarted) (Verdict, error)
}

// An Inbox is what people and programs say to a turn while it runs.
type Inbox interface {
	// Steer gives the prompts that wait, and what was noted, to the model. Hooks
	// may look at each first; those are waited for until ctx ends.
	Steer(ctx context.Context) error
	// Note keeps a text for the model until the step is over.
	Note(text string)
	// Proceed is called before each request. It waits for a person, until ctx
	// ends, where one wants to be asked whether the turn goes on; a no ends ctx.
	Proceed(ctx context.Context) error
	// Wanted is the compaction that somebody asked for, once.
	Wanted() (c Compaction, ok bool)
}

// A Hooker has hooks look at what happens.
type Hooker interface {
	// Hooked reports whether anything looks at an event. Hook has it look, and
	// waits for what it says until ctx ends; what is for people is told already.
	// actions are what the call would do that the event is about.
	Hooked(e hook.Event) bool
	Hook(ctx context.Context, in hook.Input, actions []policy.Action) hook.Answer
}

// An Offer is what a request goes to, and which tools it offers.
type Offer interface {
	// Tools are what the next request offers, and what its calls may be of. A
	// change is recorded before it returns.
	Tools() (tool.Set, error)
	// Model is what the next request goes to, and whom the result of a call is
	// for. It changes when a person says so, and with Switch.
	Model() Target
	// Switch records that the session goes on with another model, and makes it
	// so.
	Switch(to Target, why event.Cause) error
}

// A Verdict is a ruling on a call.
type Verdict struct {
	policy.Verdict
	// Answer is what was said with it: choices, a comment, other arguments. It
	// is nil when nobody was asked.
	Answer *tool.Answer
	By     event.By // who gave the Answer
	Yes    Yes      // what an Allow rests on
	// Ends, when set, says why the turn ends behind the reply of this call.
	Ends string
	// Defers: the call is neither run nor refused. It stays open, the turn ends,
	// and the session goes on with it later.
	Defers bool
}

// A Yes is what an Allow rests on besides the rules and the mode. The zero value is
// nothing: they allow it by themselves.
type Yes struct {
	To     policy.Check // of the question that was answered
	Person bool         // a person answered it, or wrote the arguments
}

// Answers reports whether it settles the question v.
func (y Yes) Answers(v policy.Verdict) bool {
	return v.Effect == policy.Ask && (y.Person || y.To != "" && y.To == v.Check)
}

// rewrites reports whether the call is to have other arguments.
func (v Verdict) rewrites() bool { return v.Answer != nil && len(v.Answer.Input) > 0 }

// A Question is a planned call that needs a ruling.
type Question struct {
	Call llm.ToolUse
	Tool string // the tool's own name, which Call.Name may be an alias of
	Plan tool.Plan
	// Reply is which reply of the turn the call is of, from 1; 0 when it is of none.
	Reply int
	// Rewritten is who wrote the arguments in the model's stead, nil when it
	// is the model's call as it came.
	Rewritten *event.By
	// Lent are rules that hold for this question besides those in force: of a skill
	// whose commands run while it is read.
	Lent []policy.Rule
	// Mode is decided in where it is stricter than that of the session: of an agent
	// that works for it. "" is the session's.
	Mode policy.Mode
	// Waits, when set, is called before somebody is waited for.
	Waits func()
	// Alone, when set, waits for the end of the reply and reports whether this is
	// its only call, which therefore may be deferred.
	Alone func() bool
}

// A Compaction is a wish to replace the conversation, or a part of it, by a
// summary.
type Compaction struct {
	Trigger event.Cause
	Focus   string // what the summary is to mind most, "" for nothing
	// Before and From name the part that stays as it is: what came before an
	// event, or from one on. At most one of them is set; without, the newest
	// messages stay as far as there is room.
	Before, From event.Seq
	Part         string // which part is replaced, in words, when one of them is set
}

// A Target is a model with the facts the loop needs.
type Target struct {
	Model    llm.Model
	Provider string
	Name     string // the provider's own name
	Title    string // as people read it, "" when it is not known
	Window   int    // tokens, 0 when unknown
	// Cap is the output cap that is asked for, LargerCap what can be asked
	// for when a reply runs into it (0: nothing larger). Tokens.
	Cap, LargerCap int
	Effort         llm.Effort
	Thinking       int  // tokens, 0 leaves it to Effort
	Edits          bool // its provider is asked to clear old results, in place of the loop
	Images         bool // it takes them
	ImageEdge      int  // pixels that the long edge of an image may have, 0 when unknown
	// EffortWarning returns, once, a warning if the model ignores this effort, "" if it does
	// not; nil means that nothing is known.
	EffortWarning func(effort llm.Effort, tokens int) string
	// Cost prices a usage in USD; known is false when there is no price.
	Cost func(llm.Usage) (usd float64, known bool)
	// Plan is the model in its place while the mode is plan; nil: itself.
	Plan *Target
	// Wish is the name that makes this target again, where ID does not: that of two
	// models, or of a wider window.
	Wish string
}

// ID is provider/name.
func (t Target) ID() string { return t.Provider + "/" + t.Name }

// Wished is the name that makes this target again.
func (t Target) Wished() string { return cmp.Or(t.Wish, t.ID()) }

// A Loop is what all turns of a session have in common. It does not change;
// what can change between two requests or calls, the model above all, is asked
// of the Host.
type Loop struct {
	Fallbacks []Target // to switch to, in this order, when the model is overloaded for long
	System    []string
	Light     *Light // to take by itself in the place of System and of the tools; nil: these are the ones to have
	Full      bool   // a person chose the full ones
	// Aliases are further names a model may call a tool by.
	Aliases map[string]string
	// Redirects are the names of tools that run in the place of others, by the names
	// that the model calls: once, and also where there is a tool of that name.
	Redirects map[string]string
	// Env is what every call may use. The turn adds what is so at the time of a
	// call: where it runs, the mode, what the model takes.
	Env tool.Env
	// Patient: somebody watches, so that a provider's wish to wait for longer
	// than minutes is granted.
	Patient bool
	// Structured is the name of the tool that takes the final answer, "" for none.
	Structured string
	MaxCalls   int // at once; 0 is 10
	CacheKey   string
	// Mask hides secrets in the result of a call before anybody sees or keeps it; nil
	// hides nothing.
	Mask func([]policy.Action, tool.Result) tool.Result
	// Spill keeps a whole result and returns where; nil cuts without keeping.
	Spill func(call, text string) (path string, err error)
	// Results are what calls returned, as it came, of events after one, of no more
	// bytes together than most; nil knows only what is in the window.
	Results func(ctx context.Context, after event.Seq, calls []string, most int) (map[string]string, error)
	// Stale lists files that changed on disk since the model saw them, each change
	// once. nil looks for none.
	Stale func() []Stale
	// Changed is Stale of one file, behind hooks that may have changed it. nil looks at none.
	Changed func(path string) (Stale, bool)
	// Notes are the session's notes and the newest event that they tell of; ok is
	// false when there are none, or when they are not true of the conversation as
	// it is (after a rewind). They take the place of a summary where a compaction
	// was not asked for by anybody and what came after them fits. nil: there are none.
	Notes func(ctx context.Context) (text string, through event.Seq, ok bool)
	// Record looks at what a call with these actions may change; end, called once
	// after it, says what it did change, and note what a person should know when
	// not all can be recorded. nil records nothing.
	Record func(ctx context.Context, actions []policy.Action) (end func(context.Context) effect.Changed, note string)
	// Touched learns what begins to apply when files are read or changed (a
	// folder's own memory file) and returns it for the model. Another boundary
	// is another context, whose model was told nothing yet. nil knows nothing.
	Touched func(boundary event.Seq, paths []string) []string
	Now     func() time.Time
	// Sleep waits, or returns the context's error. Jitter is in [-1, 1].
	Sleep  func(ctx context.Context, d time.Duration) error
	Jitter func() float64
}

// A Turn is one run of a Loop.
type Turn struct {
	ID     string
	Host   Host
	Budget Budget
	// Deferred is the call that the turn begins with, in place of a request: an
	// earlier turn ended because it was put off.
	Deferred *llm.ToolUse
}

// An Outcome is how a turn ended.
type Outcome struct {
	Reason End
	Err    *llm.Error // of ModelError and its kin
	Text   string     // why, in plain words, when there is no Err
	Hint   string
	Steps  int
	API    time.Duration // spent waiting for the model
	Answer json.RawMessage
	Final  string // the answer, when a call gave it and not a reply
}
