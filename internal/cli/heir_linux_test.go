package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilledLeavesNothing: when adze is killed while a command in the sandbox
// writes what steers git, nothing of it is there once the command is dead, and
// the next start says so.
func TestKilledLeavesNothing(t *testing.T) {
	for _, tool := range []string{"bwrap", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	p := newPlace(t)
	if out, err := exec.Command("git", "init", "-q", p.dir).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	p.put("work.sh", "mkdir -p .git/info; echo > ready; while :; do echo '* filter=x' > .git/a; mv .git/a .git/info/attributes; done\n")
	p.put("loop.txt", "@ Bash {\"command\": \"sh work.sh\"}\n---\n> fine\n")
	p.put("calm.txt", "@ Bash {\"command\": \"sh -c true\"}\n---\n> fine\n")
	var out bytes.Buffer
	cmd := p.adze("-p", "go", "--model", "script/loop.txt", "--sandbox", "true")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(what string, f func() bool) {
		t.Helper()
		for late := time.Now().Add(time.Minute); !f(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%s\n%s", what, out.String())
			}
		}
	}
	there := func(name string) func() bool {
		return func() bool { _, err := os.Lstat(filepath.Join(p.dir, name)); return err == nil }
	}
	until("the command does not run", there("ready"))
	until("it makes nothing", there(".git/info/attributes"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	until("no guardian saw to it", func() bool {
		left, _ := filepath.Glob(filepath.Join(p.home, ".adze/sandbox/*.journal"))
		return len(left) == 0
	})
	if there(".git/info/attributes")() {
		t.Error("what the command made is there")
	}
	b, err := p.adze("-p", "go", "--model", "script/calm.txt", "--sandbox", "true", "--output-format", "stream-json").CombinedOutput()
	if err != nil || !strings.Contains(string(b), "info/attributes, which a command made") {
		t.Errorf("%v: nothing is said: %s", err, b)
	}
}
