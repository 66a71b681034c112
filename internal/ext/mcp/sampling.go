package mcp

//lint:file-ignore SA1019 sampling belongs to the protocols that most servers speak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/schema"
	"github.com/adze-agent/adze/internal/policy"
)

// maxOffered is how many tools a server may give a model that it asks.
const maxOffered = 128

// sample has a model answer for a server, when the person agrees.
func (l *link) sample(ctx context.Context, r *sdk.CreateMessageWithToolsRequest) (*sdk.CreateMessageWithToolsResult, error) {
	l.mu.Lock()
	l.spent++
	many := l.spent > maxSamplings
	l.mu.Unlock()
	if many {
		return nil, refuse("this connection has asked %d times", maxSamplings)
	}
	q := &sampler{names: map[string]string{}, order: &l.look.schemas}
	s, err := q.sampling(r.Params)
	if err != nil {
		return nil, refuse("%v", err)
	}
	defer l.hold()()
	by := l.caller(ctx)
	out, err := l.s.client(by).Sample(ctx, by, l.s.conf.Name, s)
	if err != nil {
		return nil, &jsonrpc.Error{Code: -1, Message: "refused: " + line(err.Error(), 200)}
	}
	res := &sdk.CreateMessageWithToolsResult{Role: "assistant", Model: out.Model, StopReason: out.Stop}
	if out.Text != "" || len(out.Calls) == 0 {
		res.Content = append(res.Content, &sdk.TextContent{Text: out.Text})
	}
	for _, c := range out.Calls {
		var input map[string]any
		if json.Unmarshal(c.Input, &input) != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the model called a tool with arguments that are no JSON object"}
		}
		name, known := q.names[c.Name]
		if !known {
			name = c.Name // the model made it up; the server says so to it
		}
		res.Content = append(res.Content, &sdk.ToolUseContent{ID: c.ID, Name: name, Input: input})
	}
	return res, nil
}

// A sampler reads one request of a server to a model.
type sampler struct {
	names map[string]string // of the server's tools, by what the model is told
	order *schemas
	size  int // bytes of the request, so far
}

// sampling is what a request comes to. An error says what is wrong with it.
func (q *sampler) sampling(p *sdk.CreateMessageWithToolsParams) (s Sampling, err error) {
	s = Sampling{System: text(p.SystemPrompt, maxPrompt), MaxTokens: maxSampled}
	if p.MaxTokens > 0 {
		s.MaxTokens = int(min(p.MaxTokens, maxSampled))
	}
	q.size = len(p.SystemPrompt)
	if s.Tools, err = q.tools(p.Tools); err != nil {
		return s, err
	}
	if p.ToolChoice != nil {
		switch s.Choice = p.ToolChoice.Mode; {
		case s.Choice == "auto":
			s.Choice = ""
		case s.Choice != "" && s.Choice != ChoiceRequired && s.Choice != ChoiceNone:
			return s, fmt.Errorf("the toolChoice %s is none of auto, required and none", quote(s.Choice))
		}
	}
	if s.Choice == ChoiceRequired && len(s.Tools) == 0 {
		return s, errors.New("a tool is to be called, and there is none")
	}
	for _, m := range p.Messages {
		one, err := q.message(m)
		if err != nil {
			return s, err
		}
		s.Messages = append(s.Messages, one)
	}
	if q.size > maxPrompt || len(s.Messages) == 0 {
		return s, fmt.Errorf("there is nothing to answer, or more than %d bytes", maxPrompt)
	}
	return s, balanced(s.Messages)
}

// tools are those that the model may call, with names that every provider takes.
func (q *sampler) tools(list []*sdk.Tool) (out []llm.Spec, err error) {
	if len(list) > maxOffered {
		return nil, fmt.Errorf("it gives more than %d tools", maxOffered)
	}
	for _, t := range list {
		if t == nil || t.Name == "" {
			return nil, errors.New("it gives a tool without a name")
		}
		name := q.told(t.Name)
		if _, twice := q.names[name]; twice {
			return nil, fmt.Errorf("it gives two tools named %s", quote(t.Name))
		}
		q.names[name] = t.Name
		given, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		if len(given) == 0 || given[0] != '{' {
			return nil, fmt.Errorf("the schema of its tool %s is no object", quote(t.Name))
		}
		q.size += len(given) + len(t.Description)
		fit, err := schema.Fit(q.order.asSent(given))
		if err != nil {
			return nil, fmt.Errorf("the schema of its tool %s %w", quote(t.Name), err)
		}
		out = append(out, llm.Spec{Name: name, Description: text(t.Description, maxDescription), Schema: fit})
	}
	return out, nil
}

// told is what a model is told as the name of a server's tool.
func (*sampler) told(name string) string {
	if n := policy.Nameable(name); n == name && len(n) <= maxName {
		return n
	}
	return short(policy.Nameable(name), name, maxName)
}

// message is one message of a request.
func (q *sampler) message(m *sdk.SamplingMessageV2) (out llm.Message, err error) {
	if m == nil {
		return out, errors.New("one of its messages is null")
	}
	out.Role = llm.User
	if m.Role == "assistant" {
		out.Role = llm.Assistant
	}
	results := 0
	for _, c := range m.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			q.size += len(c.Text)
			out.Parts = append(out.Parts, llm.Text{S: stripHidden(c.Text)})
		case *sdk.ImageContent:
			q.size += len(c.Data)
			out.Parts = append(out.Parts, llm.Image{Media: c.MIMEType, Data: c.Data})
		case *sdk.ToolUseContent:
			input, err := json.Marshal(c.Input)
			if err != nil {
				return out, err
			}
			if c.Input == nil {
				input = []byte("{}")
			}
			if out.Role != llm.Assistant || c.ID == "" {
				return out, errors.New("a tool_use belongs into a message of the assistant, with an id")
			}
			q.size += len(input)
			out.Parts = append(out.Parts, llm.ToolUse{ID: c.ID, Name: q.told(c.Name), Input: input})
		case *sdk.ToolResultContent:
			results++
			one, err := q.result(c)
			if err != nil {
				return out, err
			}
			out.Parts = append(out.Parts, one)
		default:
			return out, errors.New("a message of this kind cannot be put to a model here")
		}
	}
	if results > 0 && (results < len(m.Content) || out.Role != llm.User) {
		return out, errors.New("a message of the user with tool_result may hold nothing else")
	}
	return out, nil
}

// result is what a tool of the server's answered.
func (q *sampler) result(c *sdk.ToolResultContent) (out llm.ToolResult, err error) {
	out = llm.ToolResult{ID: c.ToolUseID, IsErr: c.IsError}
	var said []string
	for _, part := range c.Content {
		switch part := part.(type) {
		case *sdk.TextContent:
			said = append(said, stripHidden(part.Text))
		case *sdk.ImageContent:
			q.size += len(part.Data)
			out.Images = append(out.Images, llm.Image{Media: part.MIMEType, Data: part.Data})
		default:
			return out, errors.New("a tool_result may hold text and images here, and nothing else")
		}
	}
	if c.StructuredContent != nil && len(said) == 0 {
		raw, err := json.Marshal(c.StructuredContent)
		if err != nil {
			return out, err
		}
		said = append(said, stripHidden(string(raw)))
	}
	out.Text = strings.Join(said, "\n")
	q.size += len(out.Text)
	return out, nil
}

// balanced reports a call that the next message does not answer, or an answer to
// none: providers refuse a conversation like that.
func balanced(list []llm.Message) error {
	var open map[string]bool
	for _, m := range list {
		calls := map[string]bool{}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				calls[p.ID] = true
			case llm.ToolResult:
				if !open[p.ID] {
					return fmt.Errorf("the tool_result %s answers no tool_use of the message before it", quote(p.ID))
				}
				delete(open, p.ID)
			case llm.Text, llm.Thinking, llm.Image, llm.Document: // neither asks nor answers
			}
		}
		if len(open) > 0 {
			return errors.New("a tool_use is not answered by a tool_result in the next message")
		}
		open = calls
	}
	if len(open) > 0 {
		return errors.New("a tool_use is not answered by a tool_result in the next message")
	}
	return nil
}
