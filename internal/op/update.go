package op

import "github.com/adze-agent/adze/internal/policy"

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
// update (addRules, replaceRules, removeRules) and its behavior (allow, ask, deny).
func ChangeOf(update, behavior string, rules []string) (c RuleChange, known bool) {
	c.Kind = map[string]ChangeKind{"addRules": AddRules, "replaceRules": ReplaceRules, "removeRules": RemoveRules}[update]
	c.Effect, known = map[string]policy.Effect{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[behavior]
	c.Rules = rules
	return c, known && c.Kind != ""
}
