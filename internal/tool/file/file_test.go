package file

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// bench is a set of tools in a folder of its own.
type bench struct {
	t     *testing.T
	dir   string
	env   tool.Env
	tools tool.Set
	led   *Ledger
}

func newBench(t *testing.T, c Config) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.Ledger == nil {
		c.Ledger = NewLedger()
	}
	set, err := tool.NewSet(New(c)...)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, dir: dir, tools: set, led: c.Ledger,
		env: tool.Env{Dir: dir, Roots: []string{dir}, Home: dir, Images: true, Progress: func(string) {}}}
}

func (b *bench) put(name, content string) string {
	b.t.Helper()
	p := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) get(name string) string {
	b.t.Helper()
	c, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(c)
}

// in is a tool's input by field name.
type in map[string]any

func (b *bench) raw(m in) json.RawMessage {
	b.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// run plans and runs as the loop does: a plan's error is the result.
func (b *bench) run(name string, m in) tool.Result {
	b.t.Helper()
	tl, ok := b.tools.Get(name)
	if !ok {
		b.t.Fatalf("no tool %s", name)
	}
	if _, err := tl.Plan(b.raw(m), b.env); err != nil {
		return tool.Errorf("%s", err)
	}
	r, err := tl.Run(context.Background(), b.raw(m), b.env)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) ok(name string, m in) tool.Result {
	b.t.Helper()
	r := b.run(name, m)
	if r.IsErr {
		b.t.Fatalf("%s %v: %s", name, m, r.Text)
	}
	return r
}

func (b *bench) fails(want, name string, m in) {
	b.t.Helper()
	r := b.run(name, m)
	if !r.IsErr || !strings.Contains(r.Text, want) {
		b.t.Errorf("%s %v: got error %v %q, want one with %q", name, m, r.IsErr, r.Text, want)
	}
}

func TestReadEditWrite(t *testing.T) {
	b := newBench(t, Config{})
	b.put("a.go", "package a\n\nfunc F() {}\n")
	r := b.ok("Read", in{"file_path": "a.go"})
	if want := "     1\tpackage a\n     2\t\n     3\tfunc F() {}\n"; r.Text != want {
		t.Errorf("read: got %q, want %q", r.Text, want)
	}
	r = b.ok("Edit", in{"file_path": "a.go", "old_string": "func F()", "new_string": "func G()"})
	if got := b.get("a.go"); got != "package a\n\nfunc G() {}\n" {
		t.Errorf("edit: got %q", got)
	}
	if !strings.Contains(r.Text, "     3\tfunc G() {}") {
		t.Errorf("edit result: %q", r.Text)
	}
	b.ok("Edit", in{"file_path": "a.go", "old_string": "func G()", "new_string": "func H()"})
	b.ok("Write", in{"file_path": "new/deep/b.txt", "content": "x\n"})
	if got := b.get("new/deep/b.txt"); got != "x\n" {
		t.Errorf("write: got %q", got)
	}
	b.ok("Write", in{"file_path": "new/deep/b.txt", "content": "y\n"})
	b.ok("MultiEdit", in{"file_path": "a.go", "edits": []in{
		{"old_string": "package a", "new_string": "package b"}, {"old_string": "package b", "new_string": "package c"}}})
	if got := b.get("a.go"); got != "package c\n\nfunc H() {}\n" {
		t.Errorf("multi: got %q", got)
	}
}

func TestPlan(t *testing.T) {
	b := newBench(t, Config{})
	p := b.put("a.txt", "one\n")
	tl, _ := b.tools.Get("Read")
	plan, err := tl.Plan(b.raw(in{"file_path": "./a.txt"}), b.env)
	if err != nil || !plan.Parallel || plan.Actions[0] != (policy.Read{Path: p, Asked: "./a.txt"}) {
		t.Errorf("read plan: %+v, %v", plan, err)
	}
	b.fails(`unknown field "path"; the fields are file_path`, "Read", in{"path": "a.txt"})
}
