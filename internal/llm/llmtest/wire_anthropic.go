package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// Anthropic speaks the Messages wire.
type Anthropic struct{}

func event(name, format string, args ...any) string {
	return "event: " + name + "\ndata: " + fmt.Sprintf(format, args...) + "\n\n"
}

// Frames implements Wire.
func (Anthropic) Frames(r Reply) []string {
	u := r.Usage
	id := r.ID
	if id == "" {
		id = "msg_1"
	}
	out := []string{event("message_start", `{"type":"message_start","message":{"id":%q,"type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_1h_input_tokens":0},"output_tokens":1}}}`,
		id, r.Model, u.In, u.CacheWrite, u.CacheRead)}
	for i, p := range r.Parts {
		start := func(block string) {
			out = append(out, event("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, i, block))
		}
		delta := func(kind, field, raw string) {
			out = append(out, event("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":"%s"}}`, i, kind, field, raw))
		}
		switch part := p.Part.(type) {
		case llm.Text:
			start(`{"type":"text","text":""}`)
			for _, raw := range p.Cuts(part.S) {
				delta("text_delta", "text", raw)
			}
		case llm.Thinking:
			start(`{"type":"thinking","thinking":"","signature":""}`)
			for _, raw := range p.Cuts(part.S) {
				delta("thinking_delta", "thinking", raw)
			}
			if n := len(part.Opaque); n > 2 {
				delta("signature_delta", "signature", string(part.Opaque[1:n-1]))
			}
		case llm.ToolUse:
			start(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, part.ID, part.Name))
			delta("input_json_delta", "partial_json", "")
			for _, raw := range p.Cuts(string(part.Input)) {
				delta("input_json_delta", "partial_json", raw)
			}
		case llm.ToolResult, llm.Image, llm.Document:
			panic("a model cannot say that")
		}
		out = append(out, event("content_block_stop", `{"type":"content_block_stop","index":%d}`, i))
	}
	out = append(out, event("message_delta", `{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}}}`, string(r.Stop), u.Out, u.Reasoning))
	return append(out, event("message_stop", `{"type":"message_stop"}`))
}

// MayMiss says that message_stop may be left out.
func (Anthropic) MayMiss(frames []string) bool { return len(frames) <= 1 }

// ErrorBody implements Wire.
func (Anthropic) ErrorBody(status int, message string) string {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[status]
	if kind == "" {
		kind = "api_error"
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

// MidError implements Wire.
func (Anthropic) MidError() string {
	return event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
}

// Comment implements Wire.
func (Anthropic) Comment() string { return event("ping", `{"type":"ping"}`) }

// History implements Wire.
func (Anthropic) History(body []byte) ([]llm.Message, error) {
	type source struct {
		Media string `json:"media_type"`
		Data  string
	}
	type block struct {
		Type, Text, ID, Name, Thinking string
		Input                          json.RawMessage
		ToolUseID                      string `json:"tool_use_id"`
		Content                        []struct {
			Type, Text string
			Tool       string `json:"tool_name"`
			Source     source
		}
		IsError bool `json:"is_error"`
		Source  source
	}
	var req struct {
		Messages []struct {
			Role    llm.Role
			Content []block
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	if err := deferred(body); err != nil {
		return nil, err
	}
	var msgs []llm.Message
	for i, m := range req.Messages {
		if want := []llm.Role{llm.User, llm.Assistant}[i%2]; m.Role != want {
			return nil, fmt.Errorf("message %d is of %s", i, m.Role)
		}
		msg := llm.Message{Role: m.Role}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) == "" {
					return nil, fmt.Errorf("message %d has an empty text", i)
				}
				msg.Parts = append(msg.Parts, llm.Text{S: b.Text})
			case "thinking", "redacted_thinking":
				msg.Parts = append(msg.Parts, llm.Thinking{S: b.Thinking})
			case "tool_use":
				if len(b.Input) == 0 || b.Input[0] != '{' {
					return nil, fmt.Errorf("input of %s is not an object", b.ID)
				}
				msg.Parts = append(msg.Parts, llm.ToolUse{ID: b.ID, Name: b.Name, Input: b.Input})
			case "tool_result":
				res := llm.ToolResult{ID: b.ToolUseID, IsErr: b.IsError}
				for _, c := range b.Content {
					res.Text += c.Text
					if c.Type == "tool_reference" {
						res.Loaded = append(res.Loaded, llm.Spec{Name: c.Tool})
					}
				}
				msg.Parts = append(msg.Parts, res)
			case "image":
				data, err := base64.StdEncoding.DecodeString(b.Source.Data)
				if err != nil {
					return nil, err
				}
				msg.Parts = append(msg.Parts, llm.Image{Media: b.Source.Media, Data: data})
			}
		}
		msgs = append(msgs, msg)
	}
	return msgs, nil
}
