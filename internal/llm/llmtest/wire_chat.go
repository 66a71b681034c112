package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// Chat speaks the Chat Completions wire.
type Chat struct{}

// Frames implements Wire.
func (Chat) Frames(r Reply) []string {
	chunk := func(choices, more string) string {
		return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":%q,\"choices\":[%s]%s}\n\n", r.Model, choices, more)
	}
	delta := func(d string) string { return chunk(`{"index":0,"delta":{`+d+`},"finish_reason":null}`, "") }
	out := []string{delta(`"role":"assistant","content":""`)}
	calls := 0
	for _, p := range r.Parts {
		switch part := p.Part.(type) {
		case llm.Text:
			for _, raw := range p.Cuts(part.S) {
				out = append(out, delta(`"content":"`+raw+`"`))
			}
		case llm.Thinking:
			for _, raw := range p.Cuts(part.S) {
				out = append(out, delta(`"content":null,"reasoning_content":"`+raw+`"`))
			}
		case llm.ToolUse:
			out = append(out, delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]`, calls, part.ID, part.Name)))
			for _, raw := range p.Cuts(string(part.Input)) {
				out = append(out, delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":"%s"}}]`, calls, raw)))
			}
			calls++
		case llm.ToolResult, llm.Image, llm.Document:
			panic("a model cannot say that")
		}
	}
	reason := map[llm.Stop]string{llm.EndTurn: "stop", llm.WantTools: "tool_calls", llm.MaxTokens: "length", llm.Refused: "content_filter"}[r.Stop]
	u := r.Usage
	return append(out, chunk(`{"index":0,"delta":{},"finish_reason":"`+reason+`"}`, ""),
		chunk("", fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
			u.Prompt(), u.Out, u.Prompt()+u.Out, u.CacheRead, u.CacheWrite, u.Reasoning)),
		"data: [DONE]\n\n")
}

// MayMiss says that the usage and [DONE] may be left out.
func (Chat) MayMiss(frames []string) bool { return len(frames) <= 2 }

// ErrorBody implements Wire.
func (Chat) ErrorBody(status int, message string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"some_error","param":null,"code":null}}`, message)
}

// MidError implements Wire.
func (Chat) MidError() string {
	return `data: {"error":{"message":"Overloaded","code":529}}` + "\n\n"
}

// Comment implements Wire.
func (Chat) Comment() string { return ": PROCESSING\n\n" }

// History implements Wire.
func (Chat) History(body []byte) ([]llm.Message, error) {
	var req struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			Reasoning string `json:"reasoning_content"`
			CallID    string `json:"tool_call_id"`
			Calls     []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	var msgs []llm.Message
	for i, m := range req.Messages {
		var text string
		var parts []struct {
			Type, Text string
			ImageURL   struct{ URL string } `json:"image_url"`
		}
		if len(m.Content) > 0 && m.Content[0] == '[' {
			if err := json.Unmarshal(m.Content, &parts); err != nil {
				return nil, err
			}
		} else if err := json.Unmarshal(m.Content, &text); err != nil {
			return nil, err
		}
		msg := llm.Message{Role: llm.Role(m.Role)}
		switch m.Role {
		case "system":
			continue
		case "tool":
			for _, p := range parts {
				text += p.Text
			}
			msg.Role = llm.User
			msg.Parts = append(msg.Parts, llm.ToolResult{ID: m.CallID, Text: text})
			msgs = append(msgs, msg)
			continue
		}
		if m.Reasoning != "" {
			msg.Parts = append(msg.Parts, llm.Thinking{S: m.Reasoning})
		}
		if text != "" {
			msg.Parts = append(msg.Parts, llm.Text{S: text})
		}
		for _, p := range parts {
			if p.Type == "text" {
				msg.Parts = append(msg.Parts, llm.Text{S: p.Text})
				continue
			}
			_, b64, _ := strings.Cut(p.ImageURL.URL, ";base64,")
			data, err := base64.StdEncoding.DecodeString(b64)
			if err != nil {
				return nil, err
			}
			msg.Parts = append(msg.Parts, llm.Image{Data: data})
		}
		for _, c := range m.Calls {
			if len(c.ID) > 40 || !strings.HasPrefix(c.Function.Arguments, "{") || !json.Valid([]byte(c.Function.Arguments)) {
				return nil, fmt.Errorf("message %d: call %+v", i, c)
			}
			msg.Parts = append(msg.Parts, llm.ToolUse{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
		}
		msgs = append(msgs, msg)
	}
	return msgs, nil
}
