package tool

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestRenderIsMarshal(t *testing.T) {
	type part struct {
		Name string   `json:"name" jsonschema:"with <angles> & \"quotes\", é and \u2028"`
		List []string `json:"list,omitempty"`
	}
	type all struct {
		Z     part           `json:"z"`
		A     *part          `json:"a,omitempty"`
		Map   map[string]int `json:"map"`
		Any   any            `json:"any"`
		Float float64        `json:"float"`
		Big   [3]bool        `json:"big"`
	}
	made, err := jsonschema.For[all](nil)
	if err != nil {
		t.Fatal(err)
	}
	one, n, v := 1.5, 3, any("x")
	empty, nothing := &jsonschema.Schema{}, &jsonschema.Schema{Not: &jsonschema.Schema{}}
	str := &jsonschema.Schema{Type: "string"}
	for i, tt := range []struct {
		s    *jsonschema.Schema
		here bool // written here, not by the library
	}{
		{made, true},
		{empty, true},
		{nothing, true},
		{&jsonschema.Schema{Not: str}, false},
		{&jsonschema.Schema{Not: empty, Type: "string"}, false},
		{&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing}, true},
		{&jsonschema.Schema{Items: empty, Enum: []any{1, "a<b", nil}, Minimum: &one, Maximum: &one, MinItems: &n, MaxItems: &n}, true},
		{&jsonschema.Schema{Types: []string{"null", "string"}, Enum: []any{}, Required: []string{}}, true},
		{&jsonschema.Schema{Types: []string{}}, true},
		{&jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"b": str, "c": str, "a\"": str, "d": str}, PropertyOrder: []string{"c", "e"}}, true},
		{&jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"b": str}, PropertyOrder: []string{"b", "b"}}, false},
		{&jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"b": nil}}, false},
		{&jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"b": {Const: &v}}}, false},
		{&jsonschema.Schema{Type: "string", Types: []string{"null"}}, false},
		{&jsonschema.Schema{Enum: []any{func() {}}}, false},
		{&jsonschema.Schema{Type: "string", Format: "date"}, false},
		{&jsonschema.Schema{Extra: map[string]any{"x": 1}}, false},
		{&jsonschema.Schema{AllOf: []*jsonschema.Schema{str}}, false},
	} {
		want, wrong := json.Marshal(tt.s)
		got, err := render(tt.s)
		if string(got) != string(want) || (err != nil) != (wrong != nil) {
			t.Errorf("%d: %s (%v)\nwant %s (%v)", i, got, err, want, wrong)
		}
		if _, here := appendSchema(nil, tt.s); here != tt.here {
			t.Errorf("%d: written here: %v", i, here)
		}
	}
}
