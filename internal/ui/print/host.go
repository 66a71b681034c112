package print

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/view"
)

// host puts open questions to the program that drives adze over the pipe, as
// can_use_tool requests (compat.md 4.5), and reads its answers.
type host struct {
	open     map[string]event.Asked // by request ID
	held     []event.Asked          // until the line of the reply that made their calls is written
	replying bool                   // a reply has begun, and its line is not written
}

// A reply is a host's answer to a request of ours.
type reply struct {
	Subtype   string          `json:"subtype"` // success or error
	RequestID string          `json:"request_id"`
	Error     string          `json:"error"`
	Response  json.RawMessage `json:"response"`
}

// permission is the response to can_use_tool.
type permission struct {
	Behavior string          `json:"behavior"` // allow or deny
	Message  string          `json:"message"`
	Stop     bool            `json:"interrupt"`
	Input    json.RawMessage `json:"updatedInput"`
	Updates  []change        `json:"updatedPermissions"`
}

// A change is one of permissions, as hosts send and get it (compat.md 4.2).
type change struct {
	Type        string       `json:"type"`
	Rules       []changeRule `json:"rules,omitempty"`
	Behavior    string       `json:"behavior,omitempty"`
	Mode        string       `json:"mode,omitempty"`
	Directories []string     `json:"directories,omitempty"`
	Destination string       `json:"destination"`
}

type changeRule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// ask puts a question to the host. A host that will not send anything any
// more has said no.
func (r *runner) ask(ctx context.Context, b event.Asked) {
	if r.Approve != nil {
		r.approve(ctx, b)
		return
	}
	if !r.open {
		r.submitAnswer(ctx, op.Answer{Call: b.Call, By: "host", Comment: "the input ended, so nobody can be asked"})
		return
	}
	id := "ask-" + b.Call
	r.host.open[id] = b
	if f, ok := b.View.(view.Form); ok {
		r.write(elicitLine(id, f))
		return
	}
	r.write(askLine(id, b))
}

// consult follows what concerns the host.
func (r *runner) consult(ctx context.Context, b event.Body) {
	switch b := b.(type) {
	case event.ReplyStarted:
		r.host.replying = true
	case event.Replied, event.Dropped:
		r.askHeld(ctx)
	case event.Asked:
		if r.host.replying && r.Approve == nil { // calls are ruled on while the reply still streams
			r.host.held = append(r.host.held, b)
			return
		}
		r.ask(ctx, b)
	case event.Answered:
		r.withdraw(func(x event.Asked) bool { return x.Call == b.Call })
	case event.ToolStarted:
		r.running[b.Call] = true
	case event.ToolFinished:
		delete(r.running, b.Call)
		r.withdraw(func(x event.Asked) bool { return x.Call == b.Call })
	case event.TurnEnded:
		clear(r.running)
		r.withdraw(func(event.Asked) bool { return true })
		r.host.replying = false
	default: // the others ask nothing
	}
}

// askHeld puts what waited for the line of a reply to the host, which knows the calls now.
func (r *runner) askHeld(ctx context.Context) {
	held := r.host.held
	r.host.held, r.host.replying = nil, false
	for _, b := range held {
		r.ask(ctx, b)
	}
}

// askLine is the can_use_tool request for a question.
func askLine(id string, b event.Asked) any {
	v := b.Verdict
	req := map[string]any{
		"subtype": "can_use_tool", "tool_name": b.Tool, "display_name": b.Tool, "input": b.Input, "tool_use_id": b.Call,
		"title": b.Title, "description": v.Part, "decision_reason": v.Reason, "permission_suggestions": suggestions(v),
		"verdict": v, // what the fields above are made of, with every part of the call
	}
	for _, p := range v.Parts {
		if p.Effect == policy.Ask && p.Kind.OfFile() {
			req["blocked_path"] = p.Path
			break
		}
	}
	return map[string]any{"type": "control_request", "request_id": id, "request": req}
}

// elicitLine is the elicitation request for a question of an MCP server.
func elicitLine(id string, f view.Form) any {
	req := map[string]any{"subtype": "elicitation", "mcp_server_name": f.Server, "message": f.Message, "mode": f.Mode()}
	if f.URL != "" {
		req["url"] = f.URL
	} else {
		req["requested_schema"] = f.Schema
		order := []string{}
		for _, x := range f.Fields {
			order = append(order, x.Name)
		}
		req["property_order"] = order
	}
	return map[string]any{"type": "control_request", "request_id": id, "request": req}
}

// elicited takes the host's answer to an elicitation. What is not accepted is a no.
func (r *runner) elicited(ctx context.Context, b event.Asked, in reply) {
	var said struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	a := op.Answer{Call: b.Call, By: "host"}
	switch err := fastjson.Unmarshal(in.Response, &said); {
	case in.Subtype == "error":
		a.Comment = "the host could not answer: " + in.Error
	case err != nil || !slices.Contains([]string{"accept", "decline", "cancel"}, said.Action):
		a.Comment = "the host's answer is no result of an elicitation, so it counts as a no"
	}
	if a.Comment != "" {
		r.warn(a.Comment)
	}
	if a.Allow, a.Dismissed = said.Action == "accept" && a.Comment == "", said.Action == "cancel"; a.Allow {
		a.Values = said.Content
	}
	r.submitAnswer(ctx, a)
}

// suggestions are what a host may offer beside a yes: that edits are accepted from now
// on, where that is what the question is about, and rules.
func suggestions(v policy.Verdict) []change {
	out, rules := []change{}, v.Suggest
	if edits(v) {
		out = append(out, change{Type: "setMode", Mode: string(policy.AcceptEdits), Destination: "session"})
	}
	if len(rules) == 0 {
		return out
	}
	u := change{Type: "addRules", Behavior: "allow", Destination: "localSettings"}
	for _, text := range rules {
		tool, content, _ := strings.Cut(text, "(")
		u.Rules = append(u.Rules, changeRule{tool, strings.TrimSuffix(content, ")")})
	}
	return append(out, u)
}

// edits reports whether all of a question is the writing of files that no rule speaks of:
// the mode acceptEdits answers it.
func edits(v policy.Verdict) bool {
	return len(v.Parts) > 0 && v.Check == policy.CheckWrite && !slices.ContainsFunc(v.Parts, func(p policy.Piece) bool { return p.Kind != policy.PieceWrite })
}

// withdraw tells the host that a question needs no answer any more.
func (r *runner) withdraw(holds func(event.Asked) bool) {
	r.host.held = slices.DeleteFunc(r.host.held, holds)
	for id, b := range r.host.open {
		if holds(b) {
			delete(r.host.open, id)
			if r.Approve == nil {
				r.write(map[string]any{"type": "control_cancel_request", "request_id": id})
			}
		}
	}
}

// hungUp answers what is open when no more answers can come.
func (r *runner) hungUp(ctx context.Context) {
	if r.Approve != nil {
		return // who answers is no host
	}
	for _, b := range r.host.open {
		r.submitAnswer(ctx, op.Answer{Call: b.Call, By: "host", Comment: "the input ended before there was an answer"})
	}
	clear(r.host.open)
	for _, c := range r.callbacks.open {
		c.answer <- callbackAnswer{err: errHostGone}
	}
	clear(r.callbacks.open)
}

// answer takes a host's reply. One that cannot be read is a no.
func (r *runner) answer(ctx context.Context, in reply) {
	if r.called(in) {
		return
	}
	b, ok := r.host.open[in.RequestID]
	if !ok && r.Approve != nil {
		return // it was withdrawn
	}
	if !ok {
		r.warn("there is no open request " + in.RequestID)
		return
	}
	delete(r.host.open, in.RequestID)
	if _, ok := b.View.(view.Form); ok {
		r.elicited(ctx, b, in)
		return
	}
	p, err := in.permission()
	if err != nil {
		r.warn(err.Error())
		r.submitAnswer(ctx, op.Answer{Call: b.Call, By: "host", Comment: err.Error(), Exact: true}) // no person said no
		return
	}
	if p.Behavior == "deny" {
		err := r.c.Submit(ctx, op.Answer{Call: b.Call, By: "host", Comment: p.Message, Exact: true, Stop: p.Stop})
		if err != nil && p.Stop { // the question was closed meanwhile
			err = r.c.Submit(ctx, op.Interrupt{})
		}
		r.stopped = r.stopped || p.Stop && err == nil // a turn that is over needs none
		return
	}
	a := op.Answer{Call: b.Call, Allow: true, By: "host", Comment: p.Message}
	questions := questionsIn(b.View)
	a.Choices = choices(questions, p.Input)
	switch {
	case len(questions) > 0:
		a.Input = reworded(b.Input, p.Input)
	case rewritten(b.Input, p.Input):
		a.Input = p.Input
	}
	r.grant(&a, p.Updates)
	r.submitAnswer(ctx, a)
}

func (in reply) permission() (permission, error) {
	var p permission
	if in.Subtype == "error" {
		return p, fmt.Errorf("the host could not answer: %s", in.Error)
	}
	if err := fastjson.Unmarshal(in.Response, &p); err != nil {
		return p, errors.New("the host's answer is not a permission result, so it counts as a no")
	}
	if p.Behavior != "allow" && p.Behavior != "deny" {
		return p, fmt.Errorf("the host's answer has the behavior %q instead of allow or deny, so it counts as a no", p.Behavior)
	}
	return p, nil
}

// grant puts the rules, folders and the mode of the updates into the answer. What adze
// cannot do is said, never dropped silently.
func (r *runner) grant(a *op.Answer, updates []change) {
	for _, u := range updates {
		var rules []string
		for _, x := range u.Rules {
			rules = append(rules, x.String())
		}
		keep, known := op.KeepOf(u.Destination)
		c, changes, dead := op.ChangeOf(u.Type, u.Behavior, rules)
		folders, dirs, bad := op.FoldersOf(u.Type, u.Destination, u.Directories)
		switch {
		case cmp.Or(bad, dead) != nil:
			r.warn(fmt.Sprintf("the permission update %s was left out: %v", u.Type, cmp.Or(bad, dead)))
		case dirs:
			a.Folders = append(a.Folders, folders)
		case u.Type == "setMode" && keep == op.ForSession && known:
			a.Mode = policy.Mode(u.Mode)
		case u.Type == "addRules" && u.Behavior == "allow" && known && (len(a.Rules) == 0 || a.Keep == keep):
			a.Keep = keep
			a.Rules = append(a.Rules, rules...)
		case changes && known && keep == op.ForSession:
			a.Changes = append(a.Changes, c)
		default:
			r.warn(strings.Join(strings.Fields(fmt.Sprintf("the permission update %s %s to %q is not supported and was left out", u.Type, u.Behavior, u.Destination)), " "))
		}
	}
}

func (x changeRule) String() string {
	if x.Content == "" {
		return x.Tool
	}
	return x.Tool + "(" + x.Content + ")"
}

// submitAnswer submits an answer. One that the session refuses, for a rule that
// makes no sense, becomes a no.
func (r *runner) submitAnswer(ctx context.Context, a op.Answer) {
	err := r.c.Submit(ctx, a)
	if err == nil || !a.Allow {
		return // the question was closed meanwhile
	}
	r.warn(err.Error())
	_ = r.c.Submit(ctx, op.Answer{Call: a.Call, By: a.By, Comment: err.Error()})
}

func (r *runner) warn(text string) {
	if r.Format != Stream {
		fmt.Fprintf(r.Err, "adze: %s\n", clip.Line(clip.VisibleText(text), 500))
		return
	}
	r.write(r.p.note("warning", text))
}

// approve has a tool answer a question, in the place of a host. What it does not
// answer is a no; rules that it would have are left out.
func (r *runner) approve(ctx context.Context, b event.Asked) {
	if _, form := b.View.(view.Form); form {
		r.submitAnswer(ctx, op.Answer{Call: b.Call, By: "host", Comment: "nobody is there who could answer an MCP server", Dismissed: true})
		return
	}
	id := "ask-" + b.Call
	r.host.open[id] = b
	go func() { // ends with ctx, or with the tool's answer
		in := reply{Subtype: "success", RequestID: id}
		text, err := r.Approve(ctx, b.Tool, b.Input, b.Call)
		var p permission
		switch {
		case err != nil:
			in.Subtype, in.Error = "error", err.Error()
		case fastjson.Unmarshal([]byte(text), &p) != nil:
			in.Subtype, in.Error = "error", "the answer of the permission tool is no JSON"
		default:
			p.Updates = nil
			in.Response, _ = json.Marshal(p) // it was read just now
		}
		select {
		case r.approved <- in:
		case <-ctx.Done():
		}
	}()
}

// rewritten reports whether the host changed the arguments.
func rewritten(was, is json.RawMessage) bool {
	if len(is) == 0 || string(is) == "null" {
		return false
	}
	var a, b any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return true
	}
	return !reflect.DeepEqual(a, b)
}

// reworded is the input of a call that asks, with the texts that the host wrote anew,
// such as a plan; nil when there are none. What else the host sends are answers.
func reworded(was, is json.RawMessage) json.RawMessage {
	var a, b map[string]any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return nil
	}
	changed := false
	for name, value := range a {
		before, words := value.(string)
		if now, ok := b[name].(string); ok && words && now != before {
			a[name], changed = now, true
		}
	}
	if !changed {
		return nil
	}
	out, _ := json.Marshal(a) // it was JSON before
	return out
}

// questionsIn finds the questions of a view.
func questionsIn(b view.Block) []view.Question {
	switch b := b.(type) {
	case view.Questions:
		return b.Items
	case view.Group:
		for _, x := range b.Blocks {
			if q := questionsIn(x); len(q) > 0 {
				return q
			}
		}
	default: // only these two hold questions
	}
	return nil
}

// choices reads {"answers":{"<question>":"<label>"}}, where several labels
// are a list, or joined by ", ".
func choices(questions []view.Question, input json.RawMessage) [][]string {
	var in struct {
		Answers map[string]json.RawMessage `json:"answers"`
	}
	if len(questions) == 0 || json.Unmarshal(input, &in) != nil || len(in.Answers) == 0 {
		return nil
	}
	out := make([][]string, len(questions))
	for i, q := range questions {
		var one string
		switch raw := in.Answers[q.Text]; {
		case json.Unmarshal(raw, &out[i]) == nil:
		case json.Unmarshal(raw, &one) == nil && q.Multi:
			out[i] = strings.Split(one, ", ")
		case one != "":
			out[i] = []string{one}
		}
	}
	return out
}
