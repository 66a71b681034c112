package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// running starts a script inside, which goes on until it is ended or five
// seconds are over.
func running(t *testing.T, s *Sandbox, c Config, script string) (*proc.Process, *bytes.Buffer) {
	t.Helper()
	table := proc.NewTable()
	t.Cleanup(func() { table.Close(0) })
	pc := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: c.Dir, Env: []string{"PATH=/usr/bin:/bin"}}
	if _, err := s.Wrap(&pc, policy.Needs{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p, err := table.Start(pc, &out)
	if err != nil {
		t.Fatal(err)
	}
	return p, &out
}

// await waits until a file is there.
func await(t *testing.T, path string) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !exists(path); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%s is not there", path)
		}
	}
}

// ended waits for the end of a command and returns why it was ended.
func ended(t *testing.T, p *proc.Process) string {
	t.Helper()
	select {
	case <-p.Done():
		return p.Status().Over
	case <-time.After(time.Minute):
		t.Fatal("it still runs")
		return ""
	}
}

// TestPutBack: a command that puts back what is taken away is ended, whole, and
// nothing of it stays; an older one that does nothing of the kind goes on.
func TestPutBack(t *testing.T) {
	need(t, "git")
	c := testConfig(t, "bwrap")
	git(t, c, c.Dir, "init", "-q", "-b", "main")
	s := open(t, c)
	calm, _ := running(t, s, c, "touch calm; exec sleep 100")
	await(t, filepath.Join(c.Dir, "calm"))
	p, _ := running(t, s, c, "(setsid sh -c 'while :; do echo ../x > .git/c; mv .git/c .git/commondir; done' &) ; exec sleep 100")
	if why := ended(t, p); !strings.Contains(why, ".git/commondir") || !strings.Contains(why, "again and again") {
		t.Errorf("%q", why)
	}
	if exists(filepath.Join(c.Dir, ".git/commondir")) {
		t.Error("it is still there")
	}
	select {
	case <-calm.Done():
		t.Errorf("another command was ended: %q", calm.Status().Over)
	default:
	}
	calm.Stop(0)
	<-calm.Done()
}

// TestReplacedOutside: when a program outside replaces what is mounted for a
// command, the mount is gone; the command is ended before it can do much, and
// what it did is taken back.
func TestReplacedOutside(t *testing.T) {
	need(t, "git")
	c := testConfig(t, "bwrap")
	git(t, c, c.Dir, "init", "-q", "-b", "main")
	git(t, c, c.Dir, "config", "alias.st", "!status") // not harmless, and there before
	put(t, filepath.Join(c.Dir, ".mcp.json"), "{}\n")
	secret := filepath.Join(c.Home, ".netrc")
	put(t, secret, "secret\n")
	s := open(t, c)
	config := filepath.Join(c.Dir, ".git/config")
	for name, tc := range map[string]struct {
		script  string
		replace func()
		after   func() string
	}{
		"settings": {"echo '[core]' >> .git/config && echo 'fsmonitor = ./evil' >> .git/config && echo >> written", func() { git(t, c, c.Dir, "config", "user.name", "y") }, func() string {
			b, _ := os.ReadFile(config)
			if strings.Contains(string(b), "evil") || !strings.Contains(string(b), "!status") {
				return string(b)
			}
			return ""
		}},
		"file": {"echo evil >> .mcp.json", func() {
			put(t, filepath.Join(c.Dir, "m"), "{}\n")
			_ = os.Rename(filepath.Join(c.Dir, "m"), filepath.Join(c.Dir, ".mcp.json"))
		}, func() string {
			b, _ := os.ReadFile(filepath.Join(c.Dir, ".mcp.json"))
			if string(b) != "{}\n" {
				return string(b)
			}
			return ""
		}},
		"removed": {"echo x > .mcp.json", func() { _ = os.Remove(filepath.Join(c.Dir, ".mcp.json")) }, func() string {
			b, _ := os.ReadFile(filepath.Join(c.Dir, ".mcp.json"))
			if string(b) == "x\n" {
				return string(b)
			}
			put(t, filepath.Join(c.Dir, ".mcp.json"), "{}\n")
			return ""
		}},
		"secret": {"cat " + secret, func() {
			put(t, secret+".new", "secret\n")
			_ = os.Rename(secret+".new", secret)
		}, func() string { return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			ready := filepath.Join(c.Dir, "ready-"+name)
			p, _ := running(t, s, c, "touch "+ready+"; for i in $(seq 2000); do ("+tc.script+") >/dev/null 2>&1; sleep 0.01; done")
			await(t, ready)
			tc.replace()
			if why := ended(t, p); !strings.Contains(why, "another program replaced") {
				t.Errorf("it went on: %q", why)
			}
			if why := tc.after(); why != "" {
				t.Errorf("it stays: %s\n%+v", why, s.Found())
			}
		})
	}
}

// TestFarIsSettled: no number of folders hides what a command left.
func TestFarIsSettled(t *testing.T) {
	c := testConfig(t, "bwrap")
	put(t, filepath.Join(c.Dir, "zzz/old/.vscode/tasks.json"), "{}")
	for i := range maxFolders + 100 {
		if err := os.MkdirAll(fmt.Sprintf("%s/many/%d", c.Dir, i), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, c)
	time.Sleep(2 * tick) // what is there now is older than the command
	sh(t, s, "mkdir -p zzz/r/s/.git zzz/new/.vscode; echo '[core]' > zzz/r/s/.git/config; echo fsmonitor=x >> zzz/r/s/.git/config; echo '{}' > zzz/new/.vscode/tasks.json")
	for _, gone := range []string{"zzz/r/s/.git/config", "zzz/new/.vscode"} {
		if exists(filepath.Join(c.Dir, gone)) {
			t.Errorf("%s stays", gone)
		}
	}
	if !exists(filepath.Join(c.Dir, "zzz/old/.vscode/tasks.json")) {
		t.Error("what was there before is gone")
	}
	s.Found()
	s.auditor.survey.most = 10 // as if there were more than can be looked at
	sh(t, s, "true")
	if f := s.Found(); len(f) != 1 || !strings.Contains(f[0].Err, "more than 10 folders") {
		t.Errorf("nothing is said: %+v", f)
	}
}
