package shellread_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// TestGitSteers: which parts of git's own folder a command writes that steer
// git, so that they are asked about and opened for it.
func TestGitSteers(t *testing.T) {
	w := world.World{
		Dir: "/w", Home: "/h",
		Glob: func(p string) []string {
			if p == "/w/.git/refs/remotes/origin/." || p == "/w/sub/." {
				return []string{p}
			}
			return nil
		},
		Repo: func(dir string) (string, string, bool) {
			return "/w/.git", "/w/.git", dir == "/w" || strings.HasPrefix(dir, "/w/")
		},
	}
	for _, c := range []struct{ command, want string }{
		{"git config user.name x", "config"},
		{"git config --unset user.name", "config"},
		{"git config --edit", "config"},
		{"git config set user.name x", "config"},
		{"git config --worktree a.b c", "config config.worktree"},
		{"git config user.name", ""}, {"git config --get user.name", ""}, {"git config --list", ""}, {"git config get a.b", ""},
		{"git config --global a.b c", "/h/.gitconfig"},
		{"git config -f .lfsconfig a.b c", ""},
		{"git -C sub config a.b c", "config"},
		{"cd sub && git config a.b c", "config"},
		{"cd / && git config a.b c", ""},
		{"timeout 5 git remote add o https://example.com/x", "config"},
		{"git remote rename a b", "config"}, {"git remote set-url o u", "config"}, {"git remote prune o", ""}, {"git remote -v", ""}, {"git remote update", ""},
		{"git push -u origin x", "config"}, {"git push --set-upstream origin x", "config"}, {"git push -fu origin x", "config"}, {"git push origin x", ""}, {"git push", ""},
		{"git pull --set-upstream origin x", "config"}, {"git pull", ""}, {"git fetch --all", ""},
		{"git branch -u origin/x", "config"}, {"git branch --set-upstream-to=origin/x", "config"}, {"git branch -m a b", "config"}, {"git branch x origin/y", "config"},
		{"git branch x", ""}, {"git branch x main", ""}, {"git branch -d x", ""}, {"git branch -D feature/x", ""}, {"git branch x feature/y", ""}, {"git branch --no-track x origin/y", ""},
		{"git checkout -b x origin/y", "config"}, {"git checkout -t origin/y", "config"}, {"git checkout -b x", ""}, {"git checkout main", ""}, {"git checkout origin/y", ""}, {"git checkout -b feature/x", ""},
		{"git switch -c x origin/y", "config"}, {"git switch -c x", ""}, {"git switch x", ""}, {"git switch --detach origin/y", ""},
		{"git worktree add ../x", ""}, {"git worktree add -b x ../x origin/y", "config"}, {"git worktree remove x", "worktrees"}, {"git worktree prune", "worktrees"},
		{"git submodule add u sub2", "config .gitmodules"}, {"git submodule update --init", "config"}, {"git submodule update", ""}, {"git submodule status", ""}, {"git submodule sync", "config modules"},
		{"git init", "config"}, {"git init other", ""}, {"cd sub && git init", ""}, {"git clone u other", ""},
		{"git sparse-checkout set a", "config config.worktree"}, {"git lfs install --local", "config hooks"},
		{"git commit -m x", ""}, {"git add -A", ""}, {"git merge x", ""}, {"git rebase main", ""}, {"git stash", ""}, {"git tag v1", ""}, {"git cherry-pick x", ""}, {"git reset --hard", ""},
	} {
		var got []string
		for a := range policy.All(shellread.Read(c.command, w).Actions) {
			if wr, ok := a.(policy.Write); ok && wr.Own {
				got = append(got, strings.TrimPrefix(strings.TrimPrefix(wr.Path, "/w/.git/"), "/w/"))
			}
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s: %v, want %v", c.command, got, want)
		}
	}
}

// TestGitSettings: what a command is known to set, and which write no more than git writes
// every day.
func TestGitSettings(t *testing.T) {
	w := world.World{
		Dir: "/w", Home: "/h",
		Glob: func(p string) []string {
			if p == "/w/.git/refs/remotes/origin/." {
				return []string{p}
			}
			return nil
		},
		Repo: func(dir string) (string, string, bool) { return "/w/.git", "/w/.git", dir == "/w" },
	}
	for _, c := range []struct{ command, want string }{
		{"git push -u origin x", "routine"}, {"git pull --set-upstream origin x", "routine"}, {"git branch -u origin/x", "routine"}, {"git switch -c x origin/y", "routine"},
		{"git submodule update --init", "routine"}, {"git submodule init", "routine"}, {"git submodule sync", ""}, {"git submodule set-url a b", ""},
		{"git remote add o https://example.com/x", "routine remote.o.url=https://example.com/x"}, {"git remote add -f -t main o ../x", "routine remote.o.url=../x"},
		{"git -c core.hooksPath=hk switch -qc n origin/y", ""}, {"git --exec-path=x push -u origin y", ""}, {"git push -u --receive-pack=x origin y", ""}, {"git fetch --set-upstream --upload-pack x origin y", ""}, {"git -C . push -u origin y", "routine"},
		{"git push -u origin $x", ""}, {"git push -u origin HEAD --force-with-lease", "routine"}, {"git submodule update --init --recursive", "routine"}, {"git remote add --mirror=fetch o u", "remote.o.url=u"},
		{"git remote add o ext::x", "remote.o.url=ext::x"}, {"git remote add o $x", ""}, {"git remote set-url o u", "remote.o.url=u"}, {"git remote set-url --push o u", "remote.o.pushurl=u"},
		{"git remote rename a b", ""}, {"git lfs install --local", ""}, {"git init --template=x", ""},
		{"git config User.Name 'x y'", "user.name=x y"}, {"git config set a.B.C d", "a.B.c=d"}, {"git config --add a.b c", "a.b=c"}, {"git config --unset a.b", "a.b"}, {"git config unset a.b", "a.b"},
		{"git config --edit", ""}, {"git config --rename-section a b", ""}, {"git config -f x a.b c", ""}, {"git config a.b $x", ""}, {"git config a.b $'x\ny=z'", ""}, {"git config --replace-all a.b c '^d'", ""},
	} {
		got := ""
		for a := range policy.All(shellread.Read(c.command, w).Actions) {
			if wr, ok := a.(policy.Write); ok && wr.Own {
				got = wr.Sets
				if wr.Routine {
					got = strings.TrimSpace("routine " + got)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}

// TestSubmoduleSettings: git submodule update writes the settings of each submodule that is
// listed, also of those in submodules.
func TestSubmoduleSettings(t *testing.T) {
	w := world.World{
		Dir:  "/w",
		Repo: func(dir string) (string, string, bool) { return "/w/.git", "/w/.git", dir == "/w" },
		Text: func(p string) (string, bool) {
			text, ok := map[string]string{
				"/w/.gitmodules":     "[submodule \"a/b\"]\n\tpath = lib\n\turl = u\n[submodule \"../x\"]\n\tpath = y\n",
				"/w/lib/.gitmodules": "[submodule \"in\"]\n\tpath = in\n",
			}[p]
			return text, ok
		},
	}
	for command, want := range map[string]string{
		"git submodule update":                    "/w/.git/modules/a/b/config /w/.git/modules/a/b/modules/in/config",
		"git submodule update --init --recursive": "/w/.git/modules/a/b/config /w/.git/modules/a/b/modules/in/config /w/.git/config",
		"git pull --recurse-submodules":           "/w/.git/modules/a/b/config /w/.git/modules/a/b/modules/in/config",
		"git pull":                                "",
	} {
		var got []string
		for a := range policy.All(shellread.Read(command, w).Actions) {
			if wr, ok := a.(policy.Write); ok && wr.Own {
				if !wr.Routine {
					t.Errorf("%s: %s is not what git writes every day", command, wr.Path)
				}
				got = append(got, wr.Path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
