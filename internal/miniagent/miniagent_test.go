package miniagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/file"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a folder, resolved, with one file that a helper may write.
func place(t *testing.T) (dir, notes string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "notes.md")
}

// spec is a helper that may read and write one file, with the file tools and
// others that it may not use.
func spec(t *testing.T, m *fake.Model, path string) Spec {
	t.Helper()
	mine := file.New(file.Config{})
	other := tool.New(tool.Spec{Name: "Other", Description: "is there for the cache"}, func(struct{}, tool.Env) (tool.Plan, error) {
		t.Error("a tool that is not there was planned")
		return tool.Plan{}, nil
	}, func(context.Context, struct{}, tool.Env) (tool.Result, error) {
		t.Error("a tool that is not there ran")
		return tool.Result{}, nil
	})
	set, err := tool.NewSet(append(slices.Clone(mine), tool.Tool(other))...)
	if err != nil {
		t.Fatal(err)
	}
	only := func(p string) bool { return p == path }
	dir := filepath.Dir(path)
	return Spec{
		For: event.ForNotes, Prompt: "write the notes", Env: tool.Env{Dir: dir, Roots: []string{dir}},
		Target: agent.Target{Model: m, Provider: "fake", Name: "m", Cost: func(u llm.Usage) (float64, bool) { return float64(u.In), true }},
		Tools:  Confine(set, mine, Limit{Read: only, Write: only, Ends: "Write"}),
		Rules:  policy.Rules{Dir: dir, Dirs: []string{dir}, Writable: []string{path}},
	}
}

func call(name string, in map[string]any) llm.ToolUse {
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return llm.ToolUse{ID: fmt.Sprintf("%s%d", name, len(b)), Name: name, Input: b}
}

// results are what the newest request says of the calls before it.
func results(m *fake.Model) (out []llm.ToolResult) {
	rs := m.Requests()
	msgs := rs[len(rs)-1].Messages
	for _, p := range msgs[len(msgs)-1].Parts {
		if r, ok := p.(llm.ToolResult); ok {
			out = append(out, r)
		}
	}
	return out
}

// A helper changes what it was made for and nothing else, and says what its
// requests cost.
func TestAHelperWritesItsFileAlone(t *testing.T) {
	dir, notes := place(t)
	m := &fake.Model{Replies: []fake.Reply{
		fake.Use(call("Write", map[string]any{"file_path": filepath.Join(dir, "other.md"), "content": "x"}),
			call("Read", map[string]any{"file_path": "/etc/passwd"}), call("Other", nil), call("Bash", map[string]any{"command": "id"})),
		fake.Use(call("Write", map[string]any{"file_path": notes, "content": "# Title\n"})),
	}}
	s := spec(t, m, notes)
	var spent []event.Spent
	s.Spent = func(e event.Spent) error { spent = append(spent, e); return nil }
	out, err := Run(t.Context(), s)
	if err != nil || !slices.Equal(out.Changed, []string{notes}) {
		t.Errorf("%+v, %v", out, err)
	}
	if b, _ := os.ReadFile(notes); string(b) != "# Title\n" {
		t.Errorf("the file says %q", b)
	}
	if _, err := os.Lstat(filepath.Join(dir, "other.md")); err == nil {
		t.Error("another file was written")
	}
	if len(m.Requests()) != 2 {
		t.Errorf("%d requests: the first success of Write ends it", len(m.Requests()))
	}
	for _, r := range results(m) {
		if !r.IsErr {
			t.Errorf("%s was not refused: %s", r.ID, r.Text)
		}
	}
	want := event.Spent{For: event.ForNotes, Model: "fake/m", Usage: llm.Usage{In: 10, Out: 5}, Cost: 10, Priced: true}
	if !slices.Equal(spent, []event.Spent{want, want}) {
		t.Errorf("spent %+v", spent)
	}
}

// The request behind a conversation is that conversation, byte for byte, with
// the same tools, and a prompt after it.
func TestHistoryStaysAsItIs(t *testing.T) {
	_, notes := place(t)
	history := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "hello"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm", Opaque: json.RawMessage(`"sig"`)}, call("Other", nil)}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "Other4", Text: "done"}}},
	}
	m := &fake.Model{Replies: []fake.Reply{fake.Say("nothing")}}
	s := spec(t, m, notes)
	s.History, s.CacheKey, s.System = history, "key", []string{"a", "b"}
	out, err := Run(t.Context(), s)
	if err != nil || out.Text != "nothing" || len(out.Changed) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	r := m.Requests()[0]
	if !reflect.DeepEqual(r.Messages[:2], history[:2]) || len(r.Messages) != 3 {
		t.Errorf("%+v", r.Messages)
	}
	last := r.Messages[2].Parts
	if !reflect.DeepEqual(last[0], history[2].Parts[0]) || len(last) != 2 || last[1].(llm.Text).S != "write the notes" {
		t.Errorf("the newest message is %+v", last)
	}
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	if strings.Join(names, " ") != "Edit MultiEdit Other Read Write" || r.CacheKey != "key" || !slices.Equal(r.System, s.System) {
		t.Errorf("%v %q %q", names, r.CacheKey, r.System)
	}
}

// What a rule denies stays denied, and what would be a question is refused:
// nobody is asked.
func TestRulesBindAHelper(t *testing.T) {
	dir, notes := place(t)
	write := fake.Use(call("Write", map[string]any{"file_path": notes, "content": "x"}))
	for name, change := range map[string]func(*Spec){
		"denied": func(s *Spec) {
			s.Rules.List = []policy.Rule{{Tool: "Write", Effect: policy.Deny}}
		},
		"a question": func(s *Spec) { s.Rules.Writable = nil },
	} {
		m := &fake.Model{Replies: []fake.Reply{write, fake.Say("so be it")}}
		s := spec(t, m, notes)
		change(&s)
		if out, err := Run(t.Context(), s); err != nil || len(out.Changed) > 0 || !results(m)[0].IsErr {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if es, _ := os.ReadDir(dir); len(es) > 0 {
		t.Errorf("%v was written", es)
	}
}

// A helper ends with its context, with its budget, and when its cost cannot be
// recorded; each is an error.
func TestAHelperEnds(t *testing.T) {
	_, notes := place(t)
	stall := func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	m := &fake.Model{Replies: []fake.Reply{func(c context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		close(begun)
		stall(c, r, yield)
	}}}
	done := make(chan error)
	go func() {
		_, err := Run(ctx, spec(t, m, notes))
		done <- err
	}()
	<-begun
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after its context: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it outlives its context")
	}

	again := fake.Use(call("Read", map[string]any{"file_path": notes}))
	m = &fake.Model{Replies: []fake.Reply{again, again, again}}
	s := spec(t, m, notes)
	s.Budget.Turns = 2
	if _, err := Run(t.Context(), s); err == nil || len(m.Requests()) != 2 {
		t.Errorf("%d requests, %v", len(m.Requests()), err)
	}
	m = &fake.Model{Replies: []fake.Reply{again, again}}
	s = spec(t, m, notes)
	broken := errors.New("the log is full")
	s.Spent = func(event.Spent) error { return broken }
	if _, err := Run(t.Context(), s); !errors.Is(err, broken) {
		t.Errorf("when its cost cannot be told: %v", err)
	}
}

// A limit is about each path that a call would touch, and about nothing that is
// not a file.
func TestLimits(t *testing.T) {
	c := confined{Limit: Limit{Read: func(p string) bool { return p == "/r" }, Write: func(p string) bool { return p == "/w" }}}
	for _, k := range []struct {
		a    policy.Action
		want bool
	}{
		{policy.Read{Path: "/r"}, true}, {policy.Read{Path: "/w"}, false}, {policy.Read{Path: "/r", Tree: true}, false},
		{policy.Write{Path: "/w"}, true}, {policy.Write{Path: "/r"}, false}, {policy.Write{Path: "/w", Tree: true}, false}, {policy.Write{Path: "/w", Remove: true}, false},
		{policy.None{}, true}, {policy.Exec{Argv: []string{"ls"}}, false}, {policy.Opaque{}, false}, {policy.Net{Host: "x"}, false},
		{policy.Call{}, false}, {policy.Spawn{}, false}, {policy.Skill{}, false}, {policy.Person{}, false},
	} {
		if _, got := c.covers(k.a); got != k.want {
			t.Errorf("%#v: %t", k.a, got)
		}
	}
}
