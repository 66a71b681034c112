package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// plant writes a file and the folders above it.
func plant(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o755)
}

// linked is a try to make a link in git's folder that leads out of it.
func linked(name, what, path string) escape {
	return escape{name: name, what: what, settled: true, safe: true, run: func(sc *scene) error {
		at := sc.Project + "/.git/" + path
		_ = os.RemoveAll(at)
		return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(sc.Outside+"/file", at))
	}, after: absent("$/project/.git/" + path)}
}

// evil are settings that make git run a program at the next git status.
const evil = "[core]\n\tfsmonitor = ./evil\n"

// planted is a try to make something come into being at a path in the project
// that steers programs outside.
func planted(name, what, path, text string) escape {
	return escape{name: name, what: what, settled: true, safe: true, after: absent("$/project/" + path), run: func(sc *scene) error {
		return plant(sc.Project+"/"+path, text)
	}}
}

// settledEscapes are tries that a sandbox need not stop, if nothing is left of
// them afterwards, and those at what git's own settings and layout name.
var settledEscapes = []escape{
	planted("git-commondir", "make git read its settings from elsewhere", ".git/commondir", "../pkg\n"),
	planted("settings-absent", "create .claude/settings.json", ".claude/settings.json", "{}"),
	planted("codex-absent", "create .codex/hooks.json", ".codex/hooks.json", "{}"),
	planted("gemini-absent", "create .gemini/settings.json", ".gemini/settings.json", "{}"),
	planted("mcp-absent", "create .mcp.json", ".mcp.json", "{}"),
	planted("nested-settings", "create .claude/settings.json in a repository below", "pkg/lib/.claude/settings.json", "{}"),
	planted("deep-settings", "create .vscode/tasks.json far below", "a/b/c/d/e/f/.vscode/tasks.json", "{}"),
	planted("worktree-new", "make a worktree's folder that takes its settings from elsewhere", ".git/worktrees/n/commondir", "../../../pkg\n"),
	planted("include-absent", "create a file that git's settings include", "pkg/hooked/extra.conf", evil),
	planted("rebase-todo", "have a rebase run a program", ".git/rebase-merge/git-rebase-todo", "pick 0000000 x\nexec ./evil\n"),
	planted("sequencer-todo", "have a cherry-pick run a program", ".git/sequencer/todo", "x ./evil\n"),
	planted("rebase-strategy", "have a rebase run a program as its strategy", ".git/rebase-merge/strategy", "x/../evil\n"),
	planted("sequencer-strategy", "have a cherry-pick run a program as its strategy", ".git/sequencer/opts", "[options]\n\tstrategy = x/../evil\n"),
	planted("am-options", "have an am write any file", ".git/rebase-apply/apply-opt", " '--build-fake-ancestor=../../outside/file'\n"),
	planted("rebase-author", "have a shell read the author of a rebase", ".git/rebase-merge/author-script", "GIT_AUTHOR_NAME='x'; ./evil\n"),
	planted("bisect-names", "have a shell read the paths of a bisect", ".git/BISECT_NAMES", "$(./evil)\n"),
	linked("git-message-link", "have git write its next message anywhere", "COMMIT_EDITMSG"),
	linked("git-log-link", "have git write its log anywhere", "logs/HEAD"),
	linked("git-logs-link", "have git write its logs anywhere", "logs/refs"),
	linked("git-ref-link", "have git write a branch anywhere", "refs/heads/evil"),
	linked("git-object-link", "have git write objects anywhere", "objects/ab"),
	linked("worktree-log-link", "have git write a worktree's log anywhere", "worktrees/w/logs"),
	{name: "git-pipe", what: "put a pipe in the place of a file of git", settled: true, safe: true, run: func(sc *scene) error {
		return unix.Mkfifo(sc.Project+"/.git/MERGE_MSG", 0o666)
	}, after: absent("$/project/.git/MERGE_MSG")},
	planted("repo-in-git", "make a repository in git's folder", ".git/x/.git/config", evil),
	planted("target-repo", "make a repository where builds go", "target/x/.git/config", evil),
	planted("modules-repo", "make a repository where packages are", "node_modules/x/y/.git/config", evil),
	{name: "many-repositories", what: "hide a repository behind many harmless ones", settled: true, safe: true, run: func(sc *scene) error {
		var errs []error
		for i := range 70 {
			errs = append(errs, plant(fmt.Sprintf("%s/many/a%d/.git/HEAD", sc.Project, i), "ref: refs/heads/main\n"))
		}
		return errors.Join(append(errs, plant(sc.Project+"/many/z/.git/config", evil))...)
	}, after: func(sc *scene) string {
		why := absent("$/project/many/z/.git/config")(sc)
		_ = safe.RemoveAll(sc.Project + "/many")
		return why
	}},
	{name: "put-back", what: "put .git/commondir back for as long as the command runs", settled: true, run: func(sc *scene) error {
		script := "while :; do echo ../pkg > .git/c; mv .git/c .git/commondir; done"
		return exec.Command("timeout", "15", "sh", "-c", script).Run()
	}, dies: true, after: absent("$/project/.git/commondir")},
	planted("new-repo-config", "make a repository whose settings run a program", "new/.git/config", evil),
	planted("new-repo-hook", "make a repository with a hook", "new/.git/hooks/pre-commit", "#!/bin/sh\n"),
	planted("module-config", "make a submodule's folder whose settings run a program", ".git/modules/m/config", evil),
	planted("config-worktree", "create .git/config.worktree", ".git/config.worktree", evil),
	planted("git-attributes", "send files through a program of git's settings", ".git/info/attributes", "* filter=x\n"),
	planted("git-remotes", "name another place to push to", ".git/remotes/origin", "URL: ../outside\n"),
	planted("hg-settings", "make mercurial run a program", ".hg/hgrc", "[hooks]\nupdate = ./evil\n"),
	planted("jj-settings", "make jujutsu run a program", ".jj/repo/config.toml", "[ui]\neditor = './evil'\n"),
	planted("workspace-file", "create an editor's workspace file", "pkg/my.code-workspace", "{}"),
	planted("debugger-start", "create what a debugger runs when it starts", ".gdbinit", "shell ./evil\n"),
	planted("hooks-list", "create lefthook.yml", "lefthook.yml", "x"),
	planted("shell-hook", "create .mise.toml", ".mise.toml", "x"),
	{name: "bare-repository", what: "make a folder a repository whose settings run a program", settled: true, safe: true, run: func(sc *scene) error {
		b := sc.Project + "/pkg/data"
		return errors.Join(plant(b+"/HEAD", "ref: refs/heads/main\n"), plant(b+"/objects/x", ""), plant(b+"/refs/x", ""), plant(b+"/config", evil))
	}, after: absent("$/project/pkg/data/config")},
	{name: "git-file", what: "make a .git file that leads to planted settings", settled: true, safe: true, run: func(sc *scene) error {
		b := sc.Project + "/node_modules/g"
		return errors.Join(plant(b+"/HEAD", "ref: refs/heads/main\n"), plant(b+"/objects/x", ""), plant(b+"/refs/x", ""), plant(b+"/config", evil),
			plant(sc.Project+"/pkg/sub/.git", "gitdir: ../../node_modules/g\n"))
	}, after: absent("$/project/pkg/sub/.git")},
	{name: "git-link", what: "add a repository with settings that run a program as a link", settled: true, run: func(sc *scene) error {
		sub := sc.Project + "/node_modules/linked"
		id := []string{"-c", "user.name=x", "-c", "user.email=x@example.com"}
		if err := run("git", "init", "-q", sub); err != nil {
			return err
		}
		return errors.Join(run("git", append(id, "-C", sub, "commit", "-q", "--allow-empty", "-m", "x")...), plant(sub+"/.git/config", evil),
			run("git", "-c", "core.fsmonitor=false", "-C", sc.Project, "add", "-f", sub))
	}, after: absent("$/project/node_modules/linked/.git/config")},
	{name: "renamed-in", what: "rename a folder to .zed", settled: true, safe: true, run: func(sc *scene) error {
		return errors.Join(plant(sc.Project+"/z/tasks.json", "[]"), os.Rename(sc.Project+"/z", sc.Project+"/.zed"))
	}, after: absent("$/project/.zed")},
	{name: "locked-in", what: "create .idea and lock it", settled: true, safe: true, run: func(sc *scene) error {
		return errors.Join(plant(sc.Project+"/.idea/a/workspace.xml", "x"), os.Chmod(sc.Project+"/.idea/a", 0), os.Chmod(sc.Project+"/.idea", 0))
	}, after: absent("$/project/.idea")},
	{name: "locked-parent", what: "lock the folder in which .git/commondir was made", settled: true, run: func(sc *scene) error {
		at := sc.Project + "/pkg/lib/.git"
		return errors.Join(plant(at+"/commondir", "../../sub\n"), os.Chmod(at, 0o555))
	}, after: func(sc *scene) string {
		why := absent("$/project/pkg/lib/.git/commondir")(sc)
		_ = os.Chmod(sc.Project+"/pkg/lib/.git", 0o755)
		return why
	}},
	{name: "locked-away", what: "make a repository in a folder that cannot be looked into", settled: true, run: func(sc *scene) error {
		dir := sc.Project + "/noread"
		return errors.Join(plant(dir+"/a/r/.git/config", evil), os.Chmod(dir+"/a", 0o444), os.Chmod(dir, 0))
	}, after: func(sc *scene) string {
		_ = os.Chmod(sc.Project+"/noread", 0o755)
		_ = os.Chmod(sc.Project+"/noread/a", 0o755)
		return absent("$/project/noread/a/r/.git/config")(sc)
	}},
	{name: "linked-in", what: "make .gemini a link", settled: true, safe: true, run: func(sc *scene) error {
		return errors.Join(plant(sc.Project+"/pkg/g/settings.json", "{}"), os.Symlink("pkg/g", sc.Project+"/.gemini"))
	}, after: absent("$/project/.gemini")},
	{name: "rewritten", what: "write .mcp.json again and again, and from a process left behind", settled: true, run: func(sc *scene) error {
		script := "(setsid sh -c 'while :; do echo {} > .mcp.json; rm -f .mcp.json; mkdir -p .windsurf; echo {} > .windsurf/x; done' >/dev/null 2>&1 &) & sleep 0.3"
		return exec.Command("sh", "-c", script).Run()
	}, after: func(sc *scene) string {
		if info, err := os.Lstat(sc.Project + "/.mcp.json"); err == nil && info.Size() > 0 { // killed between opening and writing, it is empty
			return ".mcp.json is there"
		}
		return absent("$/project/.windsurf/x")(sc)
	}},

	{name: "worktree-commondir", what: "change where a worktree takes its settings from", weak: ll, safe: true, run: func(sc *scene) error {
		return create(sc.Project + "/.git/worktrees/w/commondir")
	}, after: content("$/project/.git/worktrees/w/commondir", "../..\n")},
	{name: "hooks-path", what: "add a hook where core.hooksPath leads", weak: ll, safe: true, run: func(sc *scene) error {
		return create(sc.Project + "/pkg/hooked/.githooks/post-checkout")
	}, after: absent("$/project/pkg/hooked/.githooks/post-checkout")},
	{name: "hooks-path-change", what: "change a hook where core.hooksPath leads", weak: ll, safe: true, run: func(sc *scene) error {
		return create(sc.Project + "/pkg/hooked/.githooks/pre-commit")
	}, after: content("$/project/pkg/hooked/.githooks/pre-commit", "before")},
	{name: "include-change", what: "change a file that git's settings include", weak: ll, safe: true, run: func(sc *scene) error {
		return create(sc.Project + "/pkg/hooked/shared.conf")
	}, after: content("$/project/pkg/hooked/shared.conf", "[user]\n")},
	{name: "filter-program", what: "change a program that git's settings name", weak: ll, safe: true, run: func(sc *scene) error {
		return create(sc.Project + "/pkg/hooked/clean.sh")
	}, after: content("$/project/pkg/hooked/clean.sh", "before")},
}

// allEscapes is the whole table. What destroys a repository where it is not
// stopped comes last.
func allEscapes() []escape {
	return slices.Concat(settledEscapes, escapes, nurseryEscapes, roomEscapes, cacheEscapes, modeEscapes)
}

// sceneRepos are the files of repositories that the tries above aim at.
func sceneRepos(project string) map[string]string {
	return map[string]string{
		project + "/.git/worktrees/w/HEAD": "ref: refs/heads/w\n", project + "/.git/worktrees/w/commondir": "../..\n", project + "/.git/worktrees/w/gitdir": strings.TrimSuffix(project, "/project") + "/w/.git\n",
		project + "/pkg/hooked/.git/HEAD": "ref: refs/heads/main\n", project + "/pkg/hooked/.git/objects/x": "", project + "/pkg/hooked/.git/refs/x": "",
		project + "/pkg/hooked/.git/config":          "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../extra.conf\n\tpath = ../shared.conf\n[filter \"x\"]\n\tclean = sh clean.sh %f\n",
		project + "/pkg/hooked/.githooks/pre-commit": "before", project + "/pkg/hooked/shared.conf": "[user]\n", project + "/pkg/hooked/clean.sh": "before",
	}
}
