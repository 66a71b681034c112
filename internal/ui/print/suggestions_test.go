package print

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// A host may offer the mode acceptEdits where it answers the question: for a file of
// the folder, and not for one that is protected or elsewhere.
func TestSuggestedMode(t *testing.T) {
	for path, want := range map[string]bool{"/w/a.go": true, "/w/.git/config": false, "/x/a.go": false} {
		v := policy.Decide(policy.Rules{Dir: "/w", Dirs: []string{"/w"}}, policy.Default, policy.Request{Tool: "Write", Actions: []policy.Action{policy.Write{Path: path, Asked: path}}})
		offered := slices.ContainsFunc(suggestions(v), func(c change) bool { return c.Type == "setMode" && c.Mode == string(policy.AcceptEdits) })
		if v.Effect != policy.Ask || offered != want {
			t.Errorf("%s: %v, offered %v", path, v.Effect, offered)
		}
	}
}
