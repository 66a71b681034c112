//go:build unix

package bash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// A watcher gets tasks that have ended.
type watcher chan<- Task

func (watcher) Started(Task)          {}
func (watcher) Output(string, string) {}
func (watcher) Told(Task, string)     {}
func (w watcher) Ended(t Task)        { w <- t }

func TestBackground(t *testing.T) {
	ended := make(chan Task, 1)
	r := newRig(t, nil)
	r.tasks.Watch(watcher(ended))
	r.env.Call = "call/1"
	res := r.call(t.Context(), "Bash", map[string]any{"command": "echo one; echo two >&2; read x <fifo; echo three; exit 2", "run_in_background": true, "description": "count"})
	path := r.env.Scratch + "/tasks/b1-call_1.output"
	want := `Running in the background as b1. You are told when it ends. TaskOutput shows what it wrote, TaskStop ends it. All of its output goes to ` + path + ". It may run for 30m0s."
	if res.Text != want || res.IsErr {
		t.Fatalf("%+v", res)
	}
	// fifo does not exist: bash complains and goes on.
	res = r.call(t.Context(), "TaskOutput", map[string]any{"bash_id": "b1", "block": true})
	k := <-ended
	head := "[b1 ended with exit code 2 after " + k.Ended.Sub(k.Started).Round(1e8).String() + "; all output: " + path + "]\n"
	if res.Text != head+"one\ntwo\nbash: line 1: fifo: No such file or directory\nthree" {
		t.Errorf("%q", res.Text)
	}
	if res = r.call(t.Context(), "TaskOutput", map[string]any{"task_id": "b1"}); res.Text != head+"(no new output)" {
		t.Errorf("%q", res.Text)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), "one\ntwo\n") {
		t.Errorf("%q %v", b, err)
	}
	if k.ID != "b1" || k.Call != "call/1" || k.State != Exited || k.Exit != 2 || k.Path != path || k.Size == 0 {
		t.Errorf("%+v", k)
	}
	for in, want := range map[string]string{
		`{"id":"b7"}`:                  `there is no background task "b7"; there are b1`,
		`{"id":"b1","filter":"("}`:     "field \"filter\" is not a regular expression (RE2): error parsing regexp: missing closing ): `(`",
		`{"id":"b1","timeout":600001}`: `field "timeout" is 600001 ms; give 1 to 600000`,
		`{"shell":"b1"}`:               `unknown field "shell"; the fields are block, filter, task_id, timeout`,
	} {
		res, err := r.tools["TaskOutput"].Run(t.Context(), json.RawMessage(in), r.env)
		if err != nil || res.Text != want || !res.IsErr {
			t.Errorf("%s: %+v %v", in, res, err)
		}
	}
}

func TestReadsAreIncremental(t *testing.T) {
	r := newRig(t, nil)
	r.call(t.Context(), "Bash", map[string]any{"command": "mkfifo f g; for i in 1 2 3; do echo line $i; echo other $i; printf partial; cat f >/dev/null; echo; echo step >g; done", "run_in_background": true})
	for i, want := range []string{"line 1", "line 2", "line 3"} {
		var got string
		for !strings.Contains(got, "other") { // until this round's lines are there
			_, body, _ := strings.Cut(r.call(t.Context(), "TaskOutput", map[string]any{"id": "b1"}).Text, "\n")
			if body != "(no new output)" {
				got += body + "\n"
			}
		}
		if !strings.Contains(got, want) || strings.Contains(got, "line "+string(rune('0'+i))) {
			t.Errorf("round %d: %q", i+1, got)
		}
		r.bash("echo go >f; cat g")
	}
	res := r.call(t.Context(), "TaskOutput", map[string]any{"id": "b1", "block": true, "timeout": 60000, "filter": "^none"})
	if !strings.Contains(res.Text, "ended with exit code 0") {
		t.Errorf("%q", res.Text)
	}
}

func TestFilter(t *testing.T) {
	r := newRig(t, nil)
	r.call(t.Context(), "Bash", map[string]any{"command": "seq 1 50", "run_in_background": true})
	res := r.call(t.Context(), "TaskOutput", map[string]any{"id": "b1", "block": true, "filter": "^4.$"})
	if !strings.HasSuffix(res.Text, "]\n40\n41\n42\n43\n44\n45\n46\n47\n48\n49") {
		t.Errorf("%q", res.Text)
	}
}

func TestBlockIsInterrupted(t *testing.T) {
	r := newRig(t, nil)
	r.call(t.Context(), "Bash", map[string]any{"command": "sleep 1000", "run_in_background": true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res := r.call(ctx, "TaskOutput", map[string]any{"id": "b1", "block": true, "timeout": 600000})
	if res.Text != "interrupted; b1 goes on, and nothing of its output was skipped" || !res.IsErr {
		t.Errorf("%+v", res)
	}
	if k := r.tasks.List()[0]; k.State != Running {
		t.Errorf("%+v", k)
	}
}

func TestInterruptedBeforeTheStart(t *testing.T) {
	r := newRig(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res := r.call(ctx, "Bash", map[string]any{"command": "touch ran"}); !res.IsErr {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(r.env.Dir + "/ran"); err == nil {
		t.Error("it ran")
	}
}

func TestKill(t *testing.T) {
	r := newRig(t, nil)
	r.call(t.Context(), "Bash", map[string]any{"command": "echo up; sleep 1000 & wait", "run_in_background": true})
	if res := r.call(t.Context(), "TaskStop", map[string]any{"shell_id": "b1"}); res.IsErr || !strings.HasPrefix(res.Text, "b1 was told to end (echo up; sleep 1000 & wait)") {
		t.Errorf("%+v", res)
	}
	res := r.call(t.Context(), "TaskOutput", map[string]any{"id": "b1", "block": true})
	if !strings.HasPrefix(res.Text, "[b1 killed on request") {
		t.Errorf("%q", res.Text)
	}
	if res := r.call(t.Context(), "TaskStop", map[string]any{"id": "b1"}); res.IsErr || res.Text != "b1 had ended already: killed on request" {
		t.Errorf("%+v", res)
	}
	if res := r.call(t.Context(), "TaskStop", map[string]any{"id": "b9"}); !res.IsErr {
		t.Errorf("%+v", res)
	}
}

func TestMoveToBackground(t *testing.T) {
	ended := make(chan Task, 1)
	r := newRig(t, nil)
	r.tasks.Watch(watcher(ended))
	r.env.Call = "c1"
	wait := r.started(t.Context(), map[string]any{"command": "mkfifo pipe; echo before; cat pipe; echo after"})
	id, ok := r.tasks.Background("c1")
	if _, again := r.tasks.Background("c1"); id != "b1" || !ok || again {
		t.Fatalf("%q %v %v", id, ok, again)
	}
	if res := wait(); res.IsErr || !strings.HasPrefix(res.Text, "Running in the background as b1.") || res.View.(view.Terminal).Note != "in the background as b1" {
		t.Errorf("%+v", res)
	}
	r.bash("until [ -p pipe ]; do :; done; echo through >pipe")
	k := <-ended
	res := r.call(t.Context(), "TaskOutput", map[string]any{"id": "b1"})
	if !strings.HasSuffix(res.Text, "\nbefore\nthrough\nafter") || k.ID != "b1" {
		t.Errorf("%q %+v", res.Text, k)
	}
	if b, err := os.ReadFile(k.Path); err != nil || string(b) != "before\nthrough\nafter\n" {
		t.Errorf("file %q: %q %v", k.Path, b, err)
	}
	if _, ok := r.tasks.Background("nothing"); ok {
		t.Error("moved a call that does not run")
	}
}

// A late watcher is told that a task began when that has written already.
type late struct {
	watcher
	start func()
	said  *strings.Builder
}

func (l late) Started(k Task) {
	l.start()
	for b := []byte(nil); !strings.Contains(string(b), "one\n"); {
		b, _ = os.ReadFile(k.Path) // written by and by
	}
}

func (l late) Output(_, s string) { l.said.WriteString(s) }

// All that a task writes in the background is told, before its end, however long
// it takes until the first of it is.
func TestWhatATaskWritesIsTold(t *testing.T) {
	for move, want := range map[bool]string{false: "before\none\n", true: "one\n"} {
		ended := make(chan Task, 1)
		r := newRig(t, nil)
		l := late{ended, func() {
			if err := os.WriteFile(filepath.Join(r.env.Dir, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}, new(strings.Builder)}
		r.tasks.Watch(l)
		r.env.Call = "c1"
		in := map[string]any{"command": "echo before; until [ -e go ]; do :; done; echo one"}
		if move {
			wait := r.started(t.Context(), in)
			if _, ok := r.tasks.Background("c1"); !ok {
				t.Fatal("it is not moved")
			}
			wait()
		} else {
			in["run_in_background"] = true
			r.call(t.Context(), "Bash", in)
		}
		<-ended
		if got := l.said.String(); got != want {
			t.Errorf("moved %v: told %q, want %q", move, got, want)
		}
	}
}

func TestTooManyInBackground(t *testing.T) {
	r := newRig(t, nil)
	for range maxBackground {
		r.call(t.Context(), "Bash", map[string]any{"command": "sleep 1000", "run_in_background": true})
	}
	res := r.call(t.Context(), "Bash", map[string]any{"command": "true", "run_in_background": true})
	if res.Text != "the command was not run: 32 tasks run in the background already; end one with TaskStop first" || !res.IsErr {
		t.Errorf("%+v", res)
	}
	r.tasks.Close(0)
}

func TestPlan(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Wrap = func(*proc.Command, policy.Needs) (policy.Kept, error) { return policy.Kept{}, nil }
	})
	b := r.tools["Bash"]
	p, err := b.Plan(json.RawMessage(`{"command":"rm\u200b -rf x\u001b[2K","timeout":"1000"}`), r.env)
	if err != nil || p.Title != `Bash: rm\u200b -rf x\x1b[2K` || p.Parallel || len(p.Actions) == 0 ||
		!reflect.DeepEqual(p.View, view.Terminal{Command: `rm\u200b -rf x\x1b[2K`}) {
		t.Errorf("%+v %v", p, err)
	}
	p, err = b.Plan(json.RawMessage(`{"command":"true","description":"does nothing","dangerously_disable_sandbox":true}`), r.env)
	if err != nil || p.Title != "Bash: true" || p.Actions[len(p.Actions)-1] != (policy.Person{Why: "the model wants it to run outside the sandbox", Soft: true}) {
		t.Errorf("%+v %v", p, err)
	}
	for command, want := range map[string]bool{
		"cat file | wc -l": true, "echo a > file": false, "cd sub && ls": false, "# nothing": true, "make": false,
	} {
		in, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := b.Plan(in, r.env); err != nil || p.Parallel != want {
			t.Errorf("%s: parallel %v %v, want %v", command, p.Parallel, err, want)
		}
	}
	for in, want := range map[string]string{
		`{"command":" "}`:                  `field "command" is empty`,
		`{"command":"a\u0000b"}`:           `field "command" holds a NUL character, which no shell can read`,
		`{"command":"x","timeout":600001}`: `field "timeout" is 600001 ms; at most 600000 ms (10 minutes) is possible. Use run_in_background for a longer command`,
		`{"command":"x","timeout":-1}`:     `field "timeout" is -1; give milliseconds from 1 to 600000`,
		`{"cmd":"x"}`:                      `unknown field "cmd"; the fields are command, dangerously_disable_sandbox, description, run_in_background, timeout`,
		`{}`:                               `field "command" is missing; it is required`,
	} {
		if _, err := b.Plan(json.RawMessage(in), r.env); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func TestWrap(t *testing.T) {
	var fail error
	r := newRig(t, func(c *Config) {
		c.Wrap = func(c *proc.Command, _ policy.Needs) (policy.Kept, error) {
			c.Env = append(c.Env, "WRAPPED=yes")
			return policy.Kept{}, fail
		}
	})
	if got := r.bash("echo $WRAPPED"); got.Text != "yes" {
		t.Errorf("%q", got.Text)
	}
	res := r.call(t.Context(), "Bash", map[string]any{"command": "unset WRAPPED2; echo ${WRAPPED-no}", "dangerously_disable_sandbox": true})
	if res.Text != "no" && res.Text != "yes" { // the variable may have been exported state
		t.Errorf("%q", res.Text)
	}
	fail = errors.New("the sandbox cannot start")
	if got := r.bash("touch ran"); got.Text != "the command was not run: the sandbox cannot start" || !got.IsErr {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(r.env.Dir + "/ran"); err == nil {
		t.Error("it ran without its sandbox")
	}
}

// masker replaces a word; it holds back what could be the start of one.
type masker struct {
	w    io.Writer
	held []byte
}

func (m *masker) Write(p []byte) (int, error) {
	m.held = bytes.ReplaceAll(append(m.held, p...), []byte("secret"), []byte("******"))
	n := max(0, len(m.held)-5)
	_, err := m.w.Write(m.held[:n])
	m.held = append([]byte{}, m.held[n:]...)
	return len(p), err
}

func (m *masker) Flush() error { _, err := m.w.Write(m.held); return err }

func TestMask(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Mask = func(w io.Writer, _ []string) io.Writer { return &masker{w: w} } })
	if got := r.bash("printf se; sleep 0.1; printf 'cret\\nend'"); got.Text != "******\nend" {
		t.Errorf("%q", got.Text)
	}
}

func TestSpecs(t *testing.T) {
	r := newRig(t, nil)
	for name, max := range map[string]int{"Bash": 2048, "TaskOutput": 500, "TaskStop": 500} {
		if s := r.tools[name].Spec(); len(s.Description) > max || len(s.Description) < 50 {
			t.Errorf("%s: %d bytes of description", name, len(s.Description))
		}
	}
	if s := r.tools["Bash"].Spec(); !s.Shell || s.Limit != 30000 {
		t.Errorf("%+v", s)
	}
	if _, err := tool.NewSet(r.tools["Bash"], r.tools["TaskOutput"], r.tools["TaskStop"]); err != nil {
		t.Error(err)
	}
}
