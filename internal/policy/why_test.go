package policy_test

import (
	"slices"
	"strings"
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
		{policy.Verdict{Reason: "it only reads", Source: "a.json:3:5"}, "it only reads"},
	} {
		if got := c.v.Why(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A refusal by somebody else names no rule.
func TestDeniedNamesNoRule(t *testing.T) {
	v := policy.Verdict{Reason: "a rule allows it: Bash(x)", Rule: "Bash(x)", Source: "a.json:3:5", Part: "x"}
	if got := v.Denied("hook", "not today"); got.Effect != policy.Deny || got.Why() != "not today" || got.Part != "x" {
		t.Errorf("%+v", got)
	}
}

// A question about a command that an allow rule names says why the rule does not cover it.
func TestTheRuleDoesNotCoverIt(t *testing.T) {
	r := rules(t, "allow Bash(tar *)", "allow Bash(alias:*)")
	of := &policy.Written{Argv: []string{"alias", "x=y"}}
	for want, a := range map[string]policy.Action{
		"the rule Bash(tar *) does not cover it: the names are not known":   policy.Exec{Argv: []string{"tar", "xf", "a"}, Reach: policy.Reach{Beyond: "the names are not known"}},
		"the rule Bash(alias:*) does not cover it: alias changes the shell": policy.Opaque{Source: "alias x=y", Why: "alias changes the shell", Whole: true, Of: of},
		"no rule allows `make all`; it runs what -x names":                  policy.Exec{Argv: []string{"make", "all"}, Reach: policy.Reach{Beyond: "it runs what -x names"}},
	} {
		if v := policy.Decide(r, policy.Default, bash(a)); v.Reason != want {
			t.Errorf("%s, want %s", v.Reason, want)
		}
	}
}

// Why a change or a command is asked about is said by the mode or the rules, and names
// where a path leads only where that is somewhere else.
func TestReasonsForPeople(t *testing.T) {
	rules := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/h"}
	inside := policy.Write{Path: "/w/a", Asked: "a"}
	tree := policy.Write{Path: "/w/a", Asked: "a", Remove: true, Tree: true}
	edits := policy.Exec{Argv: []string{"rm", "-r", "a"}, Edits: true}
	for _, c := range []struct {
		mode policy.Mode
		as   []policy.Action
		want string
	}{
		{policy.Default, []policy.Action{inside}, "the mode default asks before a is changed"},
		{policy.Default, []policy.Action{policy.Write{Path: "/w/b", Asked: "a"}}, "the mode default asks before a (/w/b) is changed"},
		{policy.Default, []policy.Action{policy.Write{Path: "/w/a", Asked: "/w/a", Remove: true}}, "the mode default asks before /w/a is removed"},
		{policy.Default, []policy.Action{policy.Write{Path: "/h/a", Asked: "~/a"}}, "~/a is outside the folders that may be changed"},
		{policy.AcceptEdits, []policy.Action{policy.Write{Path: "/w/a", Asked: "a", Blind: true}}, "a is changed with what comes out of a pipe, which the mode acceptEdits asks about"},
		{policy.AcceptEdits, []policy.Action{policy.Touching(edits, tree)}, "a is removed with all that is in it, which the mode acceptEdits asks about"},
		{policy.AcceptEdits, []policy.Action{policy.Touching(policy.Exec{Argv: []string{"./x"}, Spellings: policy.Spellings{Also: [][]string{{"x"}}}}, policy.Write{Path: "/w/a", Asked: "a"})}, "no rule allows `./x`"},
		{policy.DontAsk, []policy.Action{inside}, "the mode is dontAsk, and this would need a question: no rule allows that a is changed"},
		{policy.Auto, []policy.Action{inside}, "no rule allows that a is changed"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"git", "push", "origin"}, Why: "git push is not known to be read-only (git log is)"}}, "no rule allows `git push`, which is not known to be read-only (git log is)"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"go", "test", "./..."}, Why: "it runs tests"}}, "no rule allows `go test`; it runs tests"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"curl", "-d", "x", "http://h"}, Reach: policy.Reach{Beyond: "it sends"}}}, "no rule allows `curl`; it sends"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"git", "push", "origin"}, Why: "it sends"}}, "no rule allows `git push`; it sends"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"git", "push"}, Why: "it sends"}}, "no rule allows `git push`; it sends"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"npm", "run", "test", "x"}, Why: "it runs tests"}}, "no rule allows `npm run test`; it runs tests"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"git", "-C", "x"}, Why: "it sends"}}, "no rule allows `git`; it sends"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"./x.sh", "all"}, Why: "it sends"}}, "no rule allows `./x.sh`; it sends"},
		{policy.DontAsk, []policy.Action{policy.Write{Path: "/w/a", Asked: "a", Blind: true}}, "the mode is dontAsk, and this would need a question: no rule allows that a is changed"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"/" + strings.Repeat("x", 100)}}}, "no rule allows it"},
		{policy.Default, []policy.Action{policy.Write{Path: "/w/a", Asked: "a/*", Remove: true, Tree: true, Content: true}}, "the mode default asks before all that is in /w/a is removed"},
		{policy.AcceptEdits, []policy.Action{policy.Touching(edits, policy.Write{Path: "/w/a", Asked: "a/*", Remove: true, Tree: true, Content: true})}, "all that is in /w/a is removed, which the mode acceptEdits asks about"},
		{policy.Bypass, []policy.Action{policy.Write{Path: "/w", Asked: "*", Remove: true, Tree: true, Content: true}}, "this would remove all that is in the folder this session works in"},
		{policy.Default, []policy.Action{policy.Read{Path: "/w", Asked: ".", Tree: true, Elsewhere: true, Below: &policy.Below{Paths: []policy.Place{{Path: "/w/.env"}}}}}, "which files it reads is not known, and /w/.env may hold secrets"},
		{policy.Default, []policy.Action{policy.Exec{Argv: []string{"go", "env"}, ReadOnly: true, Unpinned: "go may fetch"}, policy.Exec{Argv: []string{"cat", "$(go env)"}, Why: "$(go env) may become any argument", Spellings: policy.Spellings{Loose: true}}}, "no rule allows `cat`; $(go env) may become any argument"},
		{policy.PlanMode, []policy.Action{policy.Exec{Argv: []string{"git", "reset", "--hard"}, Why: "w", Loss: policy.Loss{Loses: "it drops changes"}}}, "plan mode only reads: it drops changes"},
		{policy.PlanMode, []policy.Action{policy.Touching(edits, tree)}, "plan mode only reads: this changes files"},
		{policy.PlanMode, []policy.Action{policy.Write{Path: "/w", Asked: "."}}, "plan mode only reads: this writes /w"},
		{policy.Default, []policy.Action{policy.Opaque{Source: "X=1", Why: "X may change it", Whole: true}}, "X may change it"},
		{policy.PlanMode, []policy.Action{policy.Opaque{Source: "X=1", Why: "X may change it", Whole: true}}, "plan mode only reads: X may change it"},
		{policy.PlanMode, []policy.Action{policy.Opaque{Source: "$x", Why: "why"}}, "plan mode only reads: part of this could not be read exactly: why"},
		{policy.Default, []policy.Action{policy.Net{Host: "h"}}, "no rule allows connections to h"},
	} {
		if got := policy.Decide(rules, c.mode, policy.Request{Tool: "Bash", Actions: c.as}); got.Reason != c.want {
			t.Errorf("%s %v:\n got %s\nwant %s", c.mode, c.as, got.Reason, c.want)
		}
	}
}

// Of the words of a command of which nobody knows whether they are files, those are parts
// that ask.
func TestWordsAreNoParts(t *testing.T) {
	push := policy.Exec{Argv: []string{"git", "push", "origin"}, Dir: "/w"}
	v := policy.Decide(policy.Rules{Dir: "/w", Dirs: []string{"/w"}}, policy.Default, policy.Request{Tool: "Bash", Actions: []policy.Action{
		policy.Touching(push, policy.Read{Path: "/w/push", Asked: "push"}, policy.Read{Path: "/x/origin", Asked: "/x/origin"}),
	}})
	var got []string
	for _, p := range v.Parts {
		got = append(got, string(p.Kind)+" "+p.Text+" of "+p.Of)
	}
	if want := []string{"command git push origin of ", "name /x/origin of git push origin"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// In plan mode a rule that allows a command does not count, and the refusal names it.
func TestPlanNamesTheRule(t *testing.T) {
	run := policy.Exec{Argv: []string{"go", "test", "./..."}, Why: "it runs tests"}
	want := "plan mode only reads: it runs tests; the rule Bash(go test:*) counts in other modes"
	if v := policy.Decide(rules(t, "allow Bash(go test:*)"), policy.PlanMode, bash(run)); v.Effect != policy.Deny || v.Reason != want {
		t.Errorf("%s (%s)", v.Effect, v.Reason)
	}
}
