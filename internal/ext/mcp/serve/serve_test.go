package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
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
		Record:      session.Record{Log: &mem.Log{}, Begin: event.SessionStarted{Schema: event.Schema, Dir: dir, Root: dir}, Again: event.Resumed{Dir: dir}},
		Turns:       session.Turns{Loop: &agent.Loop{Env: tool.Env{Dir: dir}, Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 0 }}, Target: relay.Target()},
		Hands:       session.Hands{Tools: set},
		Permissions: session.Permissions{Mode: policy.Default, Rules: policy.Rules{Dir: dir, Dirs: []string{dir}}},
		Now:         time.Now,
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
	done.Go(func() { _ = r.Stdio(ctx, toServer, fromServer, there) })
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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

// A client whose session cannot begin, and one too many, are told why.
func TestHTTPRefusesClients(t *testing.T) {
	full := false
	h := serve.NewHandler("s3cret", func(context.Context) (*serve.Server, func() error, error) {
		if full {
			return nil, nil, errors.New("no room on the disk")
		}
		return newRig(t).Server, func() error { return nil }, nil
	})
	server := httptest.NewServer(h)
	defer h.Close()
	defer server.Close()
	hello := func() (code int, text string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+serve.Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer s3cret"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	full = true
	if code, text := hello(); code != 503 || !strings.Contains(text, "no room on the disk") {
		t.Errorf("%d %s", code, text)
	}
	full = false
	for n := range 100 {
		if code, text := hello(); code != 200 {
			t.Fatalf("client %d: %d %s", n, code, text)
		}
	}
	if code, text := hello(); code != 503 || !strings.Contains(text, "no more than 100 clients") {
		t.Errorf("%d %s", code, text)
	}
}

// Over HTTP: who knows no token, and a web page, get nothing.
func TestHTTP(t *testing.T) {
	var begun, ended atomic.Int32
	h := serve.NewHandler("s3cret", func(context.Context) (*serve.Server, func() error, error) {
		begun.Add(1)
		return newRig(t).Server, func() error { ended.Add(1); return nil }, nil
	})
	server := httptest.NewServer(h)
	defer func() {
		server.Close()
		h.Close()
		if b, e := begun.Load(), ended.Load(); b == 0 || e != b {
			t.Errorf("%d sessions were begun, %d ended", b, e)
		}
	}()
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

// loud prints while it runs.
type loud struct{ made }

func (loud) Run(_ context.Context, _ json.RawMessage, env tool.Env) (tool.Result, error) {
	env.Progress("one\n")
	env.Progress("two\r\x1b[31mthree\n\n")
	return tool.Result{Text: "over"}, nil
}

func TestProgress(t *testing.T) {
	r := newRig(t, loud{made{name: "Loud"}})
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var done sync.WaitGroup
	done.Go(func() { _ = r.Stdio(context.Background(), toServer, fromServer, there) })
	told := make(chan *mcp.ProgressNotificationParams, 10)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) { told <- n.Params },
	}).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &mcp.CallToolParams{Name: "Loud", Arguments: json.RawMessage(`{}`)}
	p.SetProgressToken("mine")
	if res, err := c.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatal(res, err)
	}
	select {
	case n := <-told: // the newest line there was then; how many are told depends on the time
		if n.ProgressToken != "mine" || n.Progress != 1 || n.Message != "one" && n.Message != `\x1b[31mthree` {
			t.Errorf("%+v", n)
		}
	default:
	}
	if _, isErr := call(t, c, "Loud", `{}`); isErr {
		t.Error("without a token it fails")
	}
	_ = c.Close()
	done.Wait()
}

// What a file of requests asks for is answered, also what takes a while, unless
// somebody would have to answer a question.
func TestRequestsFromAFile(t *testing.T) {
	var ended chan struct{}
	slow := made{name: "Slow", run: func(context.Context, string) tool.Result {
		<-ended
		return tool.Result{Text: "slowly"}
	}}
	requests := func(capabilities, tool string) io.ReadCloser {
		return &file{ended: ended, r: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`)}
	}
	for name, c := range map[string]struct{ capabilities, tool, want string }{
		"slow":            {`{}`, "Slow", `"text":"slowly"`},
		"nobody is asked": {`{}`, "Write", "cannot be asked"},
		"a question":      {`{"elicitation":{}}`, "Write", "elicitation/create"},
	} {
		out := &whole{}
		ended = make(chan struct{})
		if err := newRig(t, slow).Stdio(t.Context(), requests(c.capabilities, c.tool), out, there); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// there is a client that reads what it asked for.
func there() bool { return false }

// A client that is gone is waited for by nobody: what it called is interrupted.
func TestCallEndsWithTheClient(t *testing.T) {
	began, interrupted := make(chan struct{}), make(chan struct{})
	r := newRig(t, made{name: "Slow", run: func(ctx context.Context, _ string) tool.Result {
		close(began)
		<-ctx.Done()
		close(interrupted)
		return tool.Result{}
	}})
	in := &file{ended: make(chan struct{}), r: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Slow","arguments":{}}}
`)}
	gone := func() bool {
		<-began
		return true
	}
	if err := r.Stdio(t.Context(), in, &whole{}, gone); err != nil {
		t.Fatal(err)
	}
	r.Close()
	<-interrupted
}

// A subscription is never answered: with the client's end it is over.
func TestSubscriptionEndsWithTheClient(t *testing.T) {
	out := &whole{}
	in := &file{ended: make(chan struct{}), r: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}` + "\n")}
	if err := newRig(t).Stdio(t.Context(), in, out, there); err != nil {
		t.Fatal(err)
	}
}

// file tells when it was read to its end.
type file struct {
	r     io.Reader
	ended chan struct{}
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil {
		close(f.ended)
	}
	return n, err
}

func (*file) Close() error { return nil }

// whole keeps what is written.
type whole struct {
	mu sync.Mutex
	strings.Builder
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Builder.Write(p)
}

func (*whole) Close() error { return nil }

// What a call is asked about on its way goes to its client, too.
func TestQuestionsOnTheWay(t *testing.T) {
	var r *rig
	connects := made{name: "Fetch", run: func(ctx context.Context, _ string) tool.Result {
		v, err := r.session.Permit(ctx, agent.Question{
			Call: llm.ToolUse{Name: "SandboxNetworkAccess", Input: json.RawMessage(`{"host":"x.example"}`)}, Tool: "SandboxNetworkAccess",
			Plan: tool.Plan{Title: "Connect to x.example", Actions: []policy.Action{policy.Net{Host: "x.example"}}},
		})
		return tool.Result{Text: fmt.Sprint(v.Effect == policy.Allow, err)}
	}}
	for _, decision := range []string{"allow", "refuse"} {
		shown := ""
		r = newRig(t, connects)
		c := r.client(t, func(p *mcp.ElicitParams) *mcp.ElicitResult {
			shown = p.Message
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}
		})
		want := fmt.Sprint(decision == "allow", error(nil))
		if text, _ := call(t, c, "Fetch", `{}`); text != want || !strings.Contains(shown, "Connect to x.example") {
			t.Errorf("%s: %q after %q", decision, text, shown)
		}
	}
}
