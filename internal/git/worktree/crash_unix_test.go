//go:build unix

package worktree_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/git/worktree"
	"github.com/adze-agent/adze/internal/slowtest"
)

// TestMain makes or removes a worktree where a test has it done by a process that it kills.
func TestMain(m *testing.M) {
	if text := os.Getenv("WORKTREE_CONFIG"); text != "" {
		os.Exit(child(text))
	}
	os.Exit(m.Run())
}

func child(text string) int {
	var c worktree.Config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return 3
	}
	repo, err := worktree.Open(c)
	if err != nil {
		return 4
	}
	switch os.Getenv("WORKTREE_DO") {
	case "remove":
		_, err = repo.Remove(context.Background(), "one", false)
	case "merge", "merge commit":
		_, err = repo.Merge(context.Background(), "one", worktree.Merge{Commit: os.Getenv("WORKTREE_DO") != "merge"})
	default:
		_, err = repo.Make(context.Background(), "one", "a test")
	}
	if err != nil {
		return 5
	}
	return 0
}

// picture is all of a repository that is the person's: branches but those of adze, the stash,
// settings, index, and every file but those of worktrees.
func (r *rig) picture() string {
	r.Helper()
	var b strings.Builder
	for line := range strings.Lines(r.git(r.top, "for-each-ref", "--format=%(refname) %(objectname)")) {
		if !strings.Contains(line, "refs/heads/adze/") {
			b.WriteString(line)
		}
	}
	err := filepath.WalkDir(r.top, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(r.top, path)
		switch {
		case err != nil:
			return err
		case rel == ".adze" || rel == ".git/objects" || rel == ".git/logs" || rel == ".git/refs" || rel == ".git/worktrees/one":
			return filepath.SkipDir
		case d.Type().IsRegular():
			fmt.Fprintf(&b, "\n%s %q", rel, r.text(path))
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return b.String()
}

// Wherever adze is killed while it makes or removes a worktree: the person's files, branches
// and other worktrees are as they were, what is left is told, and Clean makes an end of it.
func TestKilled(t *testing.T) {
	for _, do := range []string{"make", "remove"} {
		for n := 1; n <= 14; n++ {
			for _, when := range []string{"before", "after"} {
				name := fmt.Sprintf("%s %s call %d", do, when, n)
				if !slowtest.Due(name) {
					continue
				}
				t.Run(name, func(t *testing.T) { killed(t, do, when, n) })
			}
		}
	}
}

func killed(t *testing.T, do, when string, n int) {
	r := begun(t)
	mine := filepath.Join(filepath.Dir(r.top), "mine")
	r.git(r.top, "worktree", "add", "-q", "-b", "mine", mine)
	if err := os.Rename(mine, mine+" away"); err != nil { // on a disk that is not there now: git would prune it
		t.Fatal(err)
	}
	r.put(r.at("a.txt"), "of the person\n")
	r.put(r.at("new.txt"), "of the person\n")
	r.git(r.top, "stash", "push", "-q", "-m", "of the person", "a.txt")
	r.put(r.at("a.txt"), "of the person, too\n")
	uncommitted := func(c *worktree.Config) { c.Uncommitted = true }
	if do == "remove" {
		r.make(r.open(uncommitted), "one").Close()
	}
	before := r.picture()
	count := filepath.Join(r.home, "count")
	script := filepath.Join(r.home, "git")
	text := fmt.Sprintf("#!/bin/sh\nn=$(cat %[1]s 2>/dev/null || echo 0); n=$((n+1)); echo $n >%[1]s\n[ %[3]s$n = before%[2]d ] && { kill -9 $PPID; exit 1; }\n%[4]s \"$@\"; code=$?\n[ %[3]s$n = after%[2]d ] && kill -9 $PPID\nexit $code\n", count, n, when, r.program)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	c := r.config()
	c.Git, c.Uncommitted = script, true
	config, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WORKTREE_CONFIG="+string(config), "WORKTREE_DO="+do)
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() > 0 || err == nil && n < 4 {
		t.Fatalf("it was not killed: %v", err)
	}
	if got := r.picture(); got != before {
		t.Errorf("what is the person's has changed:\n%s\n%s", before, got)
	}
	repo := r.open()
	list, err := repo.List(t.Context())
	if err != nil || len(list) > 1 || len(list) == 1 && list[0].State == worktree.Strange {
		t.Errorf("%+v, %v", list, err)
	}
	for _, i := range list {
		if _, err := repo.Remove(t.Context(), i.Name, false); err != nil {
			t.Errorf("%+v: %v", i, err)
		}
	}
	if left := r.git(r.top, "for-each-ref", "refs/heads/adze"); left != "" || r.exists(r.at(".adze/worktrees/one")) || r.exists(r.at(".git/worktrees/one")) {
		t.Errorf("it left %q", left)
	}
	if dirs, err := filepath.Glob(r.at(".adze/worktrees/.gone*")); err != nil || len(dirs) > 0 {
		t.Errorf("it left %q", dirs)
	}
	if again := r.make(repo, "one"); !again.Fresh {
		t.Error("it is not a new one")
	} else if _, err := again.Remove(t.Context(), false); err != nil {
		t.Error(err)
	}
	if got := r.picture(); got != before {
		t.Errorf("what is the person's has changed in the end:\n%s\n%s", before, got)
	}
}
