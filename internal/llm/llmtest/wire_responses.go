package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// Responses speaks the Responses wire.
type Responses struct{}

// Frames implements Wire.
func (Responses) Frames(r Reply) []string {
	out := []string{event("response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":%q,"output":[]}}`, r.Model)}
	add := func(kind, format string, args ...any) {
		out = append(out, event(kind, `{"type":"`+kind+`","sequence_number":1,`+format+`}`, args...))
	}
	for i, p := range r.Parts {
		switch part := p.Part.(type) {
		case llm.Text:
			phase := ""
			if len(part.Opaque) > 0 {
				phase = `"phase":` + string(part.Opaque) + ","
			}
			add("response.output_item.added", `"output_index":%d,"item":{"id":"msg_1","type":"message",%s"status":"in_progress","role":"assistant","content":[]}`, i, phase)
			add("response.content_part.added", `"output_index":%d,"content_index":0,"part":{"type":"output_text","text":""}`, i)
			for _, raw := range p.Cuts(part.S) {
				add("response.output_text.delta", `"item_id":"msg_1","output_index":%d,"content_index":0,"delta":"%s","obfuscation":"xx"`, i, raw)
			}
			add("response.output_text.done", `"output_index":%d,"content_index":0,"text":"…"`, i)
			add("response.output_item.done", `"output_index":%d,"item":{"id":"msg_1","type":"message",%s"status":"completed","role":"assistant","content":[]}`, i, phase)
		case llm.Thinking:
			add("response.output_item.added", `"output_index":%d,"item":{"id":"rs_1","type":"reasoning","summary":[]}`, i)
			add("response.reasoning_summary_part.added", `"output_index":%d,"summary_index":0,"part":{"type":"summary_text","text":""}`, i)
			for _, raw := range p.Cuts(part.S) {
				add("response.reasoning_summary_text.delta", `"output_index":%d,"summary_index":0,"delta":"%s"`, i, raw)
			}
			token := part.Opaque
			if len(token) == 0 {
				token = json.RawMessage(`""`)
			}
			add("response.output_item.done", `"output_index":%d,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"%s"}],"encrypted_content":%s}`, i, RawJSON(part.S), token)
		case llm.ToolUse:
			if part.Name == nativeSearch {
				add("response.output_item.added", `"output_index":%d,"item":{"id":"ts_1","type":"tool_search_call","execution":"client","status":"in_progress","call_id":%q,"arguments":{}}`, i, part.ID)
				add("response.output_item.done", `"output_index":%d,"item":{"id":"ts_1","type":"tool_search_call","execution":"client","status":"completed","call_id":%q,"arguments":%s}`, i, part.ID, part.Input)
				continue
			}
			space := ""
			if len(part.Opaque) > 0 {
				space = `"namespace":` + string(part.Opaque) + ","
			}
			add("response.output_item.added", `"output_index":%d,"item":{"id":"fc_1","type":"function_call",%s"status":"in_progress","call_id":%q,"name":%q,"arguments":""}`, i, space, part.ID, part.Name)
			for _, raw := range p.Cuts(string(part.Input)) {
				add("response.function_call_arguments.delta", `"item_id":"fc_1","output_index":%d,"delta":"%s"`, i, raw)
			}
			status := "completed"
			if r.Stop == llm.MaxTokens {
				status = "incomplete"
			}
			add("response.output_item.done", `"output_index":%d,"item":{"id":"fc_1","type":"function_call",%s"status":%q,"call_id":%q,"name":%q,"arguments":""}`, i, space, status, part.ID, part.Name)
		case llm.ToolResult, llm.Image, llm.Document:
			panic("a model cannot say that")
		}
	}
	kind, status, why := "response.completed", "completed", "null"
	switch r.Stop {
	case llm.MaxTokens:
		kind, status, why = "response.incomplete", "incomplete", `{"reason":"max_output_tokens"}`
	case llm.Refused:
		kind, status, why = "response.incomplete", "incomplete", `{"reason":"content_filter"}`
	case llm.EndTurn, llm.WantTools, llm.WindowFull, llm.Paused:
	}
	u := r.Usage
	add(kind, `"response":{"id":"resp_1","status":%q,"model":%q,"error":null,"incomplete_details":%s,"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}}`,
		status, r.Model, why, u.Prompt(), u.CacheRead, u.CacheWrite, u.Out, u.Reasoning, u.Prompt()+u.Out)
	return out
}

// ErrorBody implements Wire.
func (Responses) ErrorBody(_ int, message string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"some_error","param":null,"code":null}}`, message)
}

// MidError implements Wire.
func (Responses) MidError() string {
	return event("error", `{"type":"error","code":"server_overloaded","message":"Overloaded","param":null,"sequence_number":9}`)
}

// Comment implements Wire.
func (Responses) Comment() string { return event("keepalive", `{"type":"keepalive"}`) }

// History implements Wire.
func (Responses) History(body []byte) ([]llm.Message, error) {
	var req struct {
		Store *bool
		Tools []struct{ Name string }
		Input []responsesItem
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	if req.Store == nil || *req.Store {
		return nil, fmt.Errorf("the request leaves state on the server")
	}
	deferred := map[string]bool{} // tools that only a search brought
	for _, it := range req.Input {
		for _, t := range it.Tools {
			deferred[t.Name] = true
		}
	}
	for _, t := range req.Tools {
		delete(deferred, t.Name)
	}
	var msgs []llm.Message
	for i, it := range req.Input {
		m, err := it.message(i == len(req.Input)-1, deferred)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

// A responsesItem is one of the input of a request.
type responsesItem struct {
	Type      string
	Role      llm.Role
	Content   []responsesContent
	CallID    string `json:"call_id"`
	Name      string
	Namespace string
	Arguments json.RawMessage
	Execution string
	Output    json.RawMessage
	Summary   []responsesContent
	Tools     []struct {
		Type, Name string
		Parameters json.RawMessage
	}
}

type responsesContent struct {
	Type, Text string
	ImageURL   string `json:"image_url"`
}

// message is what an item says. last says that no item follows; deferred are
// the tools that must be called with a namespace.
func (it responsesItem) message(last bool, deferred map[string]bool) (llm.Message, error) {
	m := llm.Message{Role: llm.Assistant}
	var err error
	switch it.Type {
	case "message":
		m.Role = it.Role
		m.Parts, err = it.said()
		return m, err
	case "tool_search_output", "function_call_output":
		m.Role = llm.User
	}
	var part llm.Part
	switch it.Type {
	case "reasoning":
		if len(it.Summary) == 0 || last {
			return m, errors.New("reasoning without what it led to")
		}
		part = llm.Thinking{S: it.Summary[0].Text}
	case "function_call":
		part, err = it.call(deferred)
	case "tool_search_call":
		if len(it.Arguments) == 0 || it.Arguments[0] != '{' || it.Execution != "client" || it.CallID == "" {
			err = fmt.Errorf("a search %q with %q, executed by %q", it.CallID, it.Arguments, it.Execution)
		}
		part = llm.ToolUse{ID: it.CallID, Name: nativeSearch, Input: it.Arguments}
	case "tool_search_output":
		part, err = it.found()
	case "function_call_output":
		part, err = it.result()
	default:
		err = fmt.Errorf("a %q is none", it.Type)
	}
	m.Parts = []llm.Part{part}
	return m, err
}

// said are the texts and images of a message.
func (it responsesItem) said() ([]llm.Part, error) {
	var parts []llm.Part
	for _, c := range it.Content {
		if c.ImageURL == "" {
			parts = append(parts, llm.Text{S: c.Text})
			continue
		}
		_, b64, _ := strings.Cut(c.ImageURL, ";base64,")
		data, err := base64.StdEncoding.DecodeString(b64)
		if err != nil {
			return nil, err
		}
		parts = append(parts, llm.Image{Data: data})
	}
	return parts, nil
}

func (it responsesItem) call(deferred map[string]bool) (llm.Part, error) {
	var args string
	if json.Unmarshal(it.Arguments, &args) != nil || !json.Valid([]byte(args)) || len(it.CallID) > 64 {
		return nil, fmt.Errorf("call %q with %q", it.CallID, it.Arguments)
	}
	if deferred[it.Name] && it.Namespace == "" {
		return nil, fmt.Errorf("invalid: Missing namespace for function_call '%s'. It does not exist in the default namespace", it.Name)
	}
	return llm.ToolUse{ID: it.CallID, Name: it.Name, Input: json.RawMessage(args)}, nil
}

// found are the tools that a search brought.
func (it responsesItem) found() (llm.Part, error) {
	if it.Tools == nil || it.Execution != "client" {
		return nil, fmt.Errorf("what a search found is %v, executed by %q", it.Tools, it.Execution)
	}
	res := llm.ToolResult{ID: it.CallID}
	for _, t := range it.Tools {
		if t.Type != "function" || t.Name == "" || len(t.Parameters) == 0 {
			return nil, fmt.Errorf("a tool is %+v", t)
		}
		res.Loaded = append(res.Loaded, llm.Spec{Name: t.Name})
	}
	return res, nil
}

// result is what a call came to: a text, or a list of them.
func (it responsesItem) result() (llm.Part, error) {
	var text string
	var parts []responsesContent
	if json.Unmarshal(it.Output, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	} else if err := json.Unmarshal(it.Output, &text); err != nil {
		return nil, err
	}
	return llm.ToolResult{ID: it.CallID, Text: text}, nil
}
