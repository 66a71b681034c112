package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestHeldCommands: a command that stands in another one in the clear, in whatever form,
// is asked about where a rule denies it, and in every mode where it destroys something.
func TestHeldCommands(t *testing.T) {
	f := newFixture()
	for _, command := range lines(t, "denied_held.txt") {
		for _, mode := range []policy.Mode{policy.Bypass, policy.Default} {
			if v := decide(t, f, command, mode, "Bash", "deny:Bash(touch:*)"); v.Effect == policy.Allow {
				t.Errorf("%s: %q: %s (%s: %s)", mode, command, v.Effect, v.Check, v.Reason)
			}
		}
		if strings.Contains(command, "touch f") && !containers(command) {
			command = strings.ReplaceAll(command, "touch f", "git reset --hard")
			if v := decide(t, f, command, policy.Bypass); v.Effect == policy.Allow {
				t.Errorf("in every mode: %q: %s (%s: %s)", command, v.Effect, v.Check, v.Reason)
			}
		}
	}
}

// containers reports a command that runs another one elsewhere.
func containers(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	return strings.Contains(" docker podman kubectl heroku vagrant gcloud ssh lxc fly nerdctl mosh docker-compose scp ", " "+first+" ")
}

// TestOrdinaryUnderDenial counts what rules that deny common commands cost: questions about
// ordinary commands that hold none of those. Fewer than one in a hundred.
func TestOrdinaryUnderDenial(t *testing.T) {
	f := newFixture()
	deny := []string{"deny:Bash(rm:*)", "deny:Bash(sudo:*)", "deny:Bash(curl:*)", "deny:Bash(wget:*)", "deny:Bash(git push:*)", "deny:Bash(touch:*)", "deny:Bash(chmod:*)", "deny:Bash(npm publish:*)", "deny:Bash(dd:*)", "deny:Bash(nc:*)", "deny:Bash(shutdown:*)"}
	all := lines(t, "ordinary.txt")
	for _, c := range ownCases(t) {
		if c.want == "allow" {
			all = append(all, c.command)
		}
	}
	asks := 0
	for _, command := range all {
		if decide(t, f, command, policy.Bypass, "deny:Bash(nobody has this:*)").Effect != policy.Allow {
			t.Logf("%q asks whatever is denied", command)
			continue
		}
		if v := decide(t, f, command, policy.Bypass, deny...); v.Effect != policy.Allow && v.Reason != "" && !strings.HasPrefix(v.Reason, "a rule denies it") {
			asks++
			t.Logf("%q: %s (%s)", command, v.Effect, v.Reason)
		}
	}
	t.Logf("%d of %d ordinary commands", asks, len(all))
	if asks*100 > len(all) {
		t.Errorf("%d of %d ordinary commands ask", asks, len(all))
	}
}
