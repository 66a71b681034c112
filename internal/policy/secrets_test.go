package policy_test

import (
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// What the sandbox hides in the home folder is what reading asks about.
func TestSecretPlacesAsk(t *testing.T) {
	places := policy.SecretPlaces(home)
	for _, p := range []string{home + "/.config/git/credentials", home + "/.claude.json", home + "/.bash_history", home + "/.Xauthority", home + "/.m2/settings.xml"} {
		if !slices.Contains(places, p) {
			t.Errorf("the sandbox does not hide %s", p)
		}
	}
	r := policy.Rules{Dir: home, Dirs: []string{home}, Home: home}
	for _, p := range places {
		if len(p) < len(home) || p[:len(home)] != home || slices.Contains([]string{home + "/.ssh", home + "/.gnupg", home + "/.aws", home + "/.azure", home + "/.kube", home + "/.password-store"}, p) {
			continue // the system's own, and folders that are only listed
		}
		v := policy.Decide(r, policy.Default, policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: p}}})
		if v.Effect != policy.Ask || v.Check != policy.CheckSecret {
			t.Errorf("%s: %s %s", p, v.Effect, v.Check)
		}
	}
	for _, p := range []string{"/.config/git/config", "/.m2/repository/a.jar", "/src/.gradle/x", "/continue/config.json", "/.claude/settings.json"} {
		v := policy.Decide(r, policy.Default, policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: home + p}}})
		if v.Check == policy.CheckSecret {
			t.Errorf("%s is no secret", p)
		}
	}
}
