package trust_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/trust"
)

// brought is what the repository of these tests has that needs trust.
func brought() map[string]string {
	return map[string]string{
		".claude/settings.json": hooks, ".mcp.json": `{"mcpServers":{"s":{"command":"s"}}}`, ".claude/commands/c.md": "do it", ".claude/hooks/guard.sh": "exit 2",
	}
}

// worktree is a trusted repository, and a folder with the same files. made: adze made it.
func worktree(t *testing.T, is bool) (repo, tree *rig) {
	t.Helper()
	repo = newRig(t)
	at := filepath.Join(filepath.Dir(repo.Root), "tree")
	tree = &rig{t, trust.Folder{Root: at, Dir: at, Home: repo.Home}, repo.Store}
	for path, text := range brought() {
		repo.write(path, text)
		tree.write(path, text)
	}
	repo.grant(trust.Untrusted)
	if is {
		if err := tree.Made(t.Context(), tree.Root, repo.Root); err != nil {
			t.Fatal(err)
		}
	}
	return repo, tree
}

func (r *rig) remove(path string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.Root, path)); err != nil {
		r.t.Fatal(err)
	}
}

// A worktree that adze made of a trusted repository is trusted as long as all that was
// trusted there is the same in it, and nothing is beside that.
func TestWorktreeOfATrustedRepository(t *testing.T) {
	_, tree := worktree(t, true)
	tree.check(trust.Trusted)
	tree.write("src/main.go", "package main") // needs no trust
	tree.write("AGENTS.md", "be rude")        // likewise
	tree.check(trust.Trusted)
	tree.Dir = filepath.Join(tree.Root, "src")
	tree.check(trust.Trusted)
}

// Nothing that a folder has makes it a worktree of a trusted repository: neither the same
// files, nor a .git that says so, nor a record in it.
func TestFolderThatClaimsToBeAWorktree(t *testing.T) {
	repo, tree := worktree(t, false)
	tree.check(trust.Untrusted)
	repo.write(".git/worktrees/tree/gitdir", filepath.Join(tree.Root, ".git")+"\n")
	tree.write(".git", "gitdir: "+filepath.Join(repo.Root, ".git", "worktrees", "tree")+"\n")
	tree.check(trust.Untrusted)
	record, err := os.ReadFile(repo.Path)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(record, &all); err != nil {
		t.Fatal(err)
	}
	for path, id := range all["folders"].(map[string]any) {
		all["made"] = map[string]any{tree.Root: map[string]any{"of": path, "device": id.(map[string]any)["device"], "inode": id.(map[string]any)["inode"]}}
	}
	forged, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"trust.json", ".adze/trust.json", ".git/trust.json"} {
		if !strings.HasPrefix(at, ".git/") { // which is a file here
			tree.write(at, string(forged))
		}
		repo.write(at, string(forged))
	}
	tree.check(trust.Untrusted)
	// Also a record that names the path with another folder's identity.
	if err := os.WriteFile(repo.Path, forged, 0o600); err != nil {
		t.Fatal(err)
	}
	tree.check(trust.Untrusted)
}

// Whatever is not as it was trusted is a change, which people are shown beside what was
// trusted in the repository; guards that are gone are known to have been there.
func TestWorktreeThatIsNotAsItWasTrusted(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*rig)
		path string
		how  string
	}{
		"settings with other hooks": {func(r *rig) {
			r.write(".claude/settings.json", strings.Replace(hooks, "evil", "worse", 1))
		}, ".claude/settings.json", "changed"},
		"a script of a hook":      {func(r *rig) { r.write(".claude/hooks/guard.sh", "exit 0") }, ".claude/hooks/guard.sh", "changed"},
		"settings that are added": {func(r *rig) { r.write(".adze/settings.json", hooks) }, ".adze/settings.json", "added"},
		"local settings":          {func(r *rig) { r.write(".claude/settings.local.json", hooks) }, ".claude/settings.local.json", "added"},
		"hooks of another agent": {func(r *rig) {
			r.write(".gemini/settings.json", `{"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"x"}]}]}}`)
		}, ".gemini/settings.json", "added"},
		"a skill":                   {func(r *rig) { r.write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nx") }, ".claude/skills/s/SKILL.md", "added"},
		"settings that are removed": {func(r *rig) { r.remove(".claude/settings.json") }, ".claude/settings.json", "removed"},
		"servers that are removed":  {func(r *rig) { r.remove(".mcp.json") }, ".mcp.json", "removed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, tree := worktree(t, true)
			c.do(tree)
			v := tree.check(trust.Changed)
			if len(v.Changes) != 1 || v.Changes[0].Path != c.path || v.Changes[0].How != c.how {
				t.Errorf("%+v", v.Changes)
			}
			if d := tree.Diff(v); !strings.Contains(d, c.path) || strings.Contains(d, "not known any more") {
				t.Error(d)
			}
			if !tree.Mentions(v, "SessionStart") {
				t.Error("the hooks that were trusted are forgotten")
			}
		})
	}
}

// A link is not the file that it leads to, though that has the same content; nor is the
// folder that it leads to the worktree.
func TestLinksInAWorktree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	repo, tree := worktree(t, true)
	tree.remove(".claude/settings.json")
	if err := os.Symlink(filepath.Join(repo.Root, ".claude", "settings.json"), filepath.Join(tree.Root, ".claude", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if v, err := tree.Check(tree.Folder); err != nil || v.State == trust.Trusted || v.State == trust.Nothing {
		t.Errorf("a file out of the folder is taken for its own: %s, %v", v.State, err)
	}
	tree.remove(".claude/settings.json")
	tree.write(".claude/settings.json", hooks)
	tree.check(trust.Trusted)
	aside := tree.Root + " aside"
	if err := os.Rename(tree.Root, aside); err != nil {
		t.Fatal(err)
	}
	planted := *tree
	planted.Root = filepath.Join(filepath.Dir(tree.Root), "planted")
	for path, text := range brought() {
		planted.write(path, text)
	}
	if err := os.Symlink(planted.Root, tree.Root); err != nil {
		t.Fatal(err)
	}
	tree.check(trust.Untrusted)
}

// Another folder at the path of a worktree, or of its repository, is not that one.
func TestWorktreeThatIsAnotherFolder(t *testing.T) {
	for _, who := range []string{"tree", "repo"} {
		repo, tree := worktree(t, true)
		r := map[string]*rig{"tree": tree, "repo": repo}[who]
		if err := os.Rename(r.Root, r.Root+" aside"); err != nil {
			t.Fatal(err)
		}
		for path, text := range brought() {
			r.write(path, text)
		}
		tree.check(trust.Untrusted)
	}
}

// A worktree is trusted through its repository, as long as that is: not through another
// worktree, and not once either was forgotten.
func TestWorktreeWithoutTrust(t *testing.T) {
	repo, tree := worktree(t, true)
	inner := *tree
	inner.Root = filepath.Join(filepath.Dir(tree.Root), "inner")
	inner.Dir = inner.Root
	for path, text := range brought() {
		inner.write(path, text)
	}
	if err := inner.Made(t.Context(), inner.Root, tree.Root); err != nil {
		t.Fatal(err)
	}
	inner.check(trust.Untrusted)

	if had, err := tree.Revoke(t.Context(), tree.Root); err != nil || !had {
		t.Errorf("%v %v", had, err)
	}
	tree.check(trust.Untrusted)
	if err := tree.Made(t.Context(), tree.Root, repo.Root); err != nil {
		t.Fatal(err)
	}
	tree.check(trust.Trusted)
	if _, err := repo.Revoke(t.Context(), repo.Root); err != nil {
		t.Fatal(err)
	}
	tree.check(trust.Untrusted)
	if err := tree.Made(t.Context(), filepath.Join(tree.Root, "none"), repo.Root); err == nil {
		t.Error("a worktree that is not there is kept")
	}
}

// What adze itself writes in a worktree leaves it trusted, and only that one.
func TestPromiseInAWorktree(t *testing.T) {
	repo, tree := worktree(t, true)
	for _, written := range []bool{false, true} {
		p, err := tree.Promise(t.Context(), tree.Folder, ".claude/settings.json", []byte(hooks), []byte(hooks+"\n"))
		if err != nil || p == nil {
			t.Fatal(p, err)
		}
		tree.check(trust.Trusted)
		if written {
			tree.write(".claude/settings.json", hooks+"\n")
		}
		if err := p.Keep(t.Context(), written); err != nil {
			t.Fatal(err)
		}
		tree.check(trust.Trusted)
	}
	repo.check(trust.Trusted)
	repo.write(".claude/settings.json", hooks+"\n")
	repo.check(trust.Changed)
}
