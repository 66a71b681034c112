package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

// Files are what calls changed on disk, and how that is taken back.
type Files interface {
	// Preview says what taking these changes back, the oldest first, would do.
	Preview(ctx context.Context, changes []effect.Change) (files []event.FileChange, lost []string)
	// TakeBack does it, and returns what it changed in its turn. begin is called with
	// what it is about to change before the first file changes; with an error of it
	// nothing does. progress is called with how many of all were done. When ctx ends
	// meanwhile, it puts back what it can.
	TakeBack(ctx context.Context, changes []effect.Change, begin func(todo []effect.Change) error, progress func(done, of int)) (TakenBack, error)
	// Join is two lists of changes, one after the other, as one.
	Join(first, then []effect.Change) []effect.Change
	// Unfinished is what a rewind that was cut off has changed of what it was about to.
	Unfinished(b event.RewindBegan) event.Rewound
	// Late is what changed since the newest call, where something that calls left running
	// may have done it. Nothing is looked at where nothing was left.
	Late(ctx context.Context) effect.Changed
	// Cut says what calls changed that the last process of the session left open.
	Cut(ctx context.Context) effect.Changed
	// Seen replaces what the model is taken to know of files.
	Seen(files []effect.File)
}

// ErrCutRewind is returned when a rewind did not come to its end; the Rewound says what
// became of files.
var ErrCutRewind = errors.New("the rewind was cut off")

// TakenBack is what came of taking changes back.
type TakenBack struct {
	Done     []effect.Change
	Problems []string // for people, a path and why it stays as it is
	Foreign  []string // paths of Done that something else had changed since the last call
}

// A past is the session as it was before an event.
type past struct {
	at      event.Event // the prompt or the Rewound
	state   transcript.State
	changes []effect.Change // since then, the oldest first
	trail   event.Trail     // of all the log
	prompts []event.Seq     // of people, of all the log
	missed  []string        // of what since then nothing is recorded
	cut     []effect.Change // what a rewind did that was cut off, when nothing was changed since
}

// rewind goes back. It runs on the goroutine that submits: the log is read and
// files are written meanwhile, and prompts wait.
func (s *Session) rewind(ctx context.Context, o op.Rewind) error {
	if s.cfg.Files == nil && o.Code {
		return &op.Refusal{Code: op.Unsupported, Text: "this session does not record what changes on disk"}
	}
	if !o.Conversation && !o.Code {
		return &op.Refusal{Code: op.Unsupported, Text: "a rewind is of the conversation, of the code, or of both"}
	}
	var now transcript.State
	var err error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if werr := s.within(ctx, func(st *state) {
		if st.cancel != nil || st.rewinding || len(st.shells) > 0 {
			err = &op.Refusal{Code: op.Busy, Text: "something is running; interrupt it first"}
			return
		}
		st.rewinding, st.unwind, now = true, stop, st.State
	}); werr != nil || err != nil {
		return errors.Join(werr, err)
	}
	err = s.late(always)
	var e *event.Rewound
	var live *event.RewindPlan
	if err == nil {
		e, live, err = s.goBack(ctx, o, now)
	}
	derr := s.do(func(st *state) {
		st.rewinding, st.unwind = false, nil
		switch {
		case err != nil:
		case e != nil && e.Cut != "":
			if err = s.record(context.WithoutCancel(ctx), st, *e); err == nil {
				err = errors.Join(ErrCutRewind, ctx.Err())
			}
		case live != nil:
			s.fan.send(event.Event{Time: s.cfg.Now(), Body: *live})
		default:
			if err = s.record(context.WithoutCancel(ctx), st, *e); err == nil {
				s.wentBack(st, *e)
			}
		}
		if len(st.Queue) > len(now.Queue) && !st.ending { // what an earlier process left there waits for a person's word
			s.begin(st)
		}
	})
	return errors.Join(derr, err)
}

// goBack finds what was, and takes changes back, or says what that would do.
func (s *Session) goBack(ctx context.Context, o op.Rewind, now transcript.State) (*event.Rewound, *event.RewindPlan, error) {
	was, err := s.past(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	e := event.Rewound{To: was.at.Seq, Undo: o.Undo}
	if b, ok := was.at.Body.(event.Rewound); ok { // what it did not go back in is not to be put back
		o.Conversation, o.Code = o.Conversation && b.Conversation, o.Code && b.Code
		if !o.Conversation && !o.Code {
			return nil, nil, &op.Refusal{Code: op.NoPrompt, Text: "the last rewind did not go back in that: there is nothing of it to take back"}
		}
	}
	if o.Undo && o.Conversation {
		e.Dropped = was.dropped()
	}
	if in, ok := was.at.Body.(event.InputAccepted); ok {
		e.ID, e.Text = in.ID, clip.Line(in.Text, 200)
	}
	if o.Preview {
		plan := event.RewindPlan{ID: e.ID, Dropped: e.Dropped}
		if s.cfg.Files != nil && (o.Code || !o.Undo) {
			plan.Files, plan.Lost = s.cfg.Files.Preview(ctx, was.changes)
			plan.Lost = append(plan.Lost, was.unknown()...)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("the look at what a rewind would do was interrupted: %w", err)
		}
		return nil, &plan, nil
	}
	if o.Code {
		e.Code = true
		began := false
		done, err := s.cfg.Files.TakeBack(ctx, was.changes, func(todo []effect.Change) (err error) {
			derr := s.do(func(st *state) {
				err = s.record(context.WithoutCancel(ctx), st, event.RewindBegan{To: e.To, ID: e.ID, Text: e.Text, Undo: e.Undo, Changes: todo})
			})
			began = err == nil && derr == nil
			return errors.Join(derr, err)
		}, s.putBack())
		e.Changes, e.Problems, e.Foreign, e.Missed = done.Done, done.Problems, done.Foreign, was.unknown()
		switch {
		case ctx.Err() != nil && !began:
			return nil, nil, fmt.Errorf("the rewind was interrupted before it changed a file: %w", ctx.Err())
		case err != nil && !began:
			return nil, nil, fmt.Errorf("take changes back: %w", err)
		case err != nil:
			e.Cut = cmp.Or(cutBy(ctx), err.Error())
			return &e, nil, nil
		case !o.Undo: // one undo takes back what both did
			e.Changes = s.cfg.Files.Join(was.cut, e.Changes)
		}
	}
	if o.Conversation {
		e.Conversation = true
		e.Tasks, e.List, e.Dir, e.Last, e.Tokens = was.state.Tasks, was.state.Todo(), was.state.Dir, was.state.Last, window.Estimate(was.state)
		for _, f := range was.state.Files() {
			e.Seen = append(e.Seen, f)
		}
		if o.Undo || now.Boundary() >= e.To {
			e.Messages, e.Origin = was.state.Messages(), was.state.Origin() // Messages are not nil, also where it began with this prompt
		}
	}
	return &e, nil, nil
}

// tellEvery is how often at most a rewind says how far it is.
const tellEvery = 100 * time.Millisecond

// putBack tells readers how far a rewind is.
func (s *Session) putBack() func(done, of int) {
	told := s.cfg.Now()
	return func(done, of int) {
		now := s.cfg.Now()
		if now.Sub(told) < tellEvery {
			return
		}
		told = now
		_ = s.do(func(*state) { s.fan.send(event.Event{Time: now, Body: event.Rewinding{Done: done, Of: of}}) }) // its end is seen when this one is recorded
	}
}

// past reads the log up to what the op names, and what changed since.
func (s *Session) past(ctx context.Context, o op.Rewind) (p past, err error) {
	if p.at, err = s.target(ctx, o); err != nil {
		return p, err
	}
	agents := map[string]event.TaskStarted{} // that work in the same files, by the ID of their task
	for e, err := range s.cfg.Log.After(ctx, 0) {
		ended, _ := e.Body.(event.TaskEnded)
		worked, ends := agents[ended.ID]
		delete(agents, ended.ID)
		if b, ok := e.Body.(event.TaskStarted); ok && b.Agent != nil && b.Worktree == nil {
			agents[b.ID] = b
		}
		switch {
		case err != nil:
			return p, fmt.Errorf("read the session: %w", err)
		case e.Seq < p.at.Seq:
			p.state = p.state.Apply(e)
		}
		p.trail = p.trail.With(e)
		if in, ok := e.Body.(event.InputAccepted); ok && !in.Hidden {
			p.prompts = append(p.prompts, e.Seq)
		}
		if e.Seq < p.at.Seq {
			continue
		}
		switch b := e.Body.(type) {
		case event.ToolFinished, event.InputAccepted, event.FilesChanged:
			changed := event.ChangedBy(b)
			files := changed.Files
			p.changes = append(p.changes, files...)
			p.missed = append(p.missed, changed.Unknown()...)
			if len(files) > 0 {
				p.cut = nil
			}
		case event.Rewound:
			p.changes, p.cut = append(p.changes, b.Changes...), nil
			if b.Cut != "" && b.To == p.at.Seq {
				p.cut = b.Changes
			}
		case event.TaskEnded:
			if ends {
				p.missed = append(p.missed, leftBy(*worked.Agent, b)...)
			}
		default: // changes no file
		}
	}
	for _, a := range agents {
		p.missed = append(p.missed, "what the agent "+labelOf(*a.Agent)+" changes, which works still")
	}
	return p, nil
}

// labelOf is how an agent is called.
func labelOf(a event.Agent) string {
	if a.Name != "" {
		return a.Name + " (" + a.ID + ")"
	}
	return a.ID
}

// leftBy says which files an agent changed: what they were before is in its own session, and
// is not put back with this one.
func leftBy(a event.Agent, b event.TaskEnded) []string {
	var files []string
	for _, d := range b.Did {
		for _, f := range d.Changed {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	switch {
	case b.Status == event.TaskLost:
		return []string{"what the agent " + labelOf(a) + " changed before it was cut off"}
	case len(files) == 0:
		return nil
	}
	const most = 5
	more := ""
	if n := len(files) - most; n > 0 {
		files, more = files[:most], fmt.Sprintf(" and %d more", n)
	}
	return []string{fmt.Sprintf("%s%s, changed by the agent %s", strings.Join(files, ", "), more, labelOf(a))}
}

// unknown says each once of what since then nothing is recorded.
func (p past) unknown() []string { return slices.Compact(slices.Sorted(slices.Values(p.missed))) }

// cutBy says that a rewind was interrupted, "" when it was not.
func cutBy(ctx context.Context) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return ""
}

// dropped counts the prompts that are in the conversation and were not then.
func (p past) dropped() (n int) {
	then := slices.DeleteFunc(slices.Clone(p.trail), func(r event.Step) bool { return r.Seq >= p.at.Seq })
	for _, s := range p.prompts {
		if p.trail.There(s) && (s >= p.at.Seq || !then.There(s)) {
			n++
		}
	}
	return n
}

// target is the event that the op goes back to: a person's prompt, or the rewind
// that is to be taken back.
func (s *Session) target(ctx context.Context, o op.Rewind) (at event.Event, err error) {
	var trail event.Trail
	rewinds := map[event.Seq]event.Event{}
	for e, err := range s.cfg.Log.After(ctx, 0) {
		if err != nil {
			return at, fmt.Errorf("read the session: %w", err)
		}
		switch b := e.Body.(type) {
		case event.InputAccepted:
			if !o.Undo && b.ID == o.To && !b.Hidden {
				at = e
			}
		case event.Rewound:
			trail, rewinds[e.Seq] = trail.With(e), e
		default: // nothing to go back to
		}
	}
	switch r, ok := trail.Undoable(); {
	case o.Undo && ok:
		at = rewinds[r.Seq]
	case o.Undo:
		err = &op.Refusal{Code: op.NoPrompt, Text: "there is no rewind to take back"}
	case at.Seq == 0:
		err = &op.Refusal{Code: op.NoPrompt, Text: fmt.Sprintf("there is no prompt %q in this session", o.To)}
	case o.Conversation && !trail.There(at.Seq):
		err = &op.Refusal{Code: op.NoPrompt, Text: fmt.Sprintf("the prompt %q is not in the conversation any more: a rewind took it out", o.To)}
	}
	return at, err
}

// wentBack brings the rest of the session in line with a rewind.
func (s *Session) wentBack(st *state, e event.Rewound) {
	if e.Conversation && s.cfg.Files != nil {
		s.cfg.Files.Seen(e.Seen)
	}
	var files []string
	for _, c := range e.Changes {
		files = append(files, paths.Short(st.Dir, c.Path))
	}
	if len(files) > 0 && !e.Conversation {
		more := ""
		if n := len(files) - 20; n > 0 {
			files, more = files[:20], fmt.Sprintf(" and %d more", n)
		}
		st.notes = append(st.notes, "The person took back changes on disk. These files are not as you last saw them: "+strings.Join(files, ", ")+more+".")
	}
	if !e.Code { // the conversation alone
		st.notes = append(st.notes, "The person went back to this point of the conversation. Files may have changed since: read them again before you rely on them.")
	}
}
