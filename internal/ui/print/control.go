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

	"github.com/adze-agent/adze/internal/ask"
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

// members are those of all requests but initialize.
type members struct {
	Mode      string                     `json:"mode"`
	Model     *string                    `json:"model"`
	Tokens    *int                       `json:"max_thinking_tokens"`
	Queued    bool                       `json:"cancel_queued"`
	Settings  map[string]any             `json:"settings"`
	Servers   map[string]json.RawMessage `json:"servers"`
	Server    string                     `json:"serverName"`
	Named     string                     `json:"server_name"`
	Enabled   bool                       `json:"enabled"`
	Note      json.RawMessage            `json:"message"`
	Title     string                     `json:"title"`
	Task      string                     `json:"task_id"`
	Call      string                     `json:"tool_use_id"`
	Message   string                     `json:"user_message_id"`
	Dry       bool                       `json:"dry_run"`
	Path      string                     `json:"path"`
	Max       int64                      `json:"max_bytes"`
	Coding    string                     `json:"encoding"`
	Query     string                     `json:"query"`
	Prompt    string                     `json:"message_uuid"`
	About     string                     `json:"description"`
	Persist   bool                       `json:"persist"`
	Question  string                     `json:"question"`
	Tool      string                     `json:"tool"`
	Arguments json.RawMessage            `json:"arguments"`
	Check     bool                       `json:"check_permissions"`
	Inputs    json.RawMessage            `json:"input_files"`
	Outputs   json.RawMessage            `json:"output_files"`
	URI       string                     `json:"uri"`
	Directory string                     `json:"directory"`
	Skills    bool                       `json:"reload_skills"`
	Plugins   bool                       `json:"reload_plugins"`
	Source    string                     `json:"source"`
	MTime     float64                    `json:"mtime"` // in milliseconds
}

// serve carries a request out and answers it.
func (r *runner) serve(ctx context.Context, q *Request) {
	var in members
	if q.subtype != "initialize" {
		if err := json.Unmarshal(q.raw, &in); err != nil {
			r.write(answer(q.id, nil, fmt.Errorf("the request %q cannot be read: %s", q.subtype, fastjson.InWords(err))))
			return
		}
	}
	v, asks, err := r.asks(q.subtype, in)
	switch {
	case err != nil:
		r.write(answer(q.id, nil, err))
		return
	case asks && v.late:
		r.pending++
		go func() { // ends with ctx, or when it was answered
			body, err := r.put(ctx, v)
			select {
			case r.answers <- answer(q.id, body, err):
			case <-ctx.Done():
			}
		}()
		return
	}
	var body any
	if asks {
		body, err = r.put(ctx, v)
	} else {
		body, err = r.request(ctx, q, in)
	}
	r.write(answer(q.id, body, err))
	if q.subtype == "initialize" && r.begun != nil && !q.taken && err == nil { // a host that came back knows of none
		r.write(r.p.tasksNow())
	}
}

type object = map[string]any

// request carries out what is not asked of a desk.
func (r *runner) request(ctx context.Context, q *Request, in members) (any, error) {
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
	case "rewind_files":
		return r.rewindFiles(ctx, in.Message, in.Dry), nil
	case "stop_task":
		return object{}, r.c.Submit(ctx, op.StopTask{ID: in.Task})
	case "background_tasks":
		return r.background(ctx, in.Call)
	case "rename_session":
		return object{}, r.c.Submit(ctx, op.Rename{Title: in.Title})
	case "get_binary_version":
		return object{"version": r.About.Version, "buildTime": nil}, nil
	case "get_usage":
		return r.usage(), nil
	case "set_has_subscribers", "end_session": // a host that ends a session ends the input
		return object{}, nil
	case "cancel_async_message":
		return object{"cancelled": r.cancel(ctx, in.Prompt)}, nil
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
	list, err := dataOf[[]ask.Model](ctx, a, ask.Models{})
	if err != nil {
		return out
	}
	count := map[string]int{}
	for _, m := range list {
		count[a.name(m.ID)]++
	}
	for _, m := range list {
		l := modelLine{Value: a.name(m.ID), Resolved: a.name(m.ID), Name: m.Name, Description: m.Provider, Effort: len(m.Efforts) > 0, Efforts: m.Efforts, Adaptive: m.Thinking == "adaptive", Auto: a.Auto}
		if m.Window > 0 {
			l.Description += fmt.Sprintf(", window %d tokens", m.Window)
		}
		if count[l.Value] > 1 || strings.Contains(l.Value, "/") { // alone it would mean another model
			l.Value = m.ID
		}
		out = append(out, l)
	}
	return out
}

// filling answers get_context_usage. Colours and a grid are the host's
// to choose, so they are empty.
func (r *runner) filling(f ask.Filling) any {
	sum := func(list []ask.Piece) (n int) {
		for _, p := range list {
			n += p.Tokens
		}
		return n
	}
	system, tools := sum(f.Instructions), sum(f.Tools)
	total := system + tools + f.Talk
	category := func(id, name, kind string, tokens int) object {
		return object{"id": id, "name": name, "kind": kind, "tokens": tokens, "color": ""}
	}
	cats := []object{
		category("system_prompt", "System prompt", "used", system), category("system_tools", "System tools", "used", tools),
		category("messages", "Messages", "used", f.Talk), category("free_space", "Free space", "free", max(0, f.Window-total)),
	}
	share := 0.0
	if f.Window > 0 {
		share = 100 * float64(total) / float64(f.Window)
	}
	var last any
	if r.p.last.Model != "" {
		last = toUsage(r.p.last.Usage)
	}
	return object{
		"categories": cats, "totalTokens": total, "maxTokens": f.Window, "rawMaxTokens": f.Window, "percentage": share,
		"gridRows": []any{}, "model": r.About.name(r.p.about.Model), "memoryFiles": []any{}, "mcpTools": []any{}, "agents": []any{},
		"systemTools": f.Tools, "systemPromptSections": f.Instructions, "isAutoCompactEnabled": false, "apiUsage": last,
	}
}
