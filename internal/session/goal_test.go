package session_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

var lastNumber = regexp.MustCompile(`"n": (\d+)[^{]*\}\s*\]`)

// judgement is the reply of whoever judges a goal. The proof "last" is the newest entry.
func judgement(verdict, proof, reason string) fake.Reply {
	return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		text := r.Messages[0].Text()
		m, n := tokenField.FindStringSubmatch(text), lastNumber.FindStringSubmatch(text)
		if proof == "last" && n != nil {
			proof = n[1]
		}
		fake.Say(fmt.Sprintf(`{"token":%q,"verdict":%q,"proof":%q,"reason":%q}`, m[1], verdict, proof, reason))(ctx, r, yield)
	}
}

// judged has goals judged by a model.
func judged(by *fake.Model) func(*session.Config) {
	return func(c *session.Config) {
		c.Judge = func(context.Context) (judge.Model, error) {
			return auto.Small{Model: by, Name: "small", ID: "fake/small"}, nil
		}
	}
}

// pursue sets a goal, and waits until nothing goes on any more.
func (r *rig) pursue(o op.Goal) {
	r.t.Helper()
	o.Typed = true
	if err := r.Submit(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// goes are the changes of the goal, a line each.
func (r *rig) goes() (out []string) {
	for e := range r.log.After(r.t.Context(), 0) {
		if b, ok := e.Body.(event.GoalChanged); ok {
			out = append(out, fmt.Sprintf("%s %s: %s", b.By, b.Status, b.Why))
		}
	}
	return out
}

func (r *rig) wantGoal(status event.GoalStatus, turns int, goes ...string) {
	r.t.Helper()
	st := r.State()
	if st.Goal == nil || st.Goal.Status != status || st.Turns != turns {
		r.t.Errorf("%d turns, goal %+v", st.Turns, st.Goal)
	}
	if got := r.goes(); !slices.Equal(got, goes) {
		r.t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// A goal is judged after each turn by what was done. While it is not reached, the reason is
// the next input; that it is reached has to be shown by a result.
func TestAGoalIsPursued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &fake.Model{Replies: []fake.Reply{
			judgement("reached", "last_words and more", "it says so"), judgement("reached", "1", "the person says so"), judgement("not_reached", "", "Run act."), judgement("reached", "last", "act ran."),
		}}
		r := start(t, nil, judged(by), fake.Say("It is done, believe me."), fake.Say("Really."), fake.Say("Still."), fake.Use(call("c1", "act", "proof", 0)), fake.Say("Done."))
		r.pursue(op.Goal{Condition: "act ran"})
		nothing := "judge active: Nothing in the log shows yet that the goal is reached: show it by a call whose result says so."
		r.wantGoal(event.GoalComplete, 4, nothing, nothing, "judge active: Run act.", "judge complete: act ran.")
		st := r.State()
		if spent := st.Helpers[event.ForGoal]; spent.Replies+spent.Helped != 4 || st.Goal.Judged != 4 || st.Goal.Used != 4 {
			t.Errorf("%+v, %+v", spent, st.Goal)
		}
		rs := r.model.Requests()
		first, next := spoken(rs[0].Messages), spoken(rs[3].Messages[len(rs[3].Messages)-1:])
		if !strings.HasSuffix(first, "\nact ran\n") || !strings.Contains(first, "set a goal") || !strings.Contains(next, "It is: act ran") || !strings.Contains(next, "says: Run act.") {
			t.Errorf("%q\n%q", first, next)
		}
		case4 := by.Requests()[3].Messages[0].Text()
		for _, want := range []string{`"condition": "act ran"`, `"result": "act:proof"`, `"last_words": "Done."`, `"person": "act ran"`} {
			if !strings.Contains(case4, want) {
				t.Errorf("the case lacks %s:\n%s", want, case4)
			}
		}
		if strings.Contains(case4, "believe me") {
			t.Errorf("earlier words of the model are in the case:\n%s", case4)
		}
		r.Close()
	})
}

// What ends a goal, or has it wait for a person.
func TestWhatEndsAGoal(t *testing.T) {
	not := func(reason string) fake.Reply { return judgement("not_reached", "", reason) }
	acts := func(n int) (out []fake.Reply) {
		for i := range n {
			out = append(out, fake.Use(call(fmt.Sprint("c", i), "act", fmt.Sprint(i), 0)), fake.Say("did"))
		}
		return out
	}
	says := func(n int) (out []fake.Reply) {
		for range n {
			out = append(out, fake.Say("…"))
		}
		return out
	}
	var varied []fake.Reply
	for i := range 8 {
		varied = append(varied, not(fmt.Sprintf("Reason %c.", 'a'+i)))
	}
	for name, c := range map[string]struct {
		goal    op.Goal
		by      []fake.Reply
		replies []fake.Reply
		change  func(*session.Config)
		status  event.GoalStatus
		turns   int
		last    string
	}{
		"impossible":                  {by: []fake.Reply{judgement("impossible", "", "There is no act.")}, replies: says(1), status: event.GoalBlocked, turns: 1, last: "judge blocked: There is no act."},
		"no progress":                 {by: []fake.Reply{not("Run act."), not("run act"), not("“Run act!”")}, replies: says(3), status: event.GoalBlocked, turns: 3, last: "bound blocked: nothing was done between the last 3 checks, which all said: “Run act!”"},
		"progress":                    {goal: op.Goal{Turns: 4}, by: []fake.Reply{not("More."), not("More."), not("More."), not("More.")}, replies: acts(4), status: event.GoalBudget, turns: 4, last: "bound budgetLimited: it took 4 turns. The last check said: More."},
		"no progress in other words":  {by: varied, replies: says(8), status: event.GoalBlocked, turns: 8, last: "bound blocked: nothing was done between the last 8 checks. The newest said: Reason h."},
		"tokens":                      {goal: op.Goal{Tokens: 20}, by: []fake.Reply{not("More.")}, replies: acts(1), status: event.GoalBudget, turns: 1, last: "bound budgetLimited: it took 45 of 20 tokens. The last check said: More."},
		"waiting for nothing goes on": {goal: op.Goal{Turns: 2}, by: []fake.Reply{judgement("waiting", "", "Wait."), not("More.")}, replies: acts(2), status: event.GoalBudget, turns: 2, last: "bound budgetLimited: it took 2 turns. The last check said: More."},
		"a judge that makes no sense": {by: []fake.Reply{fake.Say("yes")}, replies: says(1), status: event.GoalBlocked, turns: 1, last: "bound blocked: whoever judges the goal gave no usable answer: it is not one JSON object"},
		"a judge that fails":          {by: []fake.Reply{fake.Fail(llm.Error{Kind: llm.Unauthorized, Provider: "fake", Err: errors.New("no key")})}, replies: says(1), status: event.GoalBlocked, turns: 1, last: "bound blocked: whoever judges the goal gave no answer: fake: no key"},
		"a model that fails":          {replies: []fake.Reply{fake.Fail(llm.Error{Kind: llm.Unauthorized, Provider: "fake", Err: errors.New("no key")})}, status: event.GoalBlocked, turns: 1, last: "turn blocked: fake: no key"},
		"the requests of a turn":      {replies: acts(1), change: func(c *session.Config) { c.Budget.Turns = 1 }, status: event.GoalBudget, turns: 1, last: "turn budgetLimited: "},
		"the money of the session": {replies: acts(1), status: event.GoalBudget, turns: 1, last: "turn budgetLimited: ", change: func(c *session.Config) {
			c.Budget.USD = 1
			c.Target.Cost = func(u llm.Usage) (float64, bool) { return float64(u.In) / 10, true }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, nil, func(cfg *session.Config) {
					judged(&fake.Model{Replies: c.by})(cfg)
					if c.change != nil {
						c.change(cfg)
					}
				}, c.replies...)
				c.goal.Condition = "act ran"
				r.pursue(c.goal)
				goes := r.goes()
				if st := r.State(); st.Goal.Status != c.status || st.Turns != c.turns || !strings.HasPrefix(goes[len(goes)-1], c.last) {
					t.Errorf("%d turns, %s:\n%s", st.Turns, st.Goal.Status, strings.Join(goes, "\n"))
				}
				r.Close()
			})
		})
	}
}

// A person pauses a goal, in words or with an interrupt, has it go on, and clears it.
func TestAGoalOfAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &fake.Model{Replies: []fake.Reply{judgement("not_reached", "", "One."), fake.Hang(), judgement("not_reached", "", "Two."), judgement("reached", "last_words", "It is.")}}
		r := start(t, nil, judged(by), fake.Hang(llm.Text{S: "A"}), fake.Say("A2"), fake.Say("A3"), fake.Say("A4"), fake.Say("A5"))
		r.refused(op.Goal{Do: op.PauseGoal}, op.NoGoal)
		r.refused(op.Goal{Do: op.ResumeGoal}, op.NoGoal)
		r.refused(op.Goal{Do: op.ClearGoal}, op.NoGoal)
		r.refused(op.Goal{Do: "burn"}, op.BadGoal)
		r.refused(op.Goal{Condition: strings.Repeat("x", op.MaxGoal+1)}, op.BadGoal)
		r.refused(op.Goal{Condition: "x", USD: 1}, op.BadGoal) // nobody knows what the model costs
		r.pursue(op.Goal{Condition: "words are there", Turns: 7})
		r.refused(op.Goal{Do: op.ResumeGoal}, op.Busy)
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.wantGoal(event.GoalPaused, 1, "turn paused: the turn was interrupted")
		r.prompt("something else")
		synctest.Wait()
		if n := len(by.Requests()); n != 0 {
			t.Errorf("a paused goal was judged %d times", n)
		}
		r.pursue(op.Goal{Do: op.ResumeGoal}) // not reached: a turn, whose judgement hangs
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.wantGoal(event.GoalPaused, 3, "turn paused: the turn was interrupted", "person active: ", "judge active: One.", "person paused: ")
		r.pursue(op.Goal{Do: op.ResumeGoal, Turns: 9})
		if g := r.State().Goal; g.Status != event.GoalComplete || g.GoalSet.Turns != 9 || g.Used != 1 {
			t.Errorf("%+v", g)
		}
		r.pursue(op.Goal{Do: op.ClearGoal})
		if g := r.State().Goal; g != nil {
			t.Errorf("%+v", g)
		}
		r.Close()
	})
}

// A prompt that comes while the goal is judged goes first, and its turn is judged.
func TestAPromptWhileAGoalIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &fake.Model{Replies: []fake.Reply{fake.Hang(), judgement("reached", "last_words", "It is.")}}
		r := start(t, nil, judged(by), fake.Say("A1"), fake.Say("A2"))
		r.pursue(op.Goal{Condition: "words are there"})
		r.prompt("and?")
		synctest.Wait()
		r.wantGoal(event.GoalComplete, 2, "judge complete: It is.")
		r.Close()
	})
}

// A goal outlives its process. It goes on with the next prompt, or when a person says so.
func TestAGoalOutlivesItsProcess(t *testing.T) {
	for _, how := range []op.Op{op.Prompt{Text: "go on", Typed: op.All("go on")}, op.Goal{Do: op.ResumeGoal}} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, nil, judged(&fake.Model{Replies: []fake.Reply{fake.Hang()}}), fake.Use(call("c1", "act", "proof", 0)), fake.Say("A1"))
			r.pursue(op.Goal{Condition: "act ran", Turns: 5})
			r.Close() // while it is judged
			by := &fake.Model{Replies: []fake.Reply{judgement("not_reached", "", "Again."), judgement("reached", "last", "It ran.")}}
			r = start(t, again(t, r.log), judged(by), fake.Say("B1"), fake.Use(call("c2", "act", "more", 0)), fake.Say("B2"))
			synctest.Wait()
			if st := r.State(); st.Pursued() == nil || st.Turns != 1 || len(by.Requests()) != 0 {
				t.Errorf("%+v, %d turns", st.Goal, st.Turns)
			}
			if err := r.Submit(t.Context(), how); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if g := r.State().Goal; g.Status != event.GoalComplete || g.GoalSet.Turns != 5 {
				t.Errorf("%T: %+v\n%s", how, g, strings.Join(r.goes(), "\n"))
			}
			if text := by.Requests()[0].Messages[0].Text(); !strings.Contains(text, "act:proof") {
				t.Errorf("what was done in the process before is not in the case:\n%s", text)
			}
			r.Close()
		})
	}
}

// Whoever waits for an agent is judged when that has ended; what runs besides is named.
func TestAGoalWaitsForAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &fake.Model{Replies: []fake.Reply{judgement("waiting", "", "The build runs."), judgement("reached", "last_words", "It is.")}}
		r := start(t, nil, judged(by), fake.Say("A1"), fake.Say("A2"), fake.Say("A3"), fake.Say("A4"))
		r.prompt("start them")
		r.turns(1, nil)
		for _, b := range []event.Body{event.TaskStarted{ID: "a1", Kind: event.TaskAgent, Agent: &event.Agent{ID: "a1"}}, event.TaskStarted{ID: "b1", Kind: event.TaskShell, Text: "make"}} {
			if err := r.Report(b); err != nil {
				t.Fatal(err)
			}
		}
		r.pursue(op.Goal{Condition: "it is built"})
		if n := len(by.Requests()); n != 0 {
			t.Errorf("judged %d times while an agent works", n)
		}
		end := func(id string) {
			t.Helper()
			if err := errors.Join(r.Report(event.TaskEnded{ID: id}), r.Submit(t.Context(), op.Notify{Text: id + " has ended", Wake: id})); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		end("a1")
		r.wantGoal(event.GoalActive, 3, "judge active: The build runs.")
		if text := by.Requests()[0].Messages[0].Text(); !strings.Contains(text, "shell b1: make") {
			t.Errorf("what runs is not named:\n%s", text)
		}
		end("b1")
		r.wantGoal(event.GoalComplete, 4, "judge active: The build runs.", "judge complete: It is.")
		r.Close()
	})
}

// People are told how a goal goes after half an hour, one hour, two hours, and every two
// hours from then on, of what was worked for it.
func TestAGoalThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &fake.Model{Replies: []fake.Reply{judgement("not_reached", "", "More."), judgement("reached", "last", "It is.")}}
		r := start(t, nil, judged(by), fake.Use(call("c1", "act", "a", 40*60_000)), fake.Say("A1"), fake.Use(call("c2", "act", "b", 260*60_000)), fake.Say("A2"))
		began := time.Now()
		r.pursue(op.Goal{Condition: "act ran"})
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		var at []string
		for e := range r.log.After(t.Context(), 0) {
			if b, ok := e.Body.(event.Noted); ok && b.About == event.AboutGoal {
				at = append(at, e.Time.Sub(began).Round(time.Minute).String())
				if e.Time.Sub(began) > time.Hour && !strings.Contains(b.Text, "The last check said: More.") {
					t.Error(b.Text)
				}
			}
		}
		if want := []string{"30m0s", "1h0m0s", "2h0m0s", "4h0m0s"}; !slices.Equal(at, want) {
			t.Errorf("told after %v, want %v", at, want)
		}
		r.wantGoal(event.GoalComplete, 2, "judge active: More.", "judge complete: It is.")
		r.Close()
	})
}

// A session that nobody judges has no goals, and one that is gone back over has none.
func TestNoGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Say("A1"))
		r.refused(op.Goal{Condition: "x"}, op.Unsupported)
		r.Close()
		r = start(t, nil, func(c *session.Config) {
			c.Judge = func(context.Context) (judge.Model, error) { return nil, errors.New("no model") }
		}, fake.Say("A1"))
		r.refused(op.Goal{Condition: "x"}, op.NoModel)
		r.Close()
		r = start(t, nil, judged(&fake.Model{Replies: []fake.Reply{judgement("impossible", "", "No.")}}), fake.Say("A1"))
		r.pursue(op.Goal{Condition: "x"})
		if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Conversation: true}); err != nil {
			t.Fatal(err)
		}
		if g := r.State().Goal; g != nil {
			t.Errorf("%+v", g)
		}
		r.Close()
	})
}
