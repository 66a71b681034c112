package op

import (
	"fmt"

	"github.com/adze-agent/adze/internal/policy"
)

// KeepOf is how long a permission update holds, by the destination that hosts and hooks
// write.
func KeepOf(destination string) (k Keep, known bool) {
	switch destination {
	case "", "session":
		return ForSession, true
	case "localSettings":
		return ForLocal, true
	case "projectSettings":
		return ForProject, true
	case "userSettings":
		return ForUser, true
	}
	return ForSession, false
}

// ChangeOf is a change of rules as hosts and hooks write it: the type of a permission
// update (addRules, replaceRules, removeRules) and its behavior (allow, ask, deny). The
// error names a rule that is to forbid and can match nothing.
func ChangeOf(update, behavior string, rules []string) (c RuleChange, known bool, err error) {
	c.Kind = map[string]ChangeKind{"addRules": AddRules, "replaceRules": ReplaceRules, "removeRules": RemoveRules}[update]
	c.Effect, known = map[string]policy.Effect{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[behavior]
	c.Rules = rules
	for _, text := range rules {
		r, unread := policy.ParseRule(text, c.Effect, policy.Session, "", "")
		if why := policy.Dead(r); known && c.Effect != policy.Allow && c.Kind != RemoveRules && unread == nil && why != "" {
			err = fmt.Errorf("the rule %q forbids nothing: %s", text, why)
		}
	}
	return c, known && c.Kind != "", err
}

// FoldersOf is a change of folders as hosts and hooks write it: the type of a permission
// update (addDirectories, removeDirectories), its directories and destination. is: the
// update is one of these. The error says why it can have no effect.
func FoldersOf(update, destination string, dirs []string) (c FolderChange, is bool, err error) {
	keep, known := KeepOf(destination)
	c = FolderChange{Dirs: dirs, Remove: update == "removeDirectories", Keep: keep}
	switch {
	case update != "addDirectories" && !c.Remove:
		return c, false, nil
	case !known:
		err = fmt.Errorf("the destinations are session, localSettings, projectSettings and userSettings, not %q", destination)
	case len(dirs) == 0:
		err = fmt.Errorf("it names no directories")
	case c.Remove && keep != ForSession:
		err = fmt.Errorf("folders that settings files name are taken out there by a person; those of the session can be taken back (\"destination\": \"session\")")
	}
	return c, true, err
}
