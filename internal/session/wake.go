package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// maxWakes bounds the turns in a row that began without a prompt: what such a turn starts
// may end, and begin the next one.
const maxWakes = 10

// notify keeps a text for the model. What is to wake the session begins a turn when
// nothing runs, or when what runs has come to its end.
func (s *Session) notify(st *state, o op.Notify) error {
	st.notes = append(st.notes, o.Text)
	st.arrived()
	if o.Wake == "" {
		return nil
	}
	st.wake = o.Wake
	return s.awaken(st)
}

// awaken begins a turn for what waits to be told, unless something is in the way: then the
// model reads it with the next prompt.
func (s *Session) awaken(st *state) error {
	switch {
	case st.wake == "", st.cancel != nil, st.rewinding, st.ending, st.Seq == 0, len(st.asks) > 0, st.Deferred() != nil:
		return nil
	case len(st.prompts()) > 0: // left by an earlier process: they wait for a person's word
		return nil
	}
	if st.wakes >= maxWakes {
		st.wake = ""
		return s.record(context.Background(), st, event.Noted{Level: "warning", Text: fmt.Sprintf(
			"%d turns in a row began without a prompt, and no more do: what happens now, the model reads with the next prompt", maxWakes)})
	}
	s.begin(st)
	return nil
}

// woken begins a turn with what happened meanwhile. A prompt that came first begins it in
// its stead, and the model reads both.
func (s *Session) woken(ctx context.Context) (loop *agent.Loop, t agent.Turn, err error) {
	due := func(st *state) bool {
		return st.wake != "" && len(st.prompts()) == 0 && !st.ending && ctx.Err() == nil
	}
	waits, budget := false, agent.Budget{}
	if derr := s.do(func(st *state) { waits, budget = due(st), s.bounded(st) }); !waits || derr != nil {
		return nil, t, derr
	}
	if budget.USD > 0 && spent(budget, budget.Account()) {
		return nil, t, nil // the next prompt's turn says so
	}
	s.fresh()
	derr := s.do(func(st *state) {
		if !due(st) {
			return
		}
		why := st.wake
		st.wakes++
		if err = errors.Join(s.instruct(st), s.noticed(st, "")); err != nil {
			return
		}
		if t, err = s.turn(st); err != nil {
			return
		}
		loop = st.loop
		err = s.record(context.Background(), st, event.Noted{Level: "info", Text: "this turn began without a prompt: " + why})
	})
	return loop, t, errors.Join(err, derr)
}

// spent reports whether a budget with this account lets no turn begin.
func spent(b agent.Budget, a agent.Account) bool {
	if b.USD == 0 {
		return false
	}
	why, _ := b.Over(a)
	return why != ""
}

// counted is what counts against the budget of a turn, for the goroutine of the session, which
// must not wait for itself.
func (s *Session) counted(st *state) agent.Account {
	if own := st.budget.Account; own != nil {
		return own()
	}
	return s.account(st)
}

// calm has a notice of a task rest that may begin no turn: where a call was put off, where
// there is no money, and where commands that ended began too many turns in a row. What
// else tells of itself has bounds of its own.
func (s *Session) calm(st *state, o *op.Prompt) error {
	if !o.From.Notice() || o.Rests {
		return nil
	}
	o.Rests = st.ending || st.Deferred() != nil || spent(s.bounded(st), s.counted(st))
	if o.Rests || !st.shell(o.From.ID) || st.wakes < maxWakes {
		return nil
	}
	o.Rests = true
	if st.wakes++; st.wakes > maxWakes+1 {
		return nil // it was said
	}
	return s.record(context.Background(), st, event.Noted{Level: "warning", Text: fmt.Sprintf(
		"%d turns in a row began without a prompt, and no more do: what happens now, the model reads with the next prompt", maxWakes)})
}

// shell reports whether a task is a command.
func (st *state) shell(id string) bool {
	t, ok := st.Background[id]
	for i := len(st.Past) - 1; i >= 0 && !ok; i-- {
		t, ok = st.Past[i].TaskStarted, st.Past[i].ID == id
	}
	return ok && t.Kind == event.TaskShell
}

// prompts are those that wait and are no notices of tasks.
func (st *state) prompts() (out []event.InputQueued) {
	for _, q := range st.Queue {
		if !q.From.Notice() {
			out = append(out, q)
		}
	}
	return out
}

// due reports whether something waits that begins a turn. Notices do not begin one behind
// a turn that did not come to its end: a person goes on.
func (st *state) due(completed bool) bool {
	return slices.ContainsFunc(st.Queue, func(q event.InputQueued) bool { return !q.Rests && (completed || !q.From.Notice()) })
}

// noticed gives the notices that wait to the model, all but the one of this ID.
func (s *Session) noticed(st *state, but string) error {
	for _, q := range slices.Clone(st.Queue) {
		if q.ID == but || !q.From.Notice() {
			continue
		}
		if err := s.accept(st, q, Admission{}, false); err != nil {
			return err
		}
	}
	return nil
}
