package policy_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// Notes of the model's own are read and written by file tools alone, and not
// written in plan mode.
func TestNotes(t *testing.T) {
	const dir = "/home/me/.adze/projects/w/memory"
	r := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, Home: "/home/me", Notes: []string{dir}}
	write := func(p string) policy.Write { return policy.Write{Path: p, Asked: p, Named: p} }
	arg := policy.Touching(policy.Exec{Argv: []string{"touch"}, Edits: true}, write(dir+"/a.md"))
	gone := write(dir + "/a.md")
	gone.Remove = true
	tests := []struct {
		mode policy.Mode
		a    policy.Action
		want policy.Effect
	}{
		{policy.Default, write(dir + "/a.md"), policy.Allow},
		{policy.DontAsk, write(dir + "/MEMORY.md"), policy.Allow},
		{policy.PlanMode, write(dir + "/a.md"), policy.Deny},
		{policy.PlanMode, policy.Read{Path: dir + "/a.md", Asked: dir + "/a.md"}, policy.Allow},
		{policy.Default, policy.Read{Path: dir + "/a.md", Asked: dir + "/a.md"}, policy.Allow},
		{policy.Default, write(dir + "/a.sh"), policy.Ask},
		{policy.Default, arg, policy.Ask},
		{policy.Default, gone, policy.Ask},
		{policy.Default, write("/home/me/.adze/projects/w/log.md"), policy.Ask},
		{policy.Default, write("/home/me/.adze/projects/w/memory-x/a.md"), policy.Ask},
		{policy.Default, write("/home/me/.adze/AGENTS.md"), policy.Ask}, // where a link of the folder leads
	}
	for i, tt := range tests {
		if v := policy.Decide(r, tt.mode, policy.Request{Tool: "Write", Actions: []policy.Action{tt.a}}); v.Effect != tt.want {
			t.Errorf("%d: %s, %s", i, v.Effect, v.Reason)
		}
	}
	deny, err := policy.ParseRule("Write(//home/me/.adze/**)", policy.Deny, policy.User, "x", "/w")
	if err != nil {
		t.Fatal(err)
	}
	r.List = []policy.Rule{deny}
	if v := policy.Decide(r, policy.Default, policy.Request{Tool: "Write", Actions: []policy.Action{write(dir + "/a.md")}}); v.Effect != policy.Deny {
		t.Errorf("a deny rule does not hold: %s", v.Reason)
	}
}
