package session_test

import (
	"context"
	"errors"
	"slices"
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

// hooks are programs of a person's as a test wants them; nil says nothing.
type hooks struct {
	prompt func(context.Context, event.InputQueued) (session.Admission, error)
	rule   func(context.Context, agent.Question, agent.Verdict) (agent.Verdict, error)
}

func (h hooks) Prompt(ctx context.Context, p event.InputQueued) (session.Admission, error) {
	if h.prompt == nil {
		return session.Admission{}, nil
	}
	return h.prompt(ctx, p)
}

func (h hooks) Rule(ctx context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
	if h.rule == nil {
		return v, nil
	}
	return h.rule(ctx, q, v)
}

func (hooks) Asks(context.Context, agent.Question, agent.Verdict) (op.Answer, bool) {
	return op.Answer{}, false
}
func (hooks) Refused(context.Context, agent.Question, agent.Verdict) bool { return false }
func (hooks) Hooked(hook.Event) bool                                      { return false }
func (hooks) Hook(context.Context, hook.Input, []policy.Action) hook.Answer {
	return hook.Answer{}
}

func withHooks(h hooks) func(*session.Config) { return func(c *session.Config) { c.Hooks = h } }

// A hook that looks at a prompt for long does not hold up the session: it
// answers, takes ops, queues further prompts, which the hook is shown in their
// turn. What the hook adds, the model reads behind the prompt.
func TestPromptHookTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown []string
		look := func(ctx context.Context, p event.InputQueued) (session.Admission, error) {
			shown = append(shown, p.Text)
			return session.Admission{Context: []string{"it is " + p.Text}}, agent.Sleep(ctx, time.Minute)
		}
		r := start(t, nil, withHooks(hooks{prompt: look}), fake.Use(call("a", "look", "", 0)), fake.Say("ok"), fake.Say("done"))
		began := time.Now()
		r.prompt("one")
		synctest.Wait() // the hook sleeps
		if st := r.State(); st.Running != "" || len(st.Queue) != 1 {
			t.Errorf("running %q with %d prompts that wait", st.Running, len(st.Queue))
		}
		r.prompt("two")
		if err := r.Submit(t.Context(), op.Prompt{ID: "gone", Text: "three"}); err != nil {
			t.Error(err)
		}
		for _, o := range []op.Op{op.Rename{Title: "x"}, op.SetMode{Mode: "acceptEdits"}, op.Unqueue{ID: "gone"}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Errorf("%T: %v", o, err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the session was held up for %v", took)
		}
		es := r.turns(1, nil)
		r.last(es, agent.Completed)
		if !slices.Equal(shown, []string{"one", "two"}) {
			t.Errorf("the hook was shown %v", shown)
		}
		var said []string
		for _, in := range all[event.InputAccepted](es) {
			said = append(said, in.Text)
		}
		if !slices.Equal(said, []string{"one", "it is one", "two", "it is two"}) {
			t.Errorf("the model was given %q", said)
		}
		if mode := all[event.TurnStarted](es)[0].Mode; mode != policy.AcceptEdits {
			t.Errorf("the turn began in %s", mode)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What a hook refuses, the model never sees: a turn that it would have begun
// ends at once and says why, and the next prompt has its own.
func TestPromptHookRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := func(_ context.Context, p event.InputQueued) (session.Admission, error) {
			switch {
			case strings.Contains(p.Text, "secret"):
				return session.Admission{Refused: "no secrets"}, nil
			case p.Text == "broken":
				return session.Admission{}, errors.New("the hook broke")
			}
			return session.Admission{}, nil
		}
		r := start(t, nil, withHooks(hooks{prompt: look}), fake.Use(call("a", "look", "", 1000)), fake.Say("done"))
		r.prompt("a secret")
		r.turns(1, nil)
		r.prompt("broken")
		r.turns(2, nil)
		r.prompt("go")
		r.prompt("another secret") // while the turn runs
		es := r.turns(3, nil)
		ends := all[event.TurnEnded](es)
		for i, why := range []string{"no secrets", "the hook broke"} {
			if e := ends[i]; e.How != event.Stopped || e.Reason != string(agent.HookStopped) || e.Err != "the prompt was refused: "+why || e.Steps != 0 {
				t.Errorf("turn %d ended with %+v", i, e)
			}
		}
		if ends[2].Reason != string(agent.Completed) {
			t.Errorf("the last turn ended with %+v", ends[2])
		}
		var why []string
		for _, e := range all[event.InputRemoved](es) {
			why = append(why, e.Why)
		}
		if !slices.Equal(why, []string{"no secrets", "the hook broke", "no secrets"}) {
			t.Errorf("refused: %q", why)
		}
		if n := all[event.Noted](es); len(n) != 1 || n[0].Text != "a prompt was refused: no secrets" {
			t.Errorf("noted: %+v", n)
		}
		for _, q := range r.model.Requests() {
			if s := strings.Join(texts(q), " "); strings.Contains(s, "secret") || strings.Contains(s, "broken") {
				t.Errorf("the model was sent %q", s)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// texts are what a request says in its messages.
func texts(q llm.Request) (out []string) {
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			if s, ok := p.(llm.Text); ok {
				out = append(out, s.S)
			}
		}
	}
	return out
}

// An interrupt ends a hook; the prompt that nobody has looked at is not given
// to the model. One that was taken back meanwhile begins nothing.
func TestPromptHookInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		look := func(ctx context.Context, p event.InputQueued) (session.Admission, error) {
			if p.Text == "quick" { // and a slow one joins its turn
				return session.Admission{}, r.Submit(ctx, op.Prompt{Text: "slow"})
			}
			return session.Admission{}, agent.Sleep(ctx, time.Hour)
		}
		r = start(t, nil, withHooks(hooks{prompt: look}), fake.Use(call("a", "look", "", 0)), fake.Say("done"))
		r.prompt("slow")
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		es := r.turns(1, nil)
		if e := r.last(es, agent.InterruptedStreaming); e.How != event.Interrupted || len(all[event.InputAccepted](es)) > 0 {
			t.Errorf("%+v; %v", e, kinds(es))
		}
		if err := r.Submit(t.Context(), op.Prompt{ID: "back", Text: "slow, too"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Unqueue{ID: "back"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Interrupt{}); !errors.Is(err, session.ErrIdle) {
			t.Errorf("after nothing began: %v", err)
		}
		for _, o := range []op.Op{op.Prompt{ID: "gone", Text: "slow, as well"}, op.Prompt{ID: "next", Text: "slow, and next"}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for _, o := range []op.Op{op.Unqueue{ID: "gone"}, op.Interrupt{}} { // as the terminal UI takes one back
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Unqueue{ID: "next"}); err != nil {
			t.Errorf("the prompt behind it was lost: %v", err)
		}
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()

		r.prompt("quick")
		synctest.Wait()
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the slow one waits no more: it has a turn of its own
		if err := r.Submit(t.Context(), op.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		es = r.turns(3, nil)
		var how []string
		for _, e := range all[event.TurnEnded](es) {
			how = append(how, e.Reason)
		}
		if want := []string{"interrupted_streaming", "interrupted_streaming", "interrupted_streaming"}; !slices.Equal(how, want) {
			t.Errorf("turns ended with %v, want %v", how, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A prompt that waits when the session is closed waits for the next one, also
// when the hooks were looking at another.
func TestPromptsWaitForTheNextSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := func(ctx context.Context, p event.InputQueued) (session.Admission, error) {
			return session.Admission{}, agent.Sleep(ctx, time.Hour)
		}
		r := start(t, nil, withHooks(hooks{prompt: look}), fake.Say("done"))
		for _, o := range []op.Op{op.Prompt{ID: "one", Text: "one"}, op.Prompt{ID: "two", Text: "two"}, op.Unqueue{ID: "one"}} {
			if err := r.Submit(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if q := r.folded().Queue; len(q) != 1 || q[0].ID != "two" {
			t.Errorf("left: %v", q)
		}
	})
}

// A hook is shown what the rules do not refuse. It may refuse, ask, write
// other arguments, which are ruled on anew, and settle what the rules only ask
// about. It loosens neither a refusal nor a condition.
func TestCallHooks(t *testing.T) {
	says := func(e policy.Effect, why string) func(context.Context, agent.Question, agent.Verdict) (agent.Verdict, error) {
		return func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
			v.Effect, v.Reason, v.Needs = e, why, policy.Needs{}
			return v, nil
		}
	}
	by := event.By{Kind: event.ByHook, Name: "check"}
	for _, c := range []struct {
		name, tool string
		rule       func(context.Context, agent.Question, agent.Verdict) (agent.Verdict, error)
		text       string // of the result
		asked      int
		denied     bool
	}{
		{"says nothing", "act", nil, "act:x", 0, false},
		{"refuses what is allowed", "act", says(policy.Deny, "not today"), "not today", 0, true},
		{"asks about what is allowed", "act", says(policy.Ask, "are you sure"), "act:x", 1, false},
		{"settles a question", "risk", says(policy.Allow, "it is fine"), "risk:x", 0, false},
		{"does not see a refusal", "deny", says(policy.Allow, "it is fine"), "refused: ", 0, true},
		{"does not loosen a condition", "conf", says(policy.Allow, "it is fine"), "/w/.git/config", 0, false},
		{"fails", "act", func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
			return v, errors.New("the hook broke")
		}, "the hook broke", 0, false},
		{"writes other arguments", "act", func(_ context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
			if q.Rewritten == nil {
				v.Answer, v.By = &tool.Answer{Input: input("y")}, by
			} else if *q.Rewritten != by || string(q.Call.Input) != string(input("y")) {
				v.Effect, v.Reason = policy.Deny, "these are not mine"
			}
			return v, nil
		}, "[hook:check changed the arguments of this call", 0, false},
		{"writes arguments that ask", "risk", func(_ context.Context, q agent.Question, v agent.Verdict) (agent.Verdict, error) {
			if q.Rewritten == nil {
				v.Effect, v.Answer, v.By = policy.Allow, &tool.Answer{Input: input("y")}, by
			}
			return v, nil
		}, "risk:y", 1, false},
	} {
		bubble(c.name, t, func(t *testing.T) {
			in := "x"
			if c.tool == "conf" {
				in = "needs"
			}
			r := start(t, nil, func(cfg *session.Config) {
				cfg.Hooks = hooks{rule: c.rule}
				cfg.Rules = policy.Rules{Dir: "/w", List: []policy.Rule{settingsRule(t, "deny", policy.Deny, policy.User)}}
				cfg.Tools, _ = tool.NewSet(r0(cfg, "act"), r0(cfg, "risk"), r0(cfg, "conf"), renamed{r0(cfg, "act"), "deny"})
			}, fake.Use(call("c", c.tool, in, 0)), fake.Say("done")).attend()
			r.prompt("go")
			es := r.turns(1, func(e event.Event) {
				if q, ok := e.Body.(event.Asked); ok {
					if err := r.Submit(t.Context(), op.Answer{Call: q.Call, Allow: true, By: "one"}); err != nil {
						t.Error(err)
					}
				}
			})
			f := all[event.ToolFinished](es)[0]
			if !strings.Contains(f.Text, c.text) || f.Denied != c.denied || len(all[event.Asked](es)) != c.asked {
				t.Errorf("%q, denied %t, asked %d times", f.Text, f.Denied, len(all[event.Asked](es)))
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// renamed is a tool under another name.
type renamed struct {
	tool.Tool
	name string
}

func (r renamed) Spec() tool.Spec { s := r.Tool.Spec(); s.Name = r.name; return s }
