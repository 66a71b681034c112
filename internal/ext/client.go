package ext

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// client does what servers ask of adze, in the newest session. It implements
// mcp.Client.
type client struct{ w *World }

// Questions of servers, as people, rules and hooks know them.
const (
	askTool    = "McpElicitation"
	sampleTool = "McpSampling"
)

// Ask implements mcp.Client.
func (c client) Ask(ctx context.Context, server string, form view.Form) (op.Answer, error) {
	x := c.w.newest()
	if x == nil {
		return op.Answer{}, errNoSession
	}
	if a, ok := x.gate.Elicits(ctx, server, form); ok {
		return x.gate.Elicited(ctx, server, form, a), nil
	}
	v, err := x.s.Ask(ctx, agent.Question{
		Call: llm.ToolUse{Name: askTool}, Tool: askTool,
		Plan: tool.Plan{
			Actions: []policy.Action{policy.Person{Why: "the MCP server " + server + " asks you something"}}, View: form,
			Title: "Question of the MCP server " + clip.Line(server, 60),
		},
	})
	if err != nil {
		return op.Answer{}, err
	}
	var a op.Answer
	if v.Effect == policy.Allow && v.Answer != nil {
		a = *v.Answer
	}
	return x.gate.Elicited(ctx, server, form, a), nil
}

// maxSampled bounds what servers may have asked of models in a session, in
// tokens of answers.
const maxSampled = 100_000

// Sample implements mcp.Client.
func (c client) Sample(ctx context.Context, server string, s mcp.Sampling) (mcp.Sampled, error) {
	x := c.w.newest()
	if x == nil {
		return mcp.Sampled{}, errNoSession
	}
	if !x.spend(s.MaxTokens) {
		return mcp.Sampled{}, fmt.Errorf("servers have had more than %d tokens of a model's in this session", maxSampled)
	}
	v, err := x.s.Ask(ctx, agent.Question{
		Call: llm.ToolUse{Name: sampleTool}, Tool: sampleTool,
		Plan: tool.Plan{
			Actions: []policy.Action{policy.Person{Why: "the MCP server " + server + " wants an answer of the model"}},
			View:    view.Text{S: whole(s)}, Title: "Ask the model for the MCP server " + clip.Line(server, 60),
		},
	})
	if err != nil {
		return mcp.Sampled{}, err
	}
	if v.Effect != policy.Allow {
		return mcp.Sampled{}, errors.New("the person said no")
	}
	return x.sample(ctx, s)
}

// whole is all that a request has, for a person to read.
func whole(s mcp.Sampling) string {
	var b strings.Builder
	if s.System != "" {
		fmt.Fprintf(&b, "Instructions:\n%s\n\n", s.System)
	}
	for _, m := range s.Messages {
		who := "User"
		if m.Assistant {
			who = "Model"
		}
		text := m.Text
		if m.Image != nil {
			text += " [an image, " + m.Media + "]"
		}
		fmt.Fprintf(&b, "%s:\n%s\n\n", who, text)
	}
	fmt.Fprintf(&b, "The answer may have %d tokens.", s.MaxTokens)
	return b.String()
}

// spend takes tokens from what servers may still have.
func (x *Session) spend(tokens int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sampled+tokens > maxSampled {
		return false
	}
	x.sampled += tokens
	return true
}

// sample has the session's model answer, and records what that cost.
func (x *Session) sample(ctx context.Context, s mcp.Sampling) (out mcp.Sampled, err error) {
	t := x.s.Target()
	r := llm.Request{Model: t.Name, MaxTokens: s.MaxTokens}
	if s.System != "" {
		r.System = []string{s.System}
	}
	for _, m := range s.Messages {
		role := llm.User
		if m.Assistant {
			role = llm.Assistant
		}
		var parts []llm.Part
		if m.Image != nil {
			parts = append(parts, llm.Image{Media: m.Media, Data: m.Image})
		}
		if m.Text != "" {
			parts = append(parts, llm.Text{S: m.Text})
		}
		r.Messages = append(r.Messages, llm.Message{Role: role, Parts: parts})
	}
	var used llm.Usage
	defer func() {
		if used != (llm.Usage{}) {
			spent := event.Spent{For: event.ForSampling, Model: t.ID(), Usage: used}
			if t.Cost != nil {
				spent.Cost, spent.Priced = t.Cost(used)
			}
			err = errors.Join(err, x.s.Report(spent))
		}
	}()
	for c, err := range t.Model.Stream(ctx, r) {
		if err != nil {
			return out, err
		}
		switch c := c.(type) {
		case llm.Progress:
			used = c.Usage
		case llm.Finished:
			used = c.Usage
			for _, p := range c.Message.Parts {
				if t, ok := p.(llm.Text); ok {
					out.Text += t.S
				}
			}
			out.Model, out.Stop = t.Name, "endTurn"
			if c.Stop == llm.MaxTokens {
				out.Stop = "maxTokens"
			}
			return out, nil
		default: // pieces of what Finished has whole
		}
	}
	return out, errors.New("the reply broke off")
}

// Changed implements mcp.Client.
func (c client) Changed(server, uri string) {
	if x := c.w.newest(); x != nil {
		x.note(fmt.Sprintf("The resource %s of the MCP server %s has changed since you read it.", clip.Line(clip.Visible(uri), 500), server))
	}
}
