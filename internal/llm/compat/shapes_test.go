package compat

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// How something is written is learnt from a refusal in whatever words, and kept for who
// takes the conversation up again.
func TestShapesAreLearnt(t *testing.T) {
	msgs := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "go"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "call_1_0", Name: "Bash", Input: []byte(`{}`)}}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "call_1_0", Text: "hi"}, llm.Text{S: "and"}}},
	}
	null := func(b string) bool { return strings.Contains(b, `"content":null`) }
	long := func(b string) bool { return strings.Contains(b, `"call_1_0"`) }
	for name, c := range map[string]struct {
		refuse  func(string) bool
		status  int
		message string
		tries   int
	}{
		"serde":       {null, 400, `messages[2].content: invalid type: null, expected a string`, 2},
		"jinja":       {null, 400, `Error rendering prompt: Cannot apply filter "string" to type: NullValue`, 2},
		"jinja, 500":  {null, 500, `Value is not callable: null at row 3, column 12`, 2},
		"python":      {null, 422, `can only concatenate str (not "NoneType") to str`, 2},
		"pydantic":    {null, 422, `Input should be a valid string (content)`, 2},
		"other words": {null, 400, `Bad message`, 2},
		"mistral":     {long, 400, `Tool call id was call_1_0 but must be a-z, A-Z, 0-9, with a length of 9.`, 2},
		"other ids":   {long, 400, `wrong identifiers`, 2},
		"both":        {func(b string) bool { return null(b) || long(b) }, 400, `no`, 2},
		"empty":       {func(b string) bool { return null(b) || strings.Contains(b, `"content":""`) }, 400, `content must not be null or empty`, 3},
		"order": {func(b string) bool {
			return strings.Contains(b, `},{"role":"user","content":"and"`) && !strings.Contains(b, "I have the results")
		}, 400, `Unexpected role 'user' after role 'tool'`, 2},
		"order, alike": {func(b string) bool { return !strings.Contains(b, "I have the results") }, 500, `Conversation roles must alternate user/assistant/user/assistant/...`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := &picky{refuse: func(b string) (string, int) {
				if c.refuse(b) {
					return `{"error":{"message":` + string(wire.AppendString(nil, c.message)) + `}}`, c.status
				}
				return "", 0
			}}
			disk := &disk{kept: map[string][]string{}}
			for round := range 2 {
				mem := &wire.Memory{} // of another process
				mem.Use(disk)
				m := New(Config{Config: wire.Config{Provider: "x", Transport: p}, BaseURL: "http://u:secret@x/v1", Memory: mem})
				g := llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m", Messages: msgs})
				if g.Err != nil || len(p.bodies) != c.tries+round {
					t.Fatalf("%d: %d requests, %v\n%s", round, len(p.bodies), g.Err, p.bodies[len(p.bodies)-1])
				}
			}
			for key := range disk.kept {
				if strings.Contains(key, "secret") || strings.Contains(key, "x/v1") {
					t.Errorf("the address is kept: %s", key)
				}
			}
		})
	}
}

type disk struct{ kept map[string][]string }

func (d *disk) Load() map[string][]string       { return d.kept }
func (d *disk) Save(key string, names []string) { d.kept[key] = names }

// A guess that does not help leaves the first answer as the error, and nothing is kept.
func TestGuessInVain(t *testing.T) {
	p := &picky{refuse: func(b string) (string, int) {
		if strings.Contains(b, `"content":null`) {
			return `{"error":"the first words"}`, 400
		}
		return `{"error":"the second words"}`, 400
	}}
	mem := &wire.Memory{}
	m := New(Config{Config: wire.Config{Provider: "x", Transport: p}, BaseURL: "http://x/v1", Memory: mem})
	r := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "a"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "1", Name: "B", Input: []byte(`{}`)}}}, {Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "1"}}}}}
	for n := range 2 {
		if g := llmtest.Collect(t, context.Background(), m, r); g.Err == nil || !strings.Contains(g.Err.Error(), "the first words") || len(p.bodies) != 2*n+2 {
			t.Errorf("%d requests, %v", len(p.bodies), g.Err)
		}
	}
}

// Requests go to the API that is below a base URL, however much of its path that names.
func TestAddress(t *testing.T) {
	for base, want := range map[string][]string{
		"http://x/v1": {"/v1/chat/completions"}, "http://x/v1/": {"/v1/chat/completions"}, "http://x/v1/chat/completions": {"/v1/chat/completions"},
		"http://x": {"/chat/completions", "/v1/chat/completions"}, "http://x/chat/completions": {"/chat/completions", "/v1/chat/completions"},
		"http://x/openai/deployments/gpt?api-version=1": {"/openai/deployments/gpt/chat/completions?api-version=1"},
		"http://x/?a=b": {"/chat/completions?a=b", "/v1/chat/completions?a=b"},
	} {
		last := want[len(want)-1]
		var got []string
		m := New(Config{Config: wire.Config{Provider: "x", Transport: trip(func(r *http.Request) (*http.Response, error) {
			got = append(got, r.URL.RequestURI())
			if r.URL.RequestURI() != last {
				return &http.Response{StatusCode: 404, Body: io.NopCloser(strings.NewReader("404 page not found"))}, nil
			}
			return llmtest.Body(say(`{"content":"hi"}`) + finish).RoundTrip(r)
		})}, BaseURL: base})
		for range 2 {
			if g := llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m"}); g.Err != nil {
				t.Errorf("%s: %v", base, g.Err)
			}
		}
		if want = append(want, last); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What is wrong is told in the server's words, in whatever frame they come.
func TestFramesOfErrors(t *testing.T) {
	for body, want := range map[string]llm.Kind{
		"error: {\"code\":400,\"message\":\"bad grammar\",\"type\":\"invalid_request_error\"}\n\n":          llm.BadRequest,
		"event: error\ndata: {\"code\":400,\"message\":\"bad grammar\"}\n\n":                                llm.BadRequest,
		"data: {\"object\":\"error\",\"message\":\"bad grammar\",\"type\":\"BadRequest\",\"code\":400}\n\n": llm.BadRequest,
		"event: error\ndata: bad grammar\n\n":                                                               llm.ServerError,
		"error: bad grammar\n\n":                                                                            llm.ServerError,
		"data: {\"detail\":\"bad grammar\"}\n\n":                                                            llm.ServerError,
		"data: {\"error\":\"bad grammar\",\"code\":400}\n\n":                                                llm.BadRequest,
		"{\"error\":{\"message\":\"bad grammar\",\"code\":400}}":                                            llm.BadRequest,
	} {
		g := run(t, body)
		if k, _ := llmtest.KindOf(g.Err); k != want || !strings.Contains(g.Err.Error(), "bad grammar") {
			t.Errorf("%q: kind %d, %v", body, k, g.Err)
		}
	}
}

// Calls of one reply are told apart without numbers and ids.
func TestCallsWithoutNumbers(t *testing.T) {
	call := func(rest string) string { return `{"tool_calls":[{"index":0,"function":{` + rest + `}}]}` }
	for name, deltas := range map[string][]string{
		"whole":         {call(`"name":"A","arguments":"{\"x\":1}"`), call(`"name":"A","arguments":"{\"x\":2}"`)},
		"name first":    {call(`"name":"A","arguments":""`), call(`"arguments":"{\"x\":1}"`), call(`"name":"A"`), call(`"arguments":"{\"x\":2}"`)},
		"name repeated": {call(`"name":"A","arguments":"{\"x\""`), call(`"name":"A","arguments":":1}"`), call(`"name":"A","arguments":""`), call(`"name":"A","arguments":"{\"x\":2}"`)},
		"one delta":     {`{"tool_calls":[{"index":0,"function":{"name":"A","arguments":"{\"x\":1}"}},{"index":0,"function":{"name":"A","arguments":"{\"x\":2}"}}]}`},
	} {
		g := run(t, say(deltas...)+finish)
		if g.Err != nil || len(g.Parts) != 2 || string(g.Parts[0].(llm.ToolUse).Input) != `{"x":1}` || string(g.Parts[1].(llm.ToolUse).Input) != `{"x":2}` {
			t.Errorf("%s: %+v %v", name, g.Parts, g.Err)
		}
	}
}
