package ext

import (
	"encoding/json"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// formInput is a server's question to a person as hooks and hosts read it, with the
// names of an Elicitation hook's input.
func formInput(server string, f view.Form) json.RawMessage {
	return object(struct {
		Server  string          `json:"mcp_server_name"`
		Message string          `json:"message"`
		Mode    string          `json:"mode"`
		URL     string          `json:"url,omitempty"`
		Schema  json.RawMessage `json:"requested_schema,omitempty"`
	}{server, f.Message, f.Mode(), f.URL, f.Schema})
}

// A samplePart is a piece of a message. Its kinds and names are those of the Model
// Context Protocol; of an image there is its size in bytes in the place of its data.
type samplePart struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	Media   string          `json:"mimeType,omitempty"`
	Bytes   int             `json:"bytes,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	UseID   string          `json:"toolUseId,omitempty"`
	IsError bool            `json:"isError,omitempty"`
	Content []samplePart    `json:"content,omitempty"`
}

func imagePart(i llm.Image) samplePart {
	return samplePart{Type: "image", Media: i.Media, Bytes: len(i.Data)}
}

// sampleInput is what a server wants a model to answer, as hooks and hosts read it:
// with the names of sampling/createMessage.
func sampleInput(server string, s mcp.Sampling) json.RawMessage {
	type message struct {
		Role    llm.Role     `json:"role"`
		Content []samplePart `json:"content"`
	}
	type offered struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"inputSchema"`
	}
	type choice struct {
		Mode string `json:"mode"`
	}
	in := struct {
		Server    string    `json:"mcp_server_name"`
		System    string    `json:"systemPrompt,omitempty"`
		Messages  []message `json:"messages"`
		Tools     []offered `json:"tools,omitempty"`
		Choice    *choice   `json:"toolChoice,omitempty"`
		MaxTokens int       `json:"maxTokens"`
	}{Server: server, System: s.System, MaxTokens: s.MaxTokens}
	for _, m := range s.Messages {
		one := message{Role: m.Role, Content: []samplePart{}}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				one.Content = append(one.Content, samplePart{Type: "text", Text: p.S})
			case llm.Image:
				one.Content = append(one.Content, imagePart(p))
			case llm.ToolUse:
				one.Content = append(one.Content, samplePart{Type: "tool_use", ID: p.ID, Name: p.Name, Input: p.Input})
			case llm.ToolResult:
				res := samplePart{Type: "tool_result", UseID: p.ID, IsError: p.IsErr, Content: []samplePart{{Type: "text", Text: p.Text}}}
				for _, i := range p.Images {
					res.Content = append(res.Content, imagePart(i))
				}
				one.Content = append(one.Content, res)
			case llm.Thinking, llm.Document: // servers send none
			}
		}
		in.Messages = append(in.Messages, one)
	}
	for _, t := range s.Tools {
		in.Tools = append(in.Tools, offered{t.Name, t.Description, t.Schema})
	}
	if s.Choice != "" {
		in.Choice = &choice{s.Choice}
	}
	return object(in)
}

// object is v as JSON; what cannot be written is an empty one.
func object(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// comment is what was said beside a yes or a no.
func comment(a *op.Answer) string {
	if a == nil {
		return ""
	}
	return a.Comment
}
