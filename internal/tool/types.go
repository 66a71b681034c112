package tool

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Types are the JSON types that a schema asks for, none where any will do.
func Types(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// OfTypes reports whether a decoded value has one of types; each has where there are none.
func OfTypes(types []string, v any) bool {
	if len(types) == 0 {
		return true
	}
	t := TypeOf(v)
	return slices.Contains(types, t) || t == "integer" && slices.Contains(types, "number")
}

// TypeOf is the JSON type of a decoded value. A number without a fraction is an integer,
// whether it was decoded as a json.Number or not.
func TypeOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		f, err := x.Float64()
		return number(f, err == nil)
	case float64:
		return number(x, true)
	case []any:
		return "array"
	}
	return "object"
}

func number(f float64, known bool) string {
	if known && f == float64(int64(f)) {
		return "integer"
	}
	return "number"
}
