package policy_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestSteers: what the settings of a repository name needs a person in every
// mode, and is opened for the call that was allowed to write it.
func TestSteers(t *testing.T) {
	r := policy.Rules{Dir: dir, Dirs: []string{dir}, Home: "/h", Protected: []policy.Steer{{Path: dir + "/.githooks", Why: "git runs what is in it"}}}
	for _, m := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.Bypass} {
		v := policy.Decide(r, m, policy.Request{Tool: "Edit", Actions: []policy.Action{policy.Write{Path: dir + "/.githooks/pre-commit"}}})
		if v.Effect != policy.Ask || v.Check != "protected-path" || len(v.Needs.Writable) != 1 {
			t.Errorf("%s: %+v", m, v)
		}
		v = policy.Decide(r, m, policy.Request{Tool: "Edit", Actions: []policy.Action{policy.Write{Path: dir + "/.githooks2"}}})
		if v.Check == "protected-path" {
			t.Errorf("%s: %+v", m, v)
		}
	}
}
