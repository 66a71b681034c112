package policy_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

func TestWhySaysTheRuleOnce(t *testing.T) {
	for _, c := range []struct {
		v    policy.Verdict
		want string
	}{
		{policy.Verdict{Reason: "it only reads"}, "it only reads"},
		{policy.Verdict{Reason: "a rule denies it: Bash(rm:*)", Rule: "Bash(rm:*)", Source: "a.json:3:5"}, "a rule denies it: Bash(rm:*) (a.json:3:5)"},
		{policy.Verdict{Reason: "it is covered", Rule: "Bash(rm:*)", Source: "a.json:3:5"}, "it is covered (rule Bash(rm:*), a.json:3:5)"},
		{policy.Verdict{Reason: "it is covered", Rule: "Bash(rm:*)"}, "it is covered (rule Bash(rm:*))"},
	} {
		if got := c.v.Why(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
