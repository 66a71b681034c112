package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
)

// An Admission is what hooks say of a prompt.
type Admission struct {
	// Refused is why the model is not given it, "" when it is. A turn that it
	// would have begun ends with these words.
	Refused string
	Context []string // texts that the model reads behind it

	hint    string    // what can be done about Refused
	mistake bool      // Refused is a mistake in a command or its definition, and nobody's no
	read    Expansion // of a command
	lent    lending
}

// begin starts a turn with the first of the prompts that wait.
func (s *Session) begin(st *state) {
	if st.loop == nil {
		return // opened only to go back: prompts that an earlier process left wait for the next start
	}
	if st.pursuit.stop != nil {
		st.pursuit.stop() // it is judged when the turn is over
	}
	ctx, cancel := context.WithCancel(context.Background())
	st.cancel, st.turn, st.began = cancel, ctx, s.cfg.Now()
	go func() { // ends with the turn; end and finish wait for it through cancel
		_ = s.late(always) // what cannot be recorded now cannot in the turn either, which says so
		out, err := s.run(ctx)
		if err == nil && out.Reason == agent.Completed && s.cfg.Ending != nil {
			s.cfg.Ending(ctx)
		}
		err = errors.Join(err, s.late(always))
		_ = s.do(func(st *state) { s.finish(st, out, err) })
	}()
}

// run is a turn, on its own goroutine: hooks may look at its prompt for as long
// as they like. When every prompt was taken back meanwhile, nothing begins.
func (s *Session) run(ctx context.Context) (out agent.Outcome, err error) {
	if c, loop, turn, ok, err := s.compacting(); ok || err != nil {
		if err != nil {
			return out, err
		}
		return loop.Compact(ctx, turn, c)
	}
	for _, begins := range []func(context.Context) (*agent.Loop, agent.Turn, error){s.goingOn, s.woken, s.toward} {
		if loop, turn, err := begins(ctx); loop != nil || err != nil {
			if err != nil {
				return out, err
			}
			return loop.Run(ctx, turn)
		}
	}
	for {
		q, ok := s.waiting(false)
		if !ok {
			return out, nil
		}
		a := s.look(ctx, q)
		s.expand(ctx, q, &a)
		s.admitAttached(ctx, &q, &a)
		var loop *agent.Loop
		var turn agent.Turn
		taken := false
		derr := s.do(func(st *state) {
			switch taken = waits(st, q.ID); {
			case !taken:
			case a.Refused != "":
				if err = s.record(context.WithoutCancel(ctx), st, event.InputRemoved{ID: q.ID, Why: a.Refused}); err == nil {
					_, err = s.started(st)
				}
			default:
				loop, turn, err = s.enter(st, q, a)
			}
		})
		switch err = errors.Join(err, derr); {
		case err != nil:
			return out, err
		case !taken && ctx.Err() != nil:
			return out, nil // it was taken back while hooks looked at it; the next one begins anew
		case !taken:
			continue
		case a.Refused != "" && ctx.Err() != nil:
			return agent.Outcome{Reason: agent.InterruptedStreaming}, nil
		case a.Refused != "":
			out = agent.Outcome{Reason: agent.HookStopped, Text: "the prompt was refused: " + a.Refused, Hint: a.hint}
			if a.mistake {
				out.Reason = agent.CommandMistaken
			}
			return out, nil
		}
		return loop.Run(ctx, turn)
	}
}

// goingOn begins a turn with the call that a hook put off, if there is one. Prompts
// that wait join behind its result; those that say nothing only began it.
func (s *Session) goingOn(context.Context) (loop *agent.Loop, t agent.Turn, err error) {
	derr := s.do(func(st *state) {
		use := st.Deferred()
		if use == nil || st.ending {
			return
		}
		for _, q := range slices.Clone(st.Queue) {
			if q.Text == "" && len(q.Images) == 0 {
				err = errors.Join(err, s.record(context.Background(), st, event.InputRemoved{ID: q.ID, Why: "it had the session go on with the call that was put off"}))
			}
		}
		if err = errors.Join(err, s.situate(st)); err != nil {
			return
		}
		loop = st.loop
		t, err = s.turn(st)
		t.Deferred = use
	})
	return loop, t, errors.Join(err, derr)
}

// waiting is the first prompt that waits, with steer the first that may join a
// turn that runs; when the session ends, none does. A turn begins with a notice of a task
// where there is nothing else.
func (s *Session) waiting(steer bool) (q event.InputQueued, ok bool) {
	_ = s.do(func(st *state) {
		i := slices.IndexFunc(st.Queue, func(q event.InputQueued) bool { return steer && !q.Later || !steer && !q.From.Notice() })
		if i < 0 && !steer {
			i = slices.IndexFunc(st.Queue, func(q event.InputQueued) bool { return !q.Rests })
		}
		if ok = i >= 0 && !st.ending; ok {
			q = st.Queue[i]
		}
	})
	return q, ok
}

func waits(st *state, id string) bool {
	return slices.ContainsFunc(st.Queue, func(q event.InputQueued) bool { return q.ID == id })
}

// look has settings count as they are now, and the hooks look at a prompt. It runs on the turn's goroutine.
func (s *Session) look(ctx context.Context, q event.InputQueued) (a Admission) {
	s.fresh()
	if s.cfg.Hooks == nil {
		return a
	}
	a, err := s.cfg.Hooks.Prompt(ctx, q)
	switch {
	case ctx.Err() != nil: // nobody has looked at it
		a.Refused = "interrupted"
	case err != nil:
		a.Refused = err.Error()
	}
	return a
}

// admitAttached asks a person about what a prompt names and rules ask about.
func (s *Session) admitAttached(ctx context.Context, q *event.InputQueued, a *Admission) {
	if a.Refused != "" {
		return
	}
	var err error
	q.Attached, err = s.attachedAtTurn(ctx, *q)
	switch {
	case ctx.Err() != nil:
		a.Refused = "interrupted"
	case err != nil:
		a.Refused = err.Error()
	}
}

// accept gives a prompt to the model, and what hooks add to it.
func (s *Session) accept(st *state, q event.InputQueued, a Admission, steer bool) error {
	e := event.InputAccepted{
		ID: q.ID, Text: q.Text, Typed: q.Typed, From: q.From, Images: append(slices.Clip(q.Images), a.read.Images...), ImagesAt: q.ImagesAt, Attached: q.Attached, Steer: steer,
		Read: cmp.Or(a.read.Text, letter(q)), Skill: a.read.Skill,
	}
	if a.read.Changed.Any() {
		e.Changed = &a.read.Changed
	}
	if err := s.record(context.Background(), st, e); err != nil {
		return err
	}
	if q.From == nil {
		st.wakes = 0
	} else if err := s.approved(st, q.From.Mode); err != nil {
		return err
	}
	if e.Skill != nil {
		st.lent = append(st.lent, a.lent)
		if steer { // else the turn's start says it
			if err := s.sayAside(context.Background(), st); err != nil {
				return err
			}
		}
	}
	st.notes = append(st.notes, a.Context...)
	return s.tell(st)
}

// enter begins a turn with its first prompt.
func (s *Session) enter(st *state, q event.InputQueued, a Admission) (*agent.Loop, agent.Turn, error) {
	if err := s.instruct(st); err != nil {
		return nil, agent.Turn{}, err
	}
	if err := errors.Join(s.noticed(st, q.ID), s.accept(st, q, a, false)); err != nil {
		return nil, agent.Turn{}, err
	}
	t, err := s.turn(st)
	if err == nil && q.From.Notice() {
		if st.shell(q.From.ID) {
			st.wakes++
		}
		err = s.record(context.Background(), st, event.Noted{Level: "info", Text: "this turn began without a prompt: " + cmp.Or(q.From.Why, q.From.Name, q.From.ID)})
	}
	if err != nil {
		return nil, t, err
	}
	tokens := q.Tokens
	if tokens == 0 {
		tokens = wishedTokens(q.Text)
	}
	if tokens > 0 {
		t.Budget.Tokens = tokens
	}
	st.tokens = t.Budget.Tokens
	if len(st.Queue) > 0 {
		s.showQueue(st)
	}
	return st.loop, t, nil
}

// instruct tells the model what it has to know before a turn, and what happened since the
// last one.
func (s *Session) instruct(st *state) error {
	if err := s.situate(st); err != nil {
		return err
	}
	if s.cfg.Remind != nil {
		if text := s.cfg.Remind(st.told, st.mode); text != "" {
			st.notes, st.told = append(st.notes, text), st.mode
		}
	}
	return s.tell(st)
}

// turn begins a turn, whose input the model has.
func (s *Session) turn(st *state) (t agent.Turn, err error) {
	t = agent.Turn{Host: host{s}, Budget: s.bounded(st)}
	if t.ID, err = s.started(st); err == nil && st.onBegin != nil {
		st.onBegin()
		st.onBegin = nil
	}
	return t, err
}

// started records the start of a turn.
func (s *Session) started(st *state) (id string, err error) {
	id = fmt.Sprintf("t%d", st.Turns+1)
	st.helped, st.pursuit.next = st.Helpers[event.ForSkill].Helped, ""
	began := event.TurnStarted{ID: id, Model: st.asked().ID(), Mode: st.mode}
	if wish := st.target.Wished(); wish != began.Model {
		began.Wish = wish
	}
	if err := s.record(context.Background(), st, began); err != nil {
		return id, err
	}
	s.watchGoal(st)
	return id, s.sayAside(context.Background(), st)
}

// Steer implements agent.Host. A prompt that hooks were looking at when the
// turn was interrupted goes on waiting.
func (h host) Steer(ctx context.Context) (err error) {
	if derr := h.s.do(func(st *state) { err = h.s.tell(st) }); derr != nil || err != nil {
		return errors.Join(derr, err)
	}
	for {
		q, ok := h.s.waiting(true)
		if !ok {
			return nil
		}
		a := h.s.look(ctx, q)
		h.s.expand(ctx, q, &a)
		h.s.admitAttached(ctx, &q, &a)
		if ctx.Err() != nil {
			return nil
		}
		derr := h.s.do(func(st *state) {
			switch {
			case !waits(st, q.ID):
			case a.Refused != "":
				err = h.s.refuse(ctx, st, q, a.Refused)
			default:
				err = h.s.accept(st, q, a, true)
			}
			h.s.showQueue(st)
		})
		if derr != nil || err != nil {
			return errors.Join(derr, err)
		}
	}
}

// refuse takes back a prompt that waited while a turn runs, and says why.
func (s *Session) refuse(ctx context.Context, st *state, q event.InputQueued, why string) error {
	if err := s.record(context.WithoutCancel(ctx), st, event.InputRemoved{ID: q.ID, Why: why}); err != nil {
		return err
	}
	return s.record(context.WithoutCancel(ctx), st, event.Noted{Level: "warning", Text: "a prompt was refused: " + why})
}
