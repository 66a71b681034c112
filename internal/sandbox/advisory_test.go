package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/sandbox/netproxy"
)

// TestAdvisories holds published weaknesses of sandboxes against the policy
// that ours is given. That the policy is kept is what TestEscapes tries:
// go test -run 'TestAdvisories/CVE-2025-66479'.
func TestAdvisories(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, home := filepath.Join(root, "project"), filepath.Join(root, "home")
	for _, d := range []string{filepath.Join(project, "sub"), home, filepath.Join(root, "other")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	base := Config{Dir: project, Home: home, State: []string{filepath.Join(home, ".adze")}, Temp: filepath.Join(root, "tmp")}
	t.Run("CVE-2025-66479_empty_list_allows_nothing", func(t *testing.T) {
		c := base
		c.Ask = func(context.Context, string, int) netproxy.Answer { return netproxy.Answer{Allow: true} }
		c.Settings.Network.AllowedDomains = []string{}
		if p := NewPolicy(c); !p.Network.Off() || p.Network.Ask {
			t.Errorf("[] lets something out: %+v", p.Network)
		}
		c.Settings.Network.AllowedDomains = []string{"ok.example"}
		if p := NewPolicy(c); p.Network.Off() {
			t.Errorf("a list with a name lets nothing out: %+v", p.Network)
		}
	})
	t.Run("CVE-2025-59532_writable_is_the_start_folder", func(t *testing.T) {
		t.Chdir(filepath.Join(root, "other")) // where a command has gone to is nothing to the policy
		p := NewPolicy(base)
		if !slices.Contains(p.Writable, project) {
			t.Errorf("the start folder is not writable: %v", p.Writable)
		}
		for _, w := range p.Writable {
			if w != project && w != base.Temp && w != p.Cache {
				t.Errorf("%s is writable", w)
			}
		}
	})
	t.Run("CVE-2025-59532_the_whole_disk_is_no_root", func(t *testing.T) {
		c := base
		c.Roots, c.Settings.Filesystem = []string{"/"}, config.SandboxFilesystem{AllowWrite: []string{"/", "//", "/**"}}
		if p := NewPolicy(c); slices.Contains(p.Writable, "/") {
			t.Errorf("writable %v", p.Writable)
		}
	})
	t.Run("CVE-2026-26268_git_hooks_are_protected", func(t *testing.T) {
		hook := filepath.Join(project, ".git", "hooks", "pre-commit") // neither it nor .git exists
		if why := left(t, base, hook); why == "" {
			t.Error("a hook that a command makes stays")
		}
	})
	t.Run("CVE-2026-25725_settings_that_do_not_exist_are_protected", func(t *testing.T) {
		for _, name := range []string{".adze/settings.json", ".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".cursor/mcp.json", ".idea/workspace.xml"} {
			if why := left(t, base, filepath.Join(project, name)); why == "" {
				t.Errorf("%s stays", name)
			}
		}
	})
	t.Run("changelog_2.1.78_fails_closed", func(t *testing.T) {
		c := base
		c.Mechanism, c.Settings.Enabled, c.Settings.FailIfUnavailable = "nonsense", true, true
		if s, err := New(t.Context(), c); !errors.Is(err, errUnavailable) {
			t.Errorf("%v %v", s, err)
		}
		c.Settings.Enabled = false // demanded is demanded
		if s, err := New(t.Context(), c); !errors.Is(err, errUnavailable) {
			t.Errorf("%v %v", s, err)
		}
	})
}

// left settles a file that a command of c made, and says why it was taken; ""
// when it stays.
func left(t *testing.T, c Config, path string) string {
	t.Helper()
	s := newAuditor(NewPolicy(c), t.TempDir(), nil)
	defer s.close()
	r, _, err := s.begin(policy.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, "x")
	s.end(r)
	if len(s.untold) == 0 {
		return ""
	}
	if exists(path) {
		t.Errorf("%+v, and it is still there", s.untold)
	}
	return s.untold[0].Why
}
