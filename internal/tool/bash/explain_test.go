package bash

import (
	"regexp"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

func TestExplain(t *testing.T) {
	const no, yes = true, false // failed
	for _, c := range []struct {
		command string
		code    int
		quiet   bool
		note    string
		failed  bool
	}{
		{"true", 0, true, "", yes},
		{"grep x f", 1, true, "exit code 1: no match; that is not an error", yes},
		{"grep x f", 2, false, "exit code 2", no},
		{"cat f | grep -v x", 1, true, "exit code 1: no match; that is not an error", yes},
		{"/usr/bin/grep x f", 1, true, "exit code 1: no match; that is not an error", yes},
		{"LC_ALL=C timeout 5 nice -n 3 grep x f", 1, false, "exit code 1", no}, // 3 is taken for the program: said nothing, claimed nothing
		{"timeout 5 grep x f", 1, true, "exit code 1: no match; that is not an error", yes},
		{"git -C d grep x", 1, true, "exit code 1: no match; that is not an error", yes},
		{"git diff --quiet", 1, true, "exit code 1: there are differences; that is not an error", yes},
		{"git push", 1, false, "exit code 1", no},
		{"cd d && grep x f", 1, true, "exit code 1: no match; that is not an error", yes},
		{"cd d && grep x f", 1, false, "exit code 1", no},
		{"cd d && diff a b", 1, false, "exit code 1", no},
		{"test -f a && grep x a", 1, false, "exit code 1: no match; that is not an error", yes},
		{"make; grep x f", 1, false, "exit code 1: no match; that is not an error", yes},
		{"make && ! grep x f", 1, true, "exit code 1", no},
		{"(grep x f)", 1, true, "exit code 1: no match; that is not an error", yes},
		{"diff a b || grep x f", 1, false, "exit code 1: no match; that is not an error", yes},
		{"if grep", 1, true, "exit code 1", no},
		{"$X f", 1, true, "exit code 1", no},
		{"x", 124, true, "exit code 124: the timeout command ended it", no},
		{"x", 126, true, "exit code 126: found, but it cannot be run: not executable, or a directory", no},
		{"x", 127, true, "exit code 127: command not found", no},
		{"x", 137, true, "exit code 137: killed (SIGKILL); often because memory ran out", no},
		{"x", 139, true, "exit code 139: segmentation fault (SIGSEGV)", no},
		{"x", 143, true, "exit code 143: terminated (SIGTERM)", no},
		{"x", 42, true, "exit code 42", no},
	} {
		note, failed := exitNote(c.command, proc.Status{Code: c.code}, c.quiet)
		if note != c.note || failed != c.failed {
			t.Errorf("%s → %d: %q failed %v, want %q %v", c.command, c.code, note, failed, c.note, c.failed)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("a && b | c", 1)
	f.Add("timeout", 1)
	f.Add("git -C", 1)
	f.Fuzz(func(t *testing.T, command string, code int) {
		note, failed := exitNote(command, proc.Status{Code: code}, true)
		if (note == "") != (code == 0) || code == 0 && failed {
			t.Fatalf("%q %d: %q %v", command, code, note, failed)
		}
	})
}

func BenchmarkBash(b *testing.B) {
	r := newRunner(Config{Environ: []string{"PATH=/usr/bin:/bin"}})
	defer r.tasks.Close(0)
	dir := b.TempDir()
	env := tool.Env{Dir: dir, Roots: []string{dir}, Progress: func(string) {}}
	for b.Loop() {
		if res, err := r.run(b.Context(), input{Command: "echo hi"}, env); err != nil || res.Text != "hi" {
			b.Fatal(res, err)
		}
	}
}

// A command in the background that the sandbox made fail says so when its end is
// read, once.
func TestBlockedInTheBackground(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Wrap = func(*proc.Command, policy.Needs) (policy.Kept, error) { return policy.Kept{}, nil }
		c.Denial = func(_ string, exit int, output string) string {
			if exit == 3 && strings.Contains(output, "no way") {
				return "it may not write there"
			}
			return ""
		}
	})
	begin := func(command string) (id string) {
		text := r.call(t.Context(), "Bash", map[string]any{"command": command, "run_in_background": true}).Text
		return regexp.MustCompile(`\bb\d+\b`).FindString(text)
	}
	id := begin("echo no way; exit 3")
	if id == "" {
		t.Fatal("there is no task")
	}
	read := func(id string) string {
		return r.call(t.Context(), "TaskOutput", map[string]any{"id": id, "block": true}).Text
	}
	if got := read(id); !strings.Contains(got, "the sandbox blocked this: it may not write there") || !strings.Contains(got, "dangerously_disable_sandbox") {
		t.Error(got)
	}
	if got := read(id); strings.Contains(got, "blocked") {
		t.Errorf("told twice: %s", got)
	}
	if got := read(begin("echo no way; exit 4")); strings.Contains(got, "blocked") {
		t.Error(got)
	}
}

// Why the sandbox made a command fail is told to people as well; how to go on is the model's.
func TestBlockedIsShown(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Wrap = func(*proc.Command, policy.Needs) (policy.Kept, error) { return policy.Kept{}, nil }
		c.Denial = func(_ string, _ int, output string) string { return strings.TrimSpace(output) }
	})
	for command, want := range map[string]string{
		"echo it may not; exit 3":   Blocked + "it may not",
		"echo it may not; exit 127": "exit code 127: command not found; " + Blocked + "it may not",
		"exit 3":                    "exit code 3",
	} {
		res := r.call(t.Context(), "Bash", map[string]any{"command": command})
		v, _ := res.View.(view.Terminal)
		if v.Note != want || strings.Contains(res.Text, "dangerously_disable_sandbox") != strings.Contains(want, Blocked) {
			t.Errorf("%s: %q, not %q; the model reads %q", command, v.Note, want, res.Text)
		}
	}
}

// A command in the sandbox that looks for a process of one in the background is told
// that it cannot see it; where none runs, nothing is said of it.
func TestOwnProcesses(t *testing.T) {
	for _, c := range []struct {
		command, output string
		want            bool
	}{
		{"kill $(cat pid)", "bash: line 1: kill: (4711) - No such process", true},
		{"kill $(pgrep server)", "bash: line 1: kill: usage: kill [-s sigspec | -n signum | -sigspec] pid", true},
		{"python3 stop.py", "ProcessLookupError: [Errno 3] No such process", true},
		{"killall node", "node: no process found", true},
		{"cd d && pkill -f server", "", true}, {"pgrep node", "", true},
		{"pkill -f server; false", "", false}, {"grep x f", "", false}, {"npm test", "1 failed", false}, {"if pkill", "", false},
	} {
		if got := seeksProcess(c.command, c.output); got != c.want {
			t.Errorf("%s: %v", c.command, got)
		}
	}
	wrap := func(*proc.Command, policy.Needs) (policy.Kept, error) { return policy.Kept{}, nil }
	for _, confined := range []bool{true, false} {
		r := newRig(t, func(c *Config) {
			if confined {
				c.Wrap = wrap
			}
			c.Denial = func(string, int, string) string { return "" }
		})
		kill := func() string {
			return r.call(t.Context(), "Bash", map[string]any{"command": "kill 99999999"}).Text
		}
		if got := kill(); !strings.Contains(got, "No such process") || strings.Contains(got, "TaskStop") {
			t.Errorf("no task runs: %s", got)
		}
		r.call(t.Context(), "Bash", map[string]any{"command": "sleep 60", "run_in_background": true})
		if got := kill(); strings.Contains(got, "not every command sees") != confined {
			t.Errorf("confined %v: %s", confined, got)
		}
		if got := r.call(t.Context(), "Bash", map[string]any{"command": "exit 3"}).Text; strings.Contains(got, "TaskStop") {
			t.Errorf("another failure: %s", got)
		}
	}
}
