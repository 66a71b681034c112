package hookrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// tool has a tool of an MCP server answer.
func (r *Runner) tool(ctx context.Context, h hook.Hook, q question) hook.Ran {
	if r.conf.Tool == nil {
		return failed(errors.New("cannot be asked: no MCP servers are connected here"))
	}
	input, err := filled(h.Handler.Input, q.text, h.Dialect == hook.Codex)
	if err != nil {
		return failed(err)
	}
	text, err := r.conf.Tool(ctx, h.Server, h.Tool, input)
	if err != nil {
		return failed(fmt.Errorf("has no answer: %w", err))
	}
	return hook.Ran{Stdout: []byte(text)}
}

// place stands in the input of a hook for a field of what happens.
var place = pattern.Lazy(`\$\{([A-Za-z_][A-Za-z0-9_.]*)\}`)

// filled puts fields of what happens in the place of ${a.b} in the texts of an
// input. What there is not is empty. With kinds, a text that is one such place and
// nothing else becomes what the field is, and not its text.
func filled(input json.RawMessage, event []byte, kinds bool) (json.RawMessage, error) {
	if len(input) == 0 {
		return json.RawMessage("{}"), nil
	}
	var args, in any
	if err := json.Unmarshal(input, &args); err != nil {
		return nil, fmt.Errorf("has an input that is no JSON: %w", err)
	}
	if err := json.Unmarshal(event, &in); err != nil {
		return nil, fmt.Errorf("cannot be told what happens: %w", err)
	}
	return json.Marshal(fill(args, in, kinds))
}

func fill(v, in any, kinds bool) any {
	switch v := v.(type) {
	case string:
		if at := place().FindStringIndex(v); kinds && at != nil && at[0] == 0 && at[1] == len(v) {
			return part(in, strings.Split(v[2:len(v)-1], "."))
		}
		return place().ReplaceAllStringFunc(v, func(s string) string { return field(in, strings.Split(s[2:len(s)-1], ".")) })
	case []any:
		for i := range v {
			v[i] = fill(v[i], in, kinds)
		}
	case map[string]any:
		for k := range v {
			v[k] = fill(v[k], in, kinds)
		}
	}
	return v
}

// part is a part of what happens; nil where there is none.
func part(in any, path []string) any {
	for _, name := range path {
		m, _ := in.(map[string]any)
		in = m[name]
	}
	return in
}

// field is a part of what happens as text; what is no text is JSON.
func field(in any, path []string) string {
	switch in := part(in, path).(type) {
	case nil:
		return ""
	case string:
		return in
	}
	text, err := json.Marshal(part(in, path))
	if err != nil {
		return ""
	}
	return string(text)
}
