package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/adze-agent/adze/internal/llm"
)

// Gemini speaks the streamGenerateContent wire.
type Gemini struct{}

// Frames implements Wire.
func (Gemini) Frames(r Reply) []string {
	var out []string
	send := func(parts, more string) {
		out = append(out, fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[%s],\"role\":\"model\"}%s,\"index\":0}],\"modelVersion\":%q,\"responseId\":\"resp_1\"}\n\n", parts, more, r.Model))
	}
	send(`{"text":""}`, "")
	var signature json.RawMessage
	for _, p := range r.Parts {
		switch part := p.Part.(type) {
		case llm.Text:
			for i, raw := range p.Cuts(part.S) {
				sig := ""
				if i == 0 && len(signature) > 0 {
					sig = `,"thoughtSignature":` + string(signature)
				}
				send(`{"text":"`+raw+`"`+sig+`}`, "")
			}
		case llm.Thinking:
			for _, raw := range p.Cuts(part.S) {
				send(`{"text":"`+raw+`","thought":true}`, "")
			}
			signature = part.Opaque
		case llm.ToolUse:
			send(fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, part.Name, part.Input), "")
		case llm.ToolResult, llm.Image, llm.Document:
			panic("a model cannot say that")
		}
	}
	reason := map[llm.Stop]string{llm.EndTurn: "STOP", llm.WantTools: "STOP", llm.MaxTokens: "MAX_TOKENS", llm.Refused: "SAFETY"}[r.Stop]
	u := r.Usage
	return append(out, fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":%q,\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":%d,\"candidatesTokenCount\":%d,\"thoughtsTokenCount\":%d,\"cachedContentTokenCount\":%d,\"totalTokenCount\":%d},\"responseId\":\"resp_1\"}\n\n",
		reason, u.In+u.CacheRead, u.Out-u.Reasoning, u.Reasoning, u.CacheRead, u.In+u.CacheRead+u.Out))
}

// ErrorBody implements Wire.
func (Gemini) ErrorBody(status int, message string) string {
	return fmt.Sprintf(`[{"error":{"code":%d,"message":%q,"status":"SOME_STATUS"}}]`, status, message)
}

// MidError implements Wire.
func (Gemini) MidError() string {
	return `data: {"error":{"code":529,"message":"The model is overloaded.","status":"UNAVAILABLE"}}` + "\n\n"
}

// Comment implements Wire.
func (Gemini) Comment() string { return "data: {}\n\n" }

// History implements Wire.
func (Gemini) History(body []byte) ([]llm.Message, error) {
	var req struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text         string
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
				FunctionResponse *struct {
					ID, Name string
					Response struct{ Output, Error string }
				}
				InlineData *struct{ MimeType, Data string }
			}
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	var msgs []llm.Message
	for i, c := range req.Contents {
		if want := []string{"user", "model"}[i%2]; c.Role != want {
			return nil, fmt.Errorf("content %d is of %s", i, c.Role)
		}
		m := llm.Message{Role: map[string]llm.Role{"user": llm.User, "model": llm.Assistant}[c.Role]}
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				if p.FunctionCall.Args[0] != '{' {
					return nil, fmt.Errorf("content %d: args are no object", i)
				}
				m.Parts = append(m.Parts, llm.ToolUse{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Input: p.FunctionCall.Args})
			case p.FunctionResponse != nil:
				if p.FunctionResponse.Name == "" {
					return nil, fmt.Errorf("content %d: a response without a name", i)
				}
				r := p.FunctionResponse.Response
				m.Parts = append(m.Parts, llm.ToolResult{ID: p.FunctionResponse.ID, Text: r.Output + r.Error, IsErr: r.Error != ""})
			case p.InlineData != nil:
				data, err := base64.StdEncoding.DecodeString(p.InlineData.Data)
				if err != nil {
					return nil, err
				}
				m.Parts = append(m.Parts, llm.Image{Media: p.InlineData.MimeType, Data: data})
			default:
				m.Parts = append(m.Parts, llm.Text{S: p.Text})
			}
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}
