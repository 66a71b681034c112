package print

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Desk is what of a session and its surroundings hosts ask for besides.
type Desk interface {
	// Cost is what the session cost, in words.
	Cost() string
	// ReadFile has at most limit bytes of a file, which is named from the session's
	// folder. What a rule denies to read it does not read.
	ReadFile(name string, limit int64) (File, error)
	// Files are those whose names a query is near to, the nearest first.
	Files(ctx context.Context, query string) ([]string, error)
	// Title makes a title; Aside answers a question that stays out of the conversation.
	// Both may ask a model.
	Title(ctx context.Context, about string) (string, error)
	Aside(ctx context.Context, question string) (string, error)
	// Reload looks at plugins, skills and servers anew.
	Reload(ctx context.Context)
	// Carry carries out a request of another kind, which may take time; known is false
	// for one that it does not know.
	Carry(subtype string, request json.RawMessage) (do func(context.Context) (any, error), known bool)
}

// A File is what was read of a file.
type File struct {
	Text string
	Path string // absolute
	Cut  bool   // there is more
}

// readLimit is how much of a file a host is given that names no number of bytes.
const readLimit = 1 << 20

// asking are the members of the requests here.
type asking struct {
	Path    string `json:"path"`
	Max     int64  `json:"max_bytes"`
	Coding  string `json:"encoding"`
	Query   string `json:"query"`
	Message string `json:"message_uuid"`
	About   string `json:"description"`
	Persist bool   `json:"persist"`
	Ask     string `json:"question"`
	Task    string `json:"task_id"`
}

// missing says of published requests what they would need that this version has not.
// They are refused with these words.
func missing(subtype string) string {
	switch subtype {
	case "set_color":
		return "sessions have no colour"
	case "mcp_authenticate", "mcp_oauth_callback_url", "mcp_clear_auth":
		return "adze mcp login signs in to a server"
	case "set_mcp_permission_mode_override":
		return "a permission mode is that of the session"
	}
	return ""
}

// more answers requests about the session and its surroundings; known is false for
// others. What may take time is answered later, and then wait is true.
func (r *runner) more(ctx context.Context, q *Request, in asking) (body any, known, wait bool, err error) {
	switch q.subtype {
	case "get_binary_version":
		return object{"version": r.About.Version, "buildTime": nil}, true, false, nil
	case "get_usage":
		return r.usage(), true, false, nil
	case "set_has_subscribers", "end_session": // a host that ends a session ends the input
		return object{}, true, false, nil
	case "cancel_async_message":
		return object{"cancelled": r.cancel(ctx, in.Message)}, true, false, nil
	case "get_task_output":
		path, ok := r.p.outputs[in.Task]
		if !ok {
			return nil, true, false, fmt.Errorf("no task %q has ended in this run", in.Task)
		}
		in.Path = path
	}
	if r.Desk == nil {
		return nil, false, false, nil
	}
	later := func(do func(context.Context) (any, error)) (any, bool, bool, error) {
		r.pending++
		go func() { // ends with ctx, or when it was answered
			body, err := do(ctx)
			select {
			case r.answers <- answer(q.id, body, err):
			case <-ctx.Done():
			}
		}()
		return nil, true, true, nil
	}
	switch q.subtype {
	case "get_session_cost":
		return object{"text": r.Desk.Cost()}, true, false, nil
	case "get_task_output":
		f, err := r.Desk.ReadFile(in.Path, readLimit)
		return object{"output": f.Text, "total_bytes": len(f.Text), "truncated": f.Cut}, true, false, err
	case "read_file":
		if in.Coding == "base64" {
			return nil, true, false, errors.New("files are read as text alone")
		}
		f, err := r.Desk.ReadFile(in.Path, min(max(in.Max, 0), 64*readLimit))
		out := object{"contents": f.Text, "absPath": f.Path}
		if f.Cut {
			out["truncated"] = true
		}
		return out, true, false, err
	case "file_suggestions":
		return later(func(ctx context.Context) (any, error) {
			list, err := r.Desk.Files(ctx, in.Query)
			out := []object{}
			for _, name := range list {
				out = append(out, object{"path": name, "type": kindOf(name)})
			}
			return object{"suggestions": out}, err
		})
	case "generate_session_title":
		return later(func(ctx context.Context) (any, error) {
			name, err := r.Desk.Title(ctx, in.About)
			if err == nil && in.Persist && name != "" {
				err = r.rename(ctx, name)
			}
			return object{"title": name}, err
		})
	case "side_question":
		return later(func(ctx context.Context) (any, error) {
			text, err := r.Desk.Aside(ctx, in.Ask)
			return object{"response": text, "synthetic": false}, err
		})
	case "reload_skills", "reload_plugins", "reload_output_styles":
		return later(func(ctx context.Context) (any, error) {
			r.Desk.Reload(ctx)
			return r.reloaded(q.subtype), nil
		})
	}
	if do, known := r.Desk.Carry(q.subtype, q.raw); known {
		return later(do)
	}
	return nil, false, false, nil
}

func kindOf(name string) string {
	if strings.HasSuffix(name, "/") {
		return "directory"
	}
	return "file"
}

// reloaded is what there is after a look at what extensions bring.
func (r *runner) reloaded(subtype string) object {
	if r.About.Extended == nil {
		return object{}
	}
	x := r.About.Extended()
	switch subtype {
	case "reload_skills":
		return object{"skills": offers(x.Skills)}
	case "reload_output_styles":
		return object{"available_output_styles": styles(x.Styles)}
	}
	plugins := []initPlugin{}
	for _, o := range x.Plugins {
		plugins = append(plugins, pluginOf(o))
	}
	list := []ServerStatus{}
	if r.About.MCP != nil {
		list = append(list, r.About.MCP()...)
	}
	return object{"commands": offers(x.Commands), "agents": offers(x.Agents), "plugins": plugins, "mcpServers": list, "error_count": len(x.PluginErrors)}
}

// usage answers get_usage. A provider's limits are not known here.
func (r *runner) usage() any {
	return object{
		"session": object{
			"total_cost_usd": r.p.cost, "total_api_duration_ms": ms(r.p.api), "total_duration_ms": ms(r.p.took), "total_lines_added": 0, "total_lines_removed": 0,
			"model_usage": r.p.models,
		},
		"subscription_type": nil, "rate_limits_available": false, "rate_limits": nil, "behaviors": nil,
	}
}

// cancel takes a prompt back that no turn has taken up.
func (r *runner) cancel(ctx context.Context, message string) bool {
	if i := slices.IndexFunc(r.after, func(in Input) bool { return in.UUID == message && message != "" }); i >= 0 {
		r.after = slices.Delete(r.after, i, i+1)
		return true
	}
	return r.unqueue(ctx, message)
}
