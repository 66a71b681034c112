package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/tool"
)

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "null"}, {true, "boolean"}, {"", "string"}, {[]any{}, "array"}, {map[string]any{}, "object"},
		{3.0, "integer"}, {-3.5, "number"}, {json.Number("3e2"), "integer"}, {json.Number("3.5"), "number"}, {json.Number("1e999"), "number"},
	} {
		if got := tool.TypeOf(c.v); got != c.want {
			t.Errorf("%v is %s, want %s", c.v, got, c.want)
		}
	}
	for _, c := range []struct {
		s    jsonschema.Schema
		v    any
		want bool
	}{
		{jsonschema.Schema{}, "x", true}, {jsonschema.Schema{Type: "number"}, 3.0, true}, {jsonschema.Schema{Type: "integer"}, 3.5, false},
		{jsonschema.Schema{Types: []string{"null", "string"}}, nil, true}, {jsonschema.Schema{Types: []string{"null", "string"}}, 3.0, false},
	} {
		if got := tool.OfTypes(tool.Types(&c.s), c.v); got != c.want {
			t.Errorf("%+v takes %v: %v", c.s, c.v, got)
		}
	}
}
