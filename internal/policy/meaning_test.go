package policy_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What a rule for commands means: deny errs to the strict side, allow names no more than
// it says.
func TestMeaning(t *testing.T) {
	for _, c := range []struct {
		rule, argv string
		want       bool
	}{
		{"deny Bash(rm -rf ~/*)", "rm|-rf|/home/u/docs", true}, {"deny Bash(rm -rf '$HOME/x')", "rm|-rf|/home/u/x", true}, {"allow Bash(foo '$HOME/x')", "foo|/home/u/x", false}, {"allow Bash(foo '$HOME/x')", "foo|$HOME/x", true},
		{`allow Bash(foo "$HOME"/x)`, "foo|/home/u/x", true}, {"allow Bash(foo $HOMEX)", "foo|/home/uX", false}, {"allow Bash(foo a~)", "foo|a~", true}, {`deny Bash(foo \~)`, "foo|~", true},
		{`allow Bash(foo "*")`, "foo|a b", true}, {`allow Bash(foo "*")`, "foo|a|b", false}, {`deny Bash(foo "*")`, "foo|a|b", true}, {`allow Bash(foo '*')`, "foo|a", false}, {`deny Bash(foo '*')`, "foo|a", true}, {`deny Bash(foo \*)`, "foo|a", false}, {`allow Bash(foo "\*")`, "foo|*", true},
		{"deny Bash(foo :* )", "foo|a", true}, {"allow Bash(foo : *)", "foo|a", true}, {"deny Bash(foo:* b)", "foo|a|b", true}, {"deny Bash(foo\u00a0a)", "foo|a", true}, {"deny Bash(fo\u200bo a)", "foo|a", true}, {"allow Bash(foo\u00a0a)", "foo|a", false},
		{"deny Bash(npm run deploy:*)", "npm|run|deploy:prod", true}, {"allow Bash(npm run deploy:*)", "npm|run|deploy:prod", false}, {"deny Bash(FOO:*)", "foo", true}, {"deny Bash(cat .env)", "cat|./.env", true}, {"deny Bash(cat ./.env)", "cat|.env", true}, {"deny Bash(cat .env)", "cat|a|.env", true},
		{"deny Bash(rm -rf /*)", "rm|-rf|build", false}, {"deny Bash(git commit -m *)", "git|commit|-am|x", true}, {"deny Bash(git commit -m *)", "git|commit|--message=x", true}, {"deny Bash(git push --force*)", "git|push|o|-f", true},
		{"allow Bash(a && b)", "a", false}, {"deny Bash(a && b)", "b", false}, {"allow Bash(FOO=1 a:*)", "a", false}, {"deny Bash(a 2>&1)", "a", true}, {"deny Bash(find * -exec rm {} ;)", "find|.|-exec|rm|{}|;", true},
	} {
		r := rules(t, c.rule)
		v := policy.Decide(r, policy.Default, bash(exec(strings.Split(c.argv, "|")...)))
		want := map[bool]policy.Effect{strings.HasPrefix(c.rule, "allow"): policy.Allow, strings.HasPrefix(c.rule, "deny"): policy.Deny}[true]
		if (v.Effect == want) != c.want {
			t.Errorf("%s on %q: %s (%s)", c.rule, c.argv, v.Effect, v.Reason)
		}
	}
}

// A rule that forbids a line binds its commands in their order.
func TestLinesInOrder(t *testing.T) {
	curl := policy.Exec{Argv: []string{"curl", "x"}, Site: policy.Site{Pipe: 1, Stage: 1}}
	sh := policy.Exec{Argv: []string{"bash"}, Site: policy.Site{Pipe: 1, Stage: 2}}
	apart := policy.Exec{Argv: []string{"bash"}, Site: policy.Site{Pipe: 2, Stage: 1}}
	for _, c := range []struct {
		rule string
		as   []policy.Action
		want bool
	}{
		{"deny Bash(curl * | bash)", []policy.Action{curl, sh}, true}, {"deny Bash(curl * | bash)", []policy.Action{sh, curl}, false}, {"deny Bash(curl * | bash)", []policy.Action{curl, apart}, false}, {"deny Bash(curl * && bash)", []policy.Action{curl, apart}, true},
		{"deny Bash(curl * | bash)", []policy.Action{curl}, false}, {"deny Bash(a; curl * | bash)", []policy.Action{curl, sh}, false}, {"deny Bash(a; curl * | bash)", []policy.Action{exec("a"), curl, sh}, true},
	} {
		if v := policy.Decide(rules(t, c.rule), policy.Bypass, bash(c.as...)); (v.Effect == policy.Deny) != c.want {
			t.Errorf("%s on %v: %s (%s)", c.rule, c.as, v.Effect, v.Reason)
		}
	}
}
