//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
)

// asServer is the argument with which this program is a server.
const asServer = "-as-mcp-server"

// TestMain lets this program be a server, and what a table of processes starts
// it as.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == proc.GuardianArg:
		os.Exit(proc.Guardian(os.Stdin, func(string) {}))
	case len(os.Args) > 1 && os.Args[1] == asServer:
		serve(os.Args[2:])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// serve is an honest server.
func serve(args []string) {
	if len(args) > 0 {
		misbehave(args)
		return
	}
	if err := honest().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type echoed struct {
	Text string `json:"text"`
}

func honest() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "honest", Version: "1.2"}, &sdk.ServerOptions{Instructions: "Be kind.\x1b[31m"})
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "says it\u200b again", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, Title: "Echo it"}},
		func(_ context.Context, _ *sdk.CallToolRequest, in echoed) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "env", Description: "tells a variable"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoed) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: os.Getenv(in.Text)}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "pid", Description: "who it is"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(os.Getpid())}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "die", Description: "ends the server"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "I go")
		os.Exit(3)
		return nil, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail", Description: "fails"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("it broke")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang", Description: "waits until it is cancelled"}, func(ctx context.Context, _ *sdk.CallToolRequest, in echoed) (*sdk.CallToolResult, any, error) {
		_ = os.WriteFile(in.Text, []byte("begun"), 0o600) // a pipe: it waits until that is read
		<-ctx.Done()
		_ = os.WriteFile(in.Text, []byte("cancelled"), 0o600)
		return nil, nil, ctx.Err()
	})
	return s
}

// hubConfig is what a hub and its one view are made from.
type hubConfig struct {
	mcp.Config
	mcp.ViewConfig
}

// A rig is the one view of a hub, and what it told.
type rig struct {
	*mcp.View
	hub     *mcp.Hub
	mu      sync.Mutex // guards the rest
	states  map[string][]event.ServerState
	changed chan struct{}
	news    chan struct{} // a state changed
}

func start(t testing.TB, change func(*hubConfig), list ...servers.Server) *rig {
	t.Helper()
	r := &rig{states: map[string][]event.ServerState{}, changed: make(chan struct{}, 1000), news: make(chan struct{}, 1000)}
	c := hubConfig{Config: mcp.Config{Version: "test"}, ViewConfig: mcp.ViewConfig{
		Ground: mcp.Ground{Dir: t.TempDir(), Environ: func() ([]string, []string) {
			return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "OPENAI_API_KEY=secret", "SOME_TOKEN=secret"}, nil
		}},
		Tell: func(s mcp.Status) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.states[s.Server.Name] = append(r.states[s.Server.Name], s.State)
			r.news <- struct{}{}
		},
		Changed: func() { r.changed <- struct{}{} },
	}}
	if change != nil {
		change(&c)
	}
	r.hub = mcp.New(c.Config)
	r.View = r.hub.View(c.ViewConfig)
	t.Cleanup(r.Close)
	r.Use(list)
	return r
}

// Close ends the hub.
func (r *rig) Close() { r.hub.Close() }

// self is this program as a server.
func self(name string, args ...string) servers.Server {
	return servers.Server{Name: name, Transport: servers.Stdio, Approval: servers.Approved, Env: map[string]string{"GORACE": "atexit_sleep_ms=0"}, Command: os.Args[0], Args: append([]string{asServer}, args...)}
}

func (r *rig) ready(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if late := r.Wait(ctx); len(late) > 0 {
		t.Fatalf("%v are not there", late)
	}
}

func (r *rig) status(t testing.TB, name string) mcp.Status {
	t.Helper()
	for _, s := range r.Status() {
		if s.Server.Name == name {
			return s
		}
	}
	t.Fatalf("there is no %s", name)
	return mcp.Status{}
}

func (r *rig) tool(t testing.TB, name string) tool.Tool {
	t.Helper()
	var names []string
	for _, c := range r.Contributions() {
		for _, x := range c.Tools {
			if x.Spec().Name == name {
				return x
			}
			names = append(names, x.Spec().Name)
		}
	}
	t.Fatalf("there is no tool %s, but %v; %+v", name, names, r.Status())
	return nil
}

func run(t testing.TB, x tool.Tool, args string) tool.Result {
	t.Helper()
	return runWith(t, x, args, tool.Env{})
}

func runWith(t testing.TB, x tool.Tool, args string, env tool.Env) tool.Result {
	t.Helper()
	if env.Progress == nil {
		env.Progress = func(string) {}
	}
	res, err := x.Run(t.Context(), json.RawMessage(args), env)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestStdio(t *testing.T) {
	s := self("my server")
	s.Env["GIVEN"] = "value"
	r := start(t, nil, s)
	r.ready(t)
	st := r.status(t, "my server")
	if st.State != "connected" || st.Tools != 6 || st.Name != "honest" || st.Version != "1.2" || st.Instructions != "Be kind." || st.Protocol < "2025-11-25" {
		t.Errorf("%+v", st)
	}
	x := r.tool(t, "mcp__my_server__echo")
	if spec := x.Spec(); spec.Description != "says it again" || !spec.Again || !strings.Contains(string(spec.Schema), `"text"`) {
		t.Errorf("%+v", spec)
	}
	p, err := x.Plan(json.RawMessage(`{"text":"a"}`), tool.Env{})
	if err != nil || !p.Parallel || p.Title != "my server: echo (Echo it)" || len(p.Actions) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := x.Plan(json.RawMessage(`[]`), tool.Env{}); err == nil {
		t.Error("a list is taken for arguments")
	}
	for _, c := range []struct{ tool, args, want string }{
		{"echo", `{"text":"hi\u001b[31m"}`, "hi"}, {"env", `{"text":"GIVEN"}`, "value"}, {"env", `{"text":"OPENAI_API_KEY"}`, "(no output)"},
		{"env", `{"text":"SOME_TOKEN"}`, "(no output)"}, {"env", `{"text":"HOME"}`, "/nowhere"},
	} {
		if res := run(t, r.tool(t, "mcp__my_server__"+c.tool), c.args); res.Text != c.want || res.IsErr {
			t.Errorf("%s %s: %+v", c.tool, c.args, res)
		}
	}
	if res := run(t, r.tool(t, "mcp__my_server__fail"), `{}`); !res.IsErr || res.Text != "it broke" {
		t.Errorf("%+v", res)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if want := []event.ServerState{"connecting", "connecting", "connected"}; !slices.Equal(r.states["my server"], want) {
		t.Errorf("told %v", r.states)
	}
}

// A server that ended is started again by the next call, and no call hangs.
func TestServerDies(t *testing.T) {
	r := start(t, nil, self("a"))
	r.ready(t)
	was := run(t, r.tool(t, "mcp__a__pid"), `{}`).Text
	if res := run(t, r.tool(t, "mcp__a__die"), `{}`); !res.IsErr || !strings.Contains(res.Text, "exit code 3 and said “I go”") {
		t.Errorf("%+v", res)
	}
	if res := run(t, r.tool(t, "mcp__a__pid"), `{}`); res.IsErr || res.Text == was {
		t.Errorf("%+v, as before %s", res, was)
	}
}

func decode(raw []byte) (jsonrpc.Message, error) { return jsonrpc.DecodeMessage(raw) }
func encode(m jsonrpc.Message) ([]byte, error)   { return jsonrpc.EncodeMessage(m) }
