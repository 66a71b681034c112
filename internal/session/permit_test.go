package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

// connection is what a running command turns out to do.
func connection() agent.Question {
	return agent.Question{
		Call: llm.ToolUse{Name: "Net", Input: []byte(`{"host":"new.example"}`)}, Tool: "Net",
		Plan: tool.Plan{Actions: []policy.Action{policy.Net{Host: "new.example"}}, Title: "Connect to new.example:443"},
	}
}

// TestPermitByClassifier: in auto mode the small model rules, and where it
// does not, a person, of whom there is none here.
func TestPermitByClassifier(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer fake.Reply
		effect policy.Effect
		reason string
	}{
		{"allowed", rule("allow", "it was asked for"), policy.Allow, "it was asked for"},
		{"refused", rule("hard_deny", "no uploads"), policy.Deny, "no uploads"},
		{"left open", fake.Say("hm"), policy.Deny, "nobody can be asked"},
	} {
		bubble(c.name, t, func(t *testing.T) {
			judge := &fake.Model{Replies: []fake.Reply{c.answer}}
			r := start(t, nil, autoMode(judge), fake.Use(call("c1", "act", "", 1000)), fake.Say("ok"))
			r.prompt("fetch it")
			r.turns(1, func(e event.Event) {
				if _, ok := e.Body.(event.ToolStarted); !ok {
					return
				}
				v, err := r.Permit(t.Context(), connection())
				if err != nil || v.Effect != c.effect || !strings.Contains(v.Reason, c.reason) {
					t.Errorf("%+v %v", v, err)
				}
			})
			r.Close()
		})
	}
}

// Arguments that a person wrote need no further question, and nobody else's
// are spared one.
func TestWhoRewroteACall(t *testing.T) {
	for name, c := range map[string]struct {
		by     *event.By
		effect policy.Effect
		reason string
	}{
		"the model's own":      {nil, policy.Deny, "nobody can be asked"},
		"written by a person":  {&event.By{Kind: event.ByClient, Name: "tui"}, policy.Allow, "the person wrote it"},
		"written by a hook":    {&event.By{Kind: event.ByHook, Name: "fmt"}, policy.Deny, "nobody can be asked"},
		"written by a rule":    {&event.By{Kind: event.ByRule, Name: "r"}, policy.Deny, "nobody can be asked"},
		"after an interrupt":   {&event.By{Kind: event.ByInterrupt}, policy.Deny, "nobody can be asked"},
		"a person, and denied": {&event.By{Kind: event.ByClient, Name: "tui"}, policy.Deny, "denies it"},
	} {
		bubble(name, t, func(t *testing.T) {
			r := start(t, nil, func(cfg *session.Config) {
				if c.reason == "denies it" {
					rule, err := policy.ParseRule("WebFetch(domain:new.example)", policy.Deny, policy.User, "test", "/w")
					if err != nil {
						t.Fatal(err)
					}
					cfg.Rules.List = append(cfg.Rules.List, rule)
				}
			}, fake.Use(call("c1", "act", "", 1000)), fake.Say("ok"))
			r.prompt("fetch it")
			r.turns(1, func(e event.Event) {
				if _, ok := e.Body.(event.ToolStarted); !ok {
					return
				}
				q := connection()
				q.Rewritten = c.by
				v, err := r.Permit(t.Context(), q)
				if err != nil || v.Effect != c.effect || !strings.Contains(v.Reason, c.reason) {
					t.Errorf("%+v %v", v, err)
				}
			})
			r.Close()
		})
	}
}

// TestPermitBetweenTurns: rules count, and nobody is asked.
func TestPermitBetweenTurns(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   policy.Effect
		effect policy.Effect
		reason string
		err    error
	}{
		{"no rule", -1, policy.Deny, "no turn runs", session.ErrIdle},
		{"allowed", policy.Allow, policy.Allow, "a rule allows it", nil},
		{"denied", policy.Deny, policy.Deny, "a rule denies it", nil},
		{"asked about", policy.Ask, policy.Deny, "no turn runs", session.ErrIdle},
	} {
		bubble(c.name, t, func(t *testing.T) {
			r := start(t, nil, func(cfg *session.Config) {
				if c.rule >= 0 {
					cfg.Rules.List = []policy.Rule{settingsRule(t, "WebFetch(domain:new.example)", c.rule, policy.User)}
				}
			})
			v, err := r.Permit(t.Context(), connection())
			if !errors.Is(err, c.err) || v.Effect != c.effect || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%+v %v", v, err)
			}
			if p := r.State().Pending; len(p) > 0 {
				t.Errorf("asked: %v", p)
			}
			r.Close()
			if v, err := r.Permit(t.Context(), connection()); !errors.Is(err, session.ErrClosed) || v.Effect != policy.Deny || v.Reason != "the session is over" {
				t.Errorf("closed: %+v %v", v, err)
			}
		})
	}
}

// What a running tool was lent of rules counts for what it asks, in a turn and between turns.
func TestPermitWithLentRules(t *testing.T) {
	for _, turn := range []bool{false, true} {
		bubble(fmt.Sprint("in a turn: ", turn), t, func(t *testing.T) {
			r := start(t, nil, nil, fake.Use(call("c1", "act", "", 60_000)), fake.Say("ok"))
			if turn {
				r.prompt("go")
				synctest.Wait()
			}
			for _, lent := range [][]policy.Rule{nil, {settingsRule(t, "WebFetch(domain:new.example)", policy.Allow, policy.Command)}} {
				q := connection()
				q.Lent = lent
				if v, _ := r.Permit(t.Context(), q); (v.Effect == policy.Allow) != (lent != nil) {
					t.Errorf("with %d rules: %+v", len(lent), v)
				}
			}
			r.Close()
		})
	}
}

// The time that a hook takes to answer in a person's stead is not the call's own.
func TestQuestionsWaitForHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits, asked := 0, 0
		r := start(t, nil, func(c *session.Config) {
			c.Hooks = answering{answer: op.Answer{Allow: true, By: "h"}, asked: &asked}
		}, fake.Use(call("c1", "look", "", 1000)), fake.Say("ok"))
		r.prompt("go")
		synctest.Wait()
		q := connection()
		q.Waits = func() { waits++ }
		if v, err := r.Permit(t.Context(), q); v.Effect != policy.Allow || err != nil || waits != 1 || asked != 1 {
			t.Errorf("%+v, %v; it waited %d times, asked %d times", v, err, waits, asked)
		}
		r.Close()
	})
}

// Connections of one command are questions of their own.
func TestPermitsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, fake.Use(call("c1", "act", "", 60_000)), fake.Say("ok")).attend()
		r.prompt("go")
		synctest.Wait()
		verdicts := make(chan policy.Verdict, 2)
		for range 2 {
			go func() {
				v, err := r.Permit(t.Context(), connection())
				if err != nil {
					t.Error(err)
				}
				verdicts <- v
			}()
		}
		synctest.Wait()
		allow := true
		for call := range r.State().Pending {
			if err := r.Submit(t.Context(), op.Answer{Call: call, Allow: allow, By: "one"}); err != nil {
				t.Error(err)
			}
			allow = false
		}
		if a, b := (<-verdicts).Effect, (<-verdicts).Effect; a == b {
			t.Errorf("both were answered with %s", a)
		}
		r.Close()
	})
}

// Who asks with Permit cannot have other arguments: where a hook wants some, that
// is a no, not a yes to what was asked.
func TestPermitHasNoOtherArguments(t *testing.T) {
	for _, input := range []string{"", `{"command":"other"}`} {
		var r *rig
		var v policy.Verdict
		r = start(t, nil, func(c *session.Config) {
			c.Hooks = hooks{rule: func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
				v.Effect = policy.Allow
				if input != "" {
					v.Answer = &op.Answer{Allow: true, Input: []byte(input)}
				}
				return v, nil
			}}
		}, func(ctx context.Context, req llm.Request, yield func(llm.Chunk, error) bool) {
			v, _ = r.Permit(ctx, agent.Question{Tool: "Bash", Plan: tool.Plan{Actions: []policy.Action{policy.Exec{Argv: []string{"danger"}}}}})
			fake.Say("ok")(ctx, req, yield)
		})
		if err := r.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		for e, err := range r.Follow(t.Context(), 0, event.Durable) {
			if err != nil {
				t.Fatal(err)
			}
			if _, over := e.Body.(event.TurnEnded); over {
				break
			}
		}
		if allowed := v.Effect == policy.Allow; allowed != (input == "") {
			t.Errorf("with %q: %+v", input, v)
		}
	}
}
