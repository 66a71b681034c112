//go:build unix

package mcp_test

//lint:file-ignore SA1019 roots, sampling and logging belong to the protocols that most servers speak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func say(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// rich is a server that does all that servers do.
func rich() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "rich", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: func(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			p := r.Params
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{p.Argument.Value + "1", p.Argument.Name + "\x1b[31m", p.Argument.Name + "2"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	add := func(name string, meta sdk.Meta, out any, do func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: &jsonschema.Schema{Type: "object"}, OutputSchema: out, Meta: meta}, do)
	}
	add("kinds", nil, nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		size := int64(3)
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "text"}, &sdk.ImageContent{Data: dot(), MIMEType: "image/png"}, &sdk.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"},
			&sdk.ResourceLink{URI: "mem://a", Name: "A", Size: &size}, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://b", Text: "within"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://c", Blob: []byte{1, 2, 3}, MIMEType: "application/zip"}},
		}}, nil
	})
	number := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []string{"n"}}
	structured := func(v any, texts ...string) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			r := &sdk.CallToolResult{StructuredContent: v, Content: []sdk.Content{}}
			for _, t := range texts {
				r.Content = append(r.Content, &sdk.TextContent{Text: t})
			}
			return r, nil
		}
	}
	add("structured", nil, number, structured(map[string]any{"n": 5}))
	add("both", nil, number, structured(map[string]any{"n": 5}, `{"n": 5}`))
	add("wrong", nil, number, structured(map[string]any{"n": "five"}))
	add("missing", nil, number, structured(nil, "text"))
	add("bounded", sdk.Meta{"anthropic/maxResultSizeChars": 1234, "anthropic/requiresUserInteraction": true}, nil, structured(nil, "text"))
	ask := func(p *sdk.ElicitParams) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			a, err := r.Session.Elicit(ctx, p)
			if err != nil {
				return say("refused: " + err.Error()), nil
			}
			raw, err := json.Marshal(a.Content)
			return say(a.Action + " " + string(raw)), err
		}
	}
	add("ask", nil, nil, ask(&sdk.ElicitParams{Message: "Who\x1b[31m?", RequestedSchema: json.RawMessage(`{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","title":"Name\u202e","minLength":2},"n":{"type":"integer","minimum":1,"maximum":9,"default":3},"b":{"type":"boolean"},
		"one":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"two":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
		"some":{"type":"array","items":{"type":"string","enum":["p","q"]},"maxItems":2}}}`)}))
	add("page", nil, nil, ask(&sdk.ElicitParams{Mode: "url", Message: "Look", URL: "https://example.com/sign?x=1", ElicitationID: "e1"}))
	add("bad-page", nil, nil, ask(&sdk.ElicitParams{Mode: "url", Message: "Look", URL: "file:///etc/passwd", ElicitationID: "e2"}))
	add("named-page", nil, nil, ask(&sdk.ElicitParams{Mode: "url", Message: "Look", URL: "https://bank.example@evil.example/", ElicitationID: "e3"}))
	add("sample", nil, nil, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		a, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{SystemPrompt: "S", MaxTokens: 1 << 30, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "Q"}}}})
		if err != nil {
			return say("refused: " + err.Error()), nil
		}
		return say(a.Model + ": " + a.Content.(*sdk.TextContent).Text), nil
	})
	add("sample-tools", nil, nil, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		a, err := r.Session.CreateMessageWithTools(ctx, &sdk.CreateMessageWithToolsParams{
			MaxTokens: 10, ToolChoice: &sdk.ToolChoice{Mode: "required"},
			Tools: []*sdk.Tool{{Name: "a.b", Description: "does", InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`)}},
			Messages: []*sdk.SamplingMessageV2{
				{Role: "user", Content: []sdk.Content{&sdk.TextContent{Text: "Q"}}},
				{Role: "assistant", Content: []sdk.Content{&sdk.ToolUseContent{ID: "1", Name: "a.b", Input: map[string]any{"z": "1"}}, &sdk.ToolUseContent{ID: "2", Name: "a.b"}}},
				{Role: "user", Content: []sdk.Content{&sdk.ToolResultContent{ToolUseID: "1", Content: []sdk.Content{&sdk.TextContent{Text: "one"}}}, &sdk.ToolResultContent{ToolUseID: "2", IsError: true}}},
			},
		})
		if err != nil {
			return say("refused: " + err.Error()), nil
		}
		raw, err := json.Marshal(a)
		return say(string(raw)), err
	})
	add("roots", nil, nil, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		a, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, x := range a.Roots {
			out = append(out, x.URI)
		}
		return say(strings.Join(out, " ")), nil
	})
	visited := false
	add("visit", nil, nil, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if visited {
			return say("done"), nil
		}
		visited = true
		data, err := json.Marshal(map[string]any{"elicitations": []any{map[string]any{"mode": "url", "message": "Sign", "url": "https://example.com/", "elicitationId": "v"}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeURLElicitationRequired, Message: "sign", Data: data}
	})
	read := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		if r.Params.URI == "mem://gone" {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "content of " + r.Params.URI}}}, nil
	}
	s.AddResource(&sdk.Resource{URI: "mem://a", Name: "A", Description: "first\x1b[2J"}, read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "mem://t/{id}/x", Name: "T"}, read)
	s.AddPrompt(&sdk.Prompt{Name: "review code", Description: "reviews", Arguments: []*sdk.PromptArgument{{Name: "file", Required: true}, {Name: "how"}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf("Review %q %q", r.Params.Arguments["file"], r.Params.Arguments["how"])}}}}, nil
		})
	return s
}

// A person whose answers a test decides.
type person struct {
	mu      sync.Mutex
	forms   []view.Form
	samples []mcp.Sampling
	sampled mcp.Sampled
	answer  op.Answer
	changed chan string
}

func (*person) Here(mcp.Caller) bool { return true }

func (p *person) Ask(_ context.Context, _ mcp.Caller, _ string, f view.Form) (op.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forms = append(p.forms, f)
	return p.answer, nil
}

func (p *person) Sample(_ context.Context, _ mcp.Caller, _ string, s mcp.Sampling) (mcp.Sampled, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples = append(p.samples, s)
	if !p.answer.Allow {
		return mcp.Sampled{}, errors.New("no")
	}
	if p.sampled.Model != "" {
		return p.sampled, nil
	}
	return mcp.Sampled{Model: "m", Text: "A"}, nil
}

func (p *person) Changed(_, _, uri string) { p.changed <- uri }

// richly starts a hub with a rich server.
func richly(t *testing.T, change func(*servers.Server)) (*rig, *person, *sdk.Server) {
	t.Helper()
	server := rich()
	p := &person{changed: make(chan string, 10)}
	s := remote("r", servers.HTTP, serveHTTP(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
	if change != nil {
		change(&s)
	}
	r := start(t, func(c *hubConfig) { c.Client, c.Roots = p, func() []string { return []string{"/w/pro ject"} } }, s)
	r.ready(t)
	if st := r.status(t, "r"); st.State != "connected" {
		t.Fatalf("%+v", st)
	}
	return r, p, server
}

func TestResults(t *testing.T) {
	r, _, _ := richly(t, nil)
	dir := t.TempDir()
	env := tool.Env{Scratch: dir, Images: true}
	res := runWith(t, r.tool(t, "mcp__r__kinds"), `{}`, env)
	for _, want := range []string{"text\n", "[The server sent audio (audio/wav, 4 bytes). It is in " + dir, ".wav]", "mem://a (A)", "[Resource mem://b]\nwithin", "application/zip, 3 bytes) mem://c. It is in"} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("no %q in %s", want, res.Text)
		}
	}
	if _, isGroup := res.View.(view.Group); len(res.Images) != 1 || !isGroup {
		t.Errorf("%d images, %T", len(res.Images), res.View)
	}
	_, path, _ := strings.Cut(res.Text, "4 bytes). It is in ")
	path, _, _ = strings.Cut(path, "]")
	if b, err := os.ReadFile(path); string(b) != "RIFF" {
		t.Errorf("%q %v", b, err)
	}
	if res := runWith(t, r.tool(t, "mcp__r__kinds"), `{}`, tool.Env{}); len(res.Images) != 0 || !strings.Contains(res.Text, "takes no images") || !strings.Contains(res.Text, "keeps no files") {
		t.Errorf("%s", res.Text)
	}
	for name, want := range map[string]string{
		"structured": "{\n  \"n\": 5\n}", "both": `{"n": 5}`, "wrong": "!does not fit the schema", "missing": "!promised structured content",
	} {
		res := run(t, r.tool(t, "mcp__r__"+name), `{}`)
		want, bad := strings.CutPrefix(want, "!")
		if res.IsErr != bad || !bad && res.Text != want || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %+v", name, res)
		}
	}
	x := r.tool(t, "mcp__r__bounded")
	p, err := x.Plan(json.RawMessage(`{}`), tool.Env{})
	if err != nil || x.Spec().Limit != 1234 || p.Parallel || !slices.ContainsFunc(p.Actions, func(a policy.Action) bool { _, ok := a.(policy.Person); return ok }) {
		t.Errorf("%+v %+v %v", x.Spec(), p, err)
	}
}

func TestElicitation(t *testing.T) {
	r, who, _ := richly(t, nil)
	who.answer = op.Answer{Allow: true, Values: json.RawMessage(`{"name":"Ada","n":4,"some":["q"]}`)}
	if res := run(t, r.tool(t, "mcp__r__ask"), `{}`); res.Text != `accept {"n":4,"name":"Ada","some":["q"]}` {
		t.Errorf("%s", res.Text)
	}
	f := who.forms[0]
	var kinds []string
	for _, x := range f.Fields {
		kinds = append(kinds, x.Name+":"+string(x.Kind))
	}
	if want := "name:string n:integer b:boolean one:choice two:choice some:choices"; strings.Join(kinds, " ") != want || f.Message != "Who?" || f.Server != "r" {
		t.Errorf("%v %q %q", kinds, f.Message, f.Server)
	}
	if name := f.Fields[0]; name.Title != "Name" || !name.Required || *name.Min != 2 || string(f.Fields[1].Default) != "3" || f.Fields[3].Options[1].Title != "B" {
		t.Errorf("%+v", f.Fields)
	}
	for _, c := range []struct {
		tool   string
		answer op.Answer
		want   string
	}{
		{"ask", op.Answer{}, "decline null"}, {"ask", op.Answer{Dismissed: true}, "cancel null"},
		{"ask", op.Answer{Allow: true, Values: json.RawMessage(`{"name":"A"}`)}, "refused: "}, {"ask", op.Answer{Allow: true}, "refused: "},
		{"page", op.Answer{Allow: true}, "accept null"}, {"bad-page", op.Answer{Allow: true}, "refused: "}, {"named-page", op.Answer{Allow: true}, "refused: "},
	} {
		who.mu.Lock()
		who.answer = c.answer
		who.mu.Unlock()
		if res := run(t, r.tool(t, "mcp__r__"+c.tool), `{}`); !strings.HasPrefix(res.Text, c.want) {
			t.Errorf("%+v: %s", c, res.Text)
		}
	}
	if last := who.forms[len(who.forms)-1]; last.URL != "https://example.com/sign?x=1" {
		t.Errorf("%+v", last)
	}
}

// A page that has to be done first is opened when the person wants it, and the
// call is made again when the server says that it is done.
func TestPageFirst(t *testing.T) {
	for _, yes := range []bool{true, false} {
		done := make(chan struct{})
		first := true
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			var q ask
			if json.NewDecoder(req.Body).Decode(&q) != nil || q.Method != "tools/call" {
				switch {
				case req.Method == http.MethodGet: // the stream that says it is done
					w.Header().Set("Content-Type", "text/event-stream")
					w.WriteHeader(http.StatusOK)
					w.(http.Flusher).Flush()
					select {
					case <-done:
					case <-req.Context().Done():
						return
					}
					fmt.Fprint(w, `data: {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"v"}}`+"\n\n")
					w.(http.Flusher).Flush()
					<-req.Context().Done()
				default:
					for _, s := range (&rogue{}).answer(fmt.Appendf(nil, `{"id":%s,"method":%q}`, q.ID, q.Method)) {
						w.Header().Set("Content-Type", "application/json")
						fmt.Fprint(w, s)
						return
					}
					w.WriteHeader(http.StatusAccepted)
				}
				return
			}
			w.Header().Set("Content-Type", "application/json")
			if first {
				first = false
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"sign","data":{"elicitations":[{"mode":"url","message":"Sign","url":"https://example.com/","elicitationId":"v"}]}}}`, q.ID)
				return
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, q.ID)
		})
		who := &opener{yes: yes, done: done}
		r := start(t, func(c *hubConfig) { c.Client = who }, remote("r", servers.HTTP, serveHTTP(t, h)))
		r.ready(t)
		res := run(t, r.tool(t, "mcp__r__go"), `{}`)
		if want := map[bool]string{true: "done", false: "the person did not want that"}[yes]; !strings.Contains(res.Text, want) {
			t.Errorf("%v: %s", yes, res.Text)
		}
	}
}

// An opener opens pages, on which all is done at once.
type opener struct {
	person
	yes  bool
	done chan struct{}
}

func (*opener) Here(mcp.Caller) bool { return true }

func (o *opener) Ask(context.Context, mcp.Caller, string, view.Form) (op.Answer, error) {
	if o.yes {
		close(o.done)
	}
	return op.Answer{Allow: o.yes}, nil
}

func TestSampling(t *testing.T) {
	r, who, _ := richly(t, nil)
	who.answer.Allow = true
	if res := run(t, r.tool(t, "mcp__r__sample"), `{}`); !strings.HasPrefix(res.Text, "refused:") || len(who.samples) != 0 {
		t.Errorf("a server that may not ask a model: %s", res.Text)
	}
	r, who, _ = richly(t, func(s *servers.Server) { s.AllowSampling = true })
	if res := run(t, r.tool(t, "mcp__r__sample"), `{}`); !strings.HasPrefix(res.Text, "refused:") || len(who.samples) != 1 {
		t.Errorf("%s", res.Text)
	}
	who.answer.Allow = true
	if res := run(t, r.tool(t, "mcp__r__sample"), `{}`); res.Text != "m: A" {
		t.Errorf("%s", res.Text)
	}
	if s := who.samples[1]; s.System != "S" || s.MaxTokens != 8192 || s.Messages[0].Text() != "Q" {
		t.Errorf("%+v", s)
	}
}

// A server gives the model tools of its own, under the names that it has for them.
func TestSamplingWithTools(t *testing.T) {
	r, who, _ := richly(t, func(s *servers.Server) { s.AllowSampling = true })
	who.answer.Allow = true
	who.sampled = mcp.Sampled{Model: "m", Stop: "toolUse", Text: "T", Calls: []llm.ToolUse{{ID: "3", Name: "?", Input: json.RawMessage(`{"a":"x"}`)}}}
	run(t, r.tool(t, "mcp__r__sample-tools"), `{}`)
	s := who.samples[0]
	if len(s.Tools) != 1 || s.Tools[0].Name == "a.b" || s.Tools[0].Description != "does" || s.Choice != mcp.ChoiceRequired || len(s.Messages) != 3 {
		t.Fatalf("%+v", s)
	}
	if schema := string(s.Tools[0].Schema); strings.Index(schema, `"z"`) > strings.Index(schema, `"a"`) {
		t.Errorf("not in the server's order: %s", schema)
	}
	told := s.Tools[0].Name
	want := []llm.Part{llm.ToolUse{ID: "1", Name: told, Input: json.RawMessage(`{"z":"1"}`)}, llm.ToolUse{ID: "2", Name: told, Input: json.RawMessage(`{}`)}}
	if !reflect.DeepEqual(s.Messages[1].Parts, want) {
		t.Errorf("%+v", s.Messages[1])
	}
	want = []llm.Part{llm.ToolResult{ID: "1", Text: "one"}, llm.ToolResult{ID: "2", IsErr: true}}
	if !reflect.DeepEqual(s.Messages[2].Parts, want) {
		t.Errorf("%+v", s.Messages[2])
	}
	who.sampled.Calls[0].Name = told
	res := run(t, r.tool(t, "mcp__r__sample-tools"), `{}`)
	if res.Text != `{"content":[{"type":"text","text":"T"},{"type":"tool_use","id":"3","name":"a.b","input":{"a":"x"}}],"model":"m","role":"assistant","stopReason":"toolUse"}` {
		t.Errorf("%s", res.Text)
	}
}

func TestRoots(t *testing.T) {
	r, _, _ := richly(t, nil)
	if res := run(t, r.tool(t, "mcp__r__roots"), `{}`); res.Text != "file:///w/pro%20ject" {
		t.Errorf("%s", res.Text)
	}
	told := make(chan string, 10)
	ctx := t.Context() // ended before the session is: dropped and added folders are told one by one, and the last question may come late
	server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, &sdk.ServerOptions{RootsListChangedHandler: func(_ context.Context, r *sdk.RootsListChangedRequest) {
		go func() { // an answer comes when the notification was dealt with, and not over its request
			var out []string
			if a, err := r.Session.ListRoots(ctx, nil); err == nil {
				for _, x := range a.Roots {
					out = append(out, x.URI)
				}
			}
			told <- strings.Join(out, " ")
		}()
	}})
	var mu sync.Mutex
	dirs := []string{"/a", "/b"}
	s := remote("s", servers.HTTP, serveHTTP(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
	h := start(t, func(c *hubConfig) {
		c.Roots = func() []string {
			mu.Lock()
			defer mu.Unlock()
			return dirs
		}
	}, s)
	h.ready(t)
	if h.status(t, "s").Protocol > "2025-11-25" {
		t.Skip("the newest protocol tells no server of it")
	}
	mu.Lock()
	dirs = []string{"/b", "/c"}
	mu.Unlock()
	h.RootsChanged()
	for got := range told {
		if got == "file:///b file:///c" {
			break
		}
	}
}

func TestResources(t *testing.T) {
	r, who, server := richly(t, nil)
	read := r.tool(t, "ReadMcpResource")
	plan := func(uri string) policy.Action {
		p, err := read.Plan(json.RawMessage(`{"server":"r","uri":"`+uri+`"}`), tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Actions[0]
	}
	if a := plan("mem://a"); a != (policy.Call{Server: "r", Tool: "ReadMcpResource", RealServer: "r"}) {
		t.Errorf("nobody listed it: %+v", a)
	}
	if res := run(t, r.tool(t, "ListMcpResources"), `{}`); !strings.Contains(res.Text, `{"server":"r","uri":"mem://a","name":"A","description":"first"}`) || !strings.Contains(res.Text, `"template":true`) {
		t.Errorf("%s", res.Text)
	}
	if a := plan("mem://a"); a != (policy.None{}) {
		t.Errorf("%+v", a)
	}
	if a := plan("mem://t/secret/x"); a != (policy.Call{Server: "r", Tool: "ReadMcpResource", RealServer: "r"}) {
		t.Errorf("%+v", a)
	}
	if res := run(t, read, `{"server":"r","uri":"mem://a"}`); res.Text != "[Resource mem://a]\ncontent of mem://a" {
		t.Errorf("%s", res.Text)
	}
	for range 2 { // it is told once, until it is read again
		if err := server.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "mem://a"}); err != nil {
			t.Error(err)
		}
	}
	if uri := <-who.changed; uri != "mem://a" {
		t.Error(uri)
	}
	if res := run(t, read, `{"server":"r","uri":"mem://gone"}`); !res.IsErr {
		t.Errorf("%+v", res)
	}
	for _, server := range []string{"x", ""} { // nobody is asked about one that is not there
		in := []byte(fmt.Sprintf(`{"server":%q,"uri":"mem://a"}`, server))
		if _, err := read.Plan(in, tool.Env{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`no MCP server %q; there are r`, server)) {
			t.Errorf("%q: %v", server, err)
		}
	}
	var uris []string
	for _, m := range r.Mentions(t.Context(), "r:mem://t/4", 10) {
		uris = append(uris, m.URI)
	}
	if strings.Join(uris, " ") != "mem://t/41/x mem://t/id2/x" {
		t.Errorf("%q", uris)
	}
	if got := r.Mentions(t.Context(), "mem://a", 10); len(got) != 1 || len(who.changed) != 0 {
		t.Errorf("%+v, told %d", got, len(who.changed))
	}
}

// What was read before a connection was lost is watched over the next one.
func TestResourcesAcrossConnections(t *testing.T) {
	r, who, server := richly(t, nil)
	run(t, r.tool(t, "ReadMcpResource"), `{"server":"r","uri":"mem://a"}`)
	if err := r.Reconnect("r"); err != nil {
		t.Fatal(err)
	}
	r.until(t, "r", "connected")
	again := time.NewTicker(10 * time.Millisecond) // until the server knows of it
	defer again.Stop()
	for {
		if err := server.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "mem://a"}); err != nil {
			t.Fatal(err)
		}
		select {
		case uri := <-who.changed:
			if uri != "mem://a" {
				t.Error(uri)
			}
			return
		case <-again.C:
		case <-t.Context().Done():
			t.Fatal("nobody watches it")
		}
	}
}

func TestPrompts(t *testing.T) {
	r, _, _ := richly(t, nil)
	if got := r.Prompts(); len(got) != 1 || got[0].Command != "mcp__r__review_code" || got[0].Args != "<file> [how]" || got[0].About != "reviews" {
		t.Fatalf("%+v", got)
	}
	for args, want := range map[string]string{
		`a.go`: `Review "a.go" ""`, `a.go very  well`: `Review "a.go" "very well"`, `"a b.go" x`: `Review "a b.go" "x"`, `how=well a.go`: `Review "a.go" "well"`,
		`it's`: "!quote", ``: "!needs “file”", `how=x`: "!needs “file”",
	} {
		text, _, err := r.Prompt(t.Context(), "mcp__r__review_code", args, tool.Env{})
		if bad, is := strings.CutPrefix(want, "!"); is {
			if args != `it's` && (err == nil || !strings.Contains(err.Error(), bad)) {
				t.Errorf("%s: %s %v", args, text, err)
			}
			continue
		}
		if err != nil || text != want {
			t.Errorf("%s: %s %v", args, text, err)
		}
	}
	if got := r.CompletePrompt(t.Context(), "mcp__r__review_code", "a.go w"); !slices.Equal(got, []string{"w1", "how2"}) {
		t.Errorf("%q", got)
	}
	if got := r.CompletePrompt(t.Context(), "mcp__r__review_code", "a b c"); got != nil {
		t.Errorf("%q", got)
	}
}

// A server that forgot the session is connected to again, and the call is made once more.
func TestExpiredSession(t *testing.T) {
	var mu sync.Mutex
	server := honest()
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	t.Cleanup(func() { // of the session that was forgotten, nobody says that it ends
		for s := range server.Sessions() {
			_ = s.Close()
		}
	})
	forget := ""
	r := start(t, nil, remote("r", servers.HTTP, serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		id := req.Header.Get("Mcp-Session-Id")
		gone := forget == "now" && id != ""
		if gone {
			forget = id
		}
		gone = gone || id != "" && forget == id
		mu.Unlock()
		if gone {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		}
		h.ServeHTTP(w, req)
	}))))
	r.ready(t)
	if st := r.status(t, "r"); st.State != "connected" {
		t.Fatalf("%+v", st)
	}
	x := r.tool(t, "mcp__r__echo")
	mu.Lock()
	forget = "now"
	mu.Unlock()
	if res := run(t, x, `{"text":"again"}`); res.Text != "again" {
		t.Errorf("%+v", res)
	}
}

// A server that redirects to another path of its own, as frameworks do for a slash at the
// end, gets the request there as it was, with its headers.
func TestMoved(t *testing.T) {
	for status, want := range map[int]string{307: "connected", 308: "connected", 302: "its url is to be the path that it redirects to"} {
		handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return honest() }, nil)
		at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			switch {
			case req.Header.Get("X-Mine") != "yes":
				w.WriteHeader(http.StatusForbidden)
			case req.URL.Path == "/mcp":
				http.Redirect(w, req, "/mcp/?k=hidden", status)
			default:
				handler.ServeHTTP(w, req)
			}
		}))
		s := remote("s", servers.HTTP, at+"/mcp")
		s.Headers = map[string]string{"X-Mine": "yes"}
		r := start(t, nil, s)
		r.ready(t)
		if st := r.status(t, "s"); !strings.Contains(string(st.State)+": "+st.Why, want) || strings.Contains(st.Why, "hidden") {
			t.Errorf("%d: %s: %s", status, st.State, st.Why)
		}
	}
}

// Requests go to the configured server only.
func TestElsewhere(t *testing.T) {
	var mu sync.Mutex
	var came []string
	other := serveHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		came = append(came, req.URL.String())
	}))
	moved := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, other, http.StatusTemporaryRedirect)
	}))
	led := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/x\n\n", other)
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	}))
	r := start(t, nil, remote("moved", servers.HTTP, moved), remote("led", servers.SSE, led))
	r.ready(t)
	for name, want := range map[string]string{"moved": "it redirects to " + other + ", where its headers do not go", "led": "it would have us speak to another host"} {
		if st := r.status(t, name); st.State != "failed" || !strings.Contains(st.Why, want) {
			t.Errorf("%+v", st)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(came) > 0 {
		t.Errorf("it was asked for %v", came)
	}
}

func TestNeedsAuth(t *testing.T) {
	url := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	r := start(t, nil, remote("a", servers.HTTP, url), remote("b", servers.SSE, url), remote("c", servers.WebSocket, url))
	r.ready(t)
	for _, st := range r.Status() {
		if st.State != "needs-auth" {
			t.Errorf("%+v", st)
		}
	}
}

// A keyring signs requests once a person has signed in.
type keyring struct{ token atomic.Value }

func (k *keyring) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if t, ok := k.token.Load().(string); ok {
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: t}), nil
	}
	return nil, nil
}

func (k *keyring) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	k.token.Store("T1")
	return resp.Body.Close()
}

// What is spoken to a server is signed over whatever it is spoken: a WebSocket is by
// the request that opens it.
func TestSigned(t *testing.T) {
	signed := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer T1" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	one := func(*http.Request) *sdk.Server { return honest() }
	r := start(t, func(c *hubConfig) { c.Auth = func(servers.Server) auth.OAuthHandler { return new(keyring) } },
		remote("ws", servers.WebSocket, strings.Replace(serveHTTP(t, signed(overSocket(honest))), "http", "ws", 1)),
		remote("sse", servers.SSE, serveHTTP(t, signed(sdk.NewSSEHandler(one, nil)))))
	r.ready(t)
	for _, name := range []string{"ws", "sse"} {
		if st := r.status(t, name); st.State != "connected" {
			t.Errorf("%+v", st)
		}
	}
}

func TestHeadersHelper(t *testing.T) {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return honest() }, nil)
	url := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Made") != "for a" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, req)
	}))
	good := remote("a", servers.HTTP, url)
	good.HeadersHelper = `echo "{\"X-Made\":\"for $CLAUDE_CODE_MCP_SERVER_NAME\"}"`
	list := []servers.Server{good}
	for name, script := range map[string]string{"fails": "exit 3", "prints": "echo secret", "splits": `echo '{"X-Made":"a\r\nb"}'`} {
		s := remote(name, servers.HTTP, url)
		s.HeadersHelper = script
		list = append(list, s)
	}
	r := start(t, nil, list...)
	r.ready(t)
	for name, want := range map[string]string{"a": "", "fails": "its headersHelper failed: the program ended with exit code 3", "prints": "no JSON object", "splits": "a header that is none"} {
		if st := r.status(t, name); !strings.Contains(st.Why, want) || (st.State == "connected") != (name == "a") || strings.Contains(st.Why, "secret") {
			t.Errorf("%+v", st)
		}
	}
}

// Servers that nobody approved, or that cannot be used, are not started; one that
// is turned off ends, and others stay as they are.
func TestUse(t *testing.T) {
	waits, bad, off := self("waits"), self("bad"), self("off")
	waits.Approval, bad.Problem, off.Approval, off.Why = servers.Pending, "the variable X is not set", servers.Refused, "you refused it"
	a, b := self("a"), self("b")
	r := start(t, nil, waits, bad, off, a, b)
	r.ready(t)
	for name, want := range map[string]event.ServerState{"waits": "pending", "bad": "failed", "off": "disabled", "a": "connected", "b": "connected"} {
		if st := r.status(t, name); st.State != want {
			t.Errorf("%+v", st)
		}
	}
	pid := run(t, r.tool(t, "mcp__a__pid"), `{}`).Text
	gone := r.tool(t, "mcp__b__pid")
	waits.Approval = servers.Approved
	a.Origin.Line++ // it stands elsewhere now, and is the same
	r.Use([]servers.Server{a, waits})
	r.ready(t)
	if got := run(t, r.tool(t, "mcp__a__pid"), `{}`).Text; got != pid {
		t.Error("what stayed was started again")
	}
	if res := run(t, gone, `{}`); !res.IsErr || !strings.Contains(res.Text, "not configured any more") {
		t.Errorf("%+v", res)
	}
	if st := r.status(t, "waits"); st.State != "connected" || len(r.Status()) != 2 {
		t.Errorf("%+v", st)
	}
	x := r.tool(t, "mcp__a__pid")
	if err := r.Enable("a", false); err != nil {
		t.Error(err)
	}
	r.until(t, "a", "disabled")
	if res := run(t, x, `{}`); !res.IsErr || !strings.Contains(res.Text, "is disabled") {
		t.Errorf("%+v", res)
	}
	if err := errors.Join(r.Enable("a", true), r.Reconnect("waits")); err != nil {
		t.Error(err)
	}
	r.until(t, "a", "connected")
	r.until(t, "waits", "connected")
	if err := r.Reconnect("nobody"); err == nil {
		t.Error("there is no nobody")
	}
}

// A server whose programs are others than those that were looked at is not started.
func TestChangedProgramIsNotStarted(t *testing.T) {
	var asked atomic.Int32
	s := self("s", "plain")
	s.Answered, s.Programs = true, []servers.Program{{Path: "x.js", Sum: "1"}}
	r := start(t, func(c *hubConfig) {
		c.Fresh = func(s servers.Server) error {
			asked.Add(1)
			return errors.New("it is another one, " + s.Programs[0].Path)
		}
	}, s)
	r.Wait(t.Context())
	if st := r.Status()[0]; st.State != event.ServerFailed || !strings.Contains(st.Why, "another one, x.js") || asked.Load() == 0 {
		t.Errorf("%+v", st)
	}
}
