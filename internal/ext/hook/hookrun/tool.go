package hookrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/ext/hook"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// tool has a tool of an MCP server answer.
func (r *Runner) tool(ctx context.Context, h hook.Hook, q question) hook.Ran {
	if r.conf.Tool == nil {
		return failed(errors.New("cannot be asked: no MCP servers are connected here"))
	}
	input, err := filled(h.Handler.Input, q.text)
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
// input. What there is not is empty.
func filled(input json.RawMessage, event []byte) (json.RawMessage, error) {
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
	return json.Marshal(fill(args, in))
}

func fill(v, in any) any {
	switch v := v.(type) {
	case string:
		return place().ReplaceAllStringFunc(v, func(s string) string { return field(in, strings.Split(s[2:len(s)-1], ".")) })
	case []any:
		for i := range v {
			v[i] = fill(v[i], in)
		}
	case map[string]any:
		for k := range v {
			v[k] = fill(v[k], in)
		}
	}
	return v
}

// field is a part of what happens as text; what is no text is JSON.
func field(in any, path []string) string {
	for _, name := range path {
		m, ok := in.(map[string]any)
		if !ok {
			return ""
		}
		in = m[name]
	}
	switch in := in.(type) {
	case nil:
		return ""
	case string:
		return in
	}
	text, err := json.Marshal(in)
	if err != nil {
		return ""
	}
	return string(text)
}
