package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// needed are members without which no server answers.
var needed = []string{"model", "stream", "messages", "input", "contents", "tools", "system", "instructions", "systemInstruction", "max_tokens", "max_completion_tokens",
	"generationConfig", "maxOutputTokens"}

// learns: a server that refuses an optional member by name is asked without it at once, and
// from then on.
func learns(t *testing.T, a Adapter) {
	f := newFixture(t, a, 0, Step{Reply: Say("ok")})
	ask := func(f *fixture) llm.Request {
		r := f.ask("hi")
		r.CacheKey, r.Force, r.Effort = "key", "Read", llm.EffortHigh
		return r
	}
	f.send(t, ask(f))
	for _, name := range optional(t, f.body(0)) {
		refuse := Step{Status: 400, Body: a.Wire.ErrorBody(400, fmt.Sprintf("Unknown parameter: '%s'.", name))}
		f := newFixture(t, a, 0, refuse, Step{Reply: Say("ok")}, Step{Reply: Say("ok")})
		for n := range 2 {
			if g := f.send(t, ask(f)); g.Err != nil || g.Text != "ok" {
				t.Fatalf("%s, request %d: %v", name, n, g.Err)
			}
			if slices.Contains(optional(t, f.body(1+n)), name) {
				t.Errorf("%s is sent again: %s", name, f.body(1+n))
			}
		}
	}
}

// apart are the members in which wires say instructions apart from the conversation.
var apart = []string{`"system":`, `"role":"system"`, `"instructions":`, `"systemInstruction":`}

// plainServer: a server that takes no tools is asked without them, with calls of the history as
// prose, and a person is told once; one that knows no role of the system gets the instructions as words of the user.
func plainServer(t *testing.T, a Adapter) {
	noTools := Step{Status: 400, Body: a.Wire.ErrorBody(400, "m does not support tools")}
	noSystem := Step{Status: 400, Body: a.Wire.ErrorBody(400, "System role not supported")}
	ok := Step{Reply: Say("ok")}
	f := newFixture(t, a, 0, noTools, noSystem, ok, ok)
	r := f.ask("hi")
	r.Force = "Read"
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "call_a", Name: "Read", Input: []byte(`{"path":"a.txt"}`)}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "call_a", Text: "text of a"}}})
	before := fmt.Sprint(r)
	for n := range 2 {
		g := f.send(t, r)
		if g.Err != nil || g.Text != "ok" || !g.Finished.NoTools {
			t.Fatalf("request %d: %+v %v", n, g.Finished, g.Err)
		}
		if told := g.Finished.Note; strings.Contains(told, "m does not support tools") != (n == 0) || n > 0 && told != "" {
			t.Errorf("request %d: people are told %q", n, told)
		}
		body := f.body(2 + n)
		msgs, err := Accept(a.Wire, body)
		if err != nil || len(msgs) == 0 || msgs[0].Role != llm.User {
			t.Fatalf("%v: %s", err, body)
		}
		all := ""
		for _, m := range msgs {
			for _, p := range m.Parts {
				text, ok := p.(llm.Text)
				if !ok {
					t.Errorf("%T is sent: %s", p, body)
				}
				all += text.S + "\n"
			}
		}
		if !strings.HasPrefix(all, r.System[0]) || !strings.Contains(all, "you have no tools") || !strings.Contains(all, "call of Read") || !strings.Contains(all, "text of a") {
			t.Errorf("what is sent reads\n%s", all)
		}
		for _, member := range append(apart, `"tools":`, `"tool_choice":`, `"toolConfig":`) {
			if bytes.Contains(body, []byte(member)) {
				t.Errorf("%s is sent again: %s", member, body)
			}
		}
	}
	if fmt.Sprint(r) != before {
		t.Error("the request was changed")
	}
}

func optional(t *testing.T, body []byte) []string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	var inner map[string]json.RawMessage
	_ = json.Unmarshal(all["generationConfig"], &inner) // one wire has some in there
	maps.Copy(all, inner)
	for _, name := range needed {
		delete(all, name)
	}
	return slices.Sorted(maps.Keys(all))
}

// staysOpen: a reply that is complete is taken, though the server neither ends it nor the
// connection.
func staysOpen(t *testing.T, a Adapter) {
	tails, ok := a.Wire.(interface{ MayMiss(frames []string) bool })
	if !ok {
		t.Skip("this wire has one event for both")
	}
	var f *fixture
	f = newFixture(t, a, 0, Step{Reply: Say("all is well"), Raw: func(w http.ResponseWriter, frames []string) {
		n := len(frames)
		for tails.MayMiss(frames[n-1:]) {
			n--
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(frames[:n], ""))
		w.(http.Flusher).Flush()
		<-f.quit
	}})
	if g := f.send(t, f.ask("hi")); g.Err != nil || g.Text != "all is well" {
		t.Errorf("%q %v", g.Text, g.Err)
	}
}

// strangeNames: the name of a call is that of the tool, without what is around it.
func strangeNames(t *testing.T, a Adapter) {
	for _, name := range []string{"functions.Read", "default_api:Read", "read", "Read<|channel|>commentary"} {
		f := newFixture(t, a, 0, Step{Reply: Reply{Stop: llm.WantTools, Parts: []Part{{Part: llm.ToolUse{ID: "call_a", Name: name, Input: []byte(`{}`)}}}}})
		g := f.send(t, f.ask("hi"))
		if g.Err != nil || len(g.Parts) != 1 || g.Parts[0].(llm.ToolUse).Name != "Read" {
			t.Errorf("%s: %+v %v", name, g.Parts, g.Err)
		}
	}
}

// errorField: what is wrong comes as an event named so, or in a field of that name.
func errorField(t *testing.T, a Adapter) {
	for _, frame := range []string{"error: %s\n\n", "event: error\ndata: %s\n\n"} {
		f := newFixture(t, a, 0, Step{Raw: func(w http.ResponseWriter, _ []string) {
			stream(w, fmt.Sprintf(frame, `{"code":400,"message":"the grammar is bad","type":"invalid_request_error"}`))
		}})
		if e := f.fail(t, f.ask("hi"), llm.BadRequest); !strings.Contains(e.Error(), "the grammar is bad") {
			t.Error(e)
		}
	}
}
