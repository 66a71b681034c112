package setting_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/setting"
	"github.com/adze-agent/adze/internal/slowtest"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newest is a git that runs hooks named in settings: the one that .ci/git/run builds, or
// ADZE_GIT.
func newest(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("ADZE_GIT")
	if cache, err := os.UserCacheDir(); bin == "" && err == nil {
		bin = filepath.Join(cache, "adze", "git", "bin", "git")
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skip("no git of version 2.54 or later: .ci/git/run builds one, or ADZE_GIT names one")
	}
	return bin
}

// A trial is a repository in which a setting may start a program, which leaves a mark.
type trial struct {
	bin, dir, mark string
	env            []string
}

func newTrial(t *testing.T, bin string) trial {
	t.Helper()
	root := t.TempDir()
	tr := trial{bin: bin, dir: filepath.Join(root, "w"), mark: filepath.Join(root, "mark")}
	write(t, filepath.Join(root, "evil"), "#!/bin/sh\necho \"$0 $@\" >>'"+tr.mark+"'\nexit 1\n")
	if err := os.Chmod(filepath.Join(root, "evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	tr.env = []string{"PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e", "GIT_EDITOR=true"}
	tr.git(t, nil, "init", "-q", "-b", "main", tr.dir)
	write(t, filepath.Join(tr.dir, "a"), "one\n")
	tr.git(t, nil, "add", "a")
	tr.git(t, nil, "commit", "-qm", "x")
	tr.git(t, nil, "tag", "v1")
	write(t, filepath.Join(tr.dir, "a"), "two\n")
	return tr
}

// git runs git, whatever comes of it, and reports whether the program was started.
func (tr trial) git(t *testing.T, pins []string, args ...string) (started bool) {
	t.Helper()
	cmd := exec.Command(tr.bin, args...)
	if cmd.Dir = tr.dir; args[0] == "init" {
		cmd.Dir = filepath.Dir(tr.dir)
	}
	cmd.Env = append(append([]string{}, tr.env...), pins...)
	_ = cmd.Run() // with a value that makes no sense it may fail
	_, err := os.Stat(tr.mark)
	return err == nil
}

// config gives the repository one setting besides those it was made with.
func (tr trial) config(t *testing.T, section, sub, key, value string) {
	t.Helper()
	if sub != "" {
		sub = ` "` + sub + `"`
	}
	write(t, filepath.Join(tr.dir, ".git", "config"), fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n[%s%s]\n\t%s = %s\n", section, sub, key, value))
}

// TestHarmlessSettings has git itself run with every setting that is said to do no harm,
// its value a program: what reads starts none with the pins, and without them where it
// is harmless to all reading, and nothing does where it is plain.
func TestHarmlessSettings(t *testing.T) {
	tr := newTrial(t, newest(t))
	reads := [][]string{{"status"}, {"diff", "--no-ext-diff", "--no-textconv"}, {"log", "-p", "-1", "--no-ext-diff", "--no-textconv"}, {"blame", "a"}, {"grep", "one"}, {"branch", "-a"}, {"tag"}, {"stash", "list"}}
	changes := [][]string{{"commit", "-qam", "y"}, {"checkout", "-q", "-B", "b"}, {"merge", "--no-edit", "v1"}, {"archive", "HEAD"}, {"stash"}, {"stash", "pop"}, {"gc", "--auto"}, {"fetch", "-q", "."}}
	evil := filepath.Join(filepath.Dir(tr.dir), "evil")
	for name, kind := range setting.All() {
		if !slowtest.OneOf(20, name) {
			continue
		}
		section, key, _ := strings.Cut(name, ".")
		if key == "*" {
			key = "command"
		}
		for _, sub := range []string{"", "x"} {
			tr.config(t, section, sub, key, evil)
			if ok, why := conf.Safe(tr.dir); !ok {
				t.Errorf("%s: %s", name, why)
			}
			commands, pins := reads, conf.PinnedEnv()
			if kind >= setting.Reading {
				pins = nil
			}
			if kind == setting.Plain {
				commands = append(commands, changes...)
			}
			for _, c := range commands {
				if tr.git(t, pins, c...) {
					t.Fatalf("%s: git %v started the program", name, c)
				}
			}
		}
	}
}

// TestHooksInSettings: where git runs hooks that settings name, such a repository is
// nowhere taken for one in which reading is all that git does.
func TestHooksInSettings(t *testing.T) {
	tr := newTrial(t, newest(t))
	evil := filepath.Join(filepath.Dir(tr.dir), "evil")
	write(t, filepath.Join(tr.dir, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n[hook \"x\"]\n\tevent = post-index-change\n\tcommand = "+evil+"\n")
	if ok, _ := conf.Safe(tr.dir); ok {
		t.Error("reading is taken for safe")
	}
	if ok, _ := conf.SafeUnpinned(tr.dir); ok {
		t.Error("reading without the pins is taken for safe")
	}
	if conf.Plain(conf.Steer{Path: filepath.Join(tr.dir, ".git", "config"), Kind: conf.Config}, nil) == "" {
		t.Error("it is taken for plain")
	}
	if !tr.git(t, nil, "add", "a") {
		t.Error("this git runs no such hook: the test shows nothing")
	}
}
