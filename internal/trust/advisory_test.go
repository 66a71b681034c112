package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/trust"
)

// TestAdvisories holds published weaknesses of trust against us:
// go test -run 'TestAdvisories/CVE-2025-54136'.
func TestAdvisories(t *testing.T) {
	t.Run("CVE-2025-54136_trust_is_bound_to_content", func(t *testing.T) {
		const good, evil = `{"mcpServers":{"db":{"command":"good"}}}`, `{"mcpServers":{"db":{"command":"evil"}}}`
		for _, path := range []string{".mcp.json", ".adze/settings.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/skills/x/SKILL.md", ".claude/commands/x.md", ".claude/agents/x.md", ".claude/hooks/x.sh"} {
			r := newRig(t)
			r.write(path, good)
			r.grant(trust.Untrusted)
			r.check(trust.Trusted)
			r.write(path, evil) // the same name, and as many bytes
			if v := r.check(trust.Changed); len(v.Changes) != 1 || v.Changes[0].Path != path {
				t.Errorf("%s: %v", path, v.Changes)
			}
		}
	})
	t.Run("CVE-2025-54135_a_file_that_was_added_is_asked_about", func(t *testing.T) {
		r := newRig(t)
		r.write(".claude/settings.json", hooks)
		r.grant(trust.Untrusted)
		r.write(".mcp.json", `{"mcpServers":{"x":{"command":"evil"}}}`)
		r.check(trust.Changed)
	})
	t.Run("CVE-2026-40068_spoofed_commondir", func(t *testing.T) {
		trusted := newRig(t)
		trusted.write(".git/HEAD", "ref: refs/heads/main\n")
		trusted.write(".claude/settings.json", hooks)
		trusted.grant(trust.Untrusted)
		for name, lie := range map[string]func(r *rig){
			"commondir": func(r *rig) {
				r.write(".git/HEAD", "ref: refs/heads/main\n")
				r.write(".git/commondir", filepath.Join(trusted.Root, ".git")+"\n")
			},
			"git file": func(r *rig) { r.write(".git", "gitdir: "+filepath.Join(trusted.Root, ".git")+"\n") },
		} {
			r := *trusted // the same record
			r.Root = filepath.Join(t.TempDir(), "evil")
			if base, err := filepath.EvalSymlinks(filepath.Dir(r.Root)); err == nil {
				r.Root = filepath.Join(base, "evil")
			}
			r.Dir = r.Root
			r.write(".claude/settings.json", hooks) // what the other one is trusted with
			lie(&r)
			if v := r.check(trust.Untrusted); len(v.Files) != 1 {
				t.Errorf("%s: %v", name, v.Files)
			}
		}
		trusted.check(trust.Trusted)
	})
	t.Run("changelog_2.1.232_a_repository_inside_inherits_nothing", func(t *testing.T) {
		r := newRig(t)
		r.write(".claude/settings.json", hooks)
		r.write("vendor/lib/.claude/settings.json", hooks)
		r.write("vendor/lib/.git/HEAD", "ref: refs/heads/main\n")
		r.grant(trust.Untrusted)
		nested := *r
		nested.Root = filepath.Join(r.Root, "vendor", "lib")
		nested.Dir = nested.Root
		nested.check(trust.Untrusted)
	})
	t.Run("CVE-2026-40068_another_folder_at_the_trusted_path", func(t *testing.T) {
		r := newRig(t)
		r.write(".claude/settings.json", hooks)
		r.grant(trust.Untrusted)
		if err := os.Rename(r.Root, r.Root+".old"); err != nil { // keeps the inode in use
			t.Fatal(err)
		}
		r.write(".claude/settings.json", hooks)
		r.check(trust.Untrusted)
	})
	t.Run("GHSA-wpqr_headless_is_untrusted", func(t *testing.T) {
		r := newRig(t)
		r.write(".claude/settings.json", hooks)
		for range 2 { // looking, however often and without anyone to ask, grants nothing
			r.check(trust.Untrusted)
		}
		if list, err := r.List(); err != nil || len(list) > 0 {
			t.Errorf("%v %v", list, err)
		}
		if _, err := os.Stat(r.Path); err == nil {
			t.Error("looking wrote a record")
		}
	})
	t.Run("CVE-2025-59536_the_question_says_what_would_run", func(t *testing.T) {
		r := newRig(t)
		r.write(".claude/settings.json", hooks)
		r.write(".mcp.json", `{"mcpServers":{"db":{"command":"npx","args":["--yes","evil"]}}}`)
		var all strings.Builder
		for _, c := range r.check(trust.Untrusted).Claims() {
			all.WriteString(c.File + " " + c.What + " " + c.Text + "\n")
		}
		for _, want := range []string{"./evil.sh", "npx --yes evil", ".mcp.json"} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("no %q in\n%s", want, all.String())
			}
		}
	})
}
