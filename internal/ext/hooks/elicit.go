package hooks

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// Elicits asks hooks about a question of an MCP server before a person is asked.
// ok is false when they have no answer.
func (g *Gate) Elicits(ctx context.Context, server string, form view.Form) (a op.Answer, ok bool) {
	if !g.Hooked(hook.Elicitation) {
		return a, false
	}
	in := hook.ElicitationInput{Server: server, Message: form.Message, Mode: form.Mode(), URL: form.URL, Schema: form.Schema}
	said := g.Hook(ctx, in, nil)
	g.say(in.Event(), said)
	switch {
	case ctx.Err() != nil:
		return a, false
	case said.Block || said.Stop:
		return op.Answer{By: said.By}, true
	case said.Action == "":
		return a, false
	}
	return answered(said.Action, said.Content, said.By), true
}

// Elicited shows hooks the answer to a question of a server before the server has it,
// and returns it as they leave it.
func (g *Gate) Elicited(ctx context.Context, server string, form view.Form, a op.Answer) op.Answer {
	if !g.Hooked(hook.ElicitationResult) {
		return a
	}
	action := "decline"
	switch {
	case a.Dismissed:
		action = "cancel"
	case a.Allow:
		action = "accept"
	}
	said := g.Hook(ctx, hook.ElicitationResultInput{Server: server, Action: action, Content: a.Values, Mode: form.Mode()}, nil)
	g.say(hook.ElicitationResult, said)
	switch {
	case said.Block || said.Stop:
		return op.Answer{By: said.By}
	case said.Action == "" && said.Content == nil:
		return a
	case said.Content == nil:
		said.Content = a.Values
	}
	return answered(cmp.Or(said.Action, action), said.Content, said.By)
}

func answered(action string, content json.RawMessage, by string) op.Answer {
	a := op.Answer{Allow: action == "accept", Dismissed: action == "cancel", By: by}
	if a.Allow {
		a.Values = content
	}
	return a
}
