package policy_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// Where a program answers questions, the sandbox is not reason enough in the modes that
// ask; what only reads stays unasked, and what no one is asked about in other modes.
func TestAttended(t *testing.T) {
	read := policy.Read{Path: "/w/a", Asked: "a"}
	outside := policy.Read{Path: "/usr/share/x", Asked: "/usr/share/x"}
	run := policy.Exec{Argv: []string{"make"}}
	write := policy.Write{Path: "/w/made", Asked: "made"}
	for _, tt := range []struct {
		name string
		mode policy.Mode
		as   []policy.Action
		want policy.Effect
	}{
		{"a program", policy.Default, []policy.Action{run}, policy.Ask},
		{"a write", policy.Default, []policy.Action{write}, policy.Ask},
		{"a write among accepted edits", policy.AcceptEdits, []policy.Action{write}, policy.Allow},
		{"a program among accepted edits", policy.AcceptEdits, []policy.Action{run}, policy.Ask},
		{"a reader", policy.Default, []policy.Action{policy.Exec{Argv: []string{"cat", "a"}, ReadOnly: true}, read}, policy.Allow},
		{"a reader outside", policy.Default, []policy.Action{policy.Exec{Argv: []string{"cat", "x"}, ReadOnly: true}, outside}, policy.Allow},
		{"auto", policy.Auto, []policy.Action{run}, policy.Allow},
		{"dontAsk", policy.DontAsk, []policy.Action{run}, policy.Allow},
		{"bypass", policy.Bypass, []policy.Action{run}, policy.Allow},
	} {
		rules := policy.Rules{Dir: "/w", Dirs: []string{"/w"}, Attended: true}
		q := policy.Request{Tool: "Bash", Actions: policy.Nested(tt.as...), Sandboxed: true}
		if v := policy.Decide(rules, tt.mode, q); v.Effect != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.name, v.Effect, v.Reason, tt.want)
		}
		rules.Attended = false
		if v := policy.Decide(rules, tt.mode, q); v.Effect != policy.Allow {
			t.Errorf("%s: without anybody who wants to be asked %s (%s)", tt.name, v.Effect, v.Reason)
		}
	}
}
