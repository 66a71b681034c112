//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// published is a server from npm; .ci/mcp/run has installed it.
func published(t *testing.T, name string, args ...string) servers.Server {
	t.Helper()
	dir := os.Getenv("ADZE_MCP_SERVERS")
	if dir == "" {
		t.Skip("run by .ci/mcp/run, which gets the servers from npm")
	}
	file := filepath.Join(dir, "server-"+name, "dist", "index.js")
	return servers.Server{Name: name, Transport: servers.Stdio, Approval: servers.Approved, Command: "node", Args: append([]string{file}, args...), AllowSampling: true}
}

// A person who says yes to everything.
type agreeable struct {
	mu      sync.Mutex
	forms   []view.Form
	changed chan string
}

func (*agreeable) Here(mcp.Caller) bool { return true }

func (a *agreeable) Ask(_ context.Context, _ mcp.Caller, _ string, f view.Form) (op.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forms = append(a.forms, f)
	values := map[string]any{}
	for _, x := range f.Fields {
		switch {
		case x.Default != nil:
			values[x.Name] = x.Default
		case x.Kind == view.StringField && x.Format == "email":
			values[x.Name] = "a@b.example"
		case x.Kind == view.StringField && x.Format == "uri":
			values[x.Name] = "https://example.com"
		case x.Kind == view.StringField && x.Format == "date":
			values[x.Name] = "2026-01-31"
		case x.Kind == view.StringField && x.Format == "date-time":
			values[x.Name] = "2026-01-31T00:00:00Z"
		case x.Kind == view.StringField:
			values[x.Name] = "Some Name"
		case x.Kind == view.BooleanField:
			values[x.Name] = true
		case x.Kind == view.ChoiceField:
			values[x.Name] = x.Options[0].Value
		case x.Kind == view.ChoicesField:
			values[x.Name] = []string{x.Options[0].Value}
		default:
			values[x.Name] = 5
			if x.Min != nil {
				values[x.Name] = *x.Min
			}
		}
	}
	raw, err := json.Marshal(values)
	return op.Answer{Allow: true, Values: raw}, err
}

func (a *agreeable) Sample(_ context.Context, _ mcp.Caller, _ string, s mcp.Sampling) (mcp.Sampled, error) {
	return mcp.Sampled{Model: "m", Text: "I was asked: " + s.Messages[0].Text(), Stop: "endTurn"}, nil
}

func (a *agreeable) Changed(_, _, uri string) {
	if a.changed != nil {
		a.changed <- uri
	}
}

func TestReferenceEverything(t *testing.T) {
	s := published(t, "everything")
	who := &agreeable{}
	r := start(t, func(c *hubConfig) { c.Client, c.Roots = who, func() []string { return []string{"/some/root"} } }, s)
	r.ready(t)
	st := r.status(t, "everything")
	if st.State != "connected" || st.Tools < 8 || st.Prompts < 3 || !st.Resources {
		t.Fatalf("%+v", st)
	}
	t.Logf("protocol %s, %d tools, %d prompts, notes %v", st.Protocol, st.Tools, st.Prompts, st.Notes)
	call := func(name, args string) tool.Result {
		t.Helper()
		return runWith(t, r.tool(t, "mcp__everything__"+name), args, tool.Env{Images: true, Scratch: t.TempDir()})
	}
	for _, c := range []struct{ tool, args, want string }{
		{"echo", `{"message":"hi"}`, "Echo: hi"}, {"get-sum", `{"a":2,"b":3}`, "5"}, {"get-sum", `{"a":"2","b":3}`, "5"},
		{"get-structured-content", `{"location":"Chicago"}`, `"temperature"`}, {"get-resource-links", `{"count":2}`, "ReadMcpResource"},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "[Resource "}, {"get-annotated-message", `{"messageType":"error"}`, "Error"},
		{"trigger-sampling-request", `{"prompt":"P"}`, "I was asked"}, {"get-roots-list", `{}`, "/some/root"},
	} {
		if res := call(c.tool, c.args); !strings.Contains(res.Text, c.want) || res.IsErr {
			t.Errorf("%s: %+v", c.tool, res.Text)
		}
	}
	if res := call("get-tiny-image", `{}`); len(res.Images) != 1 {
		t.Errorf("%+v", res)
	}
	if res := call("trigger-elicitation-request", `{}`); res.IsErr || len(who.forms) != 1 || len(who.forms[0].Fields) < 5 {
		t.Errorf("%s %+v", res.Text, who.forms)
	}
	var mu sync.Mutex
	var said []string
	res := runWith(t, r.tool(t, "mcp__everything__trigger-long-running-operation"), `{"duration":1,"steps":4}`, tool.Env{Progress: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, s)
	}})
	mu.Lock()
	if res.IsErr || len(said) < 2 || !strings.Contains(strings.Join(said, ""), "of 4") {
		t.Errorf("%+v, progress %q", res.Text, said)
	}
	mu.Unlock()
	list, err := r.Resources(t.Context(), mcp.Caller{}, "everything")
	if err != nil || len(list) < 2 || !list[len(list)-1].Template {
		t.Fatalf("%+v %v", list, err)
	}
	if res, err := r.Read(t.Context(), "everything", list[0].URI, tool.Env{}); err != nil || res.Text == "" {
		t.Errorf("%+v %v", res, err)
	}
	if got := r.Mentions(t.Context(), "everything:", 5); len(got) == 0 {
		t.Error("nothing can be mentioned")
	}
	found := false
	for _, p := range r.Prompts() {
		if strings.HasPrefix(p.Args, "<") && strings.Count(p.Args, "<") == 1 {
			words := strings.Join(strings.Fields(p.Args), " ")
			text, _, err := r.Prompt(t.Context(), p.Command, strings.NewReplacer("<", "", ">", "", "[", "", "]", "").Replace(words), tool.Env{})
			if err == nil && text != "" {
				found = true
			} else {
				t.Logf("%+v: %v", p, err)
			}
		}
	}
	if !found {
		t.Errorf("no prompt could be had: %+v", r.Prompts())
	}
}

func TestReferenceFilesystem(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, func(c *hubConfig) { c.Roots = func() []string { return []string{dir} } }, published(t, "filesystem", dir))
	r.ready(t)
	x := r.tool(t, "mcp__filesystem__read_text_file")
	args, err := json.Marshal(map[string]string{"path": filepath.Join(dir, "a.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := x.Plan(args, tool.Env{}); err != nil || !p.Parallel {
		t.Errorf("%+v %v", p, err)
	}
	if res := run(t, x, string(args)); res.IsErr || res.Text != "hello" && !strings.HasPrefix(res.Text, "hello\n") {
		t.Errorf("%+v", res)
	}
	if res := run(t, x, `{"path":"/etc/hosts"}`); !res.IsErr {
		t.Errorf("%+v", res)
	}
}

func TestReferenceMemory(t *testing.T) {
	s := published(t, "memory")
	s.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}
	r := start(t, nil, s)
	r.ready(t)
	var wg sync.WaitGroup
	for range 100 { // nothing is lost, and nothing mixed up
		wg.Go(func() {
			if res := run(t, r.tool(t, "mcp__memory__read_graph"), `{}`); res.IsErr {
				t.Errorf("%+v", res)
			}
		})
	}
	wg.Wait()
	if res := run(t, r.tool(t, "mcp__memory__create_entities"), `{"entities":[{"name":"adze","entityType":"program","observations":["it cuts"]}]}`); res.IsErr {
		t.Errorf("%+v", res)
	}
	if res := run(t, r.tool(t, "mcp__memory__search_nodes"), `{"query":"cuts"}`); res.IsErr || !strings.Contains(res.Text, "adze") {
		t.Errorf("%+v", res)
	}
	began := time.Now()
	r.Close()
	t.Logf("ended in %s", time.Since(began))
}
