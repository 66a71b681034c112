package policy_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// An effect is read as it was written, and what is none asks.
func TestEffectsAsText(t *testing.T) {
	for text, want := range map[string]policy.Effect{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny, "": policy.Ask, "Allow": policy.Ask} {
		got := policy.Allow
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is read as %s, %v", text, got, err)
		}
		if b, err := want.MarshalText(); err != nil || text == want.String() && string(b) != text {
			t.Errorf("%s is written as %q, %v", want, b, err)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.DontAsk, policy.Bypass} {
		if got, ok := policy.ParseMode(string(m)); got != m || !ok {
			t.Errorf("%s: %s, %t", m, got, ok)
		}
	}
	for text, want := range map[string]policy.Mode{"": policy.Default, "manual": policy.Default, "bypass": policy.Bypass} {
		if got, ok := policy.ParseMode(text); got != want || !ok {
			t.Errorf("%q: %s, %t", text, got, ok)
		}
	}
	for _, text := range []string{"yolo", "Default", "bypassPermissions ", "plan mode"} {
		if got, ok := policy.ParseMode(text); got != policy.Default || ok {
			t.Errorf("%q: %s, %t", text, got, ok)
		}
	}
}

// A rule without a folder of its own, as flags and a person's own settings have
// them, is relative to the folder that is worked in.
func TestRulesWithoutAFolder(t *testing.T) {
	r, err := policy.ParseRule("Read(/secret.txt)", policy.Deny, policy.User, "--disallowed-tools", "")
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Rules{Dir: dir, Dirs: []string{dir}, Home: home, List: []policy.Rule{r}}
	for path, want := range map[string]policy.Effect{dir + "/secret.txt": policy.Deny, dir + "/sub/secret.txt": policy.Allow} {
		if v := policy.Decide(in, policy.Default, call("Read", policy.Read{Path: path})); v.Effect != want {
			t.Errorf("%s: %s %s", path, v.Effect, v.Reason)
		}
	}
}

// What no mode and no rule lets a command remove without a question.
func TestVitalFolders(t *testing.T) {
	in := rules(t, "allow Bash")
	for path, why := range map[string]string{
		"/": "everything on this system", "C:/": "everything on this system", "C:": "everything on this system",
		home: "the home folder", "/home": "the home folder", dir: "the folder this session works in", dir + "/sub": "-", "/ab": "a folder of the system", "/w": "a folder above", "/a:": "everything on this system", "/opt/x:": "-",
	} {
		v := policy.Decide(in, policy.Bypass, bash(exec("rm", "-r", path), policy.Write{Path: path, Remove: true, Tree: true}))
		switch {
		case why == "-" && v.Effect != policy.Allow:
			t.Errorf("%s: %s %s", path, v.Effect, v.Reason)
		case why != "-" && (v.Effect != policy.Ask || !strings.Contains(v.Reason, why)):
			t.Errorf("%s: %s %s", path, v.Effect, v.Reason)
		}
		if v := policy.Decide(in, policy.Bypass, bash(exec("rmdir", path), policy.Write{Path: path, Remove: true})); v.Effect != policy.Allow && !strings.Contains(v.Reason, "protect") {
			t.Errorf("%s alone: %s %s", path, v.Effect, v.Reason)
		}
	}
}
