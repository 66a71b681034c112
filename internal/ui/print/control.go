package print

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Request is what a host that drives adze over the pipe wants done or wants
// to know (compat.md 4.5).
type Request struct {
	id      string
	subtype string
	raw     json.RawMessage
	taken   bool // its Setup was
}

func newRequest(l inputLine) *Request {
	var head struct {
		Subtype string `json:"subtype"`
	}
	_ = fastjson.Unmarshal(l.Request, &head) // without one it is refused by name
	return &Request{id: l.RequestID, subtype: head.Subtype, raw: l.Request}
}

// Refuse answers a request with an error.
func (r *Request) Refuse(w io.Writer, why error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer(r.id, nil, why)) // a host that has gone needs no answer
}

func answer(id string, body any, err error) any {
	res := map[string]any{"subtype": "success", "request_id": id, "response": body}
	if err != nil {
		res = map[string]any{"subtype": "error", "request_id": id, "error": err.Error()}
	}
	return map[string]any{"type": "control_response", "response": res}
}

// serve carries a request out and answers it.
func (r *runner) serve(ctx context.Context, q *Request) {
	var in asking
	err := json.Unmarshal(q.raw, &in)
	if q.subtype == "initialize" || err != nil { // which says itself what cannot be read
		in = asking{}
	}
	body, known, wait, err := r.more(ctx, q, in)
	if wait {
		return
	}
	if !known {
		body, err = r.request(ctx, q)
	}
	r.write(answer(q.id, body, err))
	if q.subtype == "initialize" && r.begun != nil && !q.taken && err == nil { // a host that came back knows of none
		r.write(r.p.tasksNow())
	}
}

type object = map[string]any

// request returns what answers a request.
func (r *runner) request(ctx context.Context, q *Request) (any, error) {
	var in struct {
		Mode     string                     `json:"mode"`
		Model    *string                    `json:"model"`
		Tokens   *int                       `json:"max_thinking_tokens"`
		Queued   bool                       `json:"cancel_queued"`
		Settings map[string]any             `json:"settings"`
		Servers  map[string]json.RawMessage `json:"servers"`
		Server   string                     `json:"serverName"`
		Named    string                     `json:"server_name"`
		Enabled  bool                       `json:"enabled"`
		Note     json.RawMessage            `json:"message"`
		Title    string                     `json:"title"`
		Task     string                     `json:"task_id"`
		Call     string                     `json:"tool_use_id"`
		Message  string                     `json:"user_message_id"`
		Dry      bool                       `json:"dry_run"`
	}
	if q.subtype != "initialize" {
		if err := json.Unmarshal(q.raw, &in); err != nil {
			return nil, fmt.Errorf("the request %q cannot be read: %s", q.subtype, fastjson.InWords(err))
		}
	}
	switch q.subtype {
	case "initialize":
		return r.initialize(ctx, q)
	case "interrupt":
		return r.interrupt(ctx, in.Queued)
	case "set_permission_mode":
		return object{"mode": in.Mode}, r.c.Submit(ctx, op.SetMode{Mode: in.Mode})
	case "set_model":
		return object{}, r.setModel(ctx, in.Model)
	case "set_max_thinking_tokens":
		return object{}, r.setThinking(ctx, in.Tokens)
	case "apply_flag_settings":
		return object{}, r.apply(ctx, in.Settings)
	case "mcp_status", "mcp_reconnect", "mcp_toggle", "mcp_set_servers", "mcp_message":
		r.reset = r.reset || q.subtype == "mcp_set_servers"
		return r.servers(q.subtype, cmp.Or(in.Server, in.Named), in.Enabled, in.Servers, in.Note)
	case "rewind_files":
		return r.rewindFiles(ctx, in.Message, in.Dry), nil
	case "get_settings":
		return r.settingsNow(), nil
	case "list_models":
		return object{"models": r.models(ctx)}, nil
	case "get_context_usage":
		return r.contextUsage(), nil
	case "stop_task":
		return object{}, r.c.Submit(ctx, op.StopTask{ID: in.Task})
	case "background_tasks":
		return r.background(ctx, in.Call)
	case "rename_session":
		return object{}, r.c.Submit(ctx, op.Rename{Title: in.Title})
	}
	if why := missing(q.subtype); why != "" {
		return nil, fmt.Errorf("the request %q is not supported: %s", q.subtype, why)
	}
	return nil, fmt.Errorf("the request %q is not supported", q.subtype)
}

// interrupt stops what runs. Nothing to stop is fine: the host may have been
// overtaken by the end of the turn.
func (r *runner) interrupt(ctx context.Context, queued bool) (any, error) {
	out := object{}
	if queued {
		gone := []string{}
		for _, id := range slices.Clone(r.queued) {
			if r.unqueue(ctx, id) {
				gone = append(gone, id)
			}
		}
		for _, in := range r.after {
			gone = append(gone, in.UUID)
		}
		r.after = nil
		out["cancelled"] = gone
	}
	out["still_queued"] = append([]string{}, r.queued...)
	var refused *op.Refusal
	err := r.c.Submit(ctx, op.Interrupt{})
	if errors.As(err, &refused) && refused.Code == op.Idle {
		return out, nil
	}
	r.stopped = err == nil
	return out, err
}

// unqueue takes a prompt back that waits.
func (r *runner) unqueue(ctx context.Context, id string) bool {
	if !slices.Contains(r.queued, id) || r.c.Submit(ctx, op.Unqueue{ID: id}) != nil {
		return false
	}
	r.unqueued(id)
	delete(r.asked, id)
	delete(r.p.replays, id)
	return true
}

func (r *runner) rename(ctx context.Context, title string) error {
	return r.c.Submit(ctx, op.Rename{Title: title})
}

func (r *runner) unqueued(id string) {
	r.queued = slices.DeleteFunc(r.queued, func(x string) bool { return x == id })
}

// setModel switches the model; none is the one the session began with. A name
// that a line of ours used means the model that it was used for.
func (r *runner) setModel(ctx context.Context, name *string) error {
	to := cmp.Or(r.About.Wish, r.About.Model)
	switch {
	case name == nil || *name == "" || *name == "default" || *name == r.About.name(r.About.Model):
	case *name == r.About.name(r.p.about.Model):
		to = r.p.about.Model
	default:
		to = *name
	}
	return r.c.Submit(ctx, op.SetModel{Name: to})
}

func (r *runner) setThinking(ctx context.Context, tokens *int) error {
	if tokens == nil {
		return r.c.Submit(ctx, op.SetEffort{})
	}
	if *tokens <= 0 {
		return r.c.Submit(ctx, op.SetEffort{Level: "none"})
	}
	return r.c.Submit(ctx, op.SetEffort{Tokens: *tokens})
}

// Settings are those in force, by the names of adze's own files.
type Settings struct {
	Effective map[string]json.RawMessage `json:"effective"`
	// Sources are those that say something, the weakest first.
	Sources []Source `json:"sources"`
	Applied Applied  `json:"applied"`
}

// A Source is where settings come from: userSettings, projectSettings,
// localSettings, flagSettings, policySettings or environment.
type Source struct {
	Name     string                     `json:"source"`
	Settings map[string]json.RawMessage `json:"settings"`
}

// Applied is what the next request is made with.
type Applied struct {
	Model  string  `json:"model"`
	Effort *string `json:"effort"` // nil is the model's own
}

// settingsNow answers get_settings.
func (r *runner) settingsNow() Settings {
	var s Settings
	if r.About.Settings != nil {
		s = r.About.Settings()
	}
	s.Applied.Model = r.About.name(s.Applied.Model)
	return s
}

// levels are the efforts that a host can ask for by name; "" is the settings'.
var levels = []string{"", "none", "low", "medium", "high", "xhigh", "max"}

// apply takes over settings for this session. One that cannot be changed
// leaves all as they are.
func (r *runner) apply(ctx context.Context, settings map[string]any) error {
	for key, v := range settings {
		text, isText := v.(string)
		switch {
		case key != "model" && key != "effortLevel":
			return fmt.Errorf("the setting %q cannot be changed while a session runs; model and effortLevel can", key)
		case v != nil && !isText:
			raw, _ := json.Marshal(v)
			return fmt.Errorf("the setting %q cannot be %s: it is a text", key, raw)
		case key == "model":
		case !slices.Contains(levels, text):
			return fmt.Errorf("effortLevel cannot be %q; it is one of none, low, medium, high, xhigh, max", text)
		}
	}
	if v, given := settings["model"]; given {
		name, _ := v.(string)
		if err := r.setModel(ctx, &name); err != nil {
			return err
		}
	}
	if v, given := settings["effortLevel"]; given {
		level, _ := v.(string)
		return r.c.Submit(ctx, op.SetEffort{Level: level})
	}
	return nil
}

// A Model is one that a host may switch to.
type Model struct {
	ID          string   // provider/model
	Name        string   // for people
	Description string   // a line
	Efforts     []string // levels it takes
	Adaptive    bool     // it decides by itself how much to think
}

type modelLine struct {
	Value       string   `json:"value"`
	Resolved    string   `json:"resolvedModel,omitempty"`
	Name        string   `json:"displayName"`
	Description string   `json:"description"`
	Effort      bool     `json:"supportsEffort,omitempty"`
	Efforts     []string `json:"supportedEffortLevels,omitempty"`
	Adaptive    bool     `json:"supportsAdaptiveThinking,omitempty"`
	Auto        bool     `json:"supportsAutoMode,omitempty"`
}

// models are the models as hosts know them: first the one the session began
// with, as "default". What is called like another one's model keeps its
// provider.
func (r *runner) models(ctx context.Context) []modelLine {
	a := r.About
	out := []modelLine{{Value: "default", Resolved: a.name(a.Model), Name: "Default", Description: "The model this session began with: " + a.Model, Auto: a.Auto}}
	if a.Models == nil {
		return out
	}
	list := a.Models(ctx)
	count := map[string]int{}
	for _, m := range list {
		count[a.name(m.ID)]++
	}
	for _, m := range list {
		l := modelLine{Value: a.name(m.ID), Resolved: a.name(m.ID), Name: m.Name, Description: m.Description, Effort: len(m.Efforts) > 0, Efforts: m.Efforts, Adaptive: m.Adaptive, Auto: a.Auto}
		if count[l.Value] > 1 || strings.Contains(l.Value, "/") { // alone it would mean another model
			l.Value = m.ID
		}
		out = append(out, l)
	}
	return out
}

// A Context is what fills the window.
type Context struct {
	Parts  []Part // of the instructions
	Tools  []Part
	Talk   int // tokens of the conversation
	Window int // tokens, 0 when unknown
}

// A Part is a named piece of the window. Tokens are estimated.
type Part struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// contextUsage answers get_context_usage. Colours and a grid are the host's
// to choose, so they are empty.
func (r *runner) contextUsage() any {
	var c Context
	if r.About.Context != nil {
		c = r.About.Context()
	}
	sum := func(list []Part) (n int) {
		for _, p := range list {
			n += p.Tokens
		}
		return n
	}
	system, tools := sum(c.Parts), sum(c.Tools)
	total := system + tools + c.Talk
	category := func(id, name, kind string, tokens int) object {
		return object{"id": id, "name": name, "kind": kind, "tokens": tokens, "color": ""}
	}
	cats := []object{
		category("system_prompt", "System prompt", "used", system), category("system_tools", "System tools", "used", tools),
		category("messages", "Messages", "used", c.Talk), category("free_space", "Free space", "free", max(0, c.Window-total)),
	}
	share := 0.0
	if c.Window > 0 {
		share = 100 * float64(total) / float64(c.Window)
	}
	var last any
	if r.p.last.Model != "" {
		last = toUsage(r.p.last.Usage)
	}
	return object{
		"categories": cats, "totalTokens": total, "maxTokens": c.Window, "rawMaxTokens": c.Window, "percentage": share,
		"gridRows": []any{}, "model": r.About.name(r.p.about.Model), "memoryFiles": []any{}, "mcpTools": []any{}, "agents": []any{},
		"systemTools": c.Tools, "systemPromptSections": c.Parts, "isAutoCompactEnabled": false, "apiUsage": last,
	}
}
