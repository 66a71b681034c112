package hook

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestImpossibleMatchers: a matcher that no tool's name can match is a mistake, and a guard
// with it asks.
func TestImpossibleMatchers(t *testing.T) {
	for matcher, never := range map[string]bool{
		`tool == "Bash" && tool_input.command matches "git push"`: true, `tool_name = Bash.*`: true, `("Edit"|'Write')`: true, `Bash[&;]x`: false, `(a&){1,3}x`: true,
		`Bash`: false, `mcp__.*__(a|b)`: false, `^(Edit|Write)$`: false, `Bash|x=y.*`: false, `(x=)?Bash`: false, `mcp__a b__.*`: false, `mcp__plugin:a:b__.+`: false, `.*`: false,
	} {
		for _, d := range []Dialect{"", Codex} {
			group, err := json.Marshal(map[string]any{"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": "x"}}})
			if err != nil {
				t.Fatal(err)
			}
			hooks, bad := Parse("PreToolUse", group, Place{Dialect: d})
			if len(hooks) != 1 || (hooks[0].Broken() != nil) != never || (len(bad) > 0) != never || never && !strings.Contains(bad[0].Error(), "can match no tool") {
				t.Errorf("%q %s: %v, %v", d, matcher, hooks, bad)
			}
		}
	}
}
