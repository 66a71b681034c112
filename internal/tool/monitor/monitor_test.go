package monitor

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/bash"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// started keeps what is to be started.
type started struct{ w bash.Watch }

func (s *started) PlanCommand(command string, _ tool.Env) (tool.Plan, error) {
	return tool.Plan{Actions: []policy.Action{policy.Exec{Argv: strings.Fields(command)}}, Title: "Bash: " + command, Parallel: true, Sandboxed: true}, nil
}

func (s *started) StartWatch(_ context.Context, w bash.Watch, _ tool.Env) (tool.Result, error) {
	s.w = w
	return tool.Result{Text: "started"}, nil
}

// A command is planned as one of Bash, a WebSocket as a connection to its host, a file as
// one that is read.
func TestPlan(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := New(Config{Starter: &started{}})
	env := tool.Env{Dir: dir, Home: dir, Call: "c1"}
	for in, want := range map[string]string{
		`{"description":"d","command":"tail -f x"}`:              `Monitor: d: tail -f x {"Argv":["tail","-f","x"]`,
		`{"description":"d","ws":{"url":"wss://h.example:9/p"}}`: `Monitor: d: wss://h.example:9/p {"Host":"h.example","URL":"wss://h.example:9/p"}`,
		`{"description":"d","file":"log.txt"}`:                   `Monitor: d: log.txt {"Path":"` + filepath.ToSlash(filepath.Join(dir, "log.txt")) + `"`,
	} {
		p, err := m.Plan(json.RawMessage(in), env)
		if err != nil || len(p.Actions) != 1 || p.Parallel {
			t.Fatalf("%s: %+v %v", in, p, err)
		}
		raw, _ := json.Marshal(p.Actions[0])
		fields := strings.Replace(string(raw), `"Env":null,`, "", 1)
		if got := p.Title + " " + fields; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", in, got)
		}
	}
	for in, want := range map[string]string{
		`{"description":"d"}`: "give one of", `{"description":"d","command":"x","file":"y"}`: "give one of", `{"description":" ","command":"x"}`: "description",
		`{"description":"d","command":"x","timeout_ms":-1}`: "timeout_ms", `{"description":"d","ws":{"url":"http://h"}}`: "ws://", `{"description":"d","file":"/proc/self/fd/1"}`: "refused",
	} {
		if _, err := m.Plan(json.RawMessage(in), env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// A deadline above the bound is cut to it; a run that waits has a lower one.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		in   string
		once bool
		want time.Duration
	}{
		{`{"description":"d","command":"x"}`, false, 5 * time.Minute},
		{`{"description":"d","command":"x","timeout_ms":1000}`, true, time.Second},
		{`{"description":"d","command":"x","timeout_ms":9000000000}`, false, 30 * time.Minute},
		{`{"description":"d","command":"x","timeout_ms":1800000}`, true, 10 * time.Minute},
	} {
		s := &started{}
		if _, err := New(Config{Starter: s, Once: c.once}).Run(t.Context(), json.RawMessage(c.in), tool.Env{}); err != nil || s.w.Lasts != c.want || s.w.Command != "x" || s.w.What != "d" {
			t.Errorf("%s: %+v %v", c.in, s.w, err)
		}
	}
}

// What is appended to a file is told: also when it is made, cut or replaced meanwhile, but
// not what a link in its place leads to.
func TestTail(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "log.txt")
	write := func(flag int, text string) {
		t.Helper()
		f, err := os.OpenFile(path, flag|os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	write(0, "before\n")
	s := &started{}
	m := New(Config{Starter: s})
	if res, err := m.Run(t.Context(), json.RawMessage(`{"description":"d","file":"log.txt"}`), tool.Env{Dir: dir}); err != nil || res.IsErr {
		t.Fatal(res, err)
	}
	ctx, end := context.WithCancel(t.Context())
	r, w := io.Pipe()
	over := make(chan error)
	go func() {
		over <- s.w.Work(ctx, w)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(r)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
	}
	write(os.O_APPEND, "one\ntwo\n")
	next("one")
	next("two")
	write(os.O_TRUNC, "cut\n")
	next("cut")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(0, "anew\n")
	next("anew")
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret", path); err != nil {
		t.Skip(err)
	}
	if err := <-over; err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("behind a link: %v", err)
	}
	if lines.Scan() {
		t.Errorf("it tells %q", lines.Text())
	}
	end()
	if res, err := m.Run(t.Context(), json.RawMessage(`{"description":"d","file":"."}`), tool.Env{Dir: dir}); err != nil || !res.IsErr {
		t.Errorf("a folder is followed: %v %v", res, err)
	}
}
