package op

import (
	"reflect"
	"strings"
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
		if got, known, err := ChangeOf(c.update, c.behavior, []string{"Bash"}); err != nil || known != c.known || known && !reflect.DeepEqual(got, c.want) {
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

func TestFoldersOf(t *testing.T) {
	dirs := []string{"/a"}
	for _, c := range []struct {
		update, destination string
		dirs                []string
		want                FolderChange
		is                  bool
		why                 string
	}{
		{"addDirectories", "", dirs, FolderChange{Dirs: dirs}, true, ""},
		{"addDirectories", "userSettings", dirs, FolderChange{Dirs: dirs, Keep: ForUser}, true, ""},
		{"removeDirectories", "session", dirs, FolderChange{Dirs: dirs, Remove: true}, true, ""},
		{"removeDirectories", "localSettings", dirs, FolderChange{}, true, "taken out there by a person"},
		{"addDirectories", "cliArg", dirs, FolderChange{}, true, `not "cliArg"`},
		{"addDirectories", "session", nil, FolderChange{}, true, "names no directories"},
		{"addRules", "session", dirs, FolderChange{}, false, ""},
	} {
		got, is, err := FoldersOf(c.update, c.destination, c.dirs)
		if is != c.is || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) || is && err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %+v %v %v", c.update, c.destination, got, is, err)
		}
	}
}

// What is to forbid and can match nothing is not taken; what allows, or is taken away, is.
func TestChangeOfDeadRules(t *testing.T) {
	for _, c := range []struct {
		update, behavior, rule string
		bad                    bool
	}{
		{"addRules", "deny", "bash(rm:*)", true}, {"replaceRules", "ask", "Bash(curl:x)", true}, {"addRules", "deny", "WebFetch(x)", true},
		{"addRules", "allow", "bash(rm:*)", false}, {"removeRules", "deny", "bash(rm:*)", false}, {"addRules", "deny", "Bash(rm:*)", false}, {"addRules", "deny", "mcp__x", false},
	} {
		if _, _, err := ChangeOf(c.update, c.behavior, []string{"Read", c.rule}); (err != nil) != c.bad {
			t.Errorf("%s %s %s: %v", c.update, c.behavior, c.rule, err)
		}
	}
}
