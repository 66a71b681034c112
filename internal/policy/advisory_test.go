package policy_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestAdvisories holds published weaknesses of permissions against us:
// go test -run 'TestAdvisories/CVE-2025-53773'.
func TestAdvisories(t *testing.T) {
	t.Run("CVE-2025-53773_an_agent_does_not_write_its_own_settings", func(t *testing.T) {
		for _, p := range []string{".adze/settings.json", ".adze/settings.local.json", ".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".vscode/settings.json", ".vscode/tasks.json",
			".cursor/mcp.json", ".Cursor/MCP.json", "sub/.claude/settings.json", ".git/config", ".git/hooks/pre-commit"} {
			write := policy.Write{Path: dir + "/" + p} // whether it exists is not asked
			for _, mode := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.Auto, policy.Bypass} {
				for _, tool := range []string{"Write", "Edit", "Bash"} {
					if v := policy.Decide(rules(t, "allow Edit", "allow Write", "allow Bash"), mode, call(tool, write)); v.Effect != policy.Ask {
						t.Errorf("%s of %s in %s: %s by %s", tool, p, mode, v.Effect, v.Check)
					}
				}
			}
		}
		if v := policy.Decide(rules(t, "allow Edit"), policy.Default, call("Edit", policy.Write{Path: dir + "/main.go"})); v.Effect != policy.Allow {
			t.Errorf("an ordinary file is not allowed, so the above shows nothing: %+v", v)
		}
	})
	t.Run("changelog_2.1.101_deny_before_ask_before_allow", func(t *testing.T) {
		const allow, ask, deny = "allow Bash(git:*)", "ask Bash(git push:*)", "deny Bash(git push --force:*)"
		for _, order := range [][]string{{allow, ask, deny}, {allow, deny, ask}, {ask, allow, deny}, {ask, deny, allow}, {deny, allow, ask}, {deny, ask, allow}} {
			for _, mode := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.Bypass} {
				for want, argv := range map[policy.Effect][]string{policy.Deny: {"git", "push", "--force"}, policy.Ask: {"git", "push"}, policy.Allow: {"git", "fetch"}} {
					if v := policy.Decide(rules(t, order...), mode, bash(exec(argv...))); v.Effect != want {
						t.Errorf("%q in %s with %q: %s, want %s", argv, mode, order, v.Effect, want)
					}
				}
			}
		}
	})
}
