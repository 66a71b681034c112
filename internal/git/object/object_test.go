package object_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
)

// TestChanged: the files that two commits do not have alike are listed, whatever they are
// called, and what is no commit is an error.
func TestChanged(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	env := append([]string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e", "PATH=" + os.Getenv("PATH")}, conf.PinnedEnv()...)
	run := func(args ...string) {
		t.Helper()
		c := exec.Command(git, args...)
		c.Dir, c.Env = dir, env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main")
	run("commit", "-q", "--allow-empty", "-m", "one")
	if err := os.Mkdir(filepath.Join(dir, "é"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".envrc", "é/b c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("checkout", "-q", "-b", "other")
	run("add", "-A")
	run("commit", "-q", "-m", "two")
	run("checkout", "-q", "main")
	repo, err := conf.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := object.Repo{Repo: repo, Git: git, Env: env}
	names, err := r.Changed(context.Background(), "HEAD", "other")
	if err != nil || !slices.Equal(names, []string{".envrc", "é/b c"}) {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := r.Changed(context.Background(), "", "HEAD"); err != nil || len(names) > 0 {
		t.Errorf("the first commit: %q, %v", names, err)
	}
	run("checkout", "-q", "other")
	if err := os.WriteFile(filepath.Join(dir, ".envrc"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if names, err := r.Changed(context.Background(), "HEAD", ""); err != nil || !slices.Equal(names, []string{".envrc"}) {
		t.Errorf("the worktree: %q, %v", names, err)
	}
	run("commit", "-qam", "three")
	run("revert", "--no-edit", "HEAD")
	if names, err := r.Changed(context.Background(), "HEAD", "HEAD~2"); err != nil || len(names) > 0 {
		t.Errorf("both ends: %q, %v", names, err)
	}
	if names, err := r.Bisected(context.Background(), []string{"HEAD~2", "nobody"}); err != nil || !slices.Contains(names, ".envrc") {
		t.Errorf("between: %q, %v", names, err)
	}
	for _, rev := range []string{"nobody", "--help", "other:.envrc"} {
		if names, err := r.Changed(context.Background(), "HEAD", rev); err == nil {
			t.Errorf("%s: %q", rev, names)
		}
	}
}
