package info

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAdvisories holds published weaknesses of an agent's own git against us:
// go test -run 'TestAdvisories/GitSpawn'.
func TestAdvisories(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the planted programs are shell scripts")
	}
	// planted is a repository with a commit, a program that leaves a mark, and
	// a check that no mark is left after reading it.
	planted := func(t *testing.T) (dir, evil string, read func(string)) {
		t.Helper()
		dir = repo(t)
		mark := filepath.Join(t.TempDir(), "ran")
		evil = filepath.Join(dir, "evil.sh")
		put(t, evil, "#!/bin/sh\ntouch "+mark+"\n")
		run(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
		return dir, evil, func(from string) {
			t.Helper()
			if i := Read(t.Context(), options(t, from)); len(i.Commits) != 1 {
				t.Errorf("git did not run, so this shows nothing: %+v", i)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("the repository ran a program")
			}
		}
	}
	t.Run("GitSpawn_CVE-2026-72718_fsmonitor", func(t *testing.T) {
		dir, evil, read := planted(t)
		run(t, dir, "config", "core.fsmonitor", evil)
		read(dir)
	})
	t.Run("GitSpawn_hooks", func(t *testing.T) {
		dir, evil, read := planted(t)
		text, err := os.ReadFile(evil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"} {
			put(t, filepath.Join(dir, ".git", "hooks", name), string(text))
		}
		read(dir)
		run(t, dir, "config", "core.hooksPath", filepath.Join(dir, ".git", "hooks"))
		read(dir)
	})
	t.Run("CVE-2026-55607_a_worktree_named_.git", func(t *testing.T) {
		dir, evil, read := planted(t)
		tree := filepath.Join(t.TempDir(), ".git")
		run(t, dir, "worktree", "add", "-q", "-b", "side", tree)
		run(t, dir, "config", "core.fsmonitor", evil)
		read(tree)
	})
	t.Run("CVE-2025-59041_an_address_that_is_a_command", func(t *testing.T) {
		dir, evil, read := planted(t)
		run(t, dir, "config", "user.email", "a@b$("+evil+")`"+evil+"`\";"+evil+";\"")
		run(t, dir, "config", "user.name", "';"+evil+";'")
		read(dir)
	})
	t.Run("CVE-2026-48719_a_branch_that_is_a_command", func(t *testing.T) {
		dir, _, read := planted(t)
		const branch = "x;./evil.sh;$(./evil.sh)"
		run(t, dir, "checkout", "-q", "-b", branch)
		read(dir)
		if i, _ := Find(dir); i.Branch != branch {
			t.Errorf("the name is data: %q", i.Branch)
		}
	})
	t.Run("CVE-2026-40068_commondir_does_not_move_the_root", func(t *testing.T) {
		dir, _, _ := planted(t)
		for name, files := range map[string]map[string]string{
			"commondir": {".git/HEAD": "ref: refs/heads/main\n", ".git/commondir": filepath.Join(dir, ".git") + "\n"},
			"git file":  {".git": "gitdir: " + filepath.Join(dir, ".git") + "\n"},
		} {
			liar := t.TempDir()
			for path, text := range files {
				put(t, filepath.Join(liar, path), text)
			}
			if i, _ := Find(liar); i.Top != liar {
				t.Errorf("%s: the root is %q, not %q", name, i.Top, liar)
			}
		}
	})
	t.Run("CVE-2026-10591_git_inside_the_workspace", func(t *testing.T) {
		dir, evil, _ := planted(t)
		for _, git := range []string{evil, filepath.Join(dir, "x", "..", "evil.sh"), "evil.sh", "./evil.sh"} {
			o := options(t, dir)
			o.Git = git
			if i := Read(t.Context(), o); i.Why == "" || len(i.Status)+len(i.Commits) > 0 {
				t.Errorf("%s: %+v", git, i)
			}
		}
	})
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
