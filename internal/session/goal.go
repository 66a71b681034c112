package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/goal"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
)

// goalTurns are the turns that a goal may take for which nobody said how many.
const goalTurns = 100

// A pursuit is what a session does for its goal beside turns.
type pursuit struct {
	evidence *goal.Evidence
	of       event.Seq // the GoalSet that evidence is of
	acts     int       // of it, at the newest judgement
	earlier  []string  // the newest reasons that were given
	stop     func()    // ends the judgement that is being made, nil without one
	next     string    // the input of the turn that is to begin, "" for none
	checkIn  *time.Timer
}

// ErrNoGoal says that there is no goal that could be changed so.
var ErrNoGoal error = &op.Refusal{Code: op.NoGoal, Text: "no goal is set", Advice: "/goal CONDITION sets one"}

// setGoal carries out op.Goal.
func (s *Session) setGoal(ctx context.Context, st *state, o op.Goal) error {
	g := st.Goal
	change := func(to event.GoalStatus) error {
		return s.record(ctx, st, event.GoalChanged{Status: to, By: event.GoalByPerson})
	}
	switch o.Do {
	case "":
		return s.newGoal(ctx, st, o)
	case op.ClearGoal:
		if g == nil {
			return ErrNoGoal
		}
		s.rest(st)
		return change(event.GoalCleared)
	case op.PauseGoal:
		if st.Pursued() == nil {
			return ErrNoGoal
		}
		s.rest(st)
		return change(event.GoalPaused)
	case op.ResumeGoal:
		switch {
		case g == nil || g.Status == event.GoalComplete:
			return ErrNoGoal
		case g.Status == event.GoalActive && (st.cancel != nil || st.pursuit.stop != nil):
			return &op.Refusal{Code: op.Busy, Text: "the goal is being pursued"}
		}
		e := event.GoalChanged{Status: event.GoalActive, By: event.GoalByPerson, Turns: o.Turns, Tokens: o.Tokens, USD: o.USD}
		if e.Turns+e.Tokens == 0 && e.USD == 0 {
			e.Turns, e.Tokens, e.USD = g.Turns, g.Tokens, g.USD
		}
		if err := s.record(ctx, st, e); err != nil {
			return err
		}
		s.weigh(st)
		return nil
	}
	return &op.Refusal{Code: op.BadGoal, Text: fmt.Sprintf("a goal cannot be changed by %q; it can by pause, resume and clear", o.Do)}
}

// newGoal sets a goal, whose condition is the next prompt.
func (s *Session) newGoal(ctx context.Context, st *state, o op.Goal) error {
	if err := o.Check(); err != nil {
		return &op.Refusal{Code: op.BadGoal, Text: err.Error(), Err: err}
	}
	if o.USD > 0 && st.asked().Cost == nil {
		return &op.Refusal{Code: op.BadGoal, Text: "what the model " + st.asked().ID() + " costs is not known, so that no amount can bound a goal; bound it by --turns or --tokens"}
	}
	if o.Turns+o.Tokens == 0 && o.USD == 0 {
		o.Turns = goalTurns
	}
	st.names++
	id := fmt.Sprintf("g%d.%d", st.Seq+1, st.names)
	s.rest(st)
	if err := s.record(ctx, st, event.GoalSet{Condition: o.Condition, Typed: o.Typed, Prompt: id, Turns: o.Turns, Tokens: o.Tokens, USD: o.USD}); err != nil {
		return err
	}
	st.notes = append(st.notes, goal.Begin)
	p := op.Prompt{ID: id, Text: o.Condition, Verbatim: true}
	if o.Typed {
		p.Typed = op.All(o.Condition)
	}
	return s.prompt(st, p, nil)
}

// rest ends what is done for the goal beside turns.
func (s *Session) rest(st *state) {
	st.pursuit.next = ""
	if st.pursuit.stop != nil {
		st.pursuit.stop()
	}
}

// turned says what the end of a turn means for the goal.
func (s *Session) turned(st *state, e event.TurnEnded) error {
	if st.pursuit.checkIn != nil {
		st.pursuit.checkIn.Stop()
		st.pursuit.checkIn = nil
	}
	if st.Pursued() == nil || s.cfg.Judge == nil || st.ending {
		return nil
	}
	out := event.GoalChanged{By: event.GoalByTurn, Why: clip.Line(e.Err, 300)}
	switch {
	case e.How == event.Done, e.Reason == event.InterruptedSummary: // it is judged, or a call of it is put off
		return nil
	case e.How == event.Interrupted:
		out.Status, out.Why = event.GoalPaused, "the turn was interrupted"
	case e.Reason == string(agent.MaxTurns), e.Reason == string(agent.MaxBudget), e.Reason == string(agent.TokenBudget):
		out.Status = event.GoalBudget
	default:
		out.Status = event.GoalBlocked
	}
	return s.record(context.Background(), st, out)
}

// watchGoal tells people how the goal goes while its turns take long.
func (s *Session) watchGoal(st *state) {
	g := st.Pursued()
	if g == nil || s.cfg.Judge == nil || st.pursuit.checkIn != nil {
		return
	}
	began, worked := s.cfg.Now(), g.Worked
	st.pursuit.checkIn = time.AfterFunc(checkIn(worked)-worked, func() { // ends at once; the session may have ended
		_ = s.do(func(st *state) {
			if st.Pursued() == nil || st.pursuit.checkIn == nil {
				return
			}
			now := worked + s.cfg.Now().Sub(began)
			st.pursuit.checkIn.Reset(checkIn(now) - now)
			turns, tokens, usd := st.GoalUse()
			text := fmt.Sprintf("the goal takes long: %s worked, %s, %s tokens", clip.Span(now), clip.Count(turns, "turn"), clip.Thousands(tokens))
			if usd > 0 {
				text += fmt.Sprintf(", $%.2f", usd)
			}
			if why := st.Goal.Why; why != "" {
				text += ". The last check said: " + why
			}
			_ = s.record(context.Background(), st, event.Noted{Level: "warning", Text: text, About: event.AboutGoal}) // a log that cannot be written says so with the turn's end
		})
	})
}

// checkIn is when people are told how a goal goes, by the time that was worked for it: after
// half an hour, one hour, two hours, and every two hours from then on.
func checkIn(worked time.Duration) time.Duration {
	for _, at := range []time.Duration{30 * time.Minute, time.Hour} {
		if worked < at {
			return at
		}
	}
	const every = 2 * time.Hour
	return (worked/every + 1) * every
}

// weigh has the goal judged, where nothing else goes on: whoever waits for an agent is
// judged when that has ended.
func (s *Session) weigh(st *state) {
	g := st.Pursued()
	if g == nil || s.cfg.Judge == nil || st.cancel != nil || st.pursuit.stop != nil || st.rewinding || st.ending || st.due(true) || st.Deferred() != nil {
		return
	}
	k := goal.Case{Condition: g.Condition}
	for _, id := range slices.Sorted(maps.Keys(st.Background)) {
		t := st.Background[id]
		if t.Kind == event.TaskAgent {
			return
		}
		k.Running = append(k.Running, clip.Line(t.Kind+" "+id+": "+t.Text, 200))
	}
	p := &st.pursuit
	if p.evidence == nil || p.of != g.Since {
		p.evidence, p.of, p.acts, p.earlier = &goal.Evidence{Seq: g.Since}, g.Since, 0, nil
		if g.Why != "" && g.Judged > 0 {
			p.earlier = []string{g.Why}
		}
	}
	k.Evidence, k.Earlier = p.evidence, p.earlier
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	upTo := st.Seq
	s.fan.send(event.Event{Seq: st.Seq, Time: s.cfg.Now(), Body: event.GoalJudging{}})
	go func() { // ends with the judgement; end waits for it
		j, err := s.judged(ctx, k, upTo)
		_ = s.do(func(st *state) { s.weighed(ctx, st, j, err) })
		stop()
	}()
}

// judged reads what was done since the last judgement, and has the goal judged.
func (s *Session) judged(ctx context.Context, k goal.Case, upTo event.Seq) (j goal.Judgement, err error) {
	for e, err := range s.Past(ctx, k.Evidence.Seq, upTo) {
		if err != nil {
			return j, err
		}
		k.Evidence.Add(e)
	}
	m, err := s.cfg.Judge(ctx)
	if err != nil {
		return j, err
	}
	if berr := s.Buy(ctx, func() (spent event.Spent) { j, spent, err = k.Judge(ctx, m); return spent }); berr != nil {
		return j, berr
	}
	return j, err
}

// weighed takes a judgement, unless somebody did something else meanwhile.
func (s *Session) weighed(ctx context.Context, st *state, j goal.Judgement, err error) {
	p := &st.pursuit
	p.stop = nil
	if ctx.Err() != nil { // a prompt went first; where its turn is over already, it was not judged
		s.weigh(st)
		return
	}
	g := st.Pursued()
	if g == nil || st.cancel != nil || g.Since != p.of || st.ending {
		return
	}
	var broke *ErrBudget
	var e event.GoalChanged
	switch {
	case errors.As(err, &broke):
		e = event.GoalChanged{Status: event.GoalBudget, Why: broke.Why, By: event.GoalByBound}
	case err != nil:
		e = event.GoalChanged{Status: event.GoalBlocked, Why: clip.Line(clip.Clean(err.Error()), 300), By: event.GoalByBound}
	default:
		now := goal.State{
			Why: g.Why, Same: g.Same, Still: g.Still, Acted: p.evidence.Acts() > p.acts,
			MaxTurns: g.GoalSet.Turns, MaxTokens: g.GoalSet.Tokens, MaxUSD: g.USD,
		}
		if g.Judged == 0 {
			now.Why = ""
		}
		now.Turns, now.Tokens, now.USD = st.GoalUse()
		e = now.After(j)
		p.acts, p.earlier = p.evidence.Acts(), goal.Reasons(p.earlier, j.Reason)
	}
	if s.record(context.Background(), st, e) != nil || e.Status != event.GoalActive || j.Verdict == goal.Waiting {
		return // what is waited for begins a turn when it ends
	}
	p.next = goal.GoOn(g.Condition, j.Reason)
	s.begin(st)
}

// toward begins a turn that goes on with the goal. A prompt that came first begins it in
// its stead.
func (s *Session) toward(ctx context.Context) (loop *agent.Loop, t agent.Turn, err error) {
	due := func(st *state) bool {
		return st.pursuit.next != "" && st.Pursued() != nil && !st.due(true) && !st.ending && ctx.Err() == nil
	}
	waits := false
	if derr := s.do(func(st *state) { waits = due(st) }); !waits || derr != nil {
		return nil, t, derr
	}
	s.fresh()
	derr := s.do(func(st *state) {
		if !due(st) {
			return
		}
		st.notes = append(st.notes, st.pursuit.next)
		if err = errors.Join(s.instruct(st), s.noticed(st, "")); err != nil {
			return
		}
		if t, err = s.turn(st); err == nil {
			loop = st.loop
		}
	})
	return loop, t, errors.Join(err, derr)
}

// Judge finds the model that judges goals. The error says why there is none.
type Judge func(ctx context.Context) (judge.Model, error)
