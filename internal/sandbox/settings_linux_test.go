package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// settingsBox is a sandbox in a repository, and what opens its settings.
func settingsBox(t *testing.T) (c Config, s *Sandbox, file string, needs policy.Needs) {
	t.Helper()
	need(t, "git")
	c = testConfig(t, "bwrap")
	git(t, c, c.Dir, "init", "-q", "-b", "main")
	git(t, c, c.Dir, "remote", "add", "origin", "https://h/x")
	git(t, c, c.Dir, "config", "alias.mine", "log -1")
	put(t, filepath.Join(c.Dir, ".npmrc"), "a=1\n")
	git(t, c, c.Dir, "add", "-f", ".npmrc")
	git(t, c, c.Dir, "commit", "-q", "-m", "x")
	file = filepath.Join(c.Dir, ".git", "config")
	return c, open(t, c), file, policy.Needs{Settings: []policy.Setting{{Path: file, Sets: []string{"remote.o.url=https://h/o"}}}}
}

// TestSettingsOpen: what is left of git's settings that a command may write.
func TestSettingsOpen(t *testing.T) {
	_, s, file, needs := settingsBox(t)
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ script, kept, why string }{
		{"git remote add o https://h/o && git config branch.main.remote origin && git config branch.main.merge refs/heads/main", "https://h/o", ""},
		{"git config core.fsmonitor x", "", "it sets core.fsmonitor = x"},
		{"git config remote.origin.url https://evil/x", "", "it sets remote.origin.url = https://evil/x"},
		{"rm .git/config", "", "a command removed it, and it is there again"},
		{"mv .git/config .git/other", "", "a command removed it, and it is there again"},
		{": > .git/config", "", "it no longer sets core.filemode = true"},
		{"while :; do git config core.fsmonitor x; sleep 0.01; done", "", "it sets core.fsmonitor = x"},
	} {
		if err := os.WriteFile(file, was, 0o644); err != nil {
			t.Fatal(err)
		}
		shNeeds(t, s, c.script, needs)
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%s: %v", c.script, err)
		}
		if c.kept != "" && !strings.Contains(string(now), c.kept) || c.kept == "" && string(now) != string(was) {
			t.Errorf("%s: it says %s", c.script, now)
		}
		found := s.Found()
		if c.why == "" && len(found) > 0 {
			t.Errorf("%s: %+v", c.script, found)
		} else if c.why != "" && (len(found) == 0 || !strings.Contains(found[0].Why+found[0].Err, c.why)) {
			t.Errorf("%s: %+v, want %q", c.script, found, c.why)
		}
	}
}

// TestLocksOfTheEnded: a git that is ended because of what it wrote holds its locks no more.
// One that was there before stays, and so does what only looks like one.
func TestLocksOfTheEnded(t *testing.T) {
	c, s, _, needs := settingsBox(t)
	dir := filepath.Join(c.Dir, ".git")
	old := filepath.Join(dir, "packed-refs.lock")
	put(t, old, "")
	for last := newest(old); time.Since(last) < 2*tick; time.Sleep(time.Millisecond) { // it is older than the command
	}
	shNeeds(t, s, "touch .git/index.lock .git/config.lock .git/refs/heads/x.lock .git/objects/a.lock; printf '[core]\\n\\tfsmonitor = x\\n' >> .git/config; exec sleep 100", needs)
	if found := s.Found(); len(found) == 0 || !strings.Contains(found[0].Why, "core.fsmonitor") {
		t.Fatalf("%+v", found)
	}
	for name, want := range map[string]bool{"config.lock": false, "index.lock": false, "refs/heads/x.lock": false, "packed-refs.lock": true, "objects/a.lock": true} {
		if exists(filepath.Join(dir, name)) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	// The same of one that ends by itself is git's own affair, and of nobody's here.
	shNeeds(t, s, "touch .git/index.lock", needs)
	if !exists(filepath.Join(dir, "index.lock")) {
		t.Error("a lock of a command that was not ended is gone")
	}
}

// TestSettingsBeside: who has git's settings open ends no command beside it, and that one
// may write there no more than the other.
func TestSettingsBeside(t *testing.T) {
	c, s, file, needs := settingsBox(t)
	table := proc.NewTable()
	defer table.Close(time.Second)
	gate := filepath.Join(c.Dir, "gate")
	pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "echo begun; while ! [ -e gate ]; do sleep 0.02; done; git config core.fsmonitor x; echo over"}, Dir: c.Dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Home}}
	if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	p, err := table.Start(pc, w)
	if err != nil {
		t.Fatal(err)
	}
	begun := make([]byte, 5)
	if _, err := r.Read(begun); err != nil {
		t.Fatal(err)
	}
	if out, code, _ := shNeeds(t, s, "git remote add o https://h/o", needs); code != 0 {
		t.Fatal(out)
	}
	select {
	case <-p.Done():
		t.Fatalf("it was ended: %+v", p.Status())
	default:
	}
	put(t, gate, "")
	<-p.Done()
	now, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(now), "fsmonitor") || !strings.Contains(string(now), "https://h/o") {
		t.Errorf("%v: %s", err, now)
	}
}

// TestCopiesStay: what a worktree or a clone has of protected files that the repository
// had already is not taken away.
func TestCopiesStay(t *testing.T) {
	c, s, _, _ := settingsBox(t)
	for _, script := range []string{"git worktree add -q tree", "git clone -q . cloned"} {
		if out, code := sh(t, s, script); code != 0 {
			t.Fatal(out)
		}
	}
	for _, name := range []string{"tree", "cloned"} {
		if b, err := os.ReadFile(filepath.Join(c.Dir, name, ".npmrc")); err != nil || string(b) != "a=1\n" {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if found := s.Found(); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	sh(t, s, "mkdir other && echo b=2 > other/.npmrc")
	if found := s.Found(); len(found) != 1 {
		t.Errorf("another one stays: %+v", found)
	}
}
