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

// TestNestedRepositories: git status enters a repository that the index names,
// and runs what its settings say. It is not safe then, whichever version the
// index has, and is otherwise.
func TestNestedRepositories(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	for _, version := range []string{"2", "3", "4"} {
		t.Run("version "+version, func(t *testing.T) {
			top := t.TempDir()
			mark := filepath.Join(t.TempDir(), "ran")
			run := func(dir string, args ...string) {
				t.Helper()
				cmd := exec.Command(git, args...)
				cmd.Dir = filepath.Join(top, dir)
				cmd.Env = append([]string{"HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "PATH=" + os.Getenv("PATH")}, conf.PinnedEnv()...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			write := func(name, text string, mode os.FileMode) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(top, name), []byte(text), mode); err != nil {
					t.Fatal(err)
				}
			}
			run(".", "init", "-q")
			for _, f := range []string{"a", "a-longer-name-than-that", "deep/er/file", "z"} {
				write(f, "x\n", 0o644)
			}
			write("deep/sub/f", "x\n", 0o644)
			run("deep/sub", "init", "-q")
			run("deep/sub", "add", "f")
			run("deep/sub", "commit", "-qm", "one")
			run(".", "add", ".")
			if version == "3" {
				run(".", "add", "-N", "z") // an entry with more flags
				write("later", "x\n", 0o644)
				run(".", "add", "-N", "later")
			} else {
				run(".", "update-index", "--index-version", version)
			}
			if ok, why := conf.Safe(top); !ok {
				t.Fatalf("a harmless submodule: %s", why)
			}
			write("evil.sh", "#!/bin/sh\necho >> '"+mark+"'\n", 0o755)
			run("deep/sub", "config", "filter.x.clean", filepath.Join(top, "evil.sh"))
			write("deep/sub/.gitattributes", "* filter=x\n", 0o644)
			write("deep/sub/f", "y\n", 0o644)
			ok, why := conf.Safe(top)
			if ok || !strings.Contains(why, "filter.x.clean") {
				t.Errorf("safe %v: %q", ok, why)
			}
			run(".", "status", "--short")
			if _, err := os.Stat(mark); err != nil {
				t.Logf("this git did not run it: %v", err)
			}
			write(".git/index", "DIRC\x00\x00\x00\x09nonsense that is long enough to be one", 0o644)
			if ok, _ := conf.Safe(top); ok {
				t.Error("an index that is not understood is safe")
			}
		})
	}
}

// TestTracked lists what git ls-files lists.
func TestTracked(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	if files, ok := conf.Tracked(dir, 10); len(files) > 0 || !ok {
		t.Errorf("nothing yet: %q, %v", files, ok)
	}
	for _, n := range []string{"a", "sub/b", "sub/deep/c", "subway", ".env"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n), []byte(n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "a", "sub", "subway")
	for _, version := range []string{"2", "4"} {
		git("update-index", "--index-version", version)
		for _, sub := range []string{"", "sub"} {
			files, ok := conf.Tracked(filepath.Join(dir, sub), 10)
			var want []string
			for name := range strings.Lines(git("ls-files", filepath.Join(dir, sub))) {
				want = append(want, filepath.Join(dir, strings.TrimSpace(name)))
			}
			if !ok || !slices.Equal(files, want) {
				t.Errorf("version %s, %q: got %q, %v; want %q", version, sub, files, ok, want)
			}
		}
	}
	if _, ok := conf.Tracked(dir, 3); ok {
		t.Error("three hold four")
	}
	if _, ok := conf.Tracked("/", 3); ok {
		t.Error("no repository is known")
	}
}
