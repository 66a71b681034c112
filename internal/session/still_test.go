package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

// A wait is somebody who is waited for before the call "risk" of a session runs.
type wait struct {
	name string
	mode policy.Mode
	set  func(*session.Config)
	// asks: a person says yes after what changes.
	asks bool
	// first, when set, is what the call stands behind in the same reply.
	first *llm.ToolUse
}

func slowRule(effect string) fake.Reply {
	return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		if agent.Sleep(ctx, 2*time.Second) == nil {
			rule(effect, "because")(ctx, r, yield)
		}
	}
}

func waits() []wait {
	slow := withHooks(hooks{rule: func(ctx context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
		return v, agent.Sleep(ctx, 2*time.Second)
	}})
	lifts := withHooks(hooks{rule: func(ctx context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
		v.Effect = policy.Allow
		return v, agent.Sleep(ctx, 2*time.Second)
	}})
	before := call("c0", "look", "", 2000)
	return []wait{
		{"the classifier", policy.Auto, func(c *session.Config) {
			autoMode(&fake.Model{Replies: []fake.Reply{slowRule("allow"), slowRule("allow")}})(c)
		}, false, nil},
		{"a hook", policy.Bypass, slow, false, nil},
		{"a hook that allows it", policy.Default, lifts, false, nil},
		{"a person", policy.Default, func(*session.Config) {}, true, nil},
		{"a call before it", policy.Bypass, func(*session.Config) {}, false, &before},
	}
}

// TestAVerdictIsLookedAtAgain: whatever a call waited for, the rules and the mode of
// the moment when it would start decide.
func TestAVerdictIsLookedAtAgain(t *testing.T) {
	mode := func(m policy.Mode) func(*testing.T, *rig) {
		return func(t *testing.T, r *rig) {
			if err := r.Submit(t.Context(), op.SetMode{Mode: string(m)}); err != nil {
				t.Error(err)
			}
		}
	}
	denies := func(scope policy.Scope) func(*testing.T, *rig) {
		return func(t *testing.T, r *rig) {
			n := session.Settings{Rules: r.cfg.Rules, Auto: r.cfg.Auto, Loop: r.cfg.Loop}
			n.Rules.List = []policy.Rule{settingsRule(t, "Bash(danger)", policy.Deny, scope)}
			if err := r.Apply(t.Context(), n, changed); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, *rig)
		reason string // that the model reads, "" when the call runs
	}{
		{"nothing changes", func(*testing.T, *rig) {}, ""},
		{"plan", mode(policy.PlanMode), "the mode is plan now"},
		{"dontAsk", mode(policy.DontAsk), "the mode is dontAsk"},
		{"a rule of the person's", denies(policy.User), "a rule denies it"},
		{"a rule of an administrator's", denies(policy.Managed), "a rule denies it"},
		// Files that the watch has not told of yet: who looks at them finds the rule.
		{"a rule that was written a moment ago", func(t *testing.T, r *rig) { r.wrote(func() { denies(policy.User)(t, r) }) }, "a rule denies it"},
	} {
		for _, w := range waits() {
			bubble(c.name+" while it waits for "+w.name, t, func(t *testing.T) {
				calls := []llm.Part{call("c1", "risk", "", 0)}
				if w.first != nil {
					calls = append([]llm.Part{*w.first}, calls...)
				}
				r := start(t, nil, func(cfg *session.Config) {
					w.set(cfg)
					cfg.Mode = w.mode
				}, fake.Parts(llm.WantTools, calls...), fake.Say("ok")).attend()
				r.prompt("go")
				time.Sleep(time.Second)
				synctest.Wait()
				c.change(t, r)
				if w.asks {
					if err := r.Submit(t.Context(), op.Answer{Call: "c1", Allow: true, By: "one"}); err != nil {
						t.Error(err)
					}
				}
				es := r.turns(1, nil)
				started := 0
				for _, b := range all[event.ToolStarted](es) {
					if b.Call == "c1" {
						started++
					}
				}
				if text := result(es, "c1"); (started == 1) != (c.reason == "") || !strings.Contains(text, c.reason) {
					t.Errorf("started %d times, result %q", started, text)
				}
				r.Close()
			})
		}
	}
}

// A yes answers the question that it was given for: where the mode makes it another
// one, a person is asked, whose yes stands.
func TestAnotherQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judge := &fake.Model{Replies: []fake.Reply{slowRule("allow")}}
		r := start(t, nil, autoMode(judge), fake.Use(call("c1", "risk", "", 0)), fake.Say("ok")).attend()
		r.prompt("go")
		time.Sleep(time.Second)
		if err := r.Submit(t.Context(), op.SetMode{Mode: "default"}); err != nil {
			t.Fatal(err)
		}
		es := r.turns(1, func(e event.Event) {
			if a, ok := e.Body.(event.Asked); ok {
				if err := r.Submit(t.Context(), op.Answer{Call: a.Call, Allow: true, By: "one"}); err != nil {
					t.Error(err)
				}
			}
		})
		if n := len(all[event.Asked](es)); n != 1 || result(es, "c1") != "risk:" {
			t.Errorf("asked %d times, %q", n, result(es, "c1"))
		}
		r.Close()
	})
}

// What a running call asks for is looked at again in the same way, and a yes in plan
// mode to what plan mode leaves to a person counts.
func TestPermitIsLookedAtAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		during []policy.Mode // modes that follow while it waits
		plan   tool.Plan
		effect policy.Effect
		asked  int
	}{
		{"plan mode", []policy.Mode{policy.PlanMode}, tool.Plan{Actions: []policy.Action{policy.Exec{Argv: []string{"danger"}}}}, policy.Deny, 0},
		{"a host in plan mode", []policy.Mode{policy.PlanMode}, connection().Plan, policy.Allow, 1},
		{"dontAsk", []policy.Mode{policy.DontAsk}, connection().Plan, policy.Deny, 0},
		{"there and back", []policy.Mode{policy.PlanMode, policy.Auto}, connection().Plan, policy.Allow, 0},
	} {
		bubble(c.name, t, func(t *testing.T) {
			judge := &fake.Model{Replies: []fake.Reply{slowRule("allow")}}
			r := start(t, nil, autoMode(judge), fake.Use(call("c1", "act", "", 60_000)), fake.Say("ok")).attend()
			r.prompt("go")
			synctest.Wait()
			got := make(chan policy.Verdict, 1)
			go func() { // ends with the verdict
				q := connection()
				q.Plan = c.plan
				v, _ := r.Permit(t.Context(), q)
				got <- v
			}()
			time.Sleep(time.Second)
			for _, m := range c.during {
				if err := r.Submit(t.Context(), op.SetMode{Mode: string(m)}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			asked := 0
			for call := range r.State().Pending {
				asked++
				if err := r.Submit(t.Context(), op.Answer{Call: call, Allow: true, By: "one"}); err != nil {
					t.Error(err)
				}
			}
			if v := <-got; v.Effect != c.effect || asked != c.asked {
				t.Errorf("%+v, asked %d times", v, asked)
			}
			r.Close()
		})
	}
}

// What a prompt named was read when it came. Where a rule denies it by the time that
// its turn comes, the model is not given it.
func TestAttachedIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, func(c *session.Config) {
			c.Rules = policy.Rules{Dir: "/w", Dirs: []string{"/w"}}
			c.Attach = func(ctx context.Context, n session.Naming) (out []event.Attached) {
				for _, name := range []string{"a.go", "b.go"} {
					v := n.Judge(ctx, agent.Question{Tool: "Read", Plan: tool.Plan{Actions: []policy.Action{policy.Read{Path: "/w/" + name, Asked: name}}}})
					a := event.Attached{Name: name, Text: "all of " + name}
					if v.Effect != policy.Allow {
						a = event.Attached{Name: name, About: v.Reason, Refused: true, Asks: v.Effect == policy.Ask}
					}
					out = append(out, a)
				}
				return out
			}
		}, fake.Use(call("c1", "act", "", 2000)), fake.Say("ok"))
		r.prompt("go")
		synctest.Wait()
		r.prompt("look at @a.go and @b.go")
		n := session.Settings{Rules: r.cfg.Rules, Loop: r.cfg.Loop}
		n.Rules.List = []policy.Rule{settingsRule(t, "Read(//w/a.go)", policy.Deny, policy.User)}
		if err := r.Apply(t.Context(), n, changed); err != nil {
			t.Fatal(err)
		}
		es := r.turns(1, nil)
		given := all[event.InputAccepted](es)[1].Attached
		if len(given) != 2 || !given[0].Refused || given[0].Text != "" || !strings.Contains(given[0].About, "denies it") || given[1].Text != "all of b.go" {
			t.Errorf("%+v", given)
		}
		r.Close()
	})
}

// A hook that asks wants a person: the classifier does not settle it, and in the mode
// that never asks it is a refusal that says what the hook says.
func TestAHookThatAsks(t *testing.T) {
	asks := withHooks(hooks{rule: func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
		v.Effect, v.Check, v.Reason = policy.Ask, hook.Check, "somebody must look"
		return v, nil
	}})
	for mode, reason := range map[policy.Mode]string{policy.Auto: "the person said no", policy.Bypass: "the person said no", policy.DontAsk: "the mode is dontAsk, and this would need a question: somebody must look"} {
		bubble(string(mode), t, func(t *testing.T) {
			r := start(t, nil, func(c *session.Config) {
				autoMode(&fake.Model{})(c) // it has no answer
				asks(c)
				c.Mode = mode
				c.Rules.List = []policy.Rule{settingsRule(t, "Bash(danger)", policy.Allow, policy.User)}
				if mode == policy.Auto {
					c.Rules.List = nil
				}
			}, fake.Use(call("c1", "risk", "", 0)), fake.Say("ok")).attend()
			r.prompt("go")
			es := r.turns(1, func(e event.Event) {
				if a, ok := e.Body.(event.Asked); ok {
					if a.Verdict.Reason != "somebody must look" {
						t.Errorf("asked: %+v", a.Verdict)
					}
					if err := r.Submit(t.Context(), op.Answer{Call: a.Call, By: "one"}); err != nil {
						t.Error(err)
					}
				}
			})
			if got := result(es, "c1"); !strings.Contains(got, reason) {
				t.Errorf("%q", got)
			}
			r.Close()
		})
	}
}
