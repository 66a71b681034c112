package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// evil are settings that make git run a program at the next git status.
const evil = "[core]\n\tfsmonitor = ./evil\n"

// settledEscapes are tries that a sandbox need not stop, if nothing is left of
// them afterwards, and those at what git's own settings and layout name.
var settledEscapes = []escape{
	{name: "git-commondir", what: "make git read its settings from elsewhere", is: planted, do: plant, at: "$/project/.git/commondir", to: "../pkg\n"},
	{name: "settings-absent", what: "create .claude/settings.json", is: planted, do: plant, at: "$/project/.claude/settings.json", to: "{}"},
	{name: "codex-absent", what: "create .codex/hooks.json", is: planted, do: plant, at: "$/project/.codex/hooks.json", to: "{}"},
	{name: "gemini-absent", what: "create .gemini/settings.json", is: planted, do: plant, at: "$/project/.gemini/settings.json", to: "{}"},
	{name: "mcp-absent", what: "create .mcp.json", is: planted, do: plant, at: "$/project/.mcp.json", to: "{}"},
	{name: "nested-settings", what: "create .claude/settings.json in a repository below", is: planted, do: plant, at: "$/project/pkg/lib/.claude/settings.json", to: "{}"},
	{name: "deep-settings", what: "create .vscode/tasks.json far below", is: planted, do: plant, at: "$/project/a/b/c/d/e/f/.vscode/tasks.json", to: "{}"},
	{name: "worktree-new", what: "make a worktree's folder that takes its settings from elsewhere", is: planted, do: plant, at: "$/project/.git/worktrees/n/commondir", to: "../../../pkg\n"},
	{name: "include-absent", what: "create a file that git's settings include", is: planted, do: plant, at: "$/project/pkg/hooked/extra.conf", to: evil},
	{name: "rebase-todo", what: "have a rebase run a program", is: planted, do: plant, at: "$/project/.git/rebase-merge/git-rebase-todo", to: "pick 0000000 x\nexec ./evil\n"},
	{name: "sequencer-todo", what: "have a cherry-pick run a program", is: planted, do: plant, at: "$/project/.git/sequencer/todo", to: "x ./evil\n"},
	{name: "rebase-strategy", what: "have a rebase run a program as its strategy", is: planted, do: plant, at: "$/project/.git/rebase-merge/strategy", to: "x/../evil\n"},
	{name: "sequencer-strategy", what: "have a cherry-pick run a program as its strategy", is: planted, do: plant, at: "$/project/.git/sequencer/opts", to: "[options]\n\tstrategy = x/../evil\n"},
	{name: "am-options", what: "have an am write any file", is: planted, do: plant, at: "$/project/.git/rebase-apply/apply-opt", to: " '--build-fake-ancestor=../../outside/file'\n"},
	{name: "rebase-author", what: "have a shell read the author of a rebase", is: planted, do: plant, at: "$/project/.git/rebase-merge/author-script", to: "GIT_AUTHOR_NAME='x'; ./evil\n"},
	{name: "bisect-names", what: "have a shell read the paths of a bisect", is: planted, do: plant, at: "$/project/.git/BISECT_NAMES", to: "$(./evil)\n"},
	{name: "git-message-link", what: "have git write its next message anywhere", is: planted, do: plantLink, at: "$/project/.git/COMMIT_EDITMSG", to: "$/outside/file"},
	{name: "git-log-link", what: "have git write its log anywhere", is: planted, do: plantLink, at: "$/project/.git/logs/HEAD", to: "$/outside/file"},
	{name: "git-logs-link", what: "have git write its logs anywhere", is: planted, do: plantLink, at: "$/project/.git/logs/refs", to: "$/outside/file"},
	{name: "git-ref-link", what: "have git write a branch anywhere", is: planted, do: plantLink, at: "$/project/.git/refs/heads/evil", to: "$/outside/file"},
	{name: "git-object-link", what: "have git write objects anywhere", is: planted, do: plantLink, at: "$/project/.git/objects/ab", to: "$/outside/file"},
	{name: "worktree-log-link", what: "have git write a worktree's log anywhere", is: planted, do: plantLink, at: "$/project/.git/worktrees/w/logs", to: "$/outside/file"},
	{name: "git-pipe", what: "put a pipe in the place of a file of git", is: planted, do: func(at, _ string) error { return unix.Mkfifo(at, 0o666) }, at: "$/project/.git/MERGE_MSG"},
	{name: "repo-in-git", what: "make a repository in git's folder", is: planted, do: plant, at: "$/project/.git/x/.git/config", to: evil},
	{name: "target-repo", what: "make a repository where builds go", is: planted, do: plant, at: "$/project/target/x/.git/config", to: evil},
	{name: "modules-repo", what: "make a repository where packages are", is: planted, do: plant, at: "$/project/node_modules/x/y/.git/config", to: evil},
	{name: "many-repositories", what: "hide a repository behind many harmless ones", is: planted, do: func(at, to string) error {
		var errs []error
		for i := range 70 {
			errs = append(errs, plant(fmt.Sprintf("%s%d/.git/HEAD", to, i), "ref: refs/heads/main\n"))
		}
		return errors.Join(append(errs, plant(at, evil))...)
	}, at: "$/project/many/z/.git/config", to: "$/project/many/a", after: func(sc *scene) {
		for i := range 70 { // they would make all later looks slow
			_ = safe.RemoveAll(fmt.Sprintf("%s%d", sc.place("$/project/many/a"), i))
		}
	}},
	{name: "put-back", what: "put .git/commondir back for as long as the command runs", is: settled | dies | kept, do: script, at: "$/project/.git/commondir",
		to: "exec timeout 15 sh -c 'while :; do echo ../pkg > .git/c; mv .git/c .git/commondir; done'"},
	{name: "new-repo-config", what: "make a repository whose settings run a program", is: planted, do: plant, at: "$/project/new/.git/config", to: evil},
	{name: "new-repo-hook", what: "make a repository with a hook", is: planted, do: plant, at: "$/project/new/.git/hooks/pre-commit", to: "#!/bin/sh\n"},
	{name: "module-config", what: "make a submodule's folder whose settings run a program", is: planted, do: plant, at: "$/project/.git/modules/m/config", to: evil},
	{name: "config-worktree", what: "create .git/config.worktree", is: planted, do: plant, at: "$/project/.git/config.worktree", to: evil},
	{name: "git-attributes", what: "send files through a program of git's settings", is: planted, do: plant, at: "$/project/.git/info/attributes", to: "* filter=x\n"},
	{name: "git-remotes", what: "name another place to push to", is: planted, do: plant, at: "$/project/.git/remotes/origin", to: "URL: ../outside\n"},
	{name: "hg-settings", what: "make mercurial run a program", is: planted, do: plant, at: "$/project/.hg/hgrc", to: "[hooks]\nupdate = ./evil\n"},
	{name: "jj-settings", what: "make jujutsu run a program", is: planted, do: plant, at: "$/project/.jj/repo/config.toml", to: "[ui]\neditor = './evil'\n"},
	{name: "workspace-file", what: "create an editor's workspace file", is: planted, do: plant, at: "$/project/pkg/my.code-workspace", to: "{}"},
	{name: "debugger-start", what: "create what a debugger runs when it starts", is: planted, do: plant, at: "$/project/.gdbinit", to: "shell ./evil\n"},
	{name: "hooks-list", what: "create lefthook.yml", is: planted, do: plant, at: "$/project/lefthook.yml", to: "x"},
	{name: "shell-hook", what: "create .mise.toml", is: planted, do: plant, at: "$/project/.mise.toml", to: "x"},
	{name: "bare-repository", what: "make a folder a repository whose settings run a program", is: planted, do: func(at, _ string) error {
		return plantRepo(filepath.Dir(at))
	}, at: "$/project/pkg/data/config"},
	{name: "git-file", what: "make a .git file that leads to planted settings", is: planted, do: func(at, to string) error {
		return errors.Join(plantRepo(to), plant(at, "gitdir: ../../node_modules/g\n"))
	}, at: "$/project/pkg/sub/.git", to: "$/project/node_modules/g"},
	{name: "git-link", what: "add a repository with settings that run a program as a link", is: settled | kept, do: func(at, to string) error {
		if err := run("git", "init", "-q", to); err != nil {
			return err
		}
		return errors.Join(run("git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-C", to, "commit", "-q", "--allow-empty", "-m", "x"), plant(at, evil),
			run("git", "-c", "core.fsmonitor=false", "add", "-f", to))
	}, at: "$/project/node_modules/linked/.git/config", to: "$/project/node_modules/linked"},
	{name: "renamed-in", what: "rename a folder to .zed", is: planted, do: func(at, to string) error {
		return errors.Join(plant(to+"/tasks.json", "[]"), os.Rename(to, at))
	}, at: "$/project/.zed", to: "$/project/z"},
	{name: "locked-in", what: "create .idea and lock it", is: planted, do: func(at, _ string) error {
		return errors.Join(plant(at+"/a/workspace.xml", "x"), os.Chmod(at+"/a", 0), os.Chmod(at, 0))
	}, at: "$/project/.idea"},
	{name: "locked-parent", what: "lock the folder in which .git/commondir was made", is: settled | kept, do: func(at, _ string) error {
		return errors.Join(plant(at, "../../sub\n"), os.Chmod(filepath.Dir(at), 0o555))
	}, at: "$/project/pkg/lib/.git/commondir", after: func(sc *scene) { _ = os.Chmod(sc.place("$/project/pkg/lib/.git"), 0o755) }},
	{name: "locked-away", what: "make a repository in a folder that cannot be looked into", is: settled | kept, do: func(at, to string) error {
		return errors.Join(plant(at, evil), os.Chmod(to+"/a", 0o444), os.Chmod(to, 0))
	}, at: "$/project/noread/a/r/.git/config", to: "$/project/noread", after: func(sc *scene) {
		_ = os.Chmod(sc.place("$/project/noread"), 0o755)
		_ = os.Chmod(sc.place("$/project/noread/a"), 0o755)
	}},
	{name: "linked-in", what: "make .gemini a link", is: planted, do: func(at, to string) error {
		return errors.Join(plant(to+"/settings.json", "{}"), os.Symlink("pkg/g", at))
	}, at: "$/project/.gemini", to: "$/project/pkg/g"},
	{name: "rewritten", what: "write .mcp.json again and again, and from a process left behind", is: settled | dies | kept, do: script, at: "$/project/.mcp.json",
		to: "(setsid sh -c 'while :; do echo {} > .mcp.json; rm -f .mcp.json; mkdir -p .windsurf; echo {} > .windsurf/x; done' >/dev/null 2>&1 &) & sleep 0.3",
		after: func(sc *scene) {
			if _, err := os.Lstat(sc.place("$/project/.windsurf/x")); err == nil {
				_ = plant(sc.place("$/project/.mcp.json"), "what is beside it is there") // both count
			} else if info, err := os.Lstat(sc.place("$/project/.mcp.json")); err == nil && info.Size() == 0 {
				_ = os.Remove(sc.place("$/project/.mcp.json")) // killed between opening and writing
			}
		}},

	{name: "worktree-commondir", what: "change where a worktree takes its settings from", is: guarded, do: create, at: "$/project/.git/worktrees/w/commondir"},
	{name: "hooks-path", what: "add a hook where core.hooksPath leads", is: guarded, do: create, at: "$/project/pkg/hooked/.githooks/post-checkout"},
	{name: "hooks-path-change", what: "change a hook where core.hooksPath leads", is: guarded, do: create, at: "$/project/pkg/hooked/.githooks/pre-commit"},
	{name: "include-change", what: "change a file that git's settings include", is: guarded, do: create, at: "$/project/pkg/hooked/shared.conf"},
	{name: "filter-program", what: "change a program that git's settings name", is: guarded, do: create, at: "$/project/pkg/hooked/clean.sh"},
}
