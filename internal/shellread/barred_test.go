package shellread_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestBarred: what commands in the sandbox cannot write is asked about at once in a call that
// does nothing else than read and change files; not a new temporary file, of which they have
// their own, nor beside a program that may be anything.
func TestBarred(t *testing.T) {
	w := world.World{
		Dir: "/w", Home: "/h", Dirs: []string{"/w"},
		Writes: func(p string) bool { return policy.Within("/w", p, false) || policy.Within("/open", p, false) },
		Glob: func(p string) []string {
			if slices.Contains([]string{"/tmp/there", "/h"}, p) {
				return []string{p}
			}
			return []string{}
		},
	}
	judge := func(command string, m policy.Mode) policy.Verdict {
		r := policy.Rules{Dir: "/w", Dirs: w.Dirs, Home: "/h"}
		return policy.Decide(r, m, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions, Sandboxed: true})
	}
	for command, want := range map[string]policy.Effect{
		"echo x >../f": policy.Ask, "cp a /h/b": policy.Ask, "mkdir -p /h/x && echo x >/h/x/f": policy.Ask, "sed -i s/a/b/ /h/f": policy.Ask, "rm /h/f": policy.Ask,
		"echo x >/tmp/there": policy.Ask, "echo x >/tmp/there/new": policy.Ask, "echo x >/h/tmp/new": policy.Ask,
		"echo x >f": policy.Allow, "cp a /open/b": policy.Allow, "echo x >/tmp/new": policy.Allow, "mkdir -p /tmp/new/x; cp a /tmp/new/x": policy.Allow, "echo x >/var/tmp/new": policy.Allow,
		"echo x >/dev/null": policy.Allow, "echo x >/dev/stderr": policy.Allow, "make >../f": policy.Allow, "cp a /h/b; sh x.sh": policy.Allow, "cat /h/f": policy.Allow,
	} {
		if v := judge(command, policy.Default); v.Effect != want || want == policy.Ask && !strings.Contains(v.Reason, "outside the folders") {
			t.Errorf("%s: %s (%s)", command, v.Effect, v.Reason)
		}
		if v := judge(command, policy.Bypass); v.Effect != policy.Allow && v.Check != policy.CheckRemoval {
			t.Errorf("%s in bypassPermissions: %s (%s)", command, v.Effect, v.Reason)
		}
	}
}
