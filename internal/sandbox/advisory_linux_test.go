package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAdvisoriesInside tries published weaknesses from inside a real sandbox.
func TestAdvisoriesInside(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	outside := filepath.Join(filepath.Dir(c.Dir), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, a := range []struct{ name, script, path string }{
		{"CVE-2025-59532_going_elsewhere_makes_no_root", "cd ../outside && touch planted", filepath.Join(outside, "planted")},
		{"CVE-2026-39861_a_planted_link_leads_nowhere", "ln -s ../outside link && touch link/through", filepath.Join(outside, "through")},
		{"CVE-2026-26268_git_hooks", "mkdir -p .git/hooks && echo x >.git/hooks/pre-commit", filepath.Join(c.Dir, ".git", "hooks", "pre-commit")},
		{"CVE-2026-25725_own_settings", "mkdir -p .claude && echo x >.claude/settings.json", filepath.Join(c.Dir, ".claude", "settings.json")},
		{"Heapjack_the_parent_is_not_granted", "touch ../planted", filepath.Join(filepath.Dir(c.Dir), "planted")},
	} {
		t.Run(a.name, func(t *testing.T) {
			out, code := sh(t, s, a.script)
			if found := s.Found(); code == 0 && len(found) == 0 {
				t.Errorf("it worked: %s", out)
			}
			if _, err := os.Lstat(a.path); err == nil {
				t.Errorf("%s was written", a.path)
			}
		})
	}
	if out, code := sh(t, s, "touch inside"); code != 0 {
		t.Errorf("nothing can be written at all, so the above shows nothing: %s", out)
	}
}
