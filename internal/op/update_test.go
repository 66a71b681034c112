package op

import (
	"reflect"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

func TestChangeOf(t *testing.T) {
	for _, c := range []struct {
		update, behavior string
		want             RuleChange
		known            bool
	}{
		{"addRules", "deny", RuleChange{AddRules, policy.Deny, []string{"Bash"}}, true},
		{"replaceRules", "allow", RuleChange{ReplaceRules, policy.Allow, []string{"Bash"}}, true},
		{"removeRules", "ask", RuleChange{RemoveRules, policy.Ask, []string{"Bash"}}, true},
		{"addRules", "", RuleChange{AddRules, 0, []string{"Bash"}}, false},
		{"addDirectories", "allow", RuleChange{"", policy.Allow, []string{"Bash"}}, false},
	} {
		if got, known := ChangeOf(c.update, c.behavior, []string{"Bash"}); known != c.known || known && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %+v %v", c.update, c.behavior, got, known)
		}
	}
	for destination, want := range map[string]Keep{"": ForSession, "session": ForSession, "localSettings": ForLocal, "projectSettings": ForProject, "userSettings": ForUser} {
		if got, known := KeepOf(destination); got != want || !known {
			t.Errorf("%s: %q %v", destination, got, known)
		}
	}
	if _, known := KeepOf("cliArg"); known {
		t.Error("cliArg is no place to keep rules in")
	}
}
