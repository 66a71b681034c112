package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// CacheOrder is what a request says in the order in which providers keep it:
// tools, instructions, conversation. Marks of a cache are left out, and tools that
// are no part of what is kept.
func CacheOrder(body []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	var out []byte
	add := func(raw []byte) {
		for _, m := range marks {
			raw = bytes.ReplaceAll(raw, []byte(m), nil)
		}
		out = append(append(out, raw...), '\n')
	}
	for _, name := range []string{"tools", "system", "instructions", "systemInstruction", "messages", "input", "contents"} {
		raw, ok := members[name]
		if !ok {
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			add(raw)
			continue
		}
		for _, e := range list {
			var t struct {
				Deferred     bool              `json:"defer_loading"`
				Declarations []json.RawMessage `json:"functionDeclarations"`
			}
			_ = json.Unmarshal(e, &t) // what has other members is of another kind
			for _, d := range t.Declarations {
				add(d)
			}
			if !t.Deferred && t.Declarations == nil {
				add(e)
			}
		}
	}
	return out, nil
}

// Kept is how many bytes of what one request says the next one begins with, and
// how many there are.
func Kept(one, next []byte) (kept, all int, err error) {
	a, err := CacheOrder(one)
	if err != nil {
		return 0, 0, err
	}
	b, err := CacheOrder(next)
	for kept < min(len(a), len(b)) && a[kept] == b[kept] {
		kept++
	}
	return kept, len(a), err
}

// Loading: a search for tools loads one, which is called, and goes on being there
// when the conversation that loaded it was replaced. What a provider keeps of the
// requests stays the same. Tools are said in the provider's own way, when native,
// else in words.
func Loading(t *testing.T, a Adapter, native bool) {
	const name = "mcp__files__find"
	found := llm.Spec{Name: name, Description: "finds files", Schema: json.RawMessage(`{"type":"object","properties":{"glob":{"type":"string"}},"required":["glob"]}`)}
	search := llm.ToolUse{ID: "call_1", Name: "ToolSearch", Input: json.RawMessage(`{"query":"select:` + name + `"}`)}
	said, direct := search, llm.ToolUse{ID: "call_2", Name: name, Input: json.RawMessage(`{"glob":"*.go"}`)}
	called := direct
	if _, responses := a.Wire.(Responses); native && responses {
		said.Name = nativeSearch
		called.Opaque = json.RawMessage(`"` + name + `"`) // the namespace of a tool that was loaded
	}
	if !native {
		called.Name, called.Input = "CallTool", json.RawMessage(`{"tool":"`+name+`","arguments":{"glob":"*.go"}}`)
	}
	again := direct
	again.ID = "call_9"
	calls := func(u llm.ToolUse) Step {
		return Step{Reply: Reply{Parts: []Part{{Part: u}}, Stop: llm.WantTools, ID: "r", Usage: llm.Usage{In: 10, Out: 5}}}
	}
	f := newFixture(t, a, 0, calls(said), calls(called), Step{Reply: Say("done")}, calls(again))
	r := f.ask("find the files")
	r.Tools = append(r.Tools, llm.Spec{Name: "ToolSearch", Description: "loads tools", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`), Loads: true})
	send := func(want llm.ToolUse) llm.ToolUse {
		t.Helper()
		g := f.send(t, r)
		if g.Err != nil || len(g.Finished.Message.Parts) != 1 {
			t.Fatalf("%+v %v", g.Finished, g.Err)
		}
		u, _ := g.Finished.Message.Parts[0].(llm.ToolUse)
		if u.Name != want.Name || string(u.Input) != string(want.Input) || u.Bad != "" {
			t.Fatalf("the model calls %s %s %s, want %s %s", u.Name, u.Input, u.Bad, want.Name, want.Input)
		}
		r.Messages = append(r.Messages, g.Finished.Message)
		return u
	}
	answer := func(res llm.ToolResult) {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Parts: []llm.Part{res}})
	}
	answer(llm.ToolResult{ID: send(search).ID, Text: "You can call it now.", Loaded: []llm.Spec{found}})
	later := found
	later.Deferred = true
	r.Tools = append(r.Tools, later)
	answer(llm.ToolResult{ID: send(direct).ID, Text: "a.go"})
	if g := f.send(t, r); g.Err != nil || g.Text != "done" {
		t.Fatalf("%+v %v", g.Finished, g.Err)
	}
	for n := range 2 {
		if kept, all, err := Kept(f.body(n), f.body(n+1)); err != nil || kept < all {
			t.Errorf("request %d begins with %d of the %d bytes of the one before (%v)\n%s\n%s", n+1, kept, all, err, f.body(n), f.body(n+1))
		}
	}
	var results []llm.ToolResult
	var uses []string
	for _, m := range f.history(t, 2) {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				uses = append(uses, p.Name)
			case llm.ToolResult:
				results = append(results, p)
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
			}
		}
	}
	if want := []string{said.Name, called.Name}; !slices.Equal(uses, want) {
		t.Errorf("calls are sent as %v, want %v", uses, want)
	}
	if len(results) != 2 || native != (len(results[0].Loaded) == 1 && results[0].Loaded[0].Name == name) || native == strings.Contains(results[0].Text, `"glob"`) {
		t.Errorf("results are sent as %+v", results)
	}
	r.Messages = []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "what happened so far; go on"}}}}
	send(direct)
	if body := string(f.body(3)); !strings.Contains(body, `"`+name+`"`) || strings.Contains(body, "defer_loading") {
		t.Errorf("a tool whose loading is not in the conversation any more is sent as %s", body)
	}
}

// nativeSearch is a call of a wire's own kind of search, in what a server sends
// and reads.
const nativeSearch = "tool_search"

// deferred checks the tools of a request to Anthropic: names are unique, not all are
// deferred, a deferred one has no cache mark, and what a result refers to is there.
func deferred(body []byte) error {
	var req struct {
		Tools []struct {
			Name     string
			Deferred bool            `json:"defer_loading"`
			Mark     json.RawMessage `json:"cache_control"`
		}
		Messages []struct {
			Content []struct {
				Content []struct {
					Type string
					Name string `json:"tool_name"`
				}
			}
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	names, whole := map[string]bool{}, 0
	for _, t := range req.Tools {
		switch {
		case names[t.Name]:
			return fmt.Errorf("tools: Tool names must be unique: %s", t.Name)
		case t.Deferred && t.Mark != nil:
			return fmt.Errorf("the tool %s cannot have both defer_loading=true and cache_control", t.Name)
		case !t.Deferred:
			whole++
		}
		names[t.Name] = true
	}
	if len(req.Tools) > 0 && whole == 0 {
		return fmt.Errorf("at least one tool must have defer_loading=false")
	}
	for _, m := range req.Messages {
		for _, b := range m.Content {
			for _, c := range b.Content {
				if c.Type == "tool_reference" && !names[c.Name] {
					return fmt.Errorf("invalid: Tool reference '%s' not found in available tools", c.Name)
				}
			}
		}
	}
	return nil
}
