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
// the work tree is a question in the sandbox, in every mode: it would change only the
// subfolder's and go on.
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
	judge := func(w world.World, command string, sandboxed bool) policy.Verdict {
		r := policy.Rules{Dir: "/w/pkg", Dirs: w.Dirs, Home: "/h"}
		return policy.Decide(r, policy.Bypass, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions, Sandboxed: sandboxed})
	}
	whole := func(v policy.Verdict) bool {
		return v.Effect == policy.Ask && v.Check == policy.CheckRemoval && strings.Contains(v.Reason, "--add-dir /w ")
	}
	for _, c := range []string{
		"git checkout all", "git checkout -", "git checkout -q new", "git switch all", "git -C .. checkout all", "git -c a.b=c checkout all", "cd /w && git checkout all",
		"git checkout -b x all", "git switch -c x all", "git switch --orphan x", "git merge all", "git merge", "git pull", "git rebase inside", "git rebase --abort",
		"git cherry-pick all", "git revert HEAD", "git bisect start", "git stash", "git stash -u", "git stash pop", "git am x.patch", "timeout 5 git checkout all", "git checkout all && make",
		"git sparse-checkout set a", "git read-tree -um all",
	} {
		if v := judge(w, c, true); !whole(v) {
			t.Errorf("%s: %s %s (%s)", c, v.Effect, v.Check, v.Reason)
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
	if v := judge(w, "git checkout all", false); v.Effect != policy.Allow {
		t.Errorf("without the sandbox: %s (%s)", v.Effect, v.Reason)
	}
	w.Dirs = slices.Concat(w.Dirs, []string{"/w"})
	if v := judge(w, "git checkout all", true); v.Effect != policy.Allow {
		t.Errorf("with the top added: %s (%s)", v.Effect, v.Reason)
	}
}

// TestGitWorktreeHalves: to take a worktree away in the sandbox is a question in every mode,
// because git could do only half of it.
func TestGitWorktreeHalves(t *testing.T) {
	w := world.World{
		Dir: "/w", Home: "/h", Dirs: []string{"/w"},
		Glob: func(p string) []string {
			if slices.Contains([]string{"/w/.git", "/w/wt/.git", "/w/wt/.", "/w/.git/worktrees/named/."}, p) {
				return []string{p}
			}
			return []string{}
		},
		Repo: func(string) (string, string, bool) { return "/w/.git", "/w/.git", true },
	}
	asks := func(command string, sandboxed bool) bool {
		r := policy.Rules{Dir: "/w", Dirs: w.Dirs, Home: "/h"}
		v := policy.Decide(r, policy.Bypass, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions, Sandboxed: sandboxed})
		return v.Effect == policy.Ask && strings.Contains(v.Reason, "dangerously_disable_sandbox")
	}
	for _, c := range []string{"git worktree remove wt", "git worktree remove /w/wt", "git worktree remove ./wt/", "git worktree remove named", "git worktree move wt wt2", "git -C /w worktree remove wt && ls", "git worktree remove $x"} {
		if !asks(c, true) {
			t.Errorf("%s: no question", c)
		}
		if asks(c, false) {
			t.Errorf("%s: a question without the sandbox", c)
		}
	}
	for _, c := range []string{"git worktree add wt2 && git worktree remove wt2", "git worktree prune", "git worktree list", "git worktree lock wt"} {
		if asks(c, true) {
			t.Errorf("%s: a question", c)
		}
	}
}
