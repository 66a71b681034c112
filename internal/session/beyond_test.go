package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

// A call that a hook put off ends the turn, takes the prompts behind it out of the
// queue, and goes on with an empty prompt.
func TestCallThatAHookPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := true
		var r *rig
		r = start(t, nil, withHooks(hooks{rule: func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
			if v.Defers = later; later {
				if err := r.Submit(t.Context(), op.Prompt{ID: "behind", Text: "behind it", Later: true}); err != nil {
					t.Error(err)
				}
			}
			return v, nil
		}}), fake.Use(call("c1", "look", "it", 0)), fake.Say("done"), fake.Say("on"))
		r.prompt("go")
		if e := all[event.TurnEnded](r.turns(1, nil)); e[0].Reason != string(agent.ToolDeferred) || e[0].How != event.Done {
			t.Errorf("%+v", e)
		}
		if st := r.State(); st.Running != "" || r.bench.started.Load() != 0 || len(st.Queue) != 0 {
			t.Errorf("turn %q runs, %d calls ran, %d prompts wait", st.Running, r.bench.started.Load(), len(st.Queue))
		}
		later = false
		begun := 0
		if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop, Begin: func() { begun++ }}, changed); err != nil {
			t.Fatal(err)
		}
		if err := r.Submit(t.Context(), op.Prompt{}); err != nil {
			t.Fatal(err)
		}
		es := r.turns(2, nil)
		if gone := all[event.InputRemoved](es); len(gone) != 2 || gone[0].ID != "behind" || !strings.Contains(gone[0].Why, "was put off by a hook") || !strings.Contains(gone[1].Why, "go on with the call that was put off") || begun != 1 {
			t.Errorf("the prompt behind it, and the one that only said to go on: %+v; begun %d times", gone, begun)
		}
		if r.last(es, agent.Completed); result(es, "c1") != "look:it" || len(r.State().Queue) != 0 {
			t.Errorf("c1: %q, waiting: %+v", result(es, "c1"), r.State().Queue)
		}
		valid(t, r.model.Requests()[1].Messages)
		r.prompt("on")
		if r.turns(3, nil); begun != 1 {
			t.Errorf("what the settings wanted done was done %d times", begun)
		}
		r.Close()
	})
}

// unplaced cannot record where a session is, once.
type unplaced struct {
	*mem.Log
	over bool
}

func (u *unplaced) Append(ctx context.Context, e event.Event) error {
	if _, is := e.Body.(event.Situated); is && !u.over {
		u.over = true
		return errDisk
	}
	return u.Log.Append(ctx, e)
}

// A call that was put off does not go on, and nothing after it, where the model cannot
// be told where it is by now: that has to be on disk first.
func TestCallThatWasPutOffAndCannotGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(where string, later bool) func(*session.Config) {
			return func(c *session.Config) {
				c.Situation = event.Situated{Parts: []event.Situation{{Name: "env", Text: where}}}
				withHooks(hooks{rule: func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
					v.Defers = later
					return v, nil
				}})(c)
			}
		}
		r := start(t, nil, at("here", true), fake.Use(call("c1", "look", "it", 0)))
		r.prompt("go")
		r.turns(1, nil)
		r.Close()
		next := start(t, again(t, r.log), func(c *session.Config) {
			at("there", false)(c)
			c.Log = &unplaced{Log: c.Log.(*mem.Log)}
		}, fake.Say("not asked"))
		if err := next.Submit(t.Context(), op.Prompt{Text: "and then"}); err != nil {
			t.Fatal(err)
		}
		ends := all[event.TurnEnded](next.turns(2, nil))
		if e := ends[1]; e.How != event.Failed || !strings.Contains(e.Err, errDisk.Error()) {
			t.Errorf("%+v", e)
		}
		if n := next.bench.started.Load(); n != 0 || len(next.model.Requests()) != 0 {
			t.Errorf("%d calls ran, %d requests", n, len(next.model.Requests()))
		}
		next.Close()
	})
}

// A prompt that says something, in words or with an image, joins the call that goes on.
func TestPromptsJoinTheCallThatWasPutOff(t *testing.T) {
	for name, p := range map[string]op.Prompt{"words": {ID: "p", Text: "mind this"}, "an image": {ID: "p", Images: []op.Image{{Media: "image/png", Data: []byte("x")}}}} {
		bubble(name, t, func(t *testing.T) {
			later := true
			r := start(t, nil, withHooks(hooks{rule: func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
				v.Defers = later
				return v, nil
			}}), fake.Use(call("c1", "look", "it", 0)), fake.Say("done"))
			r.prompt("go")
			r.turns(1, nil)
			later = false
			if err := r.Submit(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			es := r.turns(2, nil)
			in := all[event.InputAccepted](es)
			if r.last(es, agent.Completed); len(in) != 2 || in[1].ID != "p" || len(all[event.InputRemoved](es)) != 0 || result(es, "c1") != "look:it" {
				t.Errorf("accepted %+v, taken back %+v, c1: %q", in, all[event.InputRemoved](es), result(es, "c1"))
			}
			r.Close()
		})
	}
}

// Whoever goes on from a snapshot knows which mode the model was told of.
func TestSnapshotKnowsTheModeThatWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{Log: &mem.Log{}}
		remind := func(mode policy.Mode, k *keeper) func(*session.Config) {
			return func(c *session.Config) {
				c.Log, c.Keeper, c.Mode = k, k, mode
				c.Remind = func(told, now policy.Mode) string {
					if told == now {
						return ""
					}
					return string("from " + told + " to " + now)
				}
			}
		}
		r := start(t, nil, remind(policy.PlanMode, k), fake.Say("one"))
		r.prompt("go")
		r.turns(1, nil)
		r.Close()
		for mode, want := range map[policy.Mode]int{policy.PlanMode: 0, policy.Default: 1} {
			r := start(t, nil, remind(mode, &keeper{Log: again(t, k.Log), last: k.last, fold: k.fold, at: k.at, data: k.data}), fake.Say("two"))
			r.prompt("on")
			r.turns(2, nil)
			if n := strings.Count(spoken(r.model.Requests()[0].Messages), "from plan to "); n != want {
				t.Errorf("in %s, told %d times: %s", mode, n, spoken(r.model.Requests()[0].Messages))
			}
			r.Close()
		}
	})
}

// What settings want done at the next turn is done at one.
func TestSettingsWaitForOneTurn(t *testing.T) {
	n := 0
	r := start(t, nil, nil, fake.Say("one"), fake.Say("two"))
	if err := r.Apply(t.Context(), session.Settings{Loop: r.cfg.Loop, Begin: func() { n++ }}, changed); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r.prompt("go")
		r.turns(i+1, nil)
	}
	if n != 1 {
		t.Errorf("done %d times", n)
	}
	r.Close()
}

// Of a hook's answer what cannot be is left out, told, and does not stop the call.
func TestChangesOfAHookThatCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		a := op.Answer{Allow: true, By: "h", Changes: []op.RuleChange{{Kind: "twist"}}}
		r := start(t, nil, func(c *session.Config) { c.Hooks = answering{answer: a, asked: &asked} }, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok"))
		r.prompt("go")
		es := r.turns(1, nil)
		n := all[event.Noted](es)
		if result(es, "c1") != "risk:" || len(n) != 1 || n[0].Level != "warning" || !strings.HasPrefix(n[0].Text, "what the hook h wanted to change besides was left out: rules can be added") {
			t.Errorf("%q, %+v", result(es, "c1"), n)
		}
		r.Close()
	})
}

// The time that a call waits for the classifier and for people is not its own.
func TestQuestionsWait(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Default, policy.Auto} {
		bubble(string(mode), t, func(t *testing.T) {
			waits := 0
			r := start(t, nil, func(c *session.Config) {
				autoMode(&fake.Model{Replies: []fake.Reply{rule("allow", "fine")}})(c)
				c.Mode = mode
			}, fake.Use(call("c1", "look", "", 1000)), fake.Say("ok")).attend()
			r.prompt("go")
			synctest.Wait()
			q := connection()
			q.Waits = func() { waits++ }
			done := make(chan error)
			go func() { _, err := r.Permit(t.Context(), q); done <- err }()
			synctest.Wait()
			for c := range r.State().Pending {
				if err := r.Submit(t.Context(), op.Answer{Call: c, Allow: true, By: "one"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-done; err != nil || waits != 1 {
				t.Errorf("%v; it waited %d times", err, waits)
			}
			r.Close()
		})
	}
}

// What a prompt names is read once, and again only where somebody is to be asked about it.
func TestNamesAreReadAgainWhenSomebodyIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		asks, person bool
		times        int
	}{
		"nothing to ask":   {false, true, 1},
		"nobody to ask":    {true, false, 1},
		"somebody to ask":  {true, true, 2},
		"nothing, nobody ": {false, false, 1},
	} {
		bubble(name, t, func(t *testing.T) {
			n := 0
			r := start(t, nil, func(s *session.Config) {
				s.Attach = func(ctx context.Context, in session.Naming) []event.Attached {
					if v := in.Judge(ctx, agent.Question{Plan: tool.Plan{Actions: []policy.Action{policy.None{}}}}); v.Effect == policy.Deny {
						return []event.Attached{{Name: "a", About: v.Reason, Refused: true}} // it is only looked at
					}
					n++
					return []event.Attached{{Name: "a", Text: fmt.Sprint("read ", n), Asks: c.asks && n == 1}}
				}
			}, fake.Say("ok"))
			if c.person {
				r.attend()
			}
			r.prompt("see @a")
			in := all[event.InputAccepted](r.turns(1, nil))
			if a := in[0].Attached; n != c.times || len(a) != 1 || a[0].Asks || a[0].Text != fmt.Sprint("read ", c.times) {
				t.Errorf("read %d times: %+v", n, a)
			}
			r.Close()
		})
	}
}

// A hook that says no in a person's stead refuses the call, with its words.
func TestHookSaysNo(t *testing.T) {
	for comment, want := range map[string]string{"": "a hook (h) said no", "too risky": "a hook (h) said no: too risky"} {
		bubble(want, t, func(t *testing.T) {
			asked := 0
			r := start(t, nil, func(c *session.Config) {
				c.Hooks = answering{answer: op.Answer{By: "h", Comment: comment}, asked: &asked}
			},
				fake.Use(call("c1", "risk", "", 0)), fake.Say("ok"))
			r.prompt("go")
			f := all[event.ToolFinished](r.turns(1, nil))
			if v := f[0].Verdict; v.Effect != policy.Deny || v.Reason != want || !f[0].IsErr {
				t.Errorf("%+v", v)
			}
			r.Close()
		})
	}
}

// What a hook adds to its yes, the model reads as the words of that hook.
func TestWhatAHookAddsToItsYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := start(t, nil, func(c *session.Config) {
			c.Hooks = answering{answer: op.Answer{Allow: true, By: "h", Comment: "mind the gap"}, asked: &asked}
		}, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok"))
		r.prompt("go")
		if got := result(r.turns(1, nil), "c1"); got != "[hook:h allowed this call, and adds: mind the gap]\nrisk:" {
			t.Errorf("%q", got)
		}
		r.Close()
	})
}
