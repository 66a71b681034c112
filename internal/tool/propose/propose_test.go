package propose_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/propose"
)

// The person is asked in every mode, and nothing is set without an answer.
func TestProposeGoal(t *testing.T) {
	var got []string
	set := func(_ context.Context, condition string) error {
		if got = append(got, condition); condition == "bad" {
			return errors.New("nobody can judge")
		}
		return nil
	}
	p := propose.New(set, "")
	for _, in := range []string{`{}`, `{"condition":" "}`, `{"condition":"` + strings.Repeat("ä", 501) + `"}`} {
		if _, err := p.Plan(json.RawMessage(in), tool.Env{}); err == nil {
			t.Errorf("%.40s is planned", in)
		}
	}
	in := json.RawMessage(`{"condition":" it works ","ask_user":false}`)
	plan, err := p.Plan(in, tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.Bypass} {
		if v := policy.Decide(policy.Rules{}, mode, policy.Request{Tool: propose.Name, Actions: plan.Actions}); v.Effect != policy.Ask {
			t.Errorf("in the mode %s it is %v", mode, v.Effect)
		}
	}
	for _, c := range []struct {
		in     json.RawMessage
		answer *tool.Answer
		says   string
	}{
		{in, nil, "nobody was there"},
		{in, &tool.Answer{}, "is set"},
		{json.RawMessage(`{"condition":"bad"}`), &tool.Answer{}, "no goal is set: nobody can judge"},
	} {
		res, err := p.Run(t.Context(), c.in, tool.Env{Answer: c.answer})
		if err != nil || !strings.Contains(res.Text, c.says) {
			t.Errorf("%s: %q, %v", c.in, res.Text, err)
		}
	}
	if strings.Join(got, "|") != "it works|bad" {
		t.Errorf("set were %q", got)
	}
	if _, err := propose.New(set, "an agent has no goals").Plan(in, tool.Env{}); err == nil || err.Error() != "an agent has no goals" {
		t.Errorf("%v", err)
	}
}
