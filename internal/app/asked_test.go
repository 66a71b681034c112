package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// asker is a server whose tool asks a person who it is. A call waits until all have
// begun, so that they are open at the same time.
func asker(t *testing.T, calls int) (s *sdk.Server, flag servers.Given) {
	t.Helper()
	s = sdk.NewServer(&sdk.Implementation{Name: "asker", Version: "1"}, nil)
	var all sync.WaitGroup
	all.Add(calls)
	s.AddTool(&sdk.Tool{Name: "ask", InputSchema: &jsonschema.Schema{Type: "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if a, ok := r.Params.InputResponses["who"].(*sdk.ElicitResult); ok {
			raw, err := json.Marshal(a.Content)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}}, err
		}
		all.Done()
		all.Wait()
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": &sdk.ElicitParams{
			Message: "asked by " + string(r.Params.Arguments), RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		}}}, nil
	})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(h.Close)
	raw, err := json.Marshal(map[string]string{"type": "http", "url": h.URL})
	if err != nil {
		t.Fatal(err)
	}
	return s, servers.Given{Name: "asker", JSON: raw, Origin: config.Origin{Scope: config.Flag, From: "--mcp-config"}}
}

// Two sessions of a process call a server at the same time, and each has the question
// that its own call led to, whichever of them is older.
func TestQuestionOfTheOpenCall(t *testing.T) {
	dir, home := scratch(t)
	_, given := asker(t, 2)
	p := here(dir, home)
	p.Extensions = ext.Flags{Servers: []servers.Given{given}}
	all, w, err := openAt(t, p, settings.Sources{Inline: `{"permissions":{"allow":["mcp__asker"]}}`}, Front{Lasting: true, Person: true})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	var running sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		m := &fake.Model{Replies: []fake.Reply{fake.Use(llm.ToolUse{ID: "c", Name: "mcp__asker__ask", Input: json.RawMessage(`{"by":"` + name + `"}`)}), fake.Say("done")}}
		r, err := w.Start(t.Context(), Spec{Log: sessions.Choice{None: true}, Target: &agent.Target{Model: m, Provider: "fake", Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		w.Extensions().AwaitAll(t.Context())
		r.Offer()
		if err := r.Submit(t.Context(), op.Attach{Client: "test"}); err != nil {
			t.Fatal(err)
		}
		events := r.Follow(t.Context(), 0, event.Durable)
		if err := r.Submit(t.Context(), op.Prompt{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			for e, err := range events {
				if err != nil {
					t.Error(err)
					return
				}
				switch b := e.Body.(type) {
				case event.Asked:
					if !strings.Contains(string(b.Input), `asked by {\"by\":\"`+name) {
						t.Errorf("%s was asked %s", name, b.Input)
					}
					if err := r.Submit(t.Context(), op.Answer{Call: b.Call, Allow: true, By: "test", Values: json.RawMessage(`{"name":"` + name + `"}`)}); err != nil {
						t.Error(err)
					}
				case event.ToolFinished:
					if b.IsErr || !strings.Contains(b.Text, name) {
						t.Errorf("%s has the result %+v", name, b)
					}
				case event.TurnEnded:
					return
				default:
				}
			}
			t.Errorf("%s ended", name)
		})
	}
	running.Wait()
}
