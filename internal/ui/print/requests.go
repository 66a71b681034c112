package print

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/op"
)

// An asking is a request that is a question of the session or its surroundings.
type asking struct {
	query ask.Query // nil: there is nothing to ask
	late  bool      // it may take time, and what follows does not wait for it
	// body is the answer in the words of hosts; nil: an empty one.
	body func(ctx context.Context, a ask.Reply) (any, error)
}

// readLimit is how much of a file a host is given that names no number of bytes.
const readLimit = 1 << 20

// maxSuggested bounds the files that are suggested for a query.
const maxSuggested = 20

// put asks, and has the answer in the words of hosts.
func (r *runner) put(ctx context.Context, v asking) (body any, err error) {
	var a ask.Reply
	if v.query != nil {
		if a, err = r.About.Ask(ctx, v.query); err != nil {
			return nil, err
		}
	}
	if v.body == nil {
		return object{}, nil
	}
	return v.body(ctx, a)
}

// shaped is a body that is made of the data of an answer.
func shaped[T any](body func(T) any) func(context.Context, ask.Reply) (any, error) {
	return func(_ context.Context, a ask.Reply) (any, error) {
		v, err := ask.Data[T](a)
		if err != nil {
			return nil, err
		}
		return body(v), nil
	}
}

// texted is a body with the text of an answer.
func texted(name string, with object) func(context.Context, ask.Reply) (any, error) {
	return func(_ context.Context, a ask.Reply) (any, error) {
		out := object{name: a.Text}
		maps.Copy(out, with)
		return out, nil
	}
}

// asks is what is asked for a request; ok is false for one that asks nothing.
func (r *runner) asks(subtype string, in members) (v asking, ok bool, err error) {
	if r.About.Ask == nil {
		return v, false, nil
	}
	switch subtype {
	case "get_session_cost":
		v = asking{query: ask.Cost{}, body: texted("text", nil)}
	case "get_settings":
		v = asking{query: ask.Settings{}, body: shaped(r.settingsNow)}
	case "list_models":
		v.body = func(ctx context.Context, _ ask.Reply) (any, error) { return object{"models": r.models(ctx)}, nil }
	case "get_context_usage":
		v = asking{query: ask.Context{}, body: shaped(r.filling)}
	case "get_hooks_listing":
		v = asking{query: ask.Hooks{}, late: true, body: shaped(hooksListed)}
	case "list_permission_rules":
		v = asking{query: ask.Rules{}, late: true, body: shaped(r.rulesListed)}
	case "update_settings":
		v.late = true
		v.query, err = updated(in)
	case "read_file":
		if in.Coding == "base64" {
			return v, true, errors.New("files are read as text alone")
		}
		v = asking{query: ask.Read{Path: in.Path, Max: min(max(in.Max, 0), 64*readLimit)}, body: shaped(func(f ask.File) any {
			out := object{"contents": f.Text, "absPath": f.Path}
			if f.Cut {
				out["truncated"] = true
			}
			return out
		})}
	case "get_task_output":
		v = asking{query: ask.Output{Task: in.Task}, body: shaped(func(w ask.Written) any {
			return object{"output": w.Text, "total_bytes": w.Total, "truncated": w.Cut}
		})}
	case "seed_read_state":
		v = asking{query: ask.Seen{Path: in.Path, At: int64(in.MTime)}, late: true, body: shaped(func(seen bool) any { return object{"seeded": seen} })}
	case "file_suggestions":
		v = asking{query: ask.Files{Near: in.Query, Max: maxSuggested}, late: true, body: suggested}
	case "register_repo_root":
		v = asking{query: ask.Within{Folder: in.Directory}, late: true}
		if in.Skills || in.Plugins {
			v.body = func(ctx context.Context, _ ask.Reply) (any, error) {
				_, err := r.About.Ask(ctx, ask.Reload{})
				return object{}, err
			}
		}
	case "generate_session_title":
		v = asking{query: ask.Title{About: in.About}, late: true, body: func(ctx context.Context, a ask.Reply) (any, error) {
			if !in.Persist || a.Text == "" {
				return object{"title": a.Text}, nil
			}
			return object{"title": a.Text}, r.c.Submit(ctx, op.Rename{Title: a.Text})
		}}
	case "side_question":
		v = asking{query: ask.Aside{Question: in.Question}, late: true, body: texted("response", object{"synthetic": false})}
	case "reload_skills", "reload_plugins", "reload_output_styles":
		v = asking{query: ask.Reload{}, late: true, body: func(context.Context, ask.Reply) (any, error) { return r.reloaded(subtype), nil }}
	default:
		return r.asksServers(subtype, in)
	}
	return v, true, err
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

// suggested are files for a host.
func suggested(_ context.Context, a ask.Reply) (any, error) {
	out := []object{}
	for _, name := range a.Names {
		kind := "file"
		if strings.HasSuffix(name, "/") {
			kind = "directory"
		}
		out = append(out, object{"path": name, "type": kind})
	}
	return object{"suggestions": out}, nil
}

// reloaded is what there is after a look at what extensions bring.
func (r *runner) reloaded(subtype string) object {
	x := r.About.extended()
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
	return object{"commands": offers(x.Commands), "agents": offers(x.Agents), "plugins": plugins, "mcpServers": r.About.servers(), "error_count": len(x.PluginErrors)}
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
