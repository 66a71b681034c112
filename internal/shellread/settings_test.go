package shellread_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestProgramsThatWriteSettings: what is protected is so whichever program writes it,
// adze itself among them. Each command asks where every command is allowed.
func TestProgramsThatWriteSettings(t *testing.T) {
	f := newFixture()
	for _, c := range []struct{ want, commands string }{
		{"ask", `
			adze config set permissions.allow '["Bash"]'
			adze config unset model
			adze config edit
			adze permissions add --to allow Bash
			adze trust
			adze mcp add x ./y
			adze mcp approve x
			adze plugin install x
			adze plugin update
			adze login anthropic
			adze -p hi --dangerously-skip-permissions
			adze mcp call s/t {}
			adze record -o x -- hi
			adze hooks test PreToolUse
			adze --model stats 'do x'
			adze -- config
			adze
			/usr/local/bin/adze trust
			./adze trust
			A=1 env timeout 5 adze trust
			bash -c 'adze trust'
			echo x | xargs adze trust
			find . -exec adze trust \;
			sudo adze trust
			adze sandbox run -- adze trust
			adze sandbox run -- rm -rf /
			npm config set script-shell ./x
			npm -g set x y
			npm --location project config edit
			yarn config set yarnPath ./x
			pip config set global.index-url x
			pre-commit install
			python3 -m pre_commit install
			uv run pre-commit install
			npx husky init
			./node_modules/.bin/husky
			pnpm exec lefthook install
			git lfs install
			git -C src lfs install
			conda init bash
			crontab main.go
			echo x | crontab -
			gh alias set x '!y'
			gh -R o/r extension install o/x
			claude mcp add x ./y
			code --install-extension x
			mise trust
			systemctl --user enable x`},
		{"allow", `
			adze --version
			adze help config
			adze doctor
			adze config list
			adze permissions check 'rm x'
			adze mcp list
			adze sessions show
			adze sandbox run -- npm test
			echo adze trust
			npm config get registry
			npm run config set
			npm install husky
			yarn add config
			pip config list
			pip install set
			pre-commit run --all-files
			lefthook run pre-commit
			git lfs ls-files
			conda install x
			conda config --show
			crontab -l
			gh alias list
			gh pr create --title 'alias set'
			claude mcp list
			code .
			systemctl --user status x
			python3 -m pytest install`},
	} {
		for command := range strings.Lines(c.commands) {
			command = strings.TrimSpace(command)
			if command == "" {
				continue
			}
			for _, mode := range []policy.Mode{policy.Bypass, policy.Default} {
				if v := decide(t, f, command, mode, "Bash"); v.Effect.String() != c.want && !(mode == policy.Default && v.Check == policy.CheckOpaque) {
					t.Errorf("%s: %s: got %s (%s: %s), want %s", mode, command, v.Effect, v.Check, v.Reason, c.want)
				}
			}
		}
	}
	for command, want := range map[string]string{"adze sandbox run -- touch x": "deny", "adze sandbox run --add-dir y touch x": "deny", "adze record -o x -- touch x": "ask", "adze sandbox run -- ls": "allow"} {
		if v := decide(t, f, command, policy.Bypass, "deny:Bash(touch:*)"); v.Effect.String() != want {
			t.Errorf("%s: got %s (%s: %s), want %s", command, v.Effect, v.Check, v.Reason, want)
		}
	}
	if v := decide(t, f, "adze sandbox run -- npm test", policy.Default, "Bash(adze:*)"); v.Effect != policy.Ask {
		t.Errorf("a rule for adze covers what it runs: %s", v.Reason)
	}
}
