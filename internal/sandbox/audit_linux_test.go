package sandbox

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// git runs git outside.
func git(t *testing.T, c Config, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+c.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
	return strings.TrimSpace(string(out))
}

// files are the paths in a folder, but for what git keeps.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "objects" || d.Name() == "hooks" {
			return filepath.SkipDir
		}
		if rel, _ := filepath.Rel(dir, p); !d.IsDir() {
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWorkspaceStaysClean: neither while a command runs nor afterwards is
// anything in the folder that the command did not make.
func TestWorkspaceStaysClean(t *testing.T) {
	both(t, func(t *testing.T, mech string) {
		c := testConfig(t, mech)
		put(t, filepath.Join(c.Dir, "main.go"), "package main\n")
		s := open(t, c)
		if out, _ := sh(t, s, "find . -mindepth 1"); out != "./main.go" {
			t.Errorf("a command sees %q", out)
		}
		if got := files(t, c.Dir); !slices.Equal(got, []string{"main.go"}) {
			t.Errorf("afterwards there are %v", got)
		}
	})
}

// TestHarmlessStays: what git makes in daily work is not taken away.
func TestHarmlessStays(t *testing.T) {
	need(t, "git")
	both(t, func(t *testing.T, mech string) {
		c := testConfig(t, mech)
		from := filepath.Join(filepath.Dir(c.Dir), "from")
		git(t, c, "/", "init", "-q", "-b", "main", from)
		git(t, c, from, "commit", "-q", "--allow-empty", "-m", "x")
		git(t, c, c.Dir, "init", "-q", "-b", "main")
		git(t, c, c.Dir, "commit", "-q", "--allow-empty", "-m", "x")
		s := open(t, c)
		for _, script := range []string{
			"git init -q fresh && cd fresh && git commit -q --allow-empty -m x && git config user.name y && git remote add o https://example.com/x.git && git status --short",
			"git clone -q " + from + " cloned && cd cloned && git log --oneline && git checkout -q -b other && git branch -u origin/main",
			"git init -q --bare bare.git && cd bare.git && git log --all",
			"git worktree add -q tree && cd tree && git commit -q --allow-empty -m y && git status --short",
			"cd cloned && echo x > f && git add f && git commit -qm f && echo y > f && git stash -q && git stash pop -q && git commit -qam g && git rebase -q HEAD~1 && git merge -q main",
			"cd fresh && git -c protocol.file.allow=always submodule add -q " + from + " sub && git commit -qm sub && git status --short",
		} {
			out, code := sh(t, s, "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x; "+script)
			if code != 0 {
				t.Errorf("%s: code %d: %s", script, code, out)
			}
			for _, f := range s.Found() {
				t.Errorf("%s: %s was taken: %s\n%s", script, f.Path, f.Why, f.Text)
			}
		}
		for _, dir := range []string{"fresh", "cloned", "tree", "fresh/sub"} {
			if out := git(t, c, filepath.Join(c.Dir, dir), "status", "--short"); out != "" {
				t.Errorf("git status in %s: %s", dir, out)
			}
		}
	})
}

// TestFoundIsKept: what is found says what it is; it can be put back, once.
func TestFoundIsKept(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	// In one step: what is there is taken while the command still runs.
	sh(t, s, `mkdir -p v/a && echo '{"x": 1}' > v/tasks.json && chmod 750 v/a && ln -s /etc v/l && mv v .vscode`)
	found := s.Found()
	if len(found) != 1 || found[0].Path != filepath.Join(c.Dir, ".vscode") || !strings.Contains(found[0].Text, `"x": 1`) || !strings.Contains(found[0].Why, "editor") {
		t.Fatalf("%+v", found)
	}
	if info, err := os.Stat(filepath.Dir(filepath.Dir(found[0].At))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if again := s.Found(); len(again) != 0 {
		t.Errorf("told twice: %v", again)
	}
	if err := s.Keep(found[0]); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(c.Dir, ".vscode/a")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("%v %v", info, err)
	}
	if to, err := os.Readlink(filepath.Join(c.Dir, ".vscode/l")); err != nil || to != "/etc" {
		t.Errorf("%q %v", to, err)
	}
	if err := s.Keep(found[0]); err == nil {
		t.Error("kept twice")
	}
	// From now on it is protected as anything that was there.
	if out, code := sh(t, s, "echo > .vscode/tasks.json"); code == 0 {
		t.Errorf("it can be written: %s", out)
	}
}

// TestOpenPath: a path that a command may write is writable for that command
// alone, and what it made stays.
func TestOpenPath(t *testing.T) {
	need(t, "git")
	c := testConfig(t, "bwrap")
	git(t, c, c.Dir, "init", "-q", "-b", "main")
	put(t, filepath.Join(c.Dir, ".vscode/settings.json"), "{}")
	s := open(t, c)
	run := func(script string, open ...string) (string, int) { return shOpen(t, s, script, open...) }
	config := filepath.Join(c.Dir, ".git/config")
	if out, code := run("git config alias.x '!sh'", config); code != 0 {
		t.Errorf("code %d: %s", code, out)
	}
	if out, code := run("echo x > .git/hooks/pre-commit", config); code == 0 {
		t.Errorf("another path is open as well: %s", out)
	}
	if out, code := run("git config alias.y '!sh'"); code == 0 {
		t.Errorf("it is open for the next command: %s", out)
	}
	if out, code := run("echo x > .git/hooks/pre-commit", filepath.Join(c.Dir, ".git/hooks/pre-commit")); code != 0 {
		t.Errorf("code %d: %s", code, out)
	}
	if out, code := run("echo x > .vscode/settings.json && echo x > .vscode/tasks.json", filepath.Join(c.Dir, ".vscode")); code != 0 {
		t.Errorf("code %d: %s", code, out)
	}
	if out, code := run("mkdir .zed && echo x > .zed/settings.json", filepath.Join(c.Dir, ".zed/settings.json")); code != 0 || !exists(filepath.Join(c.Dir, ".zed/settings.json")) {
		t.Errorf("code %d: %s", code, out)
	}
	if found := s.Found(); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	run("mkdir .fleet .idea; echo x > .idea/a; echo x > .idea/b", filepath.Join(c.Dir, ".idea/a"))
	if found := s.Found(); len(found) != 1 || found[0].Path != filepath.Join(c.Dir, ".idea") {
		t.Errorf("what nobody allowed beside it: %+v", found)
	}
}

// TestSettledWhileItRuns: what appears does not wait for the end of a command
// that goes on, nor for that of another one.
func TestSettledWhileItRuns(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	table := proc.NewTable()
	defer table.Close(time.Second)
	start := func(script string) *proc.Process {
		pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: c.Dir, Env: []string{"PATH=/usr/bin:/bin"}}
		if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
			t.Fatal(err)
		}
		p, err := table.Start(pc, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	long := start("echo '{}' > .mcp.json; while :; do sleep 0.05; done")
	gone := func(path string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); len(s.Found()) == 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is still there after a minute: %v", path, exists(path))
			}
		}
		if exists(path) {
			t.Errorf("%s is still there", path)
		}
	}
	gone(filepath.Join(c.Dir, ".mcp.json"))
	// A command that begins and ends meanwhile: what it makes is not the other's.
	<-start("mkdir .zed; echo x > .zed/tasks.json").Done()
	if exists(filepath.Join(c.Dir, ".zed")) || len(s.Found()) != 1 {
		t.Error("what a command made stays while another one runs")
	}
	// The place is free again, until what comes there is taken as well: while the
	// command runs, so that it could not rely on reading it.
	out, code := sh(t, s, "echo y > .zed")
	if found := s.Found(); code != 0 || len(found) != 1 || found[0].Text != "y\n" {
		t.Errorf("%d %s %+v", code, out, found)
	}
	long.Stop(0)
	<-long.Done()
}

// TestSettledAfterKill: what a command made whose adze was killed is settled
// at the next start, and what came later is not.
func TestSettledAfterKill(t *testing.T) {
	for _, how := range []string{"goes", "stays"} { // alone, and in a room
		t.Run(how, func(t *testing.T) { settledAfterKill(t, how) })
	}
}

func settledAfterKill(t *testing.T, how string) {
	c := testConfig(t, "bwrap")
	put(t, filepath.Join(c.Dir, ".vscode/settings.json"), "{}")
	dead := exec.Command(self(t), HelperArg, "die", c.Dir, c.Home, c.Run)
	dead.Env = append(os.Environ(), "ADZE_TEST_DIE="+how)
	out, err := dead.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_ = dead.Process.Kill()
	_ = dead.Wait()
	if line != "made\n" {
		t.Skipf("no command ran: %q", line)
	}
	hook := filepath.Join(c.Dir, ".git/hooks/pre-commit")
	if !exists(hook) {
		t.Fatal("the test shows nothing: there is no hook")
	}
	s := open(t, c)
	found := s.Found()
	if len(found) != 1 || found[0].Path != hook || exists(hook) {
		t.Errorf("%+v", found)
	}
	if !exists(filepath.Join(c.Dir, ".vscode/settings.json")) {
		t.Error("what was there before is gone")
	}
	for late := time.Now().Add(time.Minute); len(outside(t, "sleep\x007704")) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("it is there still: %s", outside(t, "sleep\x007704"))
		}
	}
}

// TestOthersWorkStays: what somebody else makes while nothing runs but commands that were
// read, and change no more than the paths they name, is not theirs.
func TestOthersWorkStays(t *testing.T) {
	c := testConfig(t, "bwrap")
	s := open(t, c)
	start := func(script string, needs policy.Needs) *proc.Process {
		pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: c.Dir, Env: []string{"PATH=/usr/bin:/bin"}}
		if _, err := s.Wrap(&pc, needs); err != nil {
			t.Fatal(err)
		}
		table := proc.NewTable()
		t.Cleanup(func() { table.Close(time.Second) })
		p, err := table.Start(pc, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	long := start("sleep 1000", policy.Needs{Pinned: true})
	mine := filepath.Join(c.Dir, ".vscode/settings.json")
	put(t, mine, "{}")
	for range 3 { // each end looks at all that is there
		<-start("echo x > f", policy.Needs{Pinned: true}).Done()
	}
	if found := s.Found(); len(found) > 0 || !exists(mine) {
		t.Errorf("what somebody made beside commands that were read was taken: %+v", found)
	}
	// One that nobody has read may have made what came since it began, and no more.
	<-start("mkdir .zed; echo x > .zed/tasks.json", policy.Needs{}).Done()
	if found := s.Found(); len(found) != 1 || found[0].Path != filepath.Join(c.Dir, ".zed") || !exists(mine) {
		t.Errorf("%+v", found)
	}
	long.Stop(0)
	<-long.Done()
	if found := s.Found(); len(found) > 0 || !exists(mine) {
		t.Errorf("%+v", found)
	}
}
