//go:build unix

package bash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// The names follow the fault list of the reliability spec.

// mark returns a word that only processes of this test have on their command
// line, and a function that lists those still alive.
func mark(t *testing.T) (word string, alive func() []string) {
	if runtime.GOOS != "linux" {
		t.Skip("looks at /proc")
	}
	word = fmt.Sprintf("98765.%d%d", os.Getpid(), len(t.Name()))
	return word, func() (out []string) {
		dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, d := range dirs {
			b, _ := os.ReadFile(d)
			if strings.Contains(string(b), word) {
				out = append(out, strings.ReplaceAll(string(b), "\x00", " "))
			}
		}
		return out
	}
}

// zombies counts dead children of this process that nobody has reaped.
func zombies() (n int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, s := range stats {
		b, _ := os.ReadFile(s)
		_, rest, _ := strings.Cut(string(b), ") ")
		f := strings.Fields(rest)
		if len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			n++
		}
	}
	return n
}

// started runs command, waits for its first output and returns a function
// that waits for the result.
func (r *rig) started(ctx context.Context, in map[string]any) (wait func() tool.Result) {
	r.t.Helper()
	seen, done := make(chan struct{}, 1), make(chan tool.Result, 1)
	env := r.env
	env.Progress = func(string) {
		select {
		case seen <- struct{}{}:
		default:
		}
	}
	other := *r
	other.env = env
	go func() { done <- other.call(ctx, "Bash", in) }()
	select {
	case <-seen:
	case res := <-done:
		r.t.Fatalf("ended before it wrote anything: %+v", res)
	}
	return func() tool.Result { return <-done }
}

func TestFault20TreeDiesWithTheSession(t *testing.T) {
	word, alive := mark(t)
	r := newRig(t, nil)
	wait := r.started(t.Context(), map[string]any{"command": "sleep " + word + " & (sleep " + word + " & sleep " + word + ") & echo go; wait"})
	bg := r.call(t.Context(), "Bash", map[string]any{"command": "setsid -f sleep " + word + "; sleep " + word, "run_in_background": true})
	if !strings.Contains(bg.Text, "as b1.") {
		t.Fatalf("%+v", bg)
	}
	r.tasks.Close(proc.Grace)
	if got := wait(); got.Text != "go\n[killed: the session ended]" || !got.IsErr {
		t.Errorf("%+v", got)
	}
	if left := alive(); left != nil {
		t.Errorf("alive after Close: %q", left)
	}
	if got := r.bash("echo x"); got.Text != "the command was not run: start command: adze is shutting down" || !got.IsErr {
		t.Errorf("after Close: %+v", got)
	}
}

func TestFault28EndlessOutput(t *testing.T) {
	r := newRig(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := r.bash("yes")
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
	checkFlood(t, r, res)
	if lines := strings.Count(res.Text, "y\n"); lines < 10_000 {
		t.Errorf("only %d lines kept", lines)
	}
}

func TestFault29OneEndlessLine(t *testing.T) {
	r := newRig(t, nil)
	res := r.bash("head -c 1000000000 /dev/zero | tr '\\0' a")
	checkFlood(t, r, res)
}

func checkFlood(t *testing.T, r *rig, res tool.Result) {
	t.Helper()
	if !res.IsErr || !strings.HasSuffix(res.Text, "\n[killed: it wrote more than 300.0 MB]") || len(res.Text) > limit {
		t.Errorf("%d bytes, error %v, end %q", len(res.Text), res.IsErr, res.Text[len(res.Text)-100:])
	}
	m := regexp.MustCompile(`\[3\d\d\.\d MB left out; (\S+) has its first and last parts, up to 30 MB\]`).FindStringSubmatch(res.Text)
	if m == nil {
		t.Fatalf("no cut is named in %q", res.Text[len(res.Text)-12000:])
	}
	info, err := os.Stat(m[1])
	if err != nil || info.Size() > proc.FileSize || info.Size() < proc.FileSize-10_000 {
		t.Errorf("file: %v %v", info, err)
	}
	if want := filepath.Join(r.env.Scratch, "tool-results"); filepath.Dir(m[1]) != want {
		t.Errorf("file in %s, want %s", filepath.Dir(m[1]), want)
	}
	if d := res.View.(view.Terminal).Dropped; d < 290_000_000 {
		t.Errorf("dropped %d", d)
	}
}

func TestLongOutputIsInAFile(t *testing.T) {
	r := newRig(t, nil)
	r.env.Call = "toolu_01"
	res := r.bash("seq 1 100000")
	path := filepath.Join(r.env.Scratch, "tool-results", "toolu_01.txt")
	if !strings.Contains(res.Text, "left out; all of it is in "+path) || len(res.Text) > limit ||
		!strings.HasPrefix(res.Text, "1\n2\n3\n") || !strings.HasSuffix(res.Text, "\n99999\n100000") {
		t.Errorf("%q … %q", res.Text[:50], res.Text[len(res.Text)-50:])
	}
	var want strings.Builder
	for i := 1; i <= 100000; i++ {
		fmt.Fprintln(&want, i)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want.String() {
		t.Errorf("file: %d bytes, want %d; %v", len(got), want.Len(), err)
	}
}

// A cut always names a file.
func TestBarelyCutOutputIsInAFile(t *testing.T) {
	r := newRig(t, nil)
	res := r.bash("seq 1 6000") // 28,893 bytes
	if !strings.Contains(res.Text, "left out; all of it is in "+r.env.Scratch) {
		t.Errorf("%d bytes without a file", len(res.Text))
	}
	if res := r.bash("seq 1 5000"); strings.Contains(res.Text, "left out") || strings.Count(res.Text, "\n") != 4999 {
		t.Errorf("%d bytes, cut", len(res.Text))
	}
}

func TestFault30BinaryOutput(t *testing.T) {
	r := newRig(t, nil)
	for _, command := range []string{"head -c 5000 /dev/urandom", "head -c 1000 /bin/bash", "head -c 1000 /dev/zero"} {
		res := r.bash(command)
		if !regexp.MustCompile(`^\[binary output, \d+(\.\d)? (KB|bytes); the first 256 bytes:\]\n00000000  `).MatchString(res.Text) || res.IsErr {
			t.Errorf("%s: %q", command, res.Text)
		}
		if raw := strings.IndexFunc(res.Text, func(c rune) bool { return c < 0x20 && c != '\n' || c > 0x7e }); raw >= 0 {
			t.Errorf("%s: raw byte at %d", command, raw)
		}
	}
}

func TestFault31MultibyteAtChunkEdges(t *testing.T) {
	r := newRig(t, nil)
	var live strings.Builder
	r.env.Progress = func(s string) { live.WriteString(s) }
	// Three-byte characters never end at a multiple of the pipe's 65,536 bytes.
	res := r.bash(`printf 'x'; for i in {1..2000}; do printf '世界é'; done; printf '\xff\n'`)
	if strings.Count(res.Text, "\ufffd") != 1 || !strings.HasPrefix(res.Text, "x世界é世") || !strings.HasSuffix(res.Text, "界é\ufffd") {
		t.Errorf("%d replacement characters in %q…", strings.Count(res.Text, "\ufffd"), res.Text[:40])
	}
	res = r.bash(`for i in {1..40000}; do printf '世界é'; done`) // cut in the middle
	if !utf8.ValidString(res.Text) || strings.Contains(res.Text, "\ufffd") || len(res.Text) > limit {
		t.Errorf("cut output: %d bytes, %d replacement characters", len(res.Text), strings.Count(res.Text, "\ufffd"))
	}
	if n := strings.Count(live.String(), "\ufffd"); n > 1 {
		t.Errorf("%d replacement characters in live output", n)
	}
}

func TestFault33EscapeFlood(t *testing.T) {
	r := newRig(t, nil)
	var live strings.Builder
	r.env.Progress = func(s string) { live.WriteString(s) }
	res := r.bash(`for i in {1..500}; do printf '\e[31;1mA\e]0;title\aB\eP1;2q\e\\C\x9b31m\r\n'; done; printf '\e]52;c;ZXZpbA==\a\e[?1049h\e[2J'`)
	for name, s := range map[string]string{"result": res.Text, "live": live.String()} {
		if strings.ContainsAny(s, "\x1b\x07\r") || strings.Contains(s, "title") || strings.Contains(s, "ZXZpbA") {
			t.Errorf("%s: %q", name, s[:min(len(s), 200)])
		}
	}
	if !strings.HasPrefix(res.Text, "ABC") {
		t.Errorf("%q", res.Text[:50])
	}
}

func TestFault34WaitsOnInput(t *testing.T) {
	r := newRig(t, nil)
	for command, want := range map[string]string{
		"read x; echo got:$x":                  "got:",
		"cat; echo end":                        "end",
		"read x </dev/tty || echo no terminal": "bash: line 1: /dev/tty: No such device or address\nno terminal",
		"python3 -c 'input()' 2>&1 | tail -1":  "EOFError: EOF when reading a line",
		"git -c core.editor=vi --version >/dev/null; echo $GIT_EDITOR $EDITOR $PAGER $GIT_PAGER $TERM $GIT_TERMINAL_PROMPT": "true true cat cat dumb 0",
	} {
		if got := r.bash(command); got.Text != want {
			t.Errorf("%s: %q, want %q", command, got.Text, want)
		}
	}
}

func TestFault35IgnoresTerm(t *testing.T) {
	word, alive := mark(t)
	r := newRig(t, nil)
	begun := time.Now()
	res := r.call(t.Context(), "Bash", map[string]any{
		"command": "trap '' TERM; echo deaf; while :; do sleep " + word + "; done", "timeout": 1500, // time to set the trap, also on a busy machine
	})
	if want := "deaf\n[timed out after 1.5s and was ended; what it printed until then is above. Use a longer timeout, or run_in_background]"; res.Text != want || !res.IsErr {
		t.Errorf("got %q\nwant %q", res.Text, want)
	}
	if took := time.Since(begun); took < proc.Grace || proc.Grace != 2*time.Second {
		t.Errorf("killed after %v, without the 2 s it has", took)
	}
	if left := alive(); left != nil {
		t.Errorf("alive: %q", left)
	}
	res = r.call(t.Context(), "Bash", map[string]any{"command": "trap 'echo bye; exit' TERM; echo hi; sleep " + word + " & wait", "timeout": 1500})
	if !strings.HasPrefix(res.Text, "hi\nbye\n[timed out") {
		t.Errorf("TERM was not heard: %q", res.Text)
	}
}

func TestFault36DetachedChildren(t *testing.T) {
	word, alive := mark(t)
	r := newRig(t, nil)
	double := `python3 -c '
import os,sys,time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for f in range(3): os.close(f)
os.execvpe("sleep",["sleep","` + word + `"],{})
'`
	for _, command := range []string{
		"sleep " + word + " & echo ok",
		"nohup sleep " + word + " >/dev/null 2>&1 & echo ok",
		"setsid sleep " + word + " & echo ok",
		"setsid -f sleep " + word + "; echo ok",
		"env -i /usr/bin/setsid -f /usr/bin/env -i /bin/sleep " + word + " >/dev/null 2>&1 </dev/null; echo ok",
		"(trap '' TERM HUP; setsid sleep " + word + ") >/dev/null & disown; echo ok",
		double + "; sleep 0.3; echo ok",
	} {
		res := r.bash(command)
		if !strings.HasPrefix(res.Text, "ok\n[1 process that it left running was ended: ") && !strings.HasPrefix(res.Text, "ok\n[2 processes that it left running were ended: ") || res.IsErr {
			t.Errorf("%s: %q", command, res.Text)
		}
		if left := alive(); left != nil {
			t.Errorf("%s: alive: %q", command, left)
		}
	}
	r.bash("for i in 1 2 3; do setsid -f true; (true &) ; done; sleep 0.1")
	r.tasks.Close(0)
	if n := zombies(); n > 0 {
		t.Errorf("%d zombies", n)
	}
}

// A command's leftovers go; what another command runs stays.
func TestOnlyOwnChildrenAreEnded(t *testing.T) {
	word, alive := mark(t)
	r := newRig(t, nil)
	r.call(t.Context(), "Bash", map[string]any{"command": "echo up; setsid sleep " + word + " & wait", "run_in_background": true})
	r.call(t.Context(), "TaskOutput", map[string]any{"id": "b1", "block": true, "timeout": 200})
	for range 3 {
		r.bash("sleep 1" + word + " & setsid -f true")
	}
	left := alive()
	if len(left) < 2 {
		t.Errorf("of the background command only %q is left", left)
	}
	for _, l := range left {
		if strings.Contains(l, "sleep 1"+word) {
			t.Errorf("alive: %s", l)
		}
	}
}

func TestFault37BackgroundOutlivesNothing(t *testing.T) {
	word, alive := mark(t)
	ended := make(chan Task, 10)
	r := newRig(t, nil)
	r.tasks.Watch(watcher(ended))
	r.call(t.Context(), "Bash", map[string]any{"command": "sleep " + word, "run_in_background": true})
	r.call(t.Context(), "Bash", map[string]any{"command": "setsid -f sleep " + word, "run_in_background": true})
	r.call(t.Context(), "Bash", map[string]any{"command": "echo quick; exit 4", "run_in_background": true})
	if k := <-ended; k.ID != "b3" || k.State != Exited || k.Exit != 4 {
		t.Errorf("%+v", k)
	}
	for i, k := range r.tasks.List() {
		if want := []State{Running, Running, Exited}[i]; k.State != want || k.ID != fmt.Sprintf("b%d", i+1) {
			t.Errorf("%+v, want %s", k, want)
		}
	}
	r.tasks.Close(proc.Grace)
	for range 2 {
		if k := <-ended; k.State != Killed || k.Note != "killed: the session ended" {
			t.Errorf("%+v", k)
		}
	}
	if left := alive(); left != nil {
		t.Errorf("alive: %q", left)
	}
}

func TestFault38MemoryHogDiesFirst(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("oom_score_adj is Linux")
	}
	r := newRig(t, nil)
	if res := r.bash("bash -c 'cat /proc/self/oom_score_adj'"); res.Text != "500" {
		t.Errorf("%q", res.Text)
	}
}

// The result of a command that used too much says so.
func TestFault38TheResultNamesTheLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks at /proc")
	}
	r := newRig(t, func(c *Config) { c.Limits = proc.Limits{Memory: 150_000_000, Processes: 20} })
	for command, want := range map[string]string{
		"echo go; x=$(head -c 300000000 /dev/zero | tr '\\0' a); sleep 1000":    "go\n[killed: its processes used more than 150.0 MB of memory]",
		"echo go; for i in {1..40}; do (setsid sleep 1000 &); done; sleep 1000": "go\n[killed: it had more than 20 processes]",
	} {
		if res := r.bash(command); res.Text != want || !res.IsErr {
			t.Errorf("%s: %q, want %q", command, res.Text, want)
		}
	}
}

func TestFault39DeletedDirectory(t *testing.T) {
	r := newRig(t, nil)
	root := r.env.Dir
	if res := r.bash("mkdir -p a/b && cd a/b && pwd"); dirOf(res) != root+"/a/b" {
		t.Fatalf("%+v", res)
	}
	if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	res := r.bash("pwd")
	want := "the command was not run: the working directory " + root + "/a/b no longer exists. The working directory is now " + root + "; run the command again if it still makes sense there."
	if res.Text != want || !res.IsErr || dirOf(res) != root {
		t.Errorf("%+v", res)
	}
	if res := r.bash("pwd"); res.Text != root {
		t.Errorf("%+v", res)
	}
	res = r.bash("mkdir gone && cd gone && rmdir ../gone")
	if !strings.Contains(res.Text, "no longer exists; it is now "+root) || r.env.Dir != root {
		t.Errorf("%+v", res)
	}
}

func TestInterruptReturnsBeforeTheTreeIsGone(t *testing.T) {
	word, alive := mark(t)
	r := newRig(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	wait := r.started(ctx, map[string]any{"command": "trap '' TERM; echo go; while :; do sleep " + word + "; done"})
	cancel()
	res := wait()
	if len(alive()) == 0 {
		t.Error("the deaf command is gone already: the result waited for the kill")
	}
	if res.Text != "go\n[interrupted before it ended]" || !res.IsErr {
		t.Errorf("%+v", res)
	}
	r.tasks.Close(proc.Grace)
	if left := alive(); left != nil {
		t.Errorf("alive: %q", left)
	}
}
