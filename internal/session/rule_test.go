package session

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// Every ruler is asked in order and knows what those before it said, until
// one fails.
func TestChain(t *testing.T) {
	failure := errors.New("it fell over")
	says := func(e policy.Effect, why string) ruler {
		return func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
			v.Effect, v.Reason = e, v.Reason+why
			return v, nil
		}
	}
	silent := func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) { return v, nil }
	fails := func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
		v.Reason += "!"
		return v, failure
	}
	defers := func(_ context.Context, _ agent.Question, v agent.Verdict) (agent.Verdict, error) {
		v.Reason, v.Defers = v.Reason+"-", true
		return v, nil
	}
	for name, c := range map[string]struct {
		rulers chain
		effect policy.Effect
		reason string
		err    error
	}{
		"nobody":                  {nil, policy.Ask, "", nil},
		"one":                     {chain{says(policy.Allow, "a")}, policy.Allow, "a", nil},
		"the last word counts":    {chain{says(policy.Ask, "a"), says(policy.Deny, "b")}, policy.Deny, "ab", nil},
		"all see what is settled": {chain{says(policy.Allow, "a"), says(policy.Deny, "b")}, policy.Deny, "ab", nil},
		"nothing to say":          {chain{says(policy.Allow, "a"), silent, silent}, policy.Allow, "a", nil},
		"who puts it off ends it": {chain{says(policy.Ask, "a"), defers, says(policy.Allow, "c")}, policy.Ask, "a-", nil},
		"a failure ends it":       {chain{says(policy.Ask, "a"), fails, says(policy.Allow, "c")}, policy.Ask, "a!", failure},
	} {
		v, err := c.rulers.rule(t.Context(), agent.Question{})
		if v.Effect != c.effect || v.Reason != c.reason || !errors.Is(err, c.err) {
			t.Errorf("%s: %v %q %v", name, v.Effect, v.Reason, err)
		}
	}
}

// What a person answers becomes a verdict: what an approval rests on stays, and a
// refusal says who it is from, unless its words are to stand alone.
func TestSettle(t *testing.T) {
	needs := policy.Needs{Pinned: true}
	was := agent.Verdict{Verdict: policy.Verdict{Effect: policy.Ask, Reason: "may it", Rule: "r", Part: "p", Needs: needs}}
	for _, c := range []struct {
		a        op.Answer
		effect   policy.Effect
		reason   string
		answered bool
	}{
		{op.Answer{Allow: true, By: "tui"}, policy.Allow, "approved by tui", true}, {op.Answer{Allow: true, By: "tui", Comment: "mind"}, policy.Allow, "approved by tui", true},
		{op.Answer{By: "tui"}, policy.Deny, "the person said no", false}, {op.Answer{By: "tui", Comment: "use make"}, policy.Deny, "the person said no: use make", false},
		{op.Answer{By: "tui", Comment: "use make", Exact: true}, policy.Deny, "use make", true}, {op.Answer{By: "tui", Exact: true}, policy.Deny, "the person said no", false},
	} {
		got := verdictOf(was, c.a)
		if got.Effect != c.effect || got.Reason != c.reason || (got.Answer != nil) != c.answered || got.By != event.Client("tui") || got.Part != "p" || !got.Needs.Pinned || c.a.Allow && got.Rule != "" {
			t.Errorf("%+v: %+v", c.a, got)
		}
	}
}

// A settled call is none of the classifier's business, nor of a person's.
func TestRulersLeaveWhatIsSettled(t *testing.T) {
	for _, e := range []policy.Effect{policy.Allow, policy.Deny} {
		want := agent.Verdict{Verdict: policy.Verdict{Effect: e, Reason: "r", Check: policy.CheckAuto}}
		for i, r := range slices.Backward(host{&Session{}}.rulers()) {
			if i == 0 {
				continue // the rules always have their say
			}
			q := agent.Question{Waits: func() { t.Error("somebody is waited for") }}
			if got, err := r(t.Context(), q, want); err != nil || got.Effect != want.Effect || got.Reason != want.Reason {
				t.Errorf("ruler %d: %+v %v", i, got, err)
			}
		}
	}
}
