package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// Texts the loop itself says to the model, hidden from people's prompts.
const (
	resumeText = "Your reply hit the output limit and was cut off. Continue exactly where it stopped, without repeating or summing up what you already said, and work in smaller pieces."
	answerText = "You ended without the structured answer this run needs. Call the tool %s now, with an answer that fits its schema."
	nudgeText  = "You have used %d of the %d output tokens meant for this task. If there is more worth doing, go on with it; do not sum up yet."
)

// Run drives a turn to its end. The error is not nil only when the turn
// could not be recorded; then nothing further was done.
func (l *Loop) Run(ctx context.Context, t Turn) (Outcome, error) {
	st := t.Host.State()
	r := &run{Loop: l, Turn: t, dir: cmp.Or(st.Dir, l.Env.Dir), helped: st.Helpers[event.ForSkill].Helped}
	defer r.giveUp()
	if t.Budget.Made != nil {
		r.made = t.Budget.Made()
	}
	for step := r.first(); ; step = r.step {
		if out, err := r.before(ctx); err != nil {
			return r.outcome(Outcome{}), err
		} else if out != nil {
			return r.outcome(*out), nil
		}
		if err := r.remind(); err != nil {
			return r.outcome(Outcome{}), err
		}
		o, err := step(ctx)
		if err != nil {
			return r.outcome(Outcome{}), err
		}
		mem, c := next(r.mem, o, r.means(o))
		if c.end == Completed && !o.answered {
			if o.hook, err = r.atEnd(ctx); err != nil {
				return r.outcome(Outcome{}), err
			}
			mem, c = next(r.mem, o, r.means(o))
		}
		r.mem = mem
		if c.end != "" {
			if err := r.keep(); err != nil {
				return r.outcome(Outcome{}), err
			}
			return r.outcome(r.ending(c.end, o)), nil
		}
		if err := r.forget(); err != nil {
			return r.outcome(Outcome{}), err
		}
		if full, err := r.carryOn(ctx, c.again, o); err != nil {
			return r.outcome(Outcome{}), err
		} else if full {
			return r.outcome(r.ending(PromptTooLong, o)), nil
		}
	}
}

// first is what a turn begins with: a request, or the call that was put off.
func (r *run) first() func(context.Context) (outcome, error) {
	if r.Deferred == nil {
		return r.step
	}
	return func(ctx context.Context) (outcome, error) {
		inner, cancel := context.WithCancel(ctx)
		calls := newCalls(r, inner, cancel)
		defer calls.cancel()
		calls.add(*r.Deferred)
		return r.results(ctx, calls, outcome{calls: 1}, llm.Message{})
	}
}

// run is the state of one Run, owned by its goroutine.
type run struct {
	*Loop
	Turn
	tools   tool.Set // of the newest request
	dir     string   // where the next call runs; guarded by calls.mu while calls run
	mem     memory
	api     time.Duration   // spent waiting for the model
	cap     int             // output cap asked for, 0 for the target's own
	asked   int             // output cap of the newest request
	noCost  string          // a model that answered and has no known price
	answer  json.RawMessage // the accepted structured answer
	force   string          // the tool that the next reply has to call
	final   string          // the answer of a call that ended the turn
	replies int             // that calls came in
	helped  int             // requests of agents of skills before it
	made    int             // requests before it that count
	hold    *Hold           // for the next request
	afford  int             // tokens that its reply may have at most; 0: as many as it wants
	hidden  int             // inputs of the loop itself, for their IDs
	// toldUSD and toldTokens are the shares of the budgets that the model was
	// told are gone, in percent.
	toldUSD, toldTokens int
	held                held // what the bound of messages was looked at for
	look                window.Look
	broken              *broken
	longest             reply  // what of the replies that broke off had said most
	noGain              bool   // the newest summary would have taken more room than what it stands for
	noSummary           string // why the newest summary could not be had
	stopped             string // why hooks ended the turn
}

// held: messages of events up to one are within a bound, in characters.
type held struct {
	bound   int
	through event.Seq
}

func (r *run) outcome(o Outcome) Outcome {
	o.Steps, o.API, o.Answer, o.Final = r.mem.steps-r.mem.recoveries, r.api, r.answer, r.final
	return o
}

// before checks what would make the next request pointless, before it costs
// anything. It returns how the turn ends, nil when it goes on.
func (r *run) before(ctx context.Context) (*Outcome, error) {
	var err error
	if r.tools, err = r.Host.Tools(); err != nil {
		return nil, err
	}
	if err := r.Host.Proceed(ctx); err != nil {
		return nil, err
	}
	target := r.Host.Model()
	if target.Cost != nil {
		if _, known := target.Cost(llm.Usage{In: 1}); !known {
			r.noCost = target.ID()
		}
	}
	if out := r.usedUp(ctx); out != nil {
		return out, nil
	}
	if out, err := r.room(ctx, target); out != nil || err != nil {
		return out, err
	}
	if out := r.usedUp(ctx); out != nil { // a summary has its price, too
		return out, nil
	}
	if r.Deferred != nil && r.mem.steps == 0 { // no request follows
		return nil, nil
	}
	return r.setAside(ctx, r.Host.Model()), nil
}

// usedUp is how the turn ends when a bound of it is reached, or when it was
// interrupted; nil when it is neither.
func (r *run) usedUp(ctx context.Context) *Outcome {
	b, st := r.Budget, r.Host.State()
	account := r.account(st)
	if r.noCost == "" {
		r.noCost = account.Unpriced
	}
	account.Unpriced = r.noCost
	why, hint := b.Over(account)
	switch {
	case ctx.Err() != nil:
		return &Outcome{Reason: InterruptedStreaming}
	case b.Turns > 0 && r.made+r.mem.steps-r.mem.recoveries+st.Helpers[event.ForSkill].Helped-r.helped >= b.Turns:
		return &Outcome{Reason: MaxTurns, Text: "reached the limit of " + clip.Count(b.Turns, "model request") + r.perTurn(),
			Hint: "raise --max-turns, or go on with: adze --continue -p \"…\""}
	case why != "":
		return &Outcome{Reason: MaxBudget, Text: why, Hint: hint}
	case b.Tokens > 0 && r.mem.spent >= b.Tokens:
		return &Outcome{Reason: TokenBudget, Text: fmt.Sprintf("used %d of %d tokens", r.mem.spent, b.Tokens)}
	}
	return nil
}

// perTurn says what a limit of requests is for.
func (r *run) perTurn() string {
	if r.Budget.Made != nil {
		return ""
	}
	return " in one turn"
}

// giveUp gives up what is still set aside when the turn is over.
func (r *run) giveUp() {
	r.hold.Release()
	if r.broken != nil {
		r.broken.hold.Release()
	}
}

// account is what counts against the budget of money.
func (r *run) account(st transcript.State) Account {
	if r.Budget.Account != nil {
		return r.Budget.Account()
	}
	return Account{st.Total.Cost, st.Turn.Unpriced}
}

// means looks up what is still possible. How room could be made is looked at
// only when an outcome wants room: it takes a look at the whole conversation.
func (r *run) means(o outcome) means {
	target := r.Host.Model()
	can := means{
		largerCap:  target.LargerCap > max(r.cap, target.Cap),
		fallbacks:  len(r.Fallbacks),
		structured: r.Structured != "" && r.answer == nil,
		budget:     r.Budget.Tokens,
	}
	if r.nextFallback(r.mem.fellBack, target) < 0 {
		can.fallbacks = 0
	}
	if o.err != nil || o.stop == llm.WindowFull {
		st := r.Host.State()
		can.clearable = len(window.Drain(st, r.again)) > 0
		can.compactable = r.compactable(st)
		can.lopsided, can.cuttable = window.Lopsided(st), len(window.Squeeze(st, 1, false)) > 0
		can.media = hasMedia(window.Build(st))
		can.light = r.Light != nil && !r.Light.on.Load() && (o.err == nil || o.err.Fix == "")
		_, _, can.heavy = r.heavy(o)
	}
	return can
}

// nextFallback is the place of the model to switch to from target, at or behind a place; -1
// where none is left: in one turn each is tried once.
func (r *run) nextFallback(from int, target Target) int {
	for i := from; i < len(r.Fallbacks); i++ {
		if r.Fallbacks[i].ID() != target.ID() {
			return i
		}
	}
	return -1
}

// carryOn prepares the step that follows for this reason. full: it could not make the
// room that the step needs.
func (r *run) carryOn(ctx context.Context, c Continue, o outcome) (full bool, err error) {
	r.force = ""
	switch c {
	case NextStep, StopHookBlocked, EmptyRetry:
		return false, nil
	case CallCut: // a reply that acted could not be asked for again with more
		r.cap = max(r.cap, r.Host.Model().LargerCap)
		return false, nil
	case WindowDrainedRetry:
		if err := r.drain(); err != nil {
			return false, err
		}
		return false, r.resume(o)
	case CompactedRetry:
		switch ok, err := r.compact(ctx, Compaction{Trigger: event.CauseTooLong}); {
		case err != nil:
			return false, err
		case ctx.Err() != nil:
			return false, nil
		case !ok: // then what fits of the results is sent
			r.mem.squeezed++
			ok, err := r.squeezed(o.err)
			return !ok, err
		}
		return false, r.resume(o)
	case ResultsCutRetry:
		if ok, err := r.squeezed(o.err); err != nil || !ok {
			return !ok, err
		}
		return false, r.resume(o)
	case OutputCapRaised:
		r.cap = r.Host.Model().LargerCap
		return false, nil
	case OutputResumed:
		return false, r.say(resumeText)
	case CallWritten:
		return false, r.askForCall(o.written)
	case TokenBudgetNudge:
		return false, r.say(fmt.Sprintf(nudgeText, r.mem.spent, r.Budget.Tokens))
	case StructuredRetry:
		r.force = r.Structured
		return false, r.say(fmt.Sprintf(answerText, r.Structured))
	case FallbackModel:
		r.cap = 0
		next := r.nextFallback(r.mem.fellBack-1, r.Host.Model())
		r.mem.fellBack = next + 1
		r.mem.elsewhere += r.mem.attempts
		return false, r.Host.Switch(r.Fallbacks[next], event.CauseFallback)
	case LightRetry:
		return false, r.lighten()
	case MediaStrippedRetry:
		return false, r.Host.Emit(event.Stripped{Cause: event.CauseMedia, Why: "the provider refused an image or a document"})
	}
	return false, fmt.Errorf("no way to carry on for %q", c)
}

// resume has the model go on where the end of the window cut its text off.
func (r *run) resume(o outcome) error {
	if o.stop != llm.WindowFull || o.calls > 0 {
		return nil
	}
	return r.say(resumeText)
}

// drain makes room for a request that was refused as too long: what is old
// first, and when that is not enough, all that can go.
func (r *run) drain() error {
	target, st := r.Host.Model(), r.Host.State()
	calls := window.ToClear(st, window.Effective(target.Window, target.Cap), r.again)
	if len(calls) == 0 {
		calls = window.Drain(st, r.again)
	}
	return r.Host.Emit(event.Cleared{Calls: calls})
}

// say gives the model a hidden input.
func (r *run) say(text string) error {
	r.hidden++
	return r.Host.Emit(event.InputAccepted{ID: fmt.Sprintf("%s.h%d", r.ID, r.hidden), Text: text, Hidden: true, Steer: true})
}

// ending puts a reason to end into words.
func (r *run) ending(e End, o outcome) Outcome {
	out := Outcome{Reason: e, Err: o.err}
	switch e {
	case ModelError:
		if o.err == nil {
			out.Text = "the model said nothing, and nothing again when it was asked once more"
			out.Hint = "word the request differently, or use another model: --model …"
		}
	case OutputCap:
		out.Text = "the reply ran into the model's output limit again and again"
		out.Hint = "ask for the work in smaller pieces, or use a model with a larger output limit"
	case PromptTooLong:
		why, again := unsummed(r.Host.State())
		out.Text = "the conversation no longer fits the model's window" + why
		if o.err != nil {
			out.Text += ": " + o.err.Error()
		}
		out.Hint = again + "start a new session, or go on with a model that has a larger window: adze --continue --model … -p \"…\""
		if out = r.tooHeavy(o, out); o.err != nil && o.err.Fix != "" {
			out.Text, out.Hint = "the request is too large: "+o.err.Error(), o.err.Fix
		}
	case MediaTooLarge:
		out.Text = "the provider refused an image or a document, and it is not the conversation's only problem"
		out.Hint = "leave the image out, or make it smaller"
	case Refused:
		out.Text = "the provider declined to answer" + o.declined
		out.Hint = "word the request differently, or use another model"
	case StructuredRetries:
		out.Text = fmt.Sprintf("no answer that fits the schema after %d tries", maxStructuredTries+1)
		out.Hint = "check the schema given by --json-schema, or use a more capable model"
	case RepeatedFailure:
		out.Text = fmt.Sprintf("the model made the same calls %d times in a row, and each time all of them failed", maxSameFailures)
		out.Hint = "say what it should do instead, or use a more capable model"
	case StopHookPrevented, HookStopped, CommandMistaken:
		out.Text = r.stopped
	case InstructionsTooLong, Completed, ToolDeferred, MaxTurns, MaxBudget, TokenBudget, BlockingLimit, InterruptedStreaming, InterruptedTools, InterruptedSummary:
	}
	return out
}

// declined is what is told of a refused reply besides that it was.
func declined(f llm.Finished) (told string) {
	if f.Why != "" {
		told = " (" + f.Why + ")"
	}
	if said := clip.Line(clip.Visible(strings.TrimSpace(f.Message.Text())), 500); said != "" {
		told += "; it had said: " + said
	}
	return told
}

// step is one reply and the calls it wants.
func (r *run) step(ctx context.Context) (outcome, error) {
	rep, calls, err := r.reply(ctx)
	var failed *llm.Error
	switch {
	case ctx.Err() != nil:
		return r.interrupted(rep, calls)
	case errors.As(err, &failed):
		return outcome{err: failed}, nil
	case err != nil:
		return outcome{}, err
	}
	defer calls.cancel()
	if rep.fin.Note != "" {
		if err := r.Host.Emit(event.Noted{Level: "warning", Text: rep.fin.Note}); err != nil {
			return outcome{}, errors.Join(err, calls.stop())
		}
	}
	o := outcome{stop: rep.fin.Stop, tokens: rep.fin.Usage.Out, calls: calls.len()}
	if rep.fin.Stop == llm.MaxTokens || rep.fin.Stop == llm.WindowFull {
		o.cut = calls.cut()
	}
	if rep.fin.Stop == llm.Refused {
		o.declined = declined(rep.fin)
	}
	o.empty = empty(rep.fin.Message)
	if o.calls == 0 {
		o.written = r.writtenCall(rep.fin)
	}
	can := r.means(o)
	if o.cut > 0 && can.largerCap && !r.mem.raised {
		o.acted = !calls.holdBack()
	}
	switch _, c := next(r.mem, o, can); c.again {
	case OutputCapRaised:
		return o, r.discard(calls, rep, "the reply ran into the output limit")
	case EmptyRetry:
		return o, r.discard(calls, rep, "the reply was empty")
	default: // it stays
	}
	if rep.fin.Stop == llm.Refused { // what it began is finished, and nothing more begins
		if _, err := calls.abandon(); err != nil {
			return outcome{}, err
		}
	}
	if err := r.bill(r.record(rep), rep.hold); err != nil {
		return outcome{}, errors.Join(err, calls.stop())
	}
	return r.results(ctx, calls, o, rep.fin.Message)
}

// results waits for the results of all calls of a reply, and for what they, and what was said with them, mean
// for the turn.
func (r *run) results(ctx context.Context, calls *calls, o outcome, said llm.Message) (outcome, error) {
	calls.shift(func() { calls.whole = true })
	if err := calls.wait(); err != nil {
		return outcome{}, err
	}
	if calls.put { // and nothing else runs
		o.deferred = true
		return o, nil
	}
	calls.batched()
	if r.stopped = calls.stopped; r.stopped != "" { // nothing runs any more that could change it
		o.stopped = true
	}
	if text := calls.fresh(); text != "" { // before prompts that wait join the conversation
		if err := r.Host.Emit(event.Compacted{Trigger: event.CausePlan, Text: text, Tokens: r.used(r.Host.State())}); err != nil {
			return outcome{}, err
		}
	}
	o.futile = calls.futile()
	o.rejected, r.answer = calls.structured()
	if r.answer == nil && o.calls == 0 && o.stop == llm.EndTurn && o.written == "" {
		r.answer = r.writtenAnswer(said)
	}
	r.final = calls.final()
	o.answered = r.answer != nil || r.final != ""
	if ctx.Err() != nil {
		o.interrupted, o.inTools = true, o.calls > 0
		return o, nil
	}
	if o.calls > 0 && !o.answered {
		return o, r.Host.Steer(ctx)
	}
	return o, nil
}

// record makes the durable event of a reply and counts what it cost.
func (r *run) record(rep reply) event.Replied {
	e := event.Replied{
		Message: rep.fin.Message, Stop: rep.fin.Stop, Usage: rep.fin.Usage, ID: rep.fin.ID,
		Model: rep.target.ID(), First: rep.first, Took: rep.took, Attempts: rep.attempts,
	}
	e.Cost, e.Priced = r.price(rep)
	return e
}

// price is what a reply cost.
func (r *run) price(rep reply) (usd float64, known bool) {
	if rep.target.Cost != nil {
		usd, known = rep.target.Cost(rep.fin.Usage)
	}
	if !known {
		r.noCost = rep.target.ID()
	}
	return usd, known
}

// empty reports whether a message says nothing that anybody could read.
func empty(m llm.Message) bool {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			if strings.TrimSpace(p.S) != "" {
				return false
			}
		case llm.ToolUse, llm.ToolResult, llm.Image, llm.Document:
			return false
		case llm.Thinking:
		}
	}
	return true
}

func hasMedia(ms []llm.Message) bool {
	for _, m := range ms {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Image, llm.Document:
				return true
			case llm.ToolResult:
				if len(p.Images) > 0 {
					return true
				}
			case llm.Text, llm.Thinking, llm.ToolUse:
			}
		}
	}
	return false
}
