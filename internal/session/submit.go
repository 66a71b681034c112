package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// Submit reports whether the session took the op. When it returns nil for a
// prompt or an answer, that is on disk. What comes of it arrives as events.
// When ctx ends before the session took the op, it is not taken.
func (s *Session) Submit(ctx context.Context, o op.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	with, err := s.prepare(ctx, o)
	if err != nil {
		return err
	}
	if with.posted {
		return nil
	}
	if p, ok := o.(op.Prompt); ok && len(p.Images) > 0 {
		if o, err = s.fitted(ctx, p); err != nil {
			return err
		}
	}
	var res error
	if err := s.within(ctx, func(st *state) { res = s.handle(st, o, with) }); err != nil {
		return err
	}
	return res
}

// prepared is what was found out about an op before the session took it.
type prepared struct {
	target   agent.Target     // that op.SetModel means
	posted   bool             // op.Prompt was a message for somebody else
	attached []event.Attached // that op.Prompt names
	unkept   error            // why op.Revoke counts until the session is closed only
}

// prepare does what of an op may take time or needs nothing of the session's
// state.
func (s *Session) prepare(ctx context.Context, o op.Op) (out prepared, err error) {
	switch o := o.(type) {
	case op.Prompt:
		if o.Command {
			err = s.command(o.Text)
		}
		if err == nil {
			out.posted, err = s.post(ctx, o)
		}
		if err == nil && !o.Verbatim && !out.posted {
			out.attached, err = s.attached(ctx, o.Text, nil)
		}
	case op.SetModel:
		out.target, err = s.named(ctx, o.Name)
	case op.Rewind:
		err = s.rewind(ctx, o)
	case op.Goal:
		if s.cfg.Judge == nil {
			return out, &op.Refusal{Code: op.Unsupported, Text: "this session cannot have a goal"}
		}
		if o.Do == "" || o.Do == op.ResumeGoal {
			if _, no := s.cfg.Judge(ctx); no != nil {
				err = &op.Refusal{Code: op.NoModel, Text: no.Error(), Err: no}
			}
		}
	case op.Compact:
		if o.Undo {
			err = s.uncompact(ctx)
		}
	case op.Background:
		ok := false
		if s.cfg.Tasks != nil {
			_, ok = s.cfg.Tasks.Background(o.Call)
		}
		if !ok {
			err = &op.Refusal{Code: op.NoTask, Text: "no command runs that could go to the background"}
		}
	case op.StopTask:
		no := fmt.Errorf("there is no background task %q", o.ID)
		if s.cfg.Tasks != nil {
			no = s.cfg.Tasks.Kill(o.ID)
		}
		if no != nil {
			err = &op.Refusal{Code: op.NoTask, Text: no.Error(), Err: no}
		}
	case op.Revoke:
		if s.cfg.Revoke != nil && o.Effect == policy.Allow { // others are not kept
			out.unkept = s.cfg.Revoke(ctx, o.Rules)
		}
	case op.Notify, op.Shell, op.Unqueue, op.Interrupt, op.Attach, op.Detach, op.Answer, op.SetEffort, op.SetMode, op.Rename: // all of it is the session's
	}
	return out, err
}

// named is the model that op.SetModel means.
func (s *Session) named(ctx context.Context, name string) (agent.Target, error) {
	if s.cfg.Resolve == nil {
		return agent.Target{}, &op.Refusal{Code: op.Unsupported, Text: "this session cannot change its model"}
	}
	t, err := s.cfg.Resolve(ctx, name)
	if err != nil {
		err = &op.Refusal{Code: op.BadModel, Text: err.Error(), Err: err}
	}
	return t, err
}

// fitted is the prompt with images that the model takes. What cannot be read
// stays as it is: the provider says what is wrong with it.
func (s *Session) fitted(ctx context.Context, p op.Prompt) (op.Prompt, error) {
	var edge int
	if err := s.within(ctx, func(st *state) { edge = st.target.ImageEdge }); err != nil {
		return p, err
	}
	p.Images = slices.Clone(p.Images)
	for i, img := range p.Images {
		if small, err := pixels.Fit(img.Data, edge); err == nil {
			p.Images[i] = small
		}
	}
	return p, nil
}

// Report tells readers what becomes of a background task, and records its start
// and end, what the session says to others, and what helpers beside it cost and wrote down. b is an
// event.TaskStarted, TaskOutput, TaskProgress or TaskEnded, HookStarted, HookEnded, Suggested, Spent, NotesKept, Noted, MessageSent, MessageSettled, Extended or ServerChanged; any
// other is an error.
func (s *Session) Report(b event.Body) error {
	switch b := b.(type) {
	case event.TaskOutput, event.TaskProgress, event.HookStarted, event.HookEnded, event.Suggested:
		s.fan.send(event.Event{Time: s.cfg.Now(), Body: b})
		return nil
	case event.Extended, event.ServerChanged:
		var res error
		err := s.do(func(st *state) {
			if st.Seq > 0 {
				res = s.record(context.Background(), st, b)
				return
			}
			// What there is does not begin a log. Readers are told all the same.
			st.early = append(slices.DeleteFunc(st.early, func(x event.Body) bool { return sameThing(x, b) }), b)
			e := event.Event{Time: s.cfg.Now(), Body: b}
			st.apply(e)
			s.fan.send(e)
		})
		return errors.Join(err, res)
	case event.TaskStarted, event.TaskEnded, event.Spent, event.NotesKept, event.Noted, event.MessageSent, event.MessageSettled:
		var res error
		_, ended := b.(event.TaskEnded)
		err := s.do(func(st *state) {
			if res = s.record(context.Background(), st, b); res != nil && ended {
				s.unkept(st, b, res)
			}
		})
		if ended {
			res = errors.Join(res, s.late(rests))
		}
		return errors.Join(err, res)
	default:
		return fmt.Errorf("report what goes on beside a session: %T is about nothing of it", b)
	}
}

// sameThing: b says anew what a said.
func sameThing(a, b event.Body) bool {
	if x, ok := a.(event.ServerChanged); ok {
		y, ok := b.(event.ServerChanged)
		return ok && x.Name == y.Name
	}
	_, x := a.(event.Extended)
	_, y := b.(event.Extended)
	return x && y
}

// Note keeps a text for the model, which reads it after the current step, or with
// the next prompt.
func (s *Session) Note(text string) error {
	return s.do(func(st *state) {
		st.notes = append(st.notes, text)
		st.arrived()
	})
}

// Entitle records what a title cost and, unless the session has one by now, the
// title: what a person chose stays. "" is no title.
func (s *Session) Entitle(ctx context.Context, title string, spent event.Spent) error {
	var res error
	err := s.do(func(st *state) {
		if spent != (event.Spent{}) {
			res = s.record(ctx, st, spent)
		}
		if title != "" && st.Title == "" {
			res = errors.Join(res, s.record(ctx, st, event.Titled{Title: title, By: "model"}))
		}
	})
	return errors.Join(err, res)
}
