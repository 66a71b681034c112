package ext

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/miniagent"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

// An agent of a skill's own has the tools, the model and the instructions that it
// is to have; the session rules on its calls, with what the skill lends; and pays.
func TestForks(t *testing.T) {
	var ran []string
	run := func(name string) tool.Tool {
		return tool.New(tool.Spec{Name: name}, func(in struct {
			X string `json:"x"`
		}, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.Exec{Argv: strings.Fields(in.X)}}}, nil
		}, func(_ context.Context, in struct {
			X string `json:"x"`
		}, _ tool.Env) (tool.Result, error) {
			ran = append(ran, in.X)
			return tool.Result{Text: "did " + in.X}, nil
		})
	}
	call := func(id, name, x string) llm.ToolUse {
		return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(fmt.Sprintf(`{"x":%q}`, x))}
	}
	child := &fake.Model{Replies: []fake.Reply{
		fake.Use(call("1", "Bash", "lent"), call("2", "Bash", "asked"), call("3", "Bash", "denied"), call("4", "Other", "x"), call("5", "Skill", "x")), fake.Say("found it"),
	}}
	cost := func(u llm.Usage) (float64, bool) { return float64(u.In), true }
	var s *session.Session
	rules := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, List: []policy.Rule{{Tool: "Bash", Spec: "denied", Effect: policy.Deny}}}
	out, forkErr := "", error(nil)
	f := forks(ForkConfig{
		Session: func() *session.Session { return s },
		Parts: func() []prompt.Part {
			return []prompt.Part{{Name: "identity", Text: "you are adze", Stable: true}, {Name: "environment", Text: "in /w"}, {Name: "skills", Text: "a list", Lent: true}}
		},
		Resolve: func(_ context.Context, name string) (agent.Target, error) {
			return agent.Target{Model: child, Provider: "fake", Name: name, Cost: cost}, nil
		},
		Rules: func() policy.Rules { return rules }, Budget: func() agent.Budget { return agent.Budget{} }, Loop: func() *agent.Loop { return &agent.Loop{} },
	})
	starts := tool.New(tool.Spec{Name: "Start"}, func(struct{}, tool.Env) (tool.Plan, error) {
		return tool.Plan{Actions: []policy.Action{policy.None{}}}, nil
	}, func(ctx context.Context, _ struct{}, env tool.Env) (tool.Result, error) {
		out, _, forkErr = f(ctx, skills.Fork{Skill: "look", Prompt: "look around", Model: "small", Effort: "low", Env: env,
			Agent: &skill.Agent{Prompt: "you only look", Tools: []string{"Bash(ls:*)", "Skill"}}, Lent: []policy.Rule{{Tool: "Bash", Spec: "lent", Effect: policy.Allow}}})
		return tool.Result{Text: out}, nil
	})
	mine, err := tool.NewSet(starts, run("Bash"), run("Other"), run("Skill"), run("AskUserQuestion"))
	if err != nil {
		t.Fatal(err)
	}
	main := &fake.Model{Replies: []fake.Reply{fake.Use(llm.ToolUse{ID: "s", Name: "Start", Input: json.RawMessage(`{}`)}), fake.Say("done")}}
	s, err = session.Start(t.Context(), session.Config{
		Record:      session.Record{Log: &mem.Log{}, Begin: event.SessionStarted{ID: "s", Schema: event.Schema, Dir: "/w"}},
		Turns:       session.Turns{Target: agent.Target{Model: main, Provider: "fake", Name: "m", Cost: cost}, Loop: &agent.Loop{Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 0 }, Env: tool.Env{Dir: "/w"}}},
		Hands:       session.Hands{Tools: mine},
		Permissions: session.Permissions{Mode: policy.Default, Rules: rules},
		Now:         time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Submit(t.Context(), op.Attach{Client: "c"}); err != nil {
		t.Fatal(err)
	}
	asked := ""
	events := s.Follow(t.Context(), 0, event.Durable)
	if err := s.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := e.Body.(event.Asked); ok { // a person says yes, once
			asked += string(q.Input)
			if err := s.Submit(t.Context(), op.Answer{Call: q.Call, Allow: true}); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := e.Body.(event.TurnEnded); ok {
			break
		}
	}
	if out != "found it" || forkErr != nil {
		t.Errorf("%q, %v", out, forkErr)
	}
	if got := strings.Join(ran, "|"); got != "lent|asked" || asked != `{"x":"asked"}` {
		t.Errorf("ran %s, asked about %s", got, asked)
	}
	r := child.Requests()[0]
	if len(r.Tools) != 1 || r.Tools[0].Name != "Bash" || strings.Join(r.System, "|") != "you only look|in /w" || r.Effort != "low" {
		t.Errorf("%+v %q %s", r.Tools, r.System, r.Effort)
	}
	if st := s.State(); st.Total.Cost != 40 { // two requests of each
		t.Errorf("it cost %v", st.Total.Cost)
	}
}

// A call of a skill's agent that was allowed waits for its turn there. When it comes,
// the session looks at it once more; what the agent keeps for itself is its own.
func TestForkedCallsAreLookedAtAgain(t *testing.T) {
	s, err := session.Start(t.Context(), session.Config{
		Record:      session.Record{Log: &mem.Log{}, Begin: event.SessionStarted{ID: "s", Schema: event.Schema, Dir: "/w"}},
		Permissions: session.Permissions{Mode: policy.Bypass, Rules: policy.Rules{Dir: "/w"}},
		Now:         time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	by := through{s: s}
	ran := 0
	makes := tool.New(tool.Spec{Name: "Bash"}, func(struct{}, tool.Env) (tool.Plan, error) {
		return tool.Plan{Actions: []policy.Action{policy.Exec{Argv: []string{"make"}}}}, nil
	}, func(context.Context, struct{}, tool.Env) (tool.Result, error) {
		ran++
		return tool.Result{Text: "made"}, s.Submit(t.Context(), op.SetMode{Mode: string(policy.PlanMode)})
	})
	set, err := tool.NewSet(makes)
	if err != nil {
		t.Fatal(err)
	}
	call := func(id string) llm.ToolUse { return llm.ToolUse{ID: id, Name: "Bash", Input: json.RawMessage(`{}`)} }
	m := &fake.Model{Replies: []fake.Reply{fake.Use(call("1")), fake.Use(call("2")), fake.Say("ok")}}
	_, err = miniagent.Run(t.Context(), miniagent.Spec{
		Target: agent.Target{Model: m, Provider: "fake", Name: "m"}, Tools: set, Prompt: "make it", Env: tool.Env{Dir: "/w"},
		Rules: policy.Rules{Dir: "/w"}, Mode: policy.Bypass, Still: by.still, // as long as the helper's own mode allows it
	})
	if err != nil || ran != 1 {
		t.Errorf("%v; it ran %d times", err, ran)
	}
	if rs := m.Requests(); !strings.Contains(fmt.Sprint(rs[len(rs)-1].Messages), "the mode is plan now") {
		t.Errorf("%v", rs[len(rs)-1].Messages)
	}
	note := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Allow, Check: policy.CheckScratch}}
	q := agent.Question{Tool: "Write", Plan: tool.Plan{Actions: []policy.Action{policy.Write{Path: "/notes/a.md"}}}}
	if v, err := by.still(q, note); err != nil || v.Effect != policy.Allow {
		t.Errorf("%+v %v", v, err)
	}
}

// An agent of a skill has no more requests than the turn has left.
func TestForksCountTowardMaxTurns(t *testing.T) {
	for most, want := range map[int]int{0: 3, 2: 2, 3: 3, 9: 3} {
		s, err := session.Start(t.Context(), session.Config{Record: session.Record{Log: &mem.Log{}, Begin: event.SessionStarted{ID: "s", Schema: event.Schema, Dir: "/w"}}, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		look := llm.ToolUse{ID: "1", Name: "Bash", Input: json.RawMessage(`{}`)}
		child := &fake.Model{Replies: []fake.Reply{fake.Use(look), fake.Use(look), fake.Say("found it")}}
		f := forks(ForkConfig{
			Session: func() *session.Session { return s }, Parts: func() []prompt.Part { return nil }, Rules: func() policy.Rules { return policy.Rules{} },
			Resolve: func(context.Context, string) (agent.Target, error) {
				return agent.Target{Model: child, Provider: "fake", Name: "m"}, nil
			},
			Budget: func() agent.Budget { return agent.Budget{Turns: most} }, Loop: func() *agent.Loop { return &agent.Loop{} },
		})
		_, _, err = f(t.Context(), skills.Fork{Skill: "look", Prompt: "look", Model: "m"})
		if n := len(child.Requests()); n != want || (err != nil) != (want < 3) {
			t.Errorf("of %d: %d requests, %v", most, n, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
