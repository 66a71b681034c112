//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/transcript"
)

// A place is a home and a folder of work, with scripts in it.
type place struct {
	t         *testing.T
	dir, home string
	flags     []string // for running
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	for _, d := range []string{p.dir, p.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) put(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// adze is a run of the real binary that is not started yet.
func (p *place) adze(args ...string) *exec.Cmd {
	p.t.Helper()
	path, search := adzeOf(p.t)
	c := exec.Command(path, args...)
	c.Dir = p.dir
	c.Env = []string{"HOME=" + p.home, "PATH=" + search, "TMPDIR=" + p.home, "GOCOVERDIR=" + p.t.TempDir(), "GORACE=atexit_sleep_ms=0"}
	return c
}

// log is the folder of the only session.
func (p *place) log() string {
	p.t.Helper()
	found := ""
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "log.jsonl" {
			if found != "" {
				p.t.Fatalf("two sessions: %s and %s", found, path)
			}
			found = filepath.Dir(path)
		}
		return err
	})
	if err != nil || found == "" {
		p.t.Fatalf("no session below %s: %v", p.home, err)
	}
	return found
}

// history folds the session; every line of it must be readable.
func (p *place) history() (transcript.State, []event.Event) {
	p.t.Helper()
	r, err := jsonl.OpenReader(jsonl.Options{Dir: p.log()})
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	var st transcript.State
	var es []event.Event
	for e, err := range r.After(p.t.Context(), 0) {
		if err != nil {
			p.t.Fatal(err)
		}
		if want := event.Seq(len(es) + 1); e.Seq != want {
			p.t.Errorf("event %d comes as number %d", e.Seq, want)
		}
		st, es = st.Apply(e), append(es, e)
	}
	if bad := r.Report().Bad; len(bad) > 0 {
		p.t.Errorf("unreadable lines: %v", bad)
	}
	return st, es
}

// marker is a number of seconds that only this test sleeps, and a function
// that lists the processes that still do, by id.
func marker(t *testing.T) (seconds string, alive func() map[int]string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks at /proc")
	}
	sum := fnv.New32a()
	sum.Write([]byte(t.Name()))
	seconds = fmt.Sprintf("60.%d%010d", os.Getpid(), sum.Sum32())
	return seconds, func() map[int]string {
		out := map[int]string{}
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, d := range dirs {
			b, _ := os.ReadFile(filepath.Join(d, "cmdline"))
			if strings.HasPrefix(string(b), "sleep\x00"+seconds) {
				pid, _ := strconv.Atoi(filepath.Base(d))
				out[pid] = strings.ReplaceAll(string(b), "\x00", " ")
			}
		}
		return out
	}
}

// asleep waits for what is so of processes that sleep, a minute at most.
func asleep(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !is(); runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatalf("never so: %s", what)
		}
	}
}

// running starts adze with a command that is up: three processes sleep, one
// of them has left its session, and prelude came before them. It returns when
// they do.
func (p *place) running(seconds, prelude string, out *bytes.Buffer) *exec.Cmd {
	p.t.Helper()
	fifo := filepath.Join(p.dir, "up")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		p.t.Skip(err)
	}
	script, err := json.Marshal(map[string]any{"command": prelude + "sleep " + seconds + " & (setsid sleep " + seconds + " &) ; sleep " + seconds + " & echo up > up; wait", "timeout": 120_000})
	if err != nil {
		p.t.Fatal(err)
	}
	p.put("long.txt", "> I start it.\n@ Bash "+string(script)+"\n---\n> not reached\n")
	c := p.adze(append([]string{"-p", "go", "--model", "script/long.txt", "--allowed-tools", "Bash", "--output-format", "stream-json"}, p.flags...)...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() { // ends when the command is up, or below
		b, err := os.ReadFile(fifo)
		done <- fmt.Sprint(string(b), err)
	}()
	gone := make(chan error, 1)
	go func() { gone <- c.Wait() }() // ends with adze
	select {
	case got := <-done:
		if !strings.HasPrefix(got, "up") {
			p.t.Fatal(got)
		}
	case err := <-gone:
		w, _ := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0) // lets the reader go
		w.Close()
		p.t.Fatalf("adze ended before its command was up: %v\n%s", err, out)
	}
	p.t.Cleanup(func() { _ = c.Process.Kill() })
	p.t.Cleanup(func() { os.Remove(fifo) })
	return p.waited(c, gone)
}

// waited gives the result of a Wait that somebody else does to c.Cancel.
func (p *place) waited(c *exec.Cmd, gone chan error) *exec.Cmd {
	c.Cancel = func() error { return <-gone }
	return c
}

// codeOf is the exit code that err stands for, -1 for a death by signal.
func codeOf(err error) int {
	var x *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &x):
		return x.ExitCode()
	}
	return -2
}

// Faults 19, 20 and 21 in print mode: whatever asks adze to stop while a
// command runs, the command's whole tree is dead when adze is, the exit code
// says which signal it was, and the session can be gone on with.
func TestFault19_20_21_SignalsEndTheTree(t *testing.T) {
	for _, c := range []struct {
		sig     syscall.Signal
		sandbox string
		code    int
	}{{syscall.SIGHUP, "true", 129}, {syscall.SIGTERM, "true", 143}, {syscall.SIGTERM, "false", 143}, {syscall.SIGINT, "true", 130}, {syscall.SIGINT, "false", 130}} {
		t.Run(c.sig.String()+" sandbox "+c.sandbox, func(t *testing.T) {
			t.Parallel()
			seconds, alive := marker(t)
			p := newPlace(t)
			p.flags = []string{"--sandbox", c.sandbox}
			var out bytes.Buffer
			cmd := p.running(seconds, "", &out)
			asleep(t, "the shell has forked, and a child is about to be sleep", func() bool { return len(alive()) > 0 })
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			code := codeOf(cmd.Cancel())
			if left := alive(); len(left) > 0 {
				t.Errorf("alive after the end: %v", left)
			}
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, out.String())
			}
			last := lastLine(t, out.String())
			if last["type"] != "result" || last["subtype"] != "error_during_execution" {
				t.Errorf("the stream ends in %v", last)
			}
			if !strings.Contains(out.String(), "hint: go on with: adze --resume") {
				t.Errorf("no word on how to go on:\n%s", out.String())
			}
			p.goOn(event.Interrupted)
		})
	}
}

// lastLine is the last line of a stream that is JSON.
func lastLine(t *testing.T, out string) (last map[string]any) {
	t.Helper()
	for line := range strings.Lines(out) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) == nil {
			last = m
		}
	}
	return last
}

// goOn continues the session and checks that it is whole: the turn before
// ended like this, and the conversation is one that a provider accepts.
func (p *place) goOn(how event.End) {
	p.t.Helper()
	p.put("go-on.txt", "> gone on\n")
	c := p.adze("--continue", "-p", "go on", "--model", "script/go-on.txt")
	var errs bytes.Buffer
	c.Stderr = &errs
	b, err := c.Output()
	if err != nil || string(b) != "gone on\n" {
		p.t.Fatalf("adze --continue: %v, %q\n%s", err, b, errs.String())
	}
	if strings.Contains(errs.String(), "another program") { // a crash is no forgery
		p.t.Errorf("a false alarm: %s", errs.String())
	}
	st, es := p.history()
	if st.Running != "" || len(st.Open()) > 0 || st.Turn.End.How != event.Done {
		p.t.Errorf("left open: running %q, calls %v, end %+v", st.Running, st.Open(), st.Turn.End)
	}
	var ends []event.TurnEnded
	started := map[string]bool{}
	for _, e := range es {
		switch b := e.Body.(type) {
		case event.TurnEnded:
			ends = append(ends, b)
		case event.ToolStarted:
			started[b.Call] = true
		case event.ToolFinished:
			delete(started, b.Call)
		default: // of no interest here
		}
	}
	if len(ends) < 2 || ends[len(ends)-2].How != how {
		p.t.Errorf("the turn before ended like %+v, want %s", ends[:max(0, len(ends)-1)], how)
	}
	wellFormed(p.t, st.Messages())
}

// wellFormed checks that roles alternate and that every call has one result,
// in the message that follows.
func wellFormed(t *testing.T, ms []llm.Message) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range ms {
		if i > 0 && ms[i-1].Role == m.Role {
			t.Errorf("message %d repeats role %s", i, m.Role)
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case llm.ToolUse:
				open[part.ID] = true
			case llm.ToolResult:
				if !open[part.ID] {
					t.Errorf("message %d: a result for %s, which is not open", i, part.ID)
				}
				delete(open, part.ID)
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
		if m.Role == llm.User && len(open) > 0 {
			t.Errorf("message %d leaves calls without a result: %v", i, open)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", slices.Sorted(maps.Keys(open)))
	}
}

// Fault 21: while adze waits for a command that does not heed a request to
// end, a second interrupt ends adze at once, and the command with it.
func TestFault21_SecondInterruptEndsAtOnce(t *testing.T) {
	for _, sandbox := range []string{"true", "false"} {
		t.Run("sandbox "+sandbox, func(t *testing.T) {
			_, alive := marker(t)
			p, out, end := stubborn(t, sandbox)
			code := codeOf(end())
			if left := alive(); len(left) > 0 {
				t.Errorf("alive after the end: %v", left)
			}
			if code != 130 {
				t.Errorf("exit code %d\n%s", code, out.String())
			}
			p.goOn(event.Interrupted)
		})
	}
}

// stubborn interrupts a run whose command does not heed SIGTERM, twice: the
// second time when the command has been asked to end, which leaves it two
// seconds. end waits for adze.
func stubborn(t *testing.T, sandbox string) (p *place, out *bytes.Buffer, end func() error) {
	t.Helper()
	seconds, alive := marker(t)
	p, out = newPlace(t), &bytes.Buffer{}
	p.flags = []string{"--sandbox", sandbox}
	heard := filepath.Join(p.dir, "heard")
	if err := syscall.Mkfifo(heard, 0o644); err != nil {
		t.Skip(err)
	}
	cmd := p.running(seconds, "trap 'echo heard > heard' TERM; (trap '' TERM; exec sleep "+seconds+") & ", out)
	t.Cleanup(func() {
		for pid := range alive() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(heard); err != nil || string(b) != "heard\n" {
		t.Fatalf("%q, %v", b, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	return p, out, cmd.Cancel
}

// steps is a script of n commands and edits of a file, which must be read first.
func steps(n int) string {
	var b strings.Builder
	b.WriteString("@ Read {\"file_path\": \"f.txt\"}\n---\n")
	for i := range n {
		fmt.Fprintf(&b, "> step %d\n@ Bash {\"command\": \"echo %d >> ran.txt; echo out %d\"}\n---\n", i, i, i)
		fmt.Fprintf(&b, "@ Edit {\"file_path\": \"f.txt\", \"old_string\": \"%d\", \"new_string\": \"%d\"}\n@ Bash {\"command\": \"cat f.txt\"}\n---\n", i, i+1)
	}
	b.WriteString("> all done\n")
	return b.String()
}

// Fault 1 with the real binary: killed at any point, the log can be read,
// nothing that had to be durable is lost, the file that was edited is whole,
// and the session goes on.
func TestFault01_KilledBetweenAnySteps(t *testing.T) {
	for round := range 10 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.put("f.txt", "0\n")
			p.put("steps.txt", steps(30))
			cmd := p.adze("-p", "work", "--model", "script/steps.txt", "--allowed-tools", "Bash", "--allowed-tools", "Edit", "--output-format", "stream-json")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 1<<20)
			var results []string
			for n := 0; lines.Scan(); n++ {
				var l struct {
					Type    string
					Message struct {
						Content []struct {
							Type string
							ID   string `json:"tool_use_id"`
							Err  bool   `json:"is_error"`
							Text string `json:"content"`
						}
					}
				}
				// The last line may be torn: it is read after the kill.
				if err := json.Unmarshal(lines.Bytes(), &l); err != nil && n <= 1+4*round {
					t.Fatalf("%v: %s", err, lines.Text())
				}
				for _, c := range l.Message.Content {
					if c.Type == "tool_result" {
						results = append(results, c.ID)
						if c.Err {
							t.Errorf("a step failed: %s", c.Text)
						}
					}
				}
				if n == 1+4*round {
					if err := cmd.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			}
			err = cmd.Wait()
			if code := codeOf(err); code != -1 {
				t.Fatalf("it ended by itself with %d\n%s", code, errs.String())
			}
			p.afterKill(results)
			p.goOn(event.Interrupted)
		})
	}
}

// afterKill checks the log of a run that printed these results.
func (p *place) afterKill(results []string) {
	p.t.Helper()
	st, es := p.history()
	if st.First != "work" || st.Running == "" {
		p.t.Errorf("the prompt is lost: first %q, running %q", st.First, st.Running)
	}
	started := map[string]bool{}
	commands := 0
	for _, e := range es {
		if b, ok := e.Body.(event.ToolStarted); ok {
			started[b.Call] = true
			if strings.Contains(string(b.Input), "ran.txt") {
				commands++
			}
		}
	}
	for _, id := range results { // a start is durable before the call runs
		if !started[id] {
			p.t.Errorf("the start of %s is lost, whose result was printed", id)
		}
	}
	ran, err := os.ReadFile(filepath.Join(p.dir, "ran.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	if n := bytes.Count(ran, []byte("\n")); n > commands {
		p.t.Errorf("%d commands ran, %d are on disk", n, commands)
	}
	b, err := os.ReadFile(filepath.Join(p.dir, "f.txt"))
	if _, nerr := strconv.Atoi(strings.TrimSuffix(string(b), "\n")); err != nil || nerr != nil {
		p.t.Errorf("the edited file holds %q, %v", b, err)
	}
}
