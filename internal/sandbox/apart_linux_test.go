package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestApart: what works in a worktree of its own commits there, and can write nothing else of
// the repository: no file of the checkout, no branch but those of worktrees, no index, no HEAD.
func TestApart(t *testing.T) {
	need(t, "git")
	both(t, func(t *testing.T, mech string) {
		c := testConfig(t, mech)
		top := c.Dir
		tree := filepath.Join(top, ".adze", "worktrees", "one")
		git := func(args ...string) string {
			t.Helper()
			cmd := exec.Command("git", args...)
			cmd.Env = append(os.Environ(), "HOME="+c.Home, "GIT_CONFIG_NOSYSTEM=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %s", args, out)
			}
			return strings.TrimSpace(string(out))
		}
		git("init", "-q", "-b", "main", top)
		for k, v := range map[string]string{"user.name": "x", "user.email": "x@x"} {
			git("-C", top, "config", k, v)
		}
		for name, text := range map[string]string{"a.txt": "a\n", "node_modules/x": "x\n", ".gitignore": "node_modules\n"} {
			at := filepath.Join(top, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("-C", top, "add", "-A")
		git("-C", top, "commit", "-qm", "begin")
		git("-C", top, "branch", "other")
		git("-C", top, "worktree", "add", "-q", "-b", "adze/one", tree)
		if err := os.Symlink(filepath.Join(top, "node_modules"), filepath.Join(tree, "node_modules")); err != nil {
			t.Fatal(err)
		}
		git("-C", top, "pack-refs", "--all") // the folder of the branch is gone
		common := filepath.Join(top, ".git")
		c.Dir, c.Apart = tree, &policy.Apart{Tree: tree, Tops: []string{top}, Common: common, Git: filepath.Join(common, "worktrees", "one"), Alone: true}
		c.Settings.Filesystem.AllowWrite = []string{top, filepath.Dir(top), filepath.Join(top, "build")}
		before := git("-C", top, "rev-parse", "main", "other") + git("-C", top, "status", "--porcelain") + git("-C", top, "config", "--list", "--local")
		s := open(t, c)
		for _, good := range []string{
			"echo b >> a.txt && git commit -qam one && git status --short && git log --oneline | wc -l", "git checkout -q --detach && git commit -q --allow-empty -m two && git checkout -q adze/one && git merge -q HEAD@{1}",
			"echo c >> a.txt && git stash list && git checkout a.txt && git reset -q --hard HEAD~ && git rebase -q main", "cat node_modules/x", "cat " + top + "/a.txt", "git branch -q adze/two",
		} {
			if out, code := sh(t, s, good); code != 0 {
				t.Errorf("%s: code %d: %s", good, code, out)
			}
		}
		bads := []string{
			"echo x > " + top + "/a.txt", "touch " + top + "/new", "rm " + top + "/a.txt", "mv " + top + "/a.txt " + top + "/b.txt", "echo x > node_modules/x", "mkdir " + top + "/build",
			"git -C " + top + " reset -q --hard HEAD", "git -C " + top + " checkout -q other", "git --git-dir=" + common + " --work-tree=" + top + " add -A", "cd " + top + " && git commit -q --allow-empty -m x",
			"echo x > s && git add s && git stash", "git branch -f other HEAD", "git branch -D other", "git update-ref refs/heads/main HEAD~0^{} && false", "git tag x", "git config a.b c", "git pack-refs --all", "git gc -q --prune=now",
			"echo x >> " + common + "/index", "rm " + common + "/HEAD", "echo >> " + common + "/packed-refs", "mkdir " + common + "/worktrees/two", "echo x > " + common + "/hooks/pre-commit", "echo x > " + common + "/refs/heads/new",
		}
		if mech == "bwrap" { // the other one looks when the command ends
			bads = append(bads, "mv .git g", "echo x > .git", "echo x > "+common+"/worktrees/one/commondir")
		}
		for _, bad := range bads {
			if out, code := sh(t, s, bad); code == 0 {
				t.Errorf("%s: worked: %s", bad, out)
			}
		}
		if after := git("-C", top, "rev-parse", "main", "other") + git("-C", top, "status", "--porcelain") + git("-C", top, "config", "--list", "--local"); after != before {
			t.Errorf("the checkout has changed:\n%s\n%s", before, after)
		}
	})
}
