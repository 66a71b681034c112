package ext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// client does what servers ask of adze, in the session that they ask it for. It
// implements mcp.Client.
type client struct{ f *Folder }

// Questions of servers, as people, rules and hooks know them.
const (
	askTool    = "McpElicitation"
	sampleTool = "McpSampling"
)

// Here implements mcp.Client.
func (c client) Here(by mcp.Caller) bool { return c.f.Answers(by) }

// Answers reports whether somebody here answers what a server asks for a caller.
func (f *Folder) Answers(by mcp.Caller) bool { return f.asked(by) != nil }

// Ask implements mcp.Client.
func (c client) Ask(ctx context.Context, by mcp.Caller, server string, form view.Form) (op.Answer, error) {
	x := c.f.asked(by)
	if x == nil {
		return op.Answer{}, errNoSession
	}
	if a, ok := x.gate.Elicits(ctx, server, form); ok {
		return x.gate.Elicited(ctx, server, form, a), nil
	}
	v, err := x.s.Ask(ctx, agent.Question{
		Call: llm.ToolUse{Name: askTool, Input: formInput(server, form)}, Tool: askTool,
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
func (c client) Sample(ctx context.Context, by mcp.Caller, server string, s mcp.Sampling) (mcp.Sampled, error) {
	x := c.f.asked(by)
	if x == nil {
		return mcp.Sampled{}, errNoSession
	}
	if !x.spend(s.MaxTokens) {
		return mcp.Sampled{}, fmt.Errorf("servers have had more than %d tokens of a model's in this session", maxSampled)
	}
	v, err := x.s.Ask(ctx, agent.Question{
		Call: llm.ToolUse{Name: sampleTool, Input: sampleInput(server, s)}, Tool: sampleTool,
		Plan: tool.Plan{
			Actions: []policy.Action{policy.Person{Why: "the MCP server " + server + " wants an answer of the model", Hooks: true}},
			View:    view.Text{S: whole(s)}, Title: "Ask the model for the MCP server " + clip.Line(server, 60),
		},
	})
	if err != nil {
		return mcp.Sampled{}, err
	}
	switch {
	case v.Effect != policy.Allow && v.By.Kind == event.ByHook: // whose command is not the server's to know
		return mcp.Sampled{}, errors.New(strings.TrimSuffix("a hook said no: "+comment(v.Answer), ": "))
	case v.Effect != policy.Allow && v.Answer == nil:
		return mcp.Sampled{}, errors.New(v.Reason)
	case v.Effect != policy.Allow:
		return mcp.Sampled{}, errors.New("the person said no")
	case v.Answer == nil: // what only asks is let through where nobody is there, because its result says so
		return mcp.Sampled{}, errors.New("nobody can be asked in this run, and it needs a yes")
	}
	return x.sample(ctx, s)
}

// whole is all that a request has, for a person to read.
func whole(s mcp.Sampling) string {
	var b strings.Builder
	if s.System != "" {
		fmt.Fprintf(&b, "Instructions:\n%s\n\n", s.System)
	}
	for _, t := range s.Tools {
		fmt.Fprintf(&b, "Tool of the server: %s\n%s\n%s\n\n", t.Name, t.Description, t.Schema)
	}
	for _, m := range s.Messages {
		who := "User"
		if m.Role == llm.Assistant {
			who = "Model"
		}
		fmt.Fprintf(&b, "%s:\n", who)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				b.WriteString(p.S)
			case llm.Image:
				b.WriteString("[an image, " + p.Media + "]")
			case llm.ToolUse:
				fmt.Fprintf(&b, "[calls %s with %s]", p.Name, p.Input)
			case llm.ToolResult:
				fmt.Fprintf(&b, "[the tool answers] %s", p.Text)
				for _, i := range p.Images {
					b.WriteString(" [an image, " + i.Media + "]")
				}
			case llm.Thinking, llm.Document: // servers send none
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	switch s.Choice {
	case mcp.ChoiceRequired:
		b.WriteString("The model has to call a tool. ")
	case mcp.ChoiceNone:
		b.WriteString("The model must not call a tool. ")
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

// asked is the request that a sampling comes to.
func asked(model string, s mcp.Sampling) llm.Request {
	r := llm.Request{Model: model, MaxTokens: s.MaxTokens, Messages: s.Messages, Tools: s.Tools}
	if s.System != "" {
		r.System = []string{s.System}
	}
	switch {
	case s.Choice == mcp.ChoiceRequired && len(s.Tools) == 1:
		r.Force = s.Tools[0].Name
	case s.Choice == mcp.ChoiceRequired:
		r.System = append(r.System, "Answer with a call of one of your tools.")
	case s.Choice == mcp.ChoiceNone && !calls(s.Messages):
		r.Tools = nil
	case s.Choice == mcp.ChoiceNone: // providers refuse calls of tools that they are not told of
		r.System = append(r.System, "Answer with text, and call no tool.")
	}
	return r
}

func calls(list []llm.Message) bool {
	return slices.ContainsFunc(list, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { _, is := p.(llm.ToolUse); return is })
	})
}

// answered is what a reply comes to for a server. A reply that is not what the
// server chose is an error.
func answered(model, choice string, done llm.Finished) (out mcp.Sampled, err error) {
	out = mcp.Sampled{Model: cmp.Or(done.Model, model), Stop: "endTurn"} // the protocol asks for the one that answered
	for _, p := range done.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			out.Text += p.S
		case llm.ToolUse:
			out.Calls = append(out.Calls, p)
		case llm.Thinking, llm.ToolResult, llm.Image, llm.Document: // no answer
		}
	}
	switch {
	case done.Stop == llm.MaxTokens:
		out.Stop = "maxTokens"
	case len(out.Calls) > 0:
		out.Stop = "toolUse"
	}
	switch {
	case choice == mcp.ChoiceRequired && len(out.Calls) == 0:
		return out, errors.New("the model called no tool")
	case choice == mcp.ChoiceNone && len(out.Calls) > 0:
		return out, errors.New("the model called a tool")
	}
	return out, nil
}

// sample has the session's model answer, as far as its budget goes.
func (x *Session) sample(ctx context.Context, s mcp.Sampling) (out mcp.Sampled, err error) {
	t := x.s.Target()
	bought := x.s.Buy(ctx, func() (spent event.Spent) {
		var used llm.Usage
		if out, used, err = sampled(ctx, t, s); used != (llm.Usage{}) {
			spent = event.Spent{For: event.ForSampling, Model: t.ID(), Usage: used}
			if t.Cost != nil {
				spent.Cost, spent.Priced = t.Cost(used)
			}
		}
		return spent
	})
	return out, errors.Join(err, bought)
}

// sampled is what a model answers a server, and what it used.
func sampled(ctx context.Context, t agent.Target, s mcp.Sampling) (out mcp.Sampled, used llm.Usage, err error) {
	for c, err := range t.Model.Stream(ctx, asked(t.Name, s)) {
		if err != nil {
			return out, used, err
		}
		switch c := c.(type) {
		case llm.Progress:
			used = c.Usage
		case llm.Finished:
			out, err = answered(t.Name, s.Choice, c)
			return out, c.Usage, err
		default: // pieces of what Finished has whole
		}
	}
	return out, used, errors.New("the reply broke off")
}

// Changed implements mcp.Client.
func (c client) Changed(session, server, uri string) {
	if x := c.f.session(session); x != nil {
		x.note(fmt.Sprintf("The resource %s of the MCP server %s has changed since you read it.", clip.Line(clip.Visible(uri), 500), server))
	}
}

// waits tells people why a call of a server may wait for nothing.
func (f *Folder) waits(server, why string) {
	for _, x := range f.attached() {
		x.report(event.Noted{Level: "warning", Text: clip.Line(clip.Visible(fmt.Sprintf("a call waits for the MCP server %s, and %s", server, why)), 1000)})
	}
}

// turned tells people of tools that say something else than when they allowed them.
func (f *Folder) turned(server string, tools []string) {
	const named = 8
	names := strings.Join(tools[:min(len(tools), named)], ", ")
	if len(tools) > named {
		names += fmt.Sprintf(" and %d more", len(tools)-named)
	}
	text := fmt.Sprintf("the MCP server %s says something else of its tools than when you allowed them (%s): their next calls ask you, and show what is different", server, names)
	for _, x := range f.attached() {
		x.report(event.Noted{Level: "warning", Text: clip.Line(clip.Visible(text), 1000)})
	}
}
