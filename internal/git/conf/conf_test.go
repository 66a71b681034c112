package conf_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/git/conf"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func repo(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSafe sets each dangerous key with git itself and looks again.
func TestSafe(t *testing.T) {
	dir := repo(t)
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if ok, why := conf.Safe(d); !ok {
			t.Fatalf("a fresh repository is refused: %s", why)
		}
	}
	for _, key := range []string{
		"filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.command", "diff.x.textconv", "diff.external", "merge.x.driver", "include.path", "includeIf.gitdir:/x.path",
		"alias.x", "core.sshCommand", "core.editor", "core.askPass", "core.alternateRefsCommand", "gpg.program", "gpg.ssh.program", "credential.helper", "pager.log", "remote.x.promisor",
		"hook.x.command", "core.virtualFilesystem", "tar.x.command", "gc.recentObjectsHook", "nobody.knows", "lfs.extension.x.clean",
	} {
		git(t, dir, "config", key, "x")
		if ok, why := conf.Safe(filepath.Join(dir, "sub")); ok {
			t.Errorf("%s is not seen", key)
		} else if !strings.Contains(strings.ToLower(why), strings.ToLower(key[:strings.IndexByte(key, '.')])) {
			t.Errorf("%s: the reason does not name it: %s", key, why)
		}
		git(t, dir, "config", "--unset", key)
	}
	for _, key := range []string{"user.name", "core.autocrlf", "diff.x.xfuncname", "branch.main.merge", "remote.origin.url", "filter.x.required", "core.fsmonitor", "core.hooksPath", "core.pager",
		// what git and other programs write into repositories of people
		"remote.origin.gh-resolved", "branch.main.vscode-merge-base", "branch.main.github-pr-owner-number", "branch.main.gk-last-accessed", "lfs.repositoryformatversion", "lfs.https://x/info/lfs.access", "submodule.a.url", "gui.wmstate",
		"pull.rebase", "user.signingkey", "http.postBuffer", "url.x.insteadOf", "core.sparseCheckout", "maintenance.strategy", "gitflow.branch.master", "sendemail.toCmd", "commitGraph.generationVersion", "svn-remote.svn.url"} {
		git(t, dir, "config", key, "x")
		if ok, why := conf.Safe(dir); !ok {
			t.Errorf("%s is refused: %s", key, why)
		}
	}
	for key, formats := range map[string][2][]string{
		"format.pretty": {{"%H %G?", "format:%-GK", "%+G?", "% GS"}, {"oneline", "%h %gd"}},
		"tag.sort":      {{"signature:key", "-Signature"}, {"-creatordate"}},
		"branch.sort":   {{"-signature:signer"}, {"committerdate"}},
		"pretty.oops":   {{"%H %G?", "tformat:%GG"}, {"%h %s"}},
	} {
		for i, values := range formats {
			for _, value := range values {
				git(t, dir, "config", key, value)
				if ok, why := conf.Safe(dir); ok != (i == 1) {
					t.Errorf("%s = %s: %v (%s)", key, value, ok, why)
				}
			}
		}
		git(t, dir, "config", "--unset", key)
	}
	git(t, dir, "config", "core.worktree", "/")
	if ok, _ := conf.Safe(dir); ok {
		t.Error("core.worktree is not seen")
	}
}

// TestNamed: the places that settings name are those, in the case they are written.
func TestNamed(t *testing.T) {
	dir := repo(t)
	git(t, dir, "config", "core.hooksPath", ".MyHooks")
	git(t, dir, "config", "include.path", "../Shared.conf")
	write(t, filepath.Join(dir, "Shared.conf"), "[core]\n\tattributesFile = Attr\n")
	var got []string
	for _, s := range conf.Named(filepath.Join(dir, ".git"), dir, "/home/u") {
		if strings.HasPrefix(s.Path, dir) { // the machine may have settings of its own
			got = append(got, s.Path)
		}
	}
	slices.Sort(got)
	want := []string{filepath.Join(dir, ".MyHooks"), filepath.Join(dir, "Attr"), filepath.Join(dir, "Shared.conf")}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBareInside: a folder that looks like a git folder is never safe.
func TestBareInside(t *testing.T) {
	dir := repo(t)
	git(t, dir, "init", "-q", "--bare", "embedded")
	for _, d := range []string{"embedded", "embedded/hooks", ".git"} {
		if ok, _ := conf.Safe(filepath.Join(dir, d)); ok {
			t.Errorf("%s is safe", d)
		}
	}
}

// TestWorktree: the config of all worktrees, of the common folder and of each
// worktree counts.
func TestWorktree(t *testing.T) {
	dir := repo(t)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	wt := filepath.Join(t.TempDir(), "wt")
	git(t, dir, "worktree", "add", "-q", wt)
	found, err := conf.Find(wt)
	if err != nil || found.Common != filepath.Join(dir, ".git") || found.GitDir == found.Common {
		t.Fatalf("%+v, %v", found, err)
	}
	if ok, why := conf.Safe(wt); !ok {
		t.Fatal(why)
	}
	git(t, dir, "config", "extensions.worktreeConfig", "true")
	git(t, wt, "config", "--worktree", "diff.external", "x")
	if ok, _ := conf.Safe(wt); ok {
		t.Error("the worktree's own config is not seen")
	}
	if ok, why := conf.Safe(dir); !ok {
		t.Error(why)
	}
	git(t, dir, "config", "filter.x.clean", "x")
	if ok, _ := conf.Safe(wt); ok {
		t.Error("the common config is not seen")
	}
}

// TestSubmodule: the pins do not reach a submodule's git.
func TestSubmodule(t *testing.T) {
	dir := repo(t)
	sub := filepath.Join(dir, ".git", "modules", "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sub, "config"), "[core]\n\tfsmonitor = ./x\n")
	if ok, _ := conf.Safe(dir); ok {
		t.Error("a submodule's fsmonitor is not seen")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestScanForms: the format's own tricks do not hide a setting.
func TestScanForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	for _, c := range []struct {
		text string
		want string // found, "" none, "!" refused
	}{
		{"[diff]\nexternal=x", "diff.external"}, {"[DIFF]\nEXTERNAL=x", "diff.external"}, {"[diff] external = x", "diff.external"}, {"[diff \"a b\"]\ntextconv=x", "diff.a b.textconv"},
		{"[diff.a]\ncommand=x", "diff.a.command"}, {"\ufeff[alias]\nx=y", "alias.x"}, {"[alias]\r\nx=y\r\n", "alias.x"}, {"[core]\n# [alias]\n; x\neditor", "core.editor"},
		{"[user]\nname = a \\\n[alias]\nemail = b\n[alias]\nx=1", "alias.x"}, {"[user]\n# c \\\n[alias]\nx=1", "alias.x"}, {"[user]\nname = a # c \\\n[alias]\nx=1", "alias.x"},
		{"[user]\nname = \"a # b\" ; c\n", ""}, {"[user]\nname = \"x\\\"[alias]\"\n", ""}, {"", ""}, {"[filter \"lfs\"]\n\trequired = true\n", ""}, {"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n", "filter.lfs.clean"},
		{"[user", "!"}, {"x=y", "!"}, {"[a]\n=x", "!"}, {"[a]\nb = \"x", "!"}, {"[a]\nb = \\q", "!"}, {"[a \"x]\n", "!"}, {"[a] \x00", "!"},
	} {
		write(t, file, c.text)
		got, err := conf.Scan(file)
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%q: got %q (%v), want %q", c.text, got, err, c.want)
		}
	}
}

// FuzzScan compares what we find with what git lists: a setting that git sees
// is seen here, or the file is refused.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"[alias]\nx=y\n", "[user]\nname = a \\\n b\n", "[a \"b\"] c = \"d\" ; e\n[alias]x=1"} {
		f.Add(s)
	}
	bin, err := exec.LookPath("git")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "config")
		write(t, file, text)
		found, scanErr := conf.Scan(file)
		if err != nil || found != "" || scanErr != nil {
			return
		}
		cmd := exec.Command(bin, "config", "--file", file, "--no-includes", "--name-only", "--list")
		cmd.Env = []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=" + t.TempDir()}
		out, gitErr := cmd.Output()
		if gitErr != nil {
			return
		}
		for _, key := range strings.Fields(string(out)) {
			if strings.HasPrefix(key, "alias.") || strings.HasPrefix(key, "include.") || key == "diff.external" || strings.HasPrefix(key, "hook.") {
				t.Fatalf("git sees %s in %q", key, text)
			}
		}
	})
}

// TestPins: the environment is what the specification lists.
func TestPins(t *testing.T) {
	env := strings.Join(conf.PinnedEnv(), "\n")
	for _, want := range []string{"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=7", "=core.fsmonitor", "=core.hooksPath", "=safe.bareRepository", "=explicit", "=diff.autoRefreshIndex", "=log.showSignature", "=core.pager", "=protocol.ext.allow", "=never"} {
		if !strings.Contains(env, want) {
			t.Errorf("%s is missing in\n%s", want, env)
		}
	}
}

// TestSafeUnpinned: what only the pins switch off counts where there are none.
func TestSafeUnpinned(t *testing.T) {
	dir := repo(t)
	check := func(name string, want bool) {
		t.Helper()
		if ok, why := conf.SafeUnpinned(filepath.Join(dir, "sub")); ok != want {
			t.Errorf("%s: %v %s", name, ok, why)
		}
		if ok, why := conf.Safe(dir); !ok {
			t.Errorf("%s: not even with the pins: %s", name, why)
		}
	}
	check("fresh", true)
	for key, ok := range map[string]bool{
		"core.fsmonitor": false, "core.hooksPath": false, "core.pager": false, "log.showSignature": false, "protocol.ext.allow": false,
		"user.name": true, "core.autocrlf": true, "branch.main.merge": true,
	} {
		git(t, dir, "config", key, "x")
		check(key, ok)
		git(t, dir, "config", "--unset", key)
	}
	git(t, dir, "config", "filter.x.clean", "x")
	if ok, _ := conf.SafeUnpinned(dir); ok {
		t.Error("a filter: not even safe with the pins")
	}
	git(t, dir, "config", "--unset", "filter.x.clean")
	hook := filepath.Join(dir, ".git", "hooks", "post-index-change")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	check("a hook", false)
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	other := repo(t)
	git(t, other, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, dir, "clone", "-q", other, "linked")
	git(t, dir, "add", "linked")
	check("a repository inside", false)
	if ok, _ := conf.SafeUnpinned(t.TempDir()); !ok {
		t.Error("no repository at all")
	}
}
