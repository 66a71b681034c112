package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// Models call the dispatcher in more than one way.
func TestDirect(t *testing.T) {
	for in, want := range map[string]string{
		`{"tool":"x","arguments":{"a":1}}`:        `x {"a":1}`,
		`{"tool":" x ","arguments":"{\"a\": 1}"}`: `x {"a": 1}`,
		`{"tool":"x"}`:                                 `x {}`,
		`{"tool":"x","arguments":null}`:                `x {}`,
		`{"tool":"x","arguments":""}`:                  `x {}`,
		`{"tool":"x","a":1,"b":[2]}`:                   `x {"a":1,"b":[2]}`,
		`{"tool":"x","arguments":[1]}`:                 `x [1]`,
		`{"tool":"x","arguments":"{\"a\":"}`:           `x "{\"a\":" bad`,
		`{"tool":"","arguments":{}}`:                   `CallTool {"tool":"","arguments":{}} bad`,
		`{"arguments":{}}`:                             `CallTool {"arguments":{}} bad`,
		`{"tool":3}`:                                   `CallTool {"tool":3} bad`,
		`"text"`:                                       `CallTool "text" bad`,
		`{"tool":"CallTool","arguments":{"tool":"x"}}`: `CallTool {"tool":"x"}`,
	} {
		u := direct(llm.ToolUse{ID: "1", Name: Dispatcher, Input: json.RawMessage(in)})
		got := u.Name + " " + string(u.Input)
		if u.Bad != "" {
			got += " bad"
		}
		if got != want || u.ID != "1" {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// Calls of tools that are not listed go out as ones of the dispatcher, and come
// back as what they are; results say what they loaded.
func TestDispatched(t *testing.T) {
	listed, names := Dispatched([]llm.Spec{{Name: "Read"}, {Name: "ToolSearch", Loads: true}, {Name: "Write"}})
	var order []string
	for _, s := range listed {
		order = append(order, s.Name)
	}
	if got := strings.Join(order, " "); got != "Read ToolSearch CallTool Write" || len(names) != 3 {
		t.Errorf("listed are %s, by themselves %v", got, names)
	}
	if same, none := Dispatched([]llm.Spec{{Name: "Read"}}); len(same) != 1 || none != nil {
		t.Errorf("%v %v", same, none)
	}
	msgs := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{S: "go"}}},
		{Role: llm.Assistant, Parts: []llm.Part{
			llm.ToolUse{ID: "1", Name: "ToolSearch", Input: json.RawMessage(`{"query":"x"}`)}, llm.ToolUse{ID: "2", Name: "x", Input: json.RawMessage(`{"a": 1}`)},
			llm.ToolUse{ID: "3", Name: "y", Bad: "bad", Input: json.RawMessage(`"raw"`)}, llm.ToolUse{ID: "4", Name: "z"},
		}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "1", Text: "found", Loaded: []llm.Spec{{Name: "x", Description: "does x", Schema: json.RawMessage(`{ "type": "object" }`)}, {Name: "bare"}}}}},
	}
	out := prepared(msgs, Rules{Reader: "r", Listed: names})
	var got []string
	for _, p := range out[1].Parts {
		u := p.(llm.ToolUse)
		got = append(got, u.Name+string(u.Input))
	}
	if want := `ToolSearch{"query":"x"} CallTool{"tool":"x","arguments":{"a":1}} CallTool{"tool":"y","arguments":"raw"} CallTool{"tool":"z","arguments":{}}`; strings.Join(got, " ") != want {
		t.Errorf("calls are %s", strings.Join(got, " "))
	}
	res := out[2].Parts[0].(llm.ToolResult)
	if want := "found\n\nCall each with CallTool, {\"tool\": its name, \"arguments\": {…}}:\n{\"name\":\"x\",\"description\":\"does x\",\"parameters\":{\"type\":\"object\"}}\n{\"name\":\"bare\"}"; res.Text != want || res.Loaded != nil {
		t.Errorf("the result says %q", res.Text)
	}
	res = prepared(msgs, Rules{Reader: "r"})[2].Parts[0].(llm.ToolResult)
	if !strings.HasPrefix(res.Text, "found\n\nThey are described as:\n{") {
		t.Errorf("without the dispatcher it says %q", res.Text)
	}
	native := prepared(msgs, Rules{Reader: "r", Native: true})[2].Parts
	if res = native[0].(llm.ToolResult); res.Text != "" || len(res.Loaded) != 2 || len(native) != 5 || native[4].(llm.Text).S != "[the search for tools] found" {
		t.Errorf("for a wire with a way of its own it is %+v", native)
	}
	if len(msgs[2].Parts[0].(llm.ToolResult).Loaded) != 2 {
		t.Error("the conversation was changed")
	}
}

// What a result loaded is not listed a second time, unless the result is gone.
func TestTools(t *testing.T) {
	r := llm.Request{Tools: []llm.Spec{{Name: "Read"}, {Name: "x", Deferred: true}, {Name: "y", Deferred: true}, {Name: "z"}}, Messages: []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "1", Loaded: []llm.Spec{{Name: "x", Description: "once"}}}, llm.ToolResult{ID: "2", Loaded: []llm.Spec{{Name: "z"}, {Name: "x", Description: "now"}}}}},
	}}
	listed, loaded := new(Threads).Past(r.Messages).Tools(r.Tools)
	if len(listed) != 3 || listed[1].Name != "y" || listed[2].Name != "z" || len(loaded) != 1 || loaded[0].Description != "now" {
		t.Errorf("listed %+v, loaded %+v", listed, loaded)
	}
}

func FuzzDirect(f *testing.F) {
	f.Add("x", `{"a":1}`)
	f.Add("", `"text"`)
	f.Fuzz(func(t *testing.T, name, args string) {
		direct(llm.ToolUse{Name: Dispatcher, Input: json.RawMessage(args)}) // does not panic
		if !json.Valid([]byte(args)) || args != strings.TrimSpace(args) || args[0] != '{' || strings.TrimSpace(name) != name || name == "" || strings.ToValidUTF8(name, "") != name {
			return
		}
		in := through(llm.ToolUse{Name: name, Input: json.RawMessage(args)})
		u := direct(in)
		var a, b any
		if u.Name != name || u.Bad != "" || json.Unmarshal(u.Input, &a) != nil || json.Unmarshal([]byte(args), &b) != nil {
			t.Errorf("%s %s comes back as %s %s %s", name, args, u.Name, u.Input, u.Bad)
		}
	})
}
