package shellread_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestGitWhole: in a subfolder of a repository, a git command that changes files in all of
// the work tree is a question in the sandbox, which would let it change only the subfolder's:
// git would go on. What allows the command opens all of it.
func TestGitWhole(t *testing.T) {
	w := world.World{
		Dir: "/w/pkg", Home: "/h", Dirs: []string{"/w/pkg"},
		Glob: func(p string) []string {
			if p == "/w/.git" || p == "/other/.git" || p == "/w/pkg/p.txt" {
				return []string{p}
			}
			return []string{}
		},
		Changed: func(dir, from, to string) ([]string, bool) {
			switch to {
			case "inside":
				return []string{"/w/pkg/p.txt"}, true
			case "all", "@{-1}":
				return []string{"/w/pkg/p.txt", "/w/top.txt"}, true
			}
			return nil, false
		},
	}
	allow, err := policy.ParseRule("Bash(git checkout:*)", policy.Allow, policy.User, "", "")
	if err != nil {
		t.Fatal(err)
	}
	judgeIn := func(w world.World, command string, m policy.Mode, sandboxed bool, rules ...policy.Rule) policy.Verdict {
		r := policy.Rules{Dir: "/w/pkg", Dirs: w.Dirs, Home: "/h", List: rules}
		return policy.Decide(r, m, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions, Sandboxed: sandboxed})
	}
	judge := func(w world.World, command string, sandboxed bool) policy.Verdict {
		return judgeIn(w, command, policy.Default, sandboxed)
	}
	whole := func(v policy.Verdict) bool {
		return v.Effect == policy.Ask && v.Check == policy.CheckRemoval && strings.Contains(v.Reason, "--add-dir /w ")
	}
	opened := []policy.Folder{{Path: "/w"}}
	for _, c := range []string{
		"git checkout all", "git checkout -", "git checkout -q new", "git switch all", "git -C .. checkout all", "git -c a.b=c checkout all", "cd /w && git checkout all",
		"git checkout -b x all", "git switch -c x all", "git switch --orphan x", "git merge all", "git merge", "git pull", "git rebase inside", "git rebase --abort",
		"git cherry-pick all", "git revert HEAD", "git bisect start", "git stash", "git stash -u", "git stash pop", "git am x.patch", "timeout 5 git checkout all", "git checkout all && make",
		"git sparse-checkout set a", "git read-tree -um all",
	} {
		if v := judge(w, c, true); !whole(v) || !slices.Equal(v.Needs.Folders, opened) {
			t.Errorf("%s: %s %s (%s) %v", c, v.Effect, v.Check, v.Reason, v.Needs.Folders)
		}
	}
	for _, c := range []string{
		"git checkout inside", "git checkout -b x", "git checkout -b x inside", "git switch inside", "git switch -c x", "git merge inside", "git checkout", "git checkout --orphan x",
		"git checkout -- p.txt", "git reset", "git reset --soft all", "git commit -am x", "git add -A", "git stash list", "git stash push -- p.txt", "git bisect log", "git merge --quit",
		"git -C /other checkout all", "git status", "git restore p.txt", "git branch x",
	} {
		if v := judge(w, c, true); whole(v) {
			t.Errorf("%s: %s %s (%s)", c, v.Effect, v.Check, v.Reason)
		}
	}
	for _, c := range []struct {
		command string
		mode    policy.Mode
		rules   []policy.Rule
		want    policy.Effect
	}{
		{"git checkout all", policy.Bypass, nil, policy.Allow},
		{"git checkout all && git status", policy.Bypass, nil, policy.Allow},
		{"git checkout all && make", policy.Bypass, nil, policy.Ask},
		{"git checkout all", policy.Default, []policy.Rule{allow}, policy.Allow},
		{"git checkout all && git status", policy.Default, []policy.Rule{allow}, policy.Allow},
		{"git merge all", policy.Default, []policy.Rule{allow}, policy.Ask},
		{"git checkout all && make", policy.Default, []policy.Rule{allow}, policy.Ask}, // make would have it open, too
		{"git checkout all && $x", policy.Default, []policy.Rule{allow}, policy.Ask},
		{"git checkout all", policy.DontAsk, nil, policy.Deny},
		{"git checkout all && make", policy.DontAsk, []policy.Rule{allow}, policy.Deny},
	} {
		if v := judgeIn(w, c.command, c.mode, true, c.rules...); v.Effect != c.want || v.Effect != policy.Deny && !slices.Equal(v.Needs.Folders, opened) {
			t.Errorf("%s in %s: %s (%s) %v", c.command, c.mode, v.Effect, v.Reason, v.Needs.Folders)
		}
	}
	if v := judge(w, "git checkout all", false); whole(v) {
		t.Errorf("without the sandbox: %s (%s)", v.Effect, v.Reason)
	}
	w.Dirs = slices.Concat(w.Dirs, []string{"/w"})
	if v := judge(w, "git checkout all", true); v.Effect != policy.Allow || v.Needs.Folders != nil {
		t.Errorf("with the top added: %s (%s)", v.Effect, v.Reason)
	}
}

// TestGitWorktree: the sandbox opens a worktree that git takes away, and git's own folder
// of it; what allows the command allows that.
func TestGitWorktree(t *testing.T) {
	w := world.World{
		Dir: "/w", Home: "/h", Dirs: []string{"/w"},
		Glob: func(p string) []string {
			if slices.Contains([]string{"/w/.git", "/w/wt/.git", "/w/wt/.", "/far/wt/.git", "/far/own/.git", "/w/.git/worktrees/named/."}, p) {
				return []string{p}
			}
			return []string{}
		},
		Repo: func(dir string) (string, string, bool) {
			switch dir {
			case "/w/wt", "/far/wt":
				return "/w/.git", "/w/.git/worktrees/x", true
			case "/far/own":
				return "/far/own/.git", "/far/own/.git", true
			}
			return "/w/.git", "/w/.git", true
		},
		Text: func(p string) (string, bool) { return "/far/wt/.git\n", p == "/w/.git/worktrees/named/gitdir" },
	}
	judge := func(command string, m policy.Mode, sandboxed bool) policy.Verdict {
		r := policy.Rules{Dir: "/w", Dirs: w.Dirs, Home: "/h"}
		return policy.Decide(r, m, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions, Sandboxed: sandboxed})
	}
	for c, at := range map[string]string{
		"git worktree remove wt": "/w/wt", "git worktree remove /w/wt": "/w/wt", "git worktree remove ./wt/": "/w/wt", "git worktree remove named": "/far/wt", "git worktree move wt wt2": "/w/wt",
		"git -C /w worktree remove wt && ls": "/w/wt", "git worktree remove /far/wt": "/far/wt",
	} {
		want := []policy.Folder{{Path: at, Gone: true}}
		if v := judge(c, policy.Default, true); v.Effect != policy.Ask || !strings.Contains(v.Reason, at) || !slices.Equal(v.Needs.Folders, want) {
			t.Errorf("%s: %s (%s) %v", c, v.Effect, v.Reason, v.Needs.Folders)
		}
		if v := judge(c, policy.Bypass, true); v.Effect != policy.Allow || !slices.Equal(v.Needs.Folders, want) {
			t.Errorf("%s in bypassPermissions: %s (%s) %v", c, v.Effect, v.Reason, v.Needs.Folders)
		}
	}
	if v := judge("git worktree remove $x", policy.Bypass, true); v.Effect != policy.Ask || !strings.Contains(v.Reason, "Name its folder") {
		t.Errorf("a worktree that is not known: %s (%s)", v.Effect, v.Reason)
	}
	for _, c := range []string{"git worktree add wt2 && git worktree remove wt2", "git worktree prune", "git worktree list", "git worktree lock wt", "git worktree remove /w", "git worktree remove /far/own"} {
		if v := judge(c, policy.Bypass, true); v.Effect != policy.Allow || v.Needs.Folders != nil {
			t.Errorf("%s: %s (%s) %v", c, v.Effect, v.Reason, v.Needs.Folders)
		}
	}
}
