package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/transcript"
)

// handle runs on the session's goroutine.
func (s *Session) handle(st *state, o op.Op, with prepared) error {
	ctx := context.Background() // an accepted op is recorded whatever becomes of its client
	switch o := o.(type) {
	case op.Prompt:
		return s.prompt(st, o, with.attached)
	case op.Notify:
		return s.notify(st, o)
	case op.Unqueue:
		if !slices.ContainsFunc(st.Queue, func(q event.InputQueued) bool { return q.ID == o.ID }) {
			return ErrNoPrompt
		}
		err := s.record(ctx, st, event.InputRemoved{ID: o.ID})
		s.showQueue(st)
		return err
	case op.Shell:
		return s.shell(st, o)
	case op.Interrupt:
		if st.cancel == nil && len(st.shells) > 0 {
			for _, stop := range st.shells {
				stop()
			}
			return nil
		}
		if st.unwind != nil {
			st.unwind()
			return nil
		}
		if st.cancel == nil && st.pursuit.stop != nil {
			s.rest(st)
			return s.record(ctx, st, event.GoalChanged{Status: event.GoalPaused, By: event.GoalByPerson})
		}
		if st.cancel == nil {
			return ErrIdle
		}
		st.interrupt()
		return nil
	case op.Attach:
		st.people[o.Client] = true
		return nil
	case op.Detach:
		return s.detach(ctx, st, o.Client)
	case op.Answer:
		return s.answer(ctx, st, o)
	case op.SetModel:
		if err := s.record(ctx, st, event.ModelChanged{Model: with.target.ID(), Wish: with.target.Wish, Cause: event.CauseAsked}); err != nil {
			return err
		}
		st.target = with.target
		return s.sayDeaf(ctx, st)
	case op.SetEffort:
		if !slices.Contains(levels, o.Level) {
			return &op.Refusal{Code: op.Unsupported, Text: fmt.Sprintf("there is no effort %q; it is one of %s, or a number of tokens", o.Level, strings.Join(levels[1:], ", "))}
		}
		st.effort = o
		return s.sayDeaf(ctx, st)
	case op.SetMode:
		m, err := st.mayBe(o.Mode)
		if err != nil {
			return err
		}
		return s.setMode(ctx, st, m)
	case op.Background, op.StopTask, op.Rewind:
		return nil // see prepare
	case op.Compact:
		if o.Undo {
			return nil // see prepare
		}
		return s.compact(st, o)
	case op.Revoke:
		return s.revoke(ctx, st, o, with.unkept)
	case op.Goal:
		return s.setGoal(ctx, st, o)
	case op.Rename:
		return s.record(ctx, st, event.Titled{Title: o.Title, By: "person"})
	}
	return &op.Refusal{Code: op.Unsupported, Text: fmt.Sprintf("the session cannot do %T", o)}
}

// levels are the efforts that can be asked for; "" is the settings'.
var levels = []string{"", string(llm.EffortNone), string(llm.EffortLow), string(llm.EffortMedium), string(llm.EffortHigh), string(llm.EffortXHigh), string(llm.EffortMax)}

// sayDeaf says that the effort that was asked for has no effect, where that is so.
func (s *Session) sayDeaf(ctx context.Context, st *state) error {
	if st.target.EffortWarning == nil {
		return nil
	}
	if text := st.target.EffortWarning(llm.Effort(st.effort.Level), st.effort.Tokens); text != "" {
		return s.record(ctx, st, event.Noted{Level: "warning", Text: text})
	}
	return nil
}

// mayBe reads the name of a mode that the session may change to.
func (st *state) mayBe(name string) (policy.Mode, error) {
	m, ok := policy.ParseMode(name)
	if !ok {
		return m, &op.Refusal{Code: op.UnknownMode, Text: fmt.Sprintf("there is no permission mode %q; the modes are %s", name, strings.Join(policy.ModeNames(), ", "))}
	}
	if why := st.forbidden[m]; why != "" {
		return m, &op.Refusal{Code: op.Forbidden, Text: fmt.Sprintf("the mode cannot be %s: %s", m, why)}
	}
	return m, nil
}

func (s *Session) setMode(ctx context.Context, st *state, m policy.Mode) error {
	if err := s.record(ctx, st, event.ModeChanged{Mode: m, Cause: event.CauseAsked}); err != nil {
		return err
	}
	st.mode = m
	if err := s.sayAside(ctx, st); err != nil {
		return err
	}
	if st.cancel != nil && m != st.told && s.cfg.Remind != nil { // with the results of this step
		if text := s.cfg.Remind(st.told, m); text != "" {
			st.notes = append(st.notes, text)
			st.told = m
		}
	}
	return nil
}

// prompt makes the input durable. It waits for the turn, which takes it when
// it begins, or after its current step.
func (s *Session) prompt(st *state, o op.Prompt, attached []event.Attached) error {
	if o.From != nil && st.ending && !o.From.Notice() {
		return ErrClosed
	}
	if s.came(st, o.From) {
		return nil
	}
	if err := st.room(o.From); err != nil {
		return err
	}
	if err := s.calm(st, &o); err != nil {
		return err
	}
	if o.ID == "" {
		st.names++
		o.ID = fmt.Sprintf("p%d.%d", st.Seq+1, st.names)
	}
	if st.took(o.ID) {
		return nil // a client that lost its connection says it once more
	}
	for _, w := range o.With {
		attached = append(slices.Clip(attached), event.Attached{Name: w.Name, About: clip.Count(strings.Count(w.Text, "\n")+1, "line"), Text: w.Text})
	}
	if o.Quiet && st.cancel != nil {
		st.notes = append(st.notes, o.Text)
		return nil
	}
	if o.Quiet {
		if err := s.situate(st); err != nil {
			return err
		}
		return s.record(context.Background(), st, event.InputAccepted{ID: o.ID, Text: o.Text, Typed: o.Typed, Images: o.Images, ImagesAt: o.ImagesAt, Attached: attached, Steer: true})
	}
	if err := s.record(context.Background(), st, event.InputQueued{ID: o.ID, Text: o.Text, Images: o.Images, ImagesAt: o.ImagesAt, Typed: o.Typed, From: o.From, Attached: attached, Tokens: o.Tokens, Later: o.Later, Command: o.Command, Rests: o.Rests}); err != nil {
		return err
	}
	if st.cancel == nil && !st.rewinding && !o.Rests {
		s.begin(st)
		return nil
	}
	s.showQueue(st)
	return nil
}

// took reports whether a prompt waits, or was given to the model and is still among the
// newest of the conversation.
func (st *state) took(id string) bool {
	return slices.ContainsFunc(st.Queue, func(q event.InputQueued) bool { return q.ID == id }) ||
		slices.ContainsFunc(st.Said, func(s transcript.Said) bool { return s.ID == id })
}

// tell gives what happened meanwhile to the model, as input that no person
// wrote.
func (s *Session) tell(st *state) error {
	for len(st.notes) > 0 {
		st.names++
		e := event.InputAccepted{ID: fmt.Sprintf("n%d.%d", st.Seq+1, st.names), Text: st.notes[0], Steer: true, Hidden: true}
		if err := s.record(context.Background(), st, e); err != nil {
			return err // the rest is told with the next turn
		}
		st.notes = st.notes[1:]
	}
	st.wake = ""
	return nil
}

func (s *Session) showQueue(st *state) {
	var e event.Queued
	for _, q := range st.Queue {
		if q.From != nil {
			continue
		}
		e.IDs, e.Texts = append(e.IDs, q.ID), append(e.Texts, q.Text)
	}
	s.fan.send(event.Event{Time: s.cfg.Now(), Body: e})
}

// detach lets a person go; the last one's open questions are answered with no.
func (s *Session) detach(ctx context.Context, st *state, client string) error {
	delete(st.people, client)
	if len(st.people) > 0 {
		return nil
	}
	var errs []error
	for _, call := range slices.Sorted(maps.Keys(st.asks)) {
		errs = append(errs, s.answer(ctx, st, op.Answer{Call: call, By: client, Comment: "nobody is there any more who could be asked"}))
	}
	for _, call := range slices.Sorted(maps.Keys(st.relayed)) {
		errs = append(errs, s.unanswered(st, call))
	}
	return errors.Join(errs...)
}

func (s *Session) answer(ctx context.Context, st *state, o op.Answer) error {
	ch, own := st.asks[o.Call]
	if !own {
		ch = st.relayed[o.Call]
	}
	if ch == nil {
		return ErrNoAsk
	}
	if o.Allow && o.Keep != op.ForSession && len(o.Rules) == 0 {
		o.Rules = st.Pending[o.Call].Verdict.Suggest
	}
	list, err := st.changed(o.Changes)
	if err != nil {
		return err
	}
	rules, err := s.change(ctx, st, o)
	if err != nil {
		return err
	}
	own = own || st.Pending[o.Call].Agent == nil
	e := event.Answered{Answer: o, By: event.Client(o.By)}
	e.Answer.By = "" // it stands beside
	if err := s.record(ctx, st, e); err != nil {
		return err
	}
	delete(st.asks, o.Call)
	delete(st.relayed, o.Call)
	st.limits = st.limits.Answered()
	if o.Allow {
		st.rules.List = append(list, rules...)
	}
	ch <- o
	if o.Stop && !o.Allow && own {
		st.interrupt()
	}
	return s.sayAside(ctx, st)
}

// interrupt ends the running turn, if there is one.
func (st *state) interrupt() {
	if st.cancel != nil {
		st.wish = nil
		st.cancel()
	}
}

// change switches to the mode that an answer begins with, and reads its rules.
func (s *Session) change(ctx context.Context, st *state, o op.Answer) (rules []policy.Rule, err error) {
	for _, text := range o.Rules {
		r, err := policy.ParseRule(text, policy.Allow, policy.Session, "this session", st.rules.Dir)
		if err != nil {
			return nil, &op.Refusal{Code: op.BadRule, Text: err.Error(), Err: err}
		}
		rules = append(rules, r)
	}
	if o.Mode == "" {
		return rules, nil
	}
	m, err := st.mayBe(string(o.Mode))
	if err != nil {
		return nil, err
	}
	return rules, s.setMode(ctx, st, m)
}

// changed are the rules with those that the session was granted changed. Rules of
// settings stay as they are.
func (st *state) changed(list []op.RuleChange) ([]policy.Rule, error) {
	out := slices.Clone(st.rules.List)
	for _, c := range list {
		if !slices.Contains([]op.ChangeKind{op.AddRules, op.ReplaceRules, op.RemoveRules}, c.Kind) {
			return nil, &op.Refusal{Code: op.BadRule, Text: fmt.Sprintf("rules can be added, replaced and removed; %q is none of these", c.Kind)}
		}
		if c.Kind != op.AddRules {
			out = slices.DeleteFunc(out, func(r policy.Rule) bool {
				return r.Scope == policy.Session && r.Effect == c.Effect && (c.Kind == op.ReplaceRules || slices.Contains(c.Rules, r.Text()))
			})
		}
		if c.Kind == op.RemoveRules {
			continue
		}
		for _, text := range c.Rules {
			r, err := policy.ParseRule(text, c.Effect, policy.Session, "this session", st.rules.Dir)
			if err != nil {
				return nil, &op.Refusal{Code: op.BadRule, Text: err.Error(), Err: err}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// revoke takes back rules that the session was given, and says so.
func (s *Session) revoke(ctx context.Context, st *state, o op.Revoke, unkept error) error {
	given := func(r policy.Rule) bool {
		return r.Scope == policy.Session && r.Effect == o.Effect && slices.Contains(o.Rules, r.Text())
	}
	names := strings.Join(o.Rules, ", ")
	if !slices.ContainsFunc(st.rules.List, given) {
		return &op.Refusal{Code: op.BadRule, Text: fmt.Sprintf("this session has no rule of its own that says %s %s", o.Effect, names)}
	}
	st.rules.List = slices.DeleteFunc(slices.Clone(st.rules.List), given)
	what := map[policy.Effect]string{
		policy.Allow: "this session may not do any more what %s allows", policy.Ask: "this session is not asked any more because of %s", policy.Deny: "what %s denied is decided by the other rules in this session",
	}[o.Effect]
	e := event.Noted{Level: "info", Text: "taken back: " + fmt.Sprintf(what, names)}
	if unkept != nil {
		e.Level, e.Text = "warning", e.Text+fmt.Sprintf("; it may again when it is resumed: %v", unkept)
	}
	return s.record(ctx, st, e)
}

// situate tells the model what has changed around it since it was last told.
func (s *Session) situate(st *state) error {
	st.situated = true
	now, was := s.cfg.Situation, st.Situation
	if s.cfg.Pending != nil && len(was.Parts) > 0 {
		now = s.cfg.Pending(was, now)
	}
	if len(now.Parts) == 0 || slices.Equal(now.Parts, was.Parts) {
		return nil
	}
	if err := s.record(context.Background(), st, now); err != nil {
		return err
	}
	if len(was.Parts) > 0 && s.cfg.Resituate != nil {
		st.notes = append(st.notes, s.cfg.Resituate(was, now))
	}
	if next := st.settled; next != nil { // the instructions say what was known
		st.settled = nil
		return s.settle(st, *next)
	}
	return nil
}

// A settled is what became known of where the session is.
type settled struct {
	now  event.Situated
	text string
}

// Situate says what was not known yet of where the session is: know puts it into what is
// told of that, and text says it to the model, unless it was told so before.
func (s *Session) Situate(know func(event.Situated) event.Situated, text string) error {
	var err error
	return errors.Join(s.do(func(st *state) {
		next := settled{know(s.cfg.Situation), text}
		switch {
		case len(st.Situation.Parts) == 0: // nothing was told, and nothing is recorded before a prompt
			st.settled = &next
		case !st.situated: // the next prompt tells it with all that is otherwise since the run before
			s.cfg.Situation, s.cfg.Pending = next.now, nil
		default:
			err = s.settle(st, next)
		}
	}), err)
}

func (s *Session) settle(st *state, next settled) error {
	s.cfg.Situation, s.cfg.Pending = next.now, nil
	if slices.Equal(next.now.Parts, st.Situation.Parts) {
		return nil
	}
	if err := s.record(context.Background(), st, next.now); err != nil {
		return err
	}
	st.notes = append(st.notes, next.text)
	return nil
}

// finish ends the turn and begins the next prompt that waits.
func (s *Session) finish(st *state, out agent.Outcome, err error) {
	st.cancel()
	st.cancel = nil
	st.asks = map[string]chan op.Answer{}
	began := st.Running != ""
	if out.Reason == agent.ToolDeferred && err == nil { // whoever put the call off decides when it goes on, and nothing may pass it
		for _, q := range st.prompts() {
			err = errors.Join(err, s.record(context.Background(), st, event.InputRemoved{ID: q.ID, Why: "the call before it was put off by a hook"}))
		}
	}
	end := ended(out, err)
	if (began || err != nil) && !s.close(st, end) || !began && err != nil {
		return // a prompt that could not be taken is not tried again by itself
	}
	if began && s.turned(st, end) != nil {
		return
	}
	switch {
	case st.ending:
	case st.due(out.Reason == agent.Completed || out.Reason == "") || st.wish != nil:
		s.begin(st)
	case out.Reason == agent.Completed: // after any other end, a person goes on
		_ = s.awaken(st) // what cannot be recorded now cannot in the next turn either, which says so
	}
	if out.Reason == agent.Completed || !began {
		s.weigh(st)
	}
}

// close records the end of the turn.
func (s *Session) close(st *state, e event.TurnEnded) (ok bool) {
	e.ID, e.Took = st.Running, s.cfg.Now().Sub(st.began)
	err := s.record(context.Background(), st, e)
	if err != nil { // the log cannot say it, but whoever watches must know
		s.fan.send(event.Event{Time: s.cfg.Now(), Body: unrecorded(e, err)})
	}
	return err == nil
}

// unkept tells whoever watches of the end of a task that could not be recorded. Who waits
// for it would wait for ever, and where no turn runs nothing else says what is wrong.
func (s *Session) unkept(st *state, b event.Body, err error) {
	s.fan.send(event.Event{Time: s.cfg.Now(), Body: b})
	if st.Running == "" {
		s.fan.send(event.Event{Time: s.cfg.Now(), Body: unrecorded(event.TurnEnded{}, err)})
	}
}

// unrecorded is the end of a turn for which there is no room in the log.
func unrecorded(e event.TurnEnded, err error) event.TurnEnded {
	e.How, e.Reason = event.Failed, string(agent.ModelError)
	e.Err, e.Kind, e.Hint = err.Error(), "storage", cmp.Or(hint.Of(err), storageHint)
	return e
}

// storageHint is for a turn that ended because it could not be recorded.
const storageHint = "nothing that was recorded is lost; make room or make the folder writable, then go on with: adze --continue -p \"…\""

// ended puts an outcome into the event that ends its turn.
func ended(out agent.Outcome, err error) event.TurnEnded {
	e := event.TurnEnded{How: event.Done, Reason: string(out.Reason), Err: out.Text, Hint: out.Hint, Steps: out.Steps, API: out.API, Answer: out.Answer, Final: out.Final}
	switch out.Reason {
	case agent.Completed, agent.ToolDeferred:
	case agent.InterruptedStreaming, agent.InterruptedTools, agent.InterruptedSummary:
		e.How = event.Interrupted
	case agent.MaxTurns, agent.MaxBudget, agent.TokenBudget, agent.StopHookPrevented, agent.HookStopped, agent.CommandMistaken:
		e.How = event.Stopped
	case agent.BlockingLimit, agent.PromptTooLong, agent.InstructionsTooLong, agent.OutputCap, agent.MediaTooLarge,
		agent.ModelError, agent.Refused, agent.StructuredRetries, agent.RepeatedFailure:
		e.How = event.Failed
	}
	if out.Err != nil {
		e.Kind, e.Status = agent.KindName(out.Err.Kind), out.Err.Status
		if e.Err == "" {
			e.Err = out.Err.Error()
		}
		if e.Hint == "" {
			e.Hint = out.Err.Fix
		}
	}
	if err != nil {
		e = unrecorded(e, err)
	}
	return e
}
