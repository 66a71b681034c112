package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
)

// commands expands what a test says.
type commands func(name, args string) (session.Expansion, error)

func (c commands) Find(name string) error {
	if strings.HasPrefix(name, "no") {
		return errors.New("there is no command /" + name)
	}
	return nil
}

func (c commands) Expand(_ context.Context, name, args string) (session.Expansion, error) {
	return c(name, args)
}

// The model reads what a slash command says, people what was typed. What its
// skill brings counts until the turn ends: rules, and another model.
func TestSlashCommand(t *testing.T) {
	other := &fake.Model{Replies: []fake.Reply{fake.Use(call("a", "risk", "", 0)), fake.Say("done")}}
	brings := &effect.Skill{Name: "fmt", From: "here", Rules: []string{"Bash(danger)", "Bash("}, Deny: []string{"act"}, Model: "o", Effort: "high"}
	r := start(t, nil, func(c *session.Config) {
		c.Commands = commands(func(name, args string) (session.Expansion, error) {
			if args == "bad" {
				return session.Expansion{}, errors.New("it needs a file")
			}
			return session.Expansion{Text: "format " + args, Skill: brings}, nil
		})
		c.Resolve = func(context.Context, string) (agent.Target, error) {
			return agent.Target{Model: other, Provider: "fake", Name: "o"}, nil
		}
	}, fake.Use(call("b", "risk", "", 0)), fake.Say("ok"))
	if err := r.Submit(t.Context(), op.Prompt{Text: "/none x", Command: true}); !errors.Is(err, &op.Refusal{Code: op.NoCommand}) {
		t.Errorf("a command that is not there: %v", err)
	}
	run := func(p op.Prompt) event.TurnEnded {
		t.Helper()
		after := r.State().Seq
		if err := r.Submit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for e, err := range r.Follow(t.Context(), after, event.Durable) {
			if err != nil {
				t.Fatal(err)
			}
			if end, ok := e.Body.(event.TurnEnded); ok {
				return end
			}
		}
		return event.TurnEnded{}
	}
	run(op.Prompt{Text: "/fmt a.go\nb.go", Command: true})
	st := r.State()
	if len(other.Requests()) != 2 || st.ByTool["risk"].Calls != 1 || len(st.Turn.Denials) != 0 {
		t.Errorf("%d requests to the skill's model, %d calls, %+v", len(other.Requests()), st.ByTool["risk"].Calls, st.Turn.Denials)
	}
	if req := other.Requests()[0]; !strings.Contains(strings.Join(words(req.Messages), "\n"), "format a.go\nb.go") || strings.Contains(strings.Join(words(req.Messages), "\n"), "/fmt") || req.Effort != "high" {
		t.Errorf("the model reads %q with effort %s", strings.Join(words(req.Messages), "\n"), req.Effort)
	}
	if st.Said[0].Text != "/fmt a.go\nb.go" || len(st.Skills) != 1 || st.Skills[0].Name != "fmt" {
		t.Errorf("said %+v, used %+v", st.Said, st.Skills)
	}
	if v, err := r.Permit(t.Context(), agent.Question{Tool: "Bash", Plan: tool.Plan{Actions: []policy.Action{policy.Exec{Argv: []string{"danger"}}}}}); v.Effect != policy.Deny || !errors.Is(err, session.ErrIdle) {
		t.Errorf("between turns the rule is still there: %+v %v", v, err)
	}
	if end := run(op.Prompt{Text: "/fmt bad", Command: true}); end.Err == "" || !strings.Contains(end.Err, "it needs a file") {
		t.Errorf("a command that cannot be expanded: %+v", end)
	}
	run(op.Prompt{Text: "now you"}) // asks nobody: no
	if st := r.State(); len(st.Turn.Denials) != 1 || len(other.Requests()) != 2 {
		t.Errorf("after the turn the skill still counts: %+v, %d requests", st.Turn.Denials, len(other.Requests()))
	}
}
