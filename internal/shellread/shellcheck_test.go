package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestShellcheckReadsWhatItsSettingsSay: shellcheck prints lines of a file that a script
// sources where a file of settings beside or above the script lets it.
func TestShellcheckReadsWhatItsSettingsSay(t *testing.T) {
	for _, c := range []struct{ at, text, command, want string }{
		{"/home/u/project/.shellcheckrc", "external-sources=true\n", "shellcheck main.go", "ask"},
		{"/home/u/project/shellcheckrc", "external-sources=true\n", "shellcheck src/a.go", "ask"},
		{"/home/u/.shellcheckrc", "external-sources=true\n", "shellcheck main.go", "ask"},
		{"/home/u/project/.shellcheckrc", "external-sources=true\n", "shellcheck --norc main.go", "allow"},
		{"/home/u/project/src/.shellcheckrc", "external-sources=true\n", "shellcheck main.go", "allow"},
		{"/home/u/project/.shellcheckrc", "disable=SC2034\n", "shellcheck main.go", "allow"},
		{"/home/u/project/.shellcheckrc", "?", "shellcheck main.go", "ask"},
		{"/home/u/project/.shellcheckrc", "disable=SC2034\n", "echo x > .shellcheckrc; shellcheck main.go", "ask"},
		{"/home/u/project/none", "", "shellcheck main.go", "allow"},
	} {
		f := newFixture()
		f.files[c.at] = true
		w := f.world()
		w.Text = func(string) (string, bool) { return c.text, c.text != "?" }
		rules := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
		if v := policy.Decide(rules, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(c.command, w).Actions}); v.Effect.String() != c.want {
			t.Errorf("%s %q: %q: %s (%s), want %s", c.at, c.text, c.command, v.Effect, v.Reason, c.want)
		}
	}
}
