//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"
)

// serve starts adze as a server, with a client that says what a person says to
// forms; nil cannot be asked.
func (p *place) serve(person func(*mcp.ElicitParams) *mcp.ElicitResult, flags ...string) *mcp.ClientSession {
	p.t.Helper()
	c := p.adze(append([]string{"mcp", "serve", "--sandbox", "off"}, flags...)...)
	o := &mcp.ClientOptions{}
	if person != nil {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return person(r.Params), nil
		}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, o).Connect(p.t.Context(), &mcp.CommandTransport{Command: c}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			p.t.Errorf("the end: %v", err)
		}
	})
	return s
}

func (p *place) calls(s *mcp.ClientSession, name, args string) string {
	p.t.Helper()
	res, err := s.CallTool(p.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		p.t.Fatal(err)
	}
	text := ""
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	if res.IsError {
		text = "error: " + text
	}
	return text
}

// Other agents have adze's tools under adze's rules, with the real binary.
func TestServedToolsFollowTheRules(t *testing.T) {
	p := newPlace(t)
	p.put("here.txt", "from the file")
	made := filepath.Join(p.dir, "made.txt")
	const write = `{"file_path":"made.txt","content":"made"}`

	s := p.serve(nil)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list.Tools {
		names = append(names, x.Name)
	}
	all := " " + strings.Join(names, " ") + " "
	for _, want := range []string{"Read", "Grep", "Glob", "Edit", "Write", "Bash"} {
		if !strings.Contains(all, " "+want+" ") {
			t.Errorf("no %s in %s", want, all)
		}
	}
	for _, not := range []string{"TodoWrite", "AskUserQuestion", "ExitPlanMode"} {
		if strings.Contains(all, " "+not+" ") {
			t.Errorf("%s is of no use to another agent", not)
		}
	}
	if got := p.calls(s, "Read", `{"file_path":"here.txt"}`); !strings.Contains(got, "from the file") {
		t.Error(got)
	}
	if got := p.calls(s, "Bash", `{"command":"echo hi"}`); got != "hi" {
		t.Error(got)
	}
	if got := p.calls(s, "Write", write); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "cannot be asked") {
		t.Error(got)
	}
	if _, err := os.Stat(made); err == nil {
		t.Fatal("written without a yes")
	}

	asked := ""
	yes := func(q *mcp.ElicitParams) *mcp.ElicitResult {
		asked = q.Message
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}
	}
	if got := p.calls(p.serve(yes), "Write", write); strings.HasPrefix(got, "error: ") || !strings.Contains(asked, "made.txt") {
		t.Errorf("%q, asked %q", got, asked)
	}
	if text, err := os.ReadFile(made); err != nil || string(text) != "made" {
		t.Errorf("%q %v", text, err)
	}
	if err := os.Remove(made); err != nil {
		t.Fatal(err)
	}
	asked = ""
	if got := p.calls(p.serve(yes, "--disallowed-tools", "Write(made.txt)"), "Write", write); !strings.HasPrefix(got, "error: ") || asked != "" {
		t.Errorf("a deny rule: %q, asked %q", got, asked)
	}
	if got := p.calls(p.serve(nil, "--allowed-tools", "Edit"), "Write", write); strings.HasPrefix(got, "error: ") {
		t.Errorf("an allow rule: %q", got)
	}
}

// A client that is gone leaves nothing that runs for it.
func TestServedCallEndsWithTheClient(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"began", "never"} {
		if err := unix.Mkfifo(filepath.Join(p.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := p.adze("mcp", "serve", "--sandbox", "off", "--allowed-tools", "Bash")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"echo > began; cat never; echo > made.txt"}}}`)
	if _, err := os.ReadFile(filepath.Join(p.dir, "began")); err != nil { // comes back when the command runs
		t.Fatal(err)
	}
	_, _ = in.Close(), out.Close()
	if err := c.Wait(); err != nil { // the command would never end by itself
		t.Error(err)
	}
}

// Over HTTP each client has a session of its own: its folder, and the files it has read.
func TestServedClientsShareNothing(t *testing.T) {
	p := newPlace(t)
	p.put("f.txt", "one line\n")
	if err := os.Mkdir(filepath.Join(p.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := p.adze("mcp", "serve", "--sandbox", "off", "--http", "127.0.0.1:0", "--permission-mode", "acceptEdits", "--allowed-tools", "Bash")
	c.Env = append(c.Env, "ADZE_MCP_TOKEN=s3cret")
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	}()
	var addr string
	if _, err := fmt.Fscanf(said, "listening on %s\n", &addr); err != nil {
		t.Fatal(err)
	}
	connect := func() *mcp.ClientSession {
		t.Helper()
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: addr, HTTPClient: &http.Client{Transport: bearer("s3cret")}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, two := connect(), connect()
	defer two.Close()
	p.calls(one, "Bash", `{"command":"cd sub"}`)
	if a, b := p.calls(one, "Bash", `{"command":"pwd"}`), p.calls(two, "Bash", `{"command":"pwd"}`); !strings.Contains(a, "/sub") || strings.Contains(b, "/sub") {
		t.Errorf("they work in %q and %q", a, b)
	}
	p.calls(one, "Read", `{"file_path":"../f.txt"}`)
	edit := func(path string) string {
		return `{"file_path":"` + path + `","old_string":"one","new_string":"a"}`
	}
	if got := p.calls(two, "Edit", edit("f.txt")); !strings.HasPrefix(got, "error: ") {
		t.Errorf("what another client has read counts: %s", got)
	}
	if got := p.calls(one, "Edit", edit("../f.txt")); strings.HasPrefix(got, "error: ") {
		t.Error(got)
	}
	if err := one.Close(); err != nil { // and the other one goes on
		t.Error(err)
	}
	if got := p.calls(two, "Read", `{"file_path":"f.txt"}`); !strings.Contains(got, "a line") {
		t.Error(got)
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
