//go:build unix

package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
)

// Servers in Go that others wrote, unchanged: examples of the SDK, which come with it.
func TestGoServers(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	dir := t.TempDir()
	const examples = "github.com/modelcontextprotocol/go-sdk/examples/server/"
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, examples+"everything", examples+"memory")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // what it needs of the standard library is compiled so already
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("the examples cannot be built here: %v\n%s", err, out)
	}
	var list []servers.Server
	for _, name := range []string{"everything", "memory"} {
		list = append(list, servers.Server{Name: name, Transport: servers.Stdio, Approval: servers.Approved, Command: filepath.Join(dir, name)})
	}
	list[1].Args = []string{"-memory", filepath.Join(dir, "kept.json")}
	r := start(t, func(c *hubConfig) { c.Roots = func() []string { return []string{"/the/folder"} } }, list...)
	r.ready(t)
	if st := r.status(t, "everything"); st.State != "connected" || st.Tools != 10 || st.Prompts != 2 || !st.Resources || st.Instructions != "Use this server!" {
		t.Fatalf("%+v", st)
	}
	call := func(name, args string) string {
		t.Helper()
		res := run(t, r.tool(t, "mcp__"+name), args)
		if res.IsErr {
			t.Errorf("%s: %s", name, res.Text)
		}
		return res.Text
	}
	for _, c := range []struct{ tool, args, want string }{
		{"everything__greet", `{"name":"Ann"}`, "Hi Ann"},
		{"everything__greet__structured_", `{"name":"Ann"}`, `"message":"Hi Ann"`},
		{"everything__greet__with_Icons_", `{"name":"Ann"}`, `"message":"Hi Ann"`},
		{"everything__greet__content_with_ResourceLink_", `{"name":"Ann"}`, "data:text/plain,Hi%20Ann"},
		{"everything__log", `{}`, ""},
		{"everything__roots", `{}`, "file:///the/folder"}, // it asks as the newest protocol does not
		{"everything__roots", `{}`, "file:///the/folder"},
		{"memory__create_entities", `{"entities":[{"name":"adze","entityType":"program","observations":["it cuts"]}]}`, "adze"},
		{"memory__search_nodes", `{"query":"cuts"}`, "it cuts"},
	} {
		if got := strings.ReplaceAll(call(c.tool, c.args), `": "`, `":"`); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.tool, got)
		}
	}
	if res := run(t, r.tool(t, "mcp__everything__greet"), `{"name":1}`); !res.IsErr {
		t.Errorf("%+v", res)
	}
	found, err := r.Resources(t.Context(), mcp.Caller{}, "everything")
	if err != nil || len(found) != 2 || !found[1].Template {
		t.Fatalf("%+v %v", found, err)
	}
	if res, err := r.Read(t.Context(), "everything", "embedded:info", tool.Env{}); err != nil || !strings.Contains(res.Text, "This is the hello example server.") {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := r.Read(t.Context(), "everything", "embedded:none", tool.Env{}); err == nil {
		t.Error("there is no such resource")
	}
	if len(r.Prompts()) != 2 {
		t.Fatalf("%+v", r.Prompts())
	}
	if text, _, err := r.Prompt(t.Context(), r.Prompts()[0].Command, "", tool.Env{}); err != nil || !strings.Contains(text, "Say hi to") {
		t.Errorf("%q %v", text, err)
	}
}
