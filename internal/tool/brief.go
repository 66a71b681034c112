package tool

import (
	"encoding/json"
	"strings"
)

// Brief is t with a short text for small windows: the first paragraph of its
// description, and a schema without descriptions of fields.
func Brief(t Tool) Tool {
	s := t.Spec()
	s.Description, _, _ = strings.Cut(s.Description, "\n")
	var v any
	if json.Unmarshal(s.Schema, &v) == nil {
		bare(v, false)
		if raw, err := json.Marshal(v); err == nil {
			s.Schema = raw
		}
	}
	return brief{t, s}
}

type brief struct {
	Tool
	spec Spec
}

// Spec implements Tool.
func (b brief) Spec() Spec { return b.spec }

// bare drops descriptions from a schema, but no property of that name.
func bare(v any, names bool) {
	switch v := v.(type) {
	case map[string]any:
		if _, text := v["description"].(string); text && !names {
			delete(v, "description")
		}
		for k, x := range v {
			bare(x, k == "properties" && !names)
		}
	case []any:
		for _, x := range v {
			bare(x, false)
		}
	}
}
