// Package print is the one-shot front end: a prompt goes in, an answer comes
// out, as text for people or as JSON for programs. It draws nothing by itself, asks
// nobody but a program that offers to answer, and knows no tool.
package print

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"time"
	"unicode"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Format is how the outcome is written.
type Format string

// Formats of --output-format.
const (
	Text   Format = "text"
	JSON   Format = "json"
	Stream Format = "stream-json"
)

// A Client is what print needs of a session.
type Client interface {
	Submit(ctx context.Context, o op.Op) error
	Follow(ctx context.Context, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
	// Replying returns the number of the newest durable event, and whether a reply has
	// begun by then whose end will be one of the next.
	Replying() (event.Seq, bool)
}

// Options of a run.
type Options struct {
	Format  Format
	Partial bool // stream events too
	Hooks   bool // what hooks do, too
	Replay  bool // each prompt comes back when its turn takes it up
	About   About
	After   event.Seq // the last event that happened before this run
	Out     io.Writer // the result
	Err     io.Writer // talk
	Chatty  bool      // say on Err what is going on
	// Watch, where a person looks on, is told of every event, and says what is
	// going on in the place of Chatty. Answer is how the text of an answer is
	// written there; nil: as it is.
	Watch  func(e event.Event)
	Answer func(text string) string
	// Host says that the program on the other side of the pipe answers
	// questions.
	Host bool
	// Approve, when set, answers questions in the place of a host: with the text of a
	// permission result as JSON. Host is set then, too.
	Approve func(ctx context.Context, tool string, input json.RawMessage, call string) (string, error)
	// Callbacks are hooks that it answers; nil has none.
	Callbacks *Callbacks
	// Prompts wait until Ready is closed; nil waits for nothing.
	Ready <-chan struct{}
	// Inputs are what to submit; Run is over when the channel is closed and
	// every prompt that came through it has been answered.
	Inputs <-chan Input
	// NoCommand is asked of a prompt that begins as a slash command does and is
	// none; why says so. An error ends the run, nil takes it for plain words.
	// An answer, when there is one, is given in the place of a model's.
	NoCommand func(text string, why error) (answer string, err error)
	// Agents follows the session of an agent of this one, for lines of what it says and
	// does; nil: there are none.
	Agents func(ctx context.Context, session string, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
	// Linger is how long commands in the background are waited for when nothing else is left
	// to do, 0 for not at all.
	Linger time.Duration
	// Own is what slash commands of adze's own come to; ok is false for another name.
	// nil: they are words for the model.
	Own func(ctx context.Context, name, args string) (d Done, ok bool)
	// Suggest says after a turn what may be said next, "" for nothing; nil: nobody does.
	// Suggests: it is wanted from the beginning, and not only when a host says so.
	Suggest  func(ctx context.Context) string
	Suggests bool
	// TellProgress has what agents work on put into lines; nil: nobody does.
	TellProgress func()
	// PDF has the text of a document; nil: such documents are left out.
	PDF func(data []byte) (string, error)
}

// An Outcome is what the last turn of a run came to.
type Outcome struct {
	Ended event.TurnEnded
	// Refused are the calls that the model tried last, when permissions refused all of them.
	Refused []event.ToolFinished
	// Withdrawn: the last prompt did not fit, and is not part of the conversation.
	Withdrawn bool
	// Lost is why the result could not be written, nil when it was.
	Lost error
	// Stopped: the host interrupted the last turn, so that is what it came to.
	Stopped bool
	// Bad is why the first line of the input that could not be used was none
	// of the things that are understood; Worse counts the others.
	Bad   error
	Worse int
}

// ErrNothing means that there was no prompt at all.
var ErrNothing = errors.New("there is no prompt")

// Run submits the prompts and writes what comes of them.
func Run(ctx context.Context, c Client, o Options) (Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &runner{
		Options: o, c: c, p: newProjection(o.About, o.Partial && o.Format == Stream, o.Hooks),
		out: bufio.NewWriterSize(o.Out, 64<<10), open: true, seen: o.After, goal: o.About.Goal, asked: map[string]bool{}, mail: map[string]bool{}, running: map[string]bool{},
		host: host{open: map[string]event.Asked{}}, kids: children{of: map[string]*child{}, heard: make(chan childEvent, 16)}, callbacks: callbacks{open: map[string]callback{}}, ready: o.Ready, answers: make(chan any), approved: make(chan reply),
	}
	follow := c.Follow(ctx, o.After, r.detail()) // before anything is submitted, so that nothing is missed
	events := make(chan event.Event, 16)
	go func() { // ends with ctx or the session
		defer close(events)
		for e, err := range follow {
			if err != nil {
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	if o.Host {
		if err := c.Submit(ctx, op.Attach{Client: "host"}); err != nil {
			return Outcome{}, err
		}
	}
	return r.loop(ctx, events)
}

type runner struct {
	Options
	c       Client
	p       *projection
	out     *bufio.Writer
	open    bool            // more inputs may come
	asked   map[string]bool // prompts without an answer yet, and whether a turn has taken them up
	queued  []string        // those that no turn has taken up, in order
	given   string          // the prompt that began the turn, until the model has answered
	any     bool            // there was a prompt
	stopped bool            // the host interrupted the running turn
	turning bool            // a turn runs, also one that began without a prompt
	mail    map[string]bool // prompts of agents and tasks that the model has not read, and whether each is a notice
	goal    bool            // the session has one that is pursued
	turned  bool            // a turn ran
	unsaid  string          // the answer of the last turn, while agents may have more to say
	// linger ends the wait for commands in the background, nil without one; lingered: it is over.
	linger   <-chan time.Time
	lingered bool
	seen     event.Seq // the newest event that was looked at
	res      Outcome
	host     host
	kids     children
	// did says what an event tells of the command that is waited for, and whether
	// that is the end of it. nil: none is.
	did       func(event.Body) (text string, done bool)
	callbacks callbacks
	ready     <-chan struct{} // Ready, until it is closed
	held      []Input         // prompts that wait for it
	after     []Input         // prompts that wait until those before them are answered
	pending   int             // requests that are answered later, through answers
	answers   chan any
	approved  chan reply      // of Approve
	running   map[string]bool // calls that have no result yet
	begun     json.RawMessage // the initialize that was carried out, nil before
	reset     bool            // the host has set its MCP servers since
}

func (r *runner) detail() event.Detail {
	switch {
	case r.Format == Stream && r.Partial:
		return event.Everything
	}
	return event.Notices
}

func (r *runner) loop(ctx context.Context, events <-chan event.Event) (Outcome, error) {
	inputs := r.Inputs
	var asked <-chan callback
	var late <-chan struct{}
	if r.Callbacks != nil {
		asked, late = r.Callbacks.asked, r.Callbacks.late
		defer close(r.Callbacks.over)
	}
	for r.busy() || r.lingers() {
		select {
		case <-r.linger:
			r.lingered = true
		case in, ok := <-inputs:
			if !ok {
				inputs, r.open = nil, false
				r.hungUp(ctx)
				continue
			}
			if err := r.submit(ctx, in); err != nil {
				return r.res, err
			}
		case <-r.ready:
			if err := r.release(ctx); err != nil {
				return r.res, err
			}
		case c := <-asked:
			c.after, c.reply = r.c.Replying()
			r.callbacks.held = append(r.callbacks.held, c)
			r.callHeld()
			r.flush()
		case in := <-r.approved:
			r.answer(ctx, in)
			r.flush()
		case line := <-r.answers:
			r.pending--
			if line != nil {
				r.write(line)
			}
			r.flush()
		case <-late:
			r.forget()
			r.flush()
		case in := <-r.kids.heard:
			r.overhear(ctx, in)
			if len(r.kids.heard) == 0 {
				r.flush()
			}
		case e, ok := <-events:
			if !ok {
				return r.res, r.gone(ctx)
			}
			r.seen = max(r.seen, e.Seq)
			if b, ended := e.Body.(event.TaskEnded); ended {
				r.settle(ctx, b.ID)
			}
			r.see(e)
			if b, begins := e.Body.(event.TaskStarted); begins {
				r.adopt(ctx, b)
			}
			r.unfit(ctx, e.Body)
			r.suggest(ctx, e.Body)
			if err := r.next(ctx); err != nil {
				return r.res, err
			}
			if r.Host {
				r.consult(ctx, e.Body)
			}
			r.heard(e)
			r.callHeld()
			if len(events) == 0 {
				r.flush()
			}
			if r.res.Lost != nil {
				_ = r.c.Submit(context.WithoutCancel(ctx), op.Interrupt{}) // nobody reads the answer any more
				return r.res, nil
			}
		}
	}
	if !r.any {
		r.flush()
		return r.res, ErrNothing
	}
	if r.Format == JSON && r.p.ended != nil {
		r.write(r.p.result(*r.p.ended))
	}
	if r.unsaid != "" { // the end of the last agent was recorded after the turn that heard of it
		r.text(r.unsaid)
	}
	r.flush()
	return r.res, nil
}

// answered prints what a turn came to, or keeps it while something may still follow.
func (r *runner) answered(b event.TurnEnded) {
	s := r.p.answer()
	switch r.unsaid = ""; {
	case r.Format != Text || b.How != event.Done:
		return
	case r.Answer != nil && b.Answer == nil:
		s = r.Answer(s)
	default:
		s = clip.Clean(clip.Prose(s))
	}
	if (r.waits() || r.Linger > 0 && r.p.commands()) && !r.open { // it may not be the answer yet
		r.unsaid = s
		return
	}
	r.text(s)
}

// busy reports whether something is left that is done, or waited for.
func (r *runner) busy() bool {
	return r.open || len(r.asked) > 0 || len(r.held)+len(r.after)+r.pending > 0 || r.turning || r.waits()
}

// lingers reports whether commands in the background are still waited for: for a while
// only, as they may be servers. The end of one begins a turn, which is waited for.
func (r *runner) lingers() bool {
	switch {
	case r.lingered || r.Linger == 0 || !r.any || !r.p.commands() || r.res.Ended.How != event.Done:
		return false
	case r.linger == nil:
		r.flush()
		r.linger = time.After(r.Linger)
	}
	return true
}

// waits reports whether agents work or monitors run, or have said something that the model has not read, or
// whether the session goes on with its goal.
func (r *runner) waits() bool { return r.p.awaited() || len(r.mail) > 0 || r.goal && r.turned }

// gone says why the events ended before the run did.
func (r *runner) gone(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("the session ended before its turn did")
}

// submit carries out one input.
func (r *runner) submit(ctx context.Context, in Input) error {
	defer r.flush()
	switch {
	case r.hold(in):
	case in.Bad != nil:
		r.bad(in.Bad)
	case in.Note != "":
		r.warn(in.Note)
	case in.Reply != nil:
		r.answer(ctx, *in.Reply)
	case in.Request != nil:
		r.serve(ctx, in.Request)
	case in.Op != nil && in.Command:
		return r.command(ctx, in.Op)
	case in.Op != nil:
		return r.give(ctx, in)
	}
	return nil
}

// bad tells of a line that cannot be used.
func (r *runner) bad(why error) {
	if r.res.Bad == nil {
		r.res.Bad = why
	} else {
		r.res.Worse++
	}
	r.write(r.p.note("error", why.Error()))
}

// give submits an op, and keeps a prompt in mind until it is answered.
func (r *runner) give(ctx context.Context, in Input) error {
	o := in.Op
	if p, prompt := o.(op.Prompt); prompt {
		if len(r.after) > 0 && len(r.asked) > 0 {
			r.after = append(r.after, in)
			return nil
		}
		if ok, err := r.own(ctx, in); ok || err != nil {
			return err
		}
		r.documents(&p, in)
		if in.last != "" && r.slash(op.Prompt{Text: in.last}).Command {
			before := strings.TrimSuffix(strings.TrimSpace(p.Text), in.last)
			p.Text, p.With = in.last, append([]op.Text{{Name: "what stands before the command", Text: before}}, p.With...)
			p.Typed, p.ImagesAt = op.All(p.Text), nil
		}
		if p.Quiet {
			r.any = true
			return r.c.Submit(ctx, p)
		}
		o = p
		if _, used := r.asked[p.ID]; used || p.ID == "" {
			p.ID = r.About.NewID()
		}
		o, r.any = r.slash(p), true
		r.asked[p.ID] = false
		r.queued = append(r.queued, p.ID)
		if r.Replay && in.Said != nil {
			r.p.replays[p.ID] = replay{in.Said, in.UUID}
		}
	}
	if p, prompt := o.(op.Prompt); prompt && !p.Verbatim && slashed(p.Text) {
		p.Command = true
		if err := r.c.Submit(ctx, p); !errors.Is(err, &op.Refusal{Code: op.NoCommand}) {
			return err
		} else if r.NoCommand != nil {
			answer, err := r.NoCommand(p.Text, err)
			if err != nil {
				return err
			}
			if answer != "" {
				return r.unknown(in, p.ID, answer)
			}
		} // words that only look like one
	}
	err := r.c.Submit(ctx, o)
	if p, prompt := o.(op.Prompt); prompt && r.Format == Stream && errors.Is(err, &op.Refusal{Code: op.Undelivered}) {
		return r.unknown(in, p.ID, err.Error())
	}
	return err
}

// slashed reports whether a text may be a slash command that extensions bring:
// it begins with "/" and a word that is no path.
func slashed(text string) bool {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word = word[:i]
	}
	return ok && word != "" && !strings.ContainsAny(word, "/\\")
}

// see handles one event.
func (r *runner) see(e event.Event) {
	lines := r.p.apply(e)
	if r.Format == Stream {
		for _, l := range lines {
			r.write(l)
		}
	}
	switch b := e.Body.(type) {
	case event.InputQueued:
		if b.From != nil && !b.Rests {
			r.mail[b.ID] = b.From.Notice()
		}
	case event.InputAccepted:
		if _, mail := r.mail[b.ID]; mail {
			r.turning = true // it begins a turn
		}
		delete(r.mail, b.ID)
		r.taken(b.ID)
	case event.InputRemoved:
		delete(r.mail, b.ID)
		r.taken(b.ID)
	case event.Noted:
		r.posted(b)
	case event.TurnStarted:
		r.turning, r.turned, r.linger, r.lingered = true, true, nil, false
	case event.GoalSet:
		r.goal = true
	case event.GoalChanged:
		r.pursued(e, b)
	case event.TurnEnded:
		r.turning = false
		if b.How != event.Done {
			maps.DeleteFunc(r.mail, func(_ string, notice bool) bool { return notice }) // they begin no turn behind this one
		}
		r.goal = r.goal && b.Kind != "storage" && b.Reason != event.ToolDeferred
		maps.DeleteFunc(r.asked, func(_ string, taken bool) bool { return taken || b.Kind == "storage" })
		r.res.Ended, r.res.Refused = b, r.p.turn.refused()
		r.res.Stopped, r.stopped = r.stopped && b.How == event.Interrupted, false
		r.watch(e)
		r.answered(b)
		return
	default: // the projection has seen the others
	}
	r.tell(e)
	r.watch(e)
	r.became(e)
}

// unfit takes a prompt back that begins a turn and turns out not to fit the window
// of the model, so that what is said next does not fail for its sake.
func (r *runner) unfit(ctx context.Context, b event.Body) {
	switch b := b.(type) {
	case event.InputAccepted:
		if !b.Steer {
			r.given = b.ID
		}
	case event.Replied:
		r.given = ""
	case event.TurnEnded:
		id := r.given
		r.given, r.res.Withdrawn = "", false
		if id == "" || !b.Overfull() || r.c.Submit(context.WithoutCancel(ctx), op.Rewind{To: id, Conversation: true}) != nil {
			return // what stays is what the hint speaks of
		}
		r.res.Withdrawn = true
		if r.Format == Stream {
			r.write(r.p.note("info", "the prompt is not part of the conversation, because it does not fit"))
		}
	default:
	}
}

func (r *runner) watch(e event.Event) {
	switch {
	case r.Watch != nil:
		r.Watch(e)
	case r.Chatty:
		r.chat(e)
	}
}

// tell says on Err what a person should know who reads the answer only.
func (r *runner) tell(e event.Event) {
	if w, ok := e.Body.(event.Waiting); ok && r.Format != Stream {
		r.wait(w) // nobody should wonder why nothing happens
	}
	if b, ok := e.Body.(event.InputAccepted); ok && r.Format != Stream {
		r.attached(b.Attached)
	}
	if r.Watch != nil {
		return // it shows these
	}
	if b, ok := e.Body.(event.SettingsChanged); ok && r.Format != Stream {
		r.settings(b)
	}
	if b, ok := e.Body.(event.ModelChanged); ok && r.Format != Stream && !r.Chatty && b.Cause == event.CauseFallback {
		fmt.Fprintf(r.Err, "adze: going on with the fallback model %s\n", clip.Visible(b.Model))
	}
	if b, ok := e.Body.(event.Noted); ok && (b.Level == "warning" || b.About == event.AboutHook) && r.Format != Stream {
		fmt.Fprintf(r.Err, "adze: %s\n", clip.Line(clip.VisibleText(b.Text), 500))
	}
}

// attached says what was read of what a prompt names with "@", unless it is
// shown anyway, and what was not.
func (r *runner) attached(all []event.Attached) {
	var with []string
	for _, a := range all {
		name, about := clip.Line(clip.VisibleText(a.Name), 200), clip.Line(clip.VisibleText(a.About), 200)
		if a.Refused {
			fmt.Fprintf(r.Err, "adze: not attached: %s: %s\n", name, about)
			continue
		}
		with = append(with, fmt.Sprintf("%s (%s)", name, about))
	}
	if len(with) > 0 && r.Watch == nil {
		fmt.Fprintf(r.Err, "adze: attached: %s\n", strings.Join(with, ", "))
	}
}

// taken notes that a prompt does not wait any more: the end of the turn is its
// end.
func (r *runner) taken(id string) {
	r.unqueued(id)
	if _, mine := r.asked[id]; mine {
		r.asked[id] = true
	}
}

func (r *runner) wait(b event.Waiting) {
	fmt.Fprintf(r.Err, "· %s; trying again in %s (%s)\n", clip.Line(clip.VisibleText(b.Err), 100), b.For.Round(100*time.Millisecond), b.Count())
}

// settings says what of changed settings does not count, and what is wrong
// with them; what counts is only said at a terminal.
func (r *runner) settings(b event.SettingsChanged) {
	counts, waits, wrong := b.Lines()
	if !r.Chatty {
		counts = nil
	}
	for _, lines := range [][]string{counts, waits, wrong} {
		for _, l := range lines {
			fmt.Fprintf(r.Err, "adze: settings changed: %s\n", clip.Line(clip.VisibleText(l), 500))
		}
	}
}
