package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp/serve"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// made is a tool that answers with its input.
type made struct {
	name string
	asks bool
	run  func(ctx context.Context, in string) tool.Result
}

func (m made) Spec() tool.Spec {
	return tool.Spec{Name: m.name, Description: "for tests", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (m made) Plan(json.RawMessage, tool.Env) (tool.Plan, error) {
	if m.asks {
		return tool.Plan{Title: "run \x1b[31mit", Actions: []policy.Action{policy.Opaque{Source: "x", Why: "it is not known what it does"}}}, nil
	}
	return tool.Plan{Title: m.name, Actions: []policy.Action{policy.None{}}, Parallel: true}, nil
}

func (m made) Run(ctx context.Context, in json.RawMessage, _ tool.Env) (tool.Result, error) {
	if m.run == nil {
		return tool.Result{Text: m.name + " " + string(in)}, nil
	}
	return m.run(ctx, string(in)), nil
}

// rig is a server over a session with tools of its own.
type rig struct {
	*serve.Server
	session *session.Session
}

func newRig(t *testing.T, tools ...tool.Tool) *rig {
	t.Helper()
	set, err := tool.NewSet(append([]tool.Tool{made{name: "Read"}, made{name: "Write", asks: true}, made{name: "TodoWrite"}, made{name: "mcp__db__x"}}, tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	relay := serve.NewRelay()
	dir := t.TempDir()
	s, err := session.Start(t.Context(), session.Config{
		Log: &mem.Log{}, Begin: event.SessionStarted{Schema: event.Schema, Dir: dir, Root: dir}, Again: event.Resumed{Dir: dir},
		Loop:  &agent.Loop{Env: tool.Env{Dir: dir}, Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 0 }},
		Tools: set, Target: relay.Target(), Mode: policy.Default, Rules: policy.Rules{Dir: dir, Dirs: []string{dir}}, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	x, err := serve.New(relay, s, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{x, s}
}

// client connects one; answer, when set, is what a person says to forms.
func (r *rig) client(t *testing.T, answer func(*mcp.ElicitParams) *mcp.ElicitResult) *mcp.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = r.Stdio(ctx, toServer, fromServer) })
	o := &mcp.ClientOptions{}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return answer(req.Params), nil
		}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, o).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		stop()
		done.Wait()
	})
	return c
}

func call(t *testing.T, c *mcp.ClientSession, name, args string) (text string, isErr bool) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("%+v", res.Content)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

func TestToolsAreThoseOfUse(t *testing.T) {
	c := newRig(t).client(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range list.Tools {
		got = append(got, fmt.Sprint(x.Name, x.Annotations.ReadOnlyHint))
	}
	if s := strings.Join(got, " "); s != "Readtrue Writefalse" {
		t.Error(s)
	}
	if text, isErr := call(t, c, "Read", `{"n":1}`); text != `Read {"n":1}` || isErr {
		t.Error(text, isErr)
	}
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "TodoWrite"}); err == nil {
		t.Error("a tool that is not offered was run")
	}
}

// A hundred at once, from two clients: nothing is lost and nothing mixed up.
func TestSessionsAreKnownAsServed(t *testing.T) {
	if id := serve.NewRelay().Target().ID(); id != store.ServedModel {
		t.Errorf("the model is %s, and lists look for %s", id, store.ServedModel)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	r := newRig(t)
	clients := []*mcp.ClientSession{r.client(t, nil), r.client(t, nil)}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			in := fmt.Sprintf(`{"n":%d}`, i)
			res, err := clients[i%2].CallTool(t.Context(), &mcp.CallToolParams{Name: "Read", Arguments: json.RawMessage(in)})
			if err != nil || res.IsError || res.Content[0].(*mcp.TextContent).Text != "Read "+in {
				t.Errorf("%d: %+v %v", i, res, err)
			}
		})
	}
	all.Wait()
}

func TestQuestions(t *testing.T) {
	var shown string
	for _, c := range []struct {
		why, action, decision string
		want                  string
		isErr                 bool
	}{
		{"yes", "accept", "allow", `Write {"n":1}`, false},
		{"no", "accept", "refuse", "", true},
		{"declined", "decline", "", "", true},
		{"closed", "cancel", "", "", true},
	} {
		client := newRig(t).client(t, func(p *mcp.ElicitParams) *mcp.ElicitResult {
			shown = p.Message
			out := &mcp.ElicitResult{Action: c.action}
			if c.decision != "" {
				out.Content = map[string]any{"decision": c.decision}
			}
			return out
		})
		text, isErr := call(t, client, "Write", `{"n":1}`)
		if isErr != c.isErr || c.want != "" && text != c.want {
			t.Errorf("%s: %q %v", c.why, text, isErr)
		}
		if !strings.Contains(shown, `"n": 1`) || !strings.Contains(shown, "Write wants to run") || strings.Contains(shown, "\x1b") {
			t.Errorf("shown: %q", shown)
		}
	}
	client := newRig(t).client(t, nil)
	if text, isErr := call(t, client, "Write", `{}`); !isErr || !strings.Contains(text, "cannot be asked") {
		t.Errorf("a client that cannot be asked: %q %v", text, isErr)
	}
	if text, _ := call(t, client, "Read", `{}`); text != "Read {}" {
		t.Errorf("after a refusal: %s", text)
	}
}

// An answer to no question does nothing.
func TestAnswersOutOfTheAir(t *testing.T) {
	client := newRig(t).client(t, nil)
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "Write", RequestState: "made up",
		InputResponses: mcp.InputResponseMap{"permission": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow"}}},
	})
	if err == nil && !res.IsError {
		t.Errorf("%+v", res)
	}
}

// A client that gives up ends what runs for it, and nothing else breaks.
func TestCancelled(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	client := newRig(t, made{name: "Slow", run: func(ctx context.Context, _ string) tool.Result {
		close(began)
		<-ctx.Done()
		close(ended)
		return tool.Errorf("ended")
	}}).client(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if _, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "Slow"}); err == nil {
			t.Error("it came to an end")
		}
	})
	<-began
	cancel()
	<-ended
	done.Wait()
	if text, isErr := call(t, client, "Read", `{}`); text != "Read {}" || isErr {
		t.Error(text, isErr)
	}
}

// The session does not grow as long as the process lasts.
func TestOldCallsLeaveTheSession(t *testing.T) {
	r := newRig(t)
	client := r.client(t, nil)
	for range 320 {
		call(t, client, "Read", `{}`)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for e, err := range r.session.Follow(ctx, 0, event.Durable) {
		if err != nil {
			t.Fatal("nothing was summarized")
		}
		if _, ok := e.Body.(event.Compacted); ok {
			break
		}
	}
	if text, isErr := call(t, client, "Read", `{}`); text != "Read {}" || isErr {
		t.Error(text, isErr)
	}
}

func TestImages(t *testing.T) {
	client := newRig(t, made{name: "Look", run: func(context.Context, string) tool.Result {
		return tool.Result{Images: []llm.Image{{Media: "image/png", Data: []byte("png")}}}
	}}).client(t, nil)
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "Look"})
	if err != nil || len(res.Content) == 0 {
		t.Fatal(res, err)
	}
	i, ok := res.Content[len(res.Content)-1].(*mcp.ImageContent)
	if !ok || i.MIMEType != "image/png" || string(i.Data) != "png" {
		t.Errorf("%+v", res.Content)
	}
}

// Over HTTP: who knows no token, and a web page, get nothing.
func TestHTTP(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(r.Handler("s3cret"))
	defer server.Close()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, c := range []struct {
		why                       string
		host, origin, token, kind string
		path                      string
		want                      int
	}{
		{why: "as it should be", token: "Bearer s3cret", want: 200},
		{why: "by name", host: "localhost:1", token: "Bearer s3cret", want: 200},
		{why: "a page of this machine", origin: "http://localhost:3000", token: "Bearer s3cret", want: 200},
		{why: "no token", want: 401},
		{why: "another token", token: "Bearer s3cre", want: 401},
		{why: "another kind", token: "Basic s3cret", want: 401},
		{why: "a name that was turned to this machine", host: "evil.example", token: "Bearer s3cret", want: 403},
		{why: "a name that begins like ours", host: "localhost.evil.example", token: "Bearer s3cret", want: 403},
		{why: "an address of others", host: "10.0.0.1", token: "Bearer s3cret", want: 403},
		{why: "a web page", origin: "https://evil.example", token: "Bearer s3cret", want: 403},
		{why: "a page without an origin of its own", origin: "null", token: "Bearer s3cret", want: 403},
		{why: "a page that is named like us", origin: "http://localhost.evil.example", token: "Bearer s3cret", want: 403},
		{why: "a form's kind of text", kind: "text/plain", token: "Bearer s3cret", want: 415},
		{why: "elsewhere", path: "/", token: "Bearer s3cret", want: 404},
	} {
		path, kind := c.path, c.kind
		if path == "" {
			path = serve.Path
		}
		if kind == "" {
			kind = "application/json"
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Accept", "application/json, text/event-stream")
		if c.host != "" {
			req.Host = c.host
		}
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		if c.token != "" {
			req.Header.Set("Authorization", c.token)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || c.want != 200 && strings.Contains(string(body), "serverInfo") {
			t.Errorf("%s: %d %s", c.why, res.StatusCode, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()

	carry := &http.Transport{}
	defer carry.CloseIdleConnections()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL + serve.Path, HTTPClient: &http.Client{Transport: bearer{carry}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, isErr := call(t, client, "Read", `{"n":2}`); text != `Read {"n":2}` || isErr {
		t.Error(text, isErr)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer s3cret")
	return b.RoundTripper.RoundTrip(r)
}
