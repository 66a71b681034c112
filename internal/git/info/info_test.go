package info

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func program(t *testing.T) string {
	t.Helper()
	p, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	return p
}

var pinned = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=2",
	"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null"}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(program(t), append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	c.Env = append(slices.Clone(pinned), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
	return strings.TrimSpace(string(out))
}

func options(t *testing.T, dir string) Options {
	return Options{Dir: dir, Git: program(t), Env: pinned, Safe: func(string) (bool, string) { return true, "" }, Deadline: 10 * time.Second}
}

func repo(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "init", "-q")
	return dir
}

func TestRead(t *testing.T) {
	dir := repo(t)
	i := Read(t.Context(), options(t, dir))
	if i.Branch != "main" || i.Head != "" || len(i.Status)+len(i.Commits) > 0 || i.Why != "" {
		t.Errorf("before the first commit: %+v", i)
	}
	for n := range 7 {
		run(t, dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("commit %d\n\nbody", n))
	}
	run(t, dir, "checkout", "-q", "-b", "feature/x")
	for n := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f %02d", n)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(dir, "deep", "er")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	i = Read(t.Context(), options(t, sub))
	if i.Top != dir || i.Branch != "feature/x" || i.Head != run(t, dir, "rev-parse", "HEAD") || len(i.Status) != maxStatus || i.More != 10 || i.Status[3] != "?? f 03" || i.Why != "" {
		t.Errorf("%+v", i)
	}
	if len(i.Commits) != 5 || !strings.HasSuffix(i.Commits[0], " commit 6") || strings.Join(i.Commits, "\n") != run(t, dir, "log", "-5", "--format=%h %s") {
		t.Errorf("%q", i.Commits)
	}
	// Packed, detached, in a worktree.
	run(t, dir, "pack-refs", "--all")
	if j, _ := Find(sub); j.Head != i.Head {
		t.Errorf("packed: %+v", j)
	}
	tree := filepath.Join(t.TempDir(), "tree")
	run(t, dir, "worktree", "add", "-q", tree, "main")
	if j := Read(t.Context(), options(t, tree)); j.Branch != "main" || j.Head != i.Head || filepath.Clean(j.Common) != filepath.Join(dir, ".git") || len(j.Commits) != 5 {
		t.Errorf("worktree: %+v", j)
	}
	run(t, dir, "checkout", "-q", "--detach", "HEAD~1")
	if j, _ := Find(dir); j.Branch != "" || j.Head != run(t, dir, "rev-parse", "HEAD") {
		t.Errorf("detached: %+v", j)
	}
	if _, ok := Find(filepath.Dir(tree)); ok {
		t.Error("found a repository where none is")
	}
}

// The other worktrees of a repository are found from each of them, without those
// that are gone or that belong to another repository.
func TestWorktrees(t *testing.T) {
	dir := repo(t)
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	if got := Worktrees(dir); len(got) > 0 {
		t.Errorf("one: %q", got)
	}
	base := t.TempDir()
	one, two, gone := filepath.Join(base, "one"), filepath.Join(base, "two"), filepath.Join(base, "gone")
	for _, tree := range []string{one, two, gone} {
		run(t, dir, "worktree", "add", "-q", "--detach", tree)
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	other := repo(t)
	fake := filepath.Join(dir, ".git", "worktrees", "fake")
	if err := os.MkdirAll(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(fake, "gitdir"), []byte(filepath.Join(other, ".git")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string][]string{dir: {one, two}, one: {dir, two}, two: {dir, one}, other: nil, base: nil} {
		if got := Worktrees(at); !slices.Equal(got, want) {
			t.Errorf("from %s: %q, want %q", at, got, want)
		}
	}
}

// Nothing of a hostile repository runs, and git does not run where it could.
func TestHostile(t *testing.T) {
	dir := repo(t)
	mark := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(dir, "evil.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	run(t, dir, "config", "core.fsmonitor", script)
	hook := filepath.Join(dir, ".git", "hooks", "post-index-change")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if i := Read(t.Context(), options(t, dir)); len(i.Commits) != 1 {
		t.Errorf("%+v", i)
	}
	refused := map[string]func(*Options){
		"textconv":      func(o *Options) { o.Safe = func(string) (bool, string) { return false, "textconv is set" } },
		"not pinned":    func(o *Options) { o.Env = []string{"PATH=/usr/bin:/bin"} },
		"inside":        func(o *Options) { o.Git = script },
		"not found":     func(o *Options) { o.Git = "" },
		"git was not r": func(o *Options) { o.Safe = nil },
	}
	for want, change := range refused {
		o := options(t, dir)
		change(&o)
		if i := Read(t.Context(), o); !strings.Contains(i.Why, want) || i.Branch != "main" || len(i.Status)+len(i.Commits) > 0 {
			t.Errorf("%s: %+v", want, i)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the repository ran a program")
	}
}

func TestDeadline(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	dir := repo(t)
	slow := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 300\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := options(t, dir)
	o.Git, o.Deadline = slow, 30*time.Millisecond
	start := time.Now()
	if i := Read(t.Context(), o); !strings.Contains(i.Why, "took longer than 30ms") {
		t.Errorf("%+v", i)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("took %v", d)
	}
}

func TestOddRepositories(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty .git file":  {".git": ""},
		"gitdir nowhere":   {".git": "gitdir: /nonexistent"},
		"HEAD outside":     {".git/HEAD": "ref: ../../secret"},
		"HEAD binary":      {".git/HEAD": "\x00\xff"},
		"reftable":         {".git/HEAD": "ref: refs/heads/.invalid\n"},
		"commondir itself": {".git/HEAD": "ref: refs/heads/a", ".git/commondir": "."},
	} {
		dir := t.TempDir()
		for f, text := range files {
			p := filepath.Join(dir, f)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if i, _ := Find(dir); i.Head != "" || strings.Contains(i.Branch, "invalid") {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	wd, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		i := Read(b.Context(), Options{Dir: wd, Git: git, Env: pinned, Safe: func(string) (bool, string) { return true, "" }})
		if i.Top == "" {
			b.Skip("not in a repository")
		}
	}
}
